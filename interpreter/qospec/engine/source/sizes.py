"""The sizes of a source's items: all the same, in an order, or drawn from a mix."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.kernel import kernel
from qospec.protocol.atm import CELL_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from qospec.engine import arrays
    from qospec.engine.arrays import Indices, Rows, Whole
    from qospec.engine.random import Draws
    from qospec.protocol.encapsulation import Encapsulation

BLOCK = 4_096
"""So many sizes are drawn at a time, however time is cut: chunks change nothing."""
LARGEST_WEIGHT = 2**31
GUIDE_BITS = 12
"""A guide to the sizes has so many entries, as a power of two: it stays in the first cache."""


@dataclass(frozen=True)
class Sizes:
    """Sizes in bytes, each with the number of items of that size among all.

    Attributes:
        size_bytes: Rising; as they come, and maybe again, if `in_order`.
        weights: As many, each at least 1. If `in_order`, so many come in a row.
        in_order: Whether nothing is drawn: the sizes of a connection's items come in this order,
            again and again.
    """

    size_bytes: tuple[int, ...]
    weights: tuple[int, ...] = (1,)
    in_order: bool = False

    @property
    def alike(self) -> bool:
        """Return whether all items have one size."""
        return len(set(self.size_bytes)) == 1

    def mean_of(self, length: Callable[[int], int]) -> Fraction:
        """Return the mean of a length that depends on the size."""
        pairs = zip(self.size_bytes, self.weights, strict=True)
        return Fraction(sum(length(size) * weight for size, weight in pairs), sum(self.weights))

    def start(self, connections: int, draws: Draws) -> Drawn | Repeated:
        """Return its state at the beginning of a trial, for a source of so many connections."""
        ordered = self.alike or self.in_order
        return Repeated(self, connections) if ordered else Drawn(self, draws)


@functools.cache
def mean_bytes(sizes: Sizes, link: Encapsulation, layer: str, transport_bytes: int) -> Fraction:
    """Return the mean length of packets of these sizes in a layer of a link."""
    # Cached: the cases of a sweep ask for the same few means, of mixes of up to hundreds of sizes.
    return sizes.mean_of(lambda packet: link.counted(packet, layer, transport_bytes))


CELLS = Sizes((CELL_BYTES,))


class Drawn:
    """The sizes of the items of one source as they are drawn: in the order of being ready."""

    __slots__ = ("_left", "_mix", "_stream")

    def __init__(self, sizes: Sizes, draws: Draws) -> None:
        self._mix = _mix(sizes)
        self._left: arrays.Sizes = np.empty(0, np.int32)
        self._stream: Generator = draws.below("sizes").stream()

    def next(self, connection: Indices) -> arrays.Sizes:
        """Return the sizes of the next items of the source; see `Repeated.next`."""
        count = len(connection)
        missing = count - len(self._left)
        if missing > 0:
            blocks = -(-missing // BLOCK)
            drawn = self._stream.integers(0, self._mix.bounds[-1], blocks * BLOCK, np.int32)
            _look_up(drawn, self._mix)
            self._left = np.concatenate([self._left, drawn])
        taken, self._left = self._left[:count], self._left[count:]
        return taken


class Repeated:
    """The sizes of the items of one source that come in an order, again and again."""

    __slots__ = ("_at", "_length", "_rounds")

    def __init__(self, sizes: Sizes, connections: int) -> None:
        once = np.array(sizes.size_bytes, np.int32)
        self._rounds: arrays.Sizes = once[:1] if sizes.alike else np.repeat(once, sizes.weights)
        self._length = len(self._rounds)
        self._at = np.zeros(1 if sizes.alike else connections, np.int64)

    def next(self, connection: Indices) -> arrays.Sizes:
        """Return the sizes of the next items; they are shared, and not to be changed.

        Args:
            connection: (n,) Whose each of them is; the source's first is 0.
        """
        count = len(connection)
        if len(self._at) > 1:
            sizes = np.empty(count, np.int32)
            _take_turns(connection.view(np.uint32), self._rounds, self._at, sizes)
            return sizes
        first = int(self._at[0])
        end = first + count
        if end > len(self._rounds):
            self._rounds = np.tile(self._rounds[: self._length], -(-end // self._length))
        self._at[0] = end % self._length
        return self._rounds[first:end]


@kernel
def _take_turns(connection: Rows, once: arrays.Sizes, at: Whole, sizes: arrays.Sizes) -> None:
    """Write the size of each item: of the sizes in their order, that which its connection is at."""
    for i in range(len(connection)):
        turn = at[connection[i]]
        sizes[i] = once[turn]
        at[connection[i]] = turn + 1 if turn + 1 < len(once) else 0


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
