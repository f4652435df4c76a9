"""The sizes of a source's items: all the same, or drawn from a mix."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING

from qospec.engine.arrays import np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from qospec.engine import arrays
    from qospec.engine.draws import Draws

BLOCK = 4_096
"""So many sizes are drawn at a time, however time is cut: chunks change nothing."""
LARGEST_WEIGHT = 2**31


@dataclass(frozen=True)
class Sizes:
    """Sizes in bytes, each with the number of items of that size among all.

    Attributes:
        size_bytes: Rising.
        weights: As many, each at least 1.
    """

    size_bytes: tuple[int, ...]
    weights: tuple[int, ...] = (1,)

    @property
    def alike(self) -> bool:
        """Return whether all items have one size."""
        return len(self.size_bytes) == 1

    def mean_of(self, length: Callable[[int], int]) -> Fraction:
        """Return the mean of a length that depends on the size."""
        pairs = zip(self.size_bytes, self.weights, strict=True)
        return Fraction(sum(length(size) * weight for size, weight in pairs), sum(self.weights))

    def start(self, draws: Draws) -> Drawn:
        """Return its state at the beginning of a trial."""
        return Drawn(self, draws)


CELLS = Sizes((53,))


class Drawn:
    """The sizes of the items of one source, in the order in which these are ready."""

    __slots__ = ("_bounds", "_left", "_size_bytes", "_stream")

    def __init__(self, sizes: Sizes, draws: Draws) -> None:
        self._size_bytes: arrays.Sizes = np.array(sizes.size_bytes, np.int32)
        self._bounds = list(accumulate(sizes.weights))
        self._left: arrays.Sizes = np.empty(0, np.int32)
        self._stream: Generator | None = None if sizes.alike else draws.below("sizes").stream()

    def next(self, count: int) -> arrays.Sizes:
        """Return the sizes of the next `count` items; they are shared, and not to be changed."""
        if self._stream is None:
            if count > len(self._left):
                self._left = np.full(count, self._size_bytes[0], np.int32)
            return self._left[:count]
        drawn = [self._left]
        missing = count - len(self._left)
        while missing > 0:
            numbers = self._stream.integers(0, self._bounds[-1], BLOCK, np.int32)
            drawn.append(self._size_bytes[np.searchsorted(self._bounds, numbers, "right")])
            missing -= BLOCK
        together = np.concatenate(drawn)
        self._left = together[count:]
        return together[:count]
