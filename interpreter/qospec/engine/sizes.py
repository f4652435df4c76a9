"""The sizes of a source's items: all the same, or drawn from a mix."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from qospec.engine import arrays
    from qospec.engine.arrays import Whole
    from qospec.engine.draws import Draws

BLOCK = 4_096
"""So many sizes are drawn at a time, however time is cut: chunks change nothing."""
LARGEST_WEIGHT = 2**31
GUIDE_BITS = 12
"""A guide to the sizes has so many entries, as a power of two: it stays in the first cache."""


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

    __slots__ = ("_left", "_mix", "_size_bytes", "_stream")

    def __init__(self, sizes: Sizes, draws: Draws) -> None:
        self._size_bytes = sizes.size_bytes[0]
        self._mix = None if sizes.alike else _mix(sizes)
        self._left: arrays.Sizes = np.empty(0, np.int32)
        self._stream: Generator | None = None if sizes.alike else draws.below("sizes").stream()

    def next(self, count: int) -> arrays.Sizes:
        """Return the sizes of the next `count` items; they are shared, and not to be changed."""
        if self._mix is None or self._stream is None:
            if count > len(self._left):
                self._left = np.full(count, self._size_bytes, np.int32)
            return self._left[:count]
        missing = count - len(self._left)
        if missing > 0:
            blocks = -(-missing // BLOCK)
            drawn = self._stream.integers(0, self._mix.bounds[-1], blocks * BLOCK, np.int32)
            _look_up(drawn, self._mix)
            self._left = np.concatenate([self._left, drawn])
        taken, self._left = self._left[:count], self._left[count:]
        return taken


class Mix(NamedTuple):
    """Sizes by number, as they are drawn.

    Attributes:
        size_bytes: (n,)
        bounds: (n,) Below which number a size ends; it begins where the one ahead of it does.
        guide: The first size that can be meant, by what is left of a number,
        shift: shifted right so far.
    """

    size_bytes: arrays.Sizes
    bounds: Whole
    guide: Whole
    shift: int


def _mix(sizes: Sizes) -> Mix:
    bounds = np.cumsum(np.array(sizes.weights, np.int64))
    shift = max(0, int(bounds[-1] - 1).bit_length() - GUIDE_BITS)
    starts = np.arange((int(bounds[-1] - 1) >> shift) + 1) << shift
    guide = np.searchsorted(bounds, starts, "right").astype(np.int64)
    return Mix(np.array(sizes.size_bytes, np.int32), bounds, guide, shift)


@kernel
def _look_up(numbers: arrays.Sizes, mix: Mix) -> None:
    """Write over each number the size that it stands for: the guide is at most a few steps off."""
    size_bytes, bounds, guide, shift = mix
    for i in range(len(numbers)):
        k = guide[numbers[i] >> shift]
        while bounds[k] <= numbers[i]:
            k += 1
        numbers[i] = size_bytes[k]
