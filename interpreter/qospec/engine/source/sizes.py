"""The sizes of the items of a source: all equal, in an order, or drawn from a mix."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple, dataclass
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
"""Sizes are drawn in blocks of this size, so that the size of time steps changes nothing."""
LARGEST_WEIGHT = 2**31
GUIDE_BITS = 12
"""The number of entries of the guide, as a power of two: it stays in the first-level cache."""


@dataclass(frozen=True)
class Sizes:
    """Sizes in bytes, each with its number of items.

    Attributes:
        size_bytes: Ascending; in order of sending, possibly with repetitions, if `in_order`.
        weights: One per size, at least 1. If `in_order`, the number of items in a row.
        in_order: Whether nothing is drawn: the items of a connection repeat the sizes in this
            order.
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
        """Return the state at the beginning of a trial, for a source of `connections`."""
        ordered = self.alike or self.in_order
        return Repeated(self, connections) if ordered else Drawn(self, draws)


@functools.cache
def compute_mean_bytes(
    sizes: Sizes, link: Encapsulation, layer: str, transport_bytes: int
) -> Fraction:
    """Return the mean length of packets of these sizes in a layer of a link."""
    # Cached: the cases of a sweep use the same few means, of mixes of up to hundreds of sizes.
    return sizes.mean_of(lambda packet: link.counted(packet, layer, transport_bytes))


CELLS = Sizes((CELL_BYTES,))


class Drawn:
    """Sizes of the items of one source that are drawn, in the order in which they are ready."""

    __slots__ = ("_mix", "_remaining", "_stream")

    def __init__(self, sizes: Sizes, draws: Draws) -> None:
        self._mix = _mix(sizes)
        self._remaining: arrays.Sizes = np.empty(0, np.int32)
        self._stream: Generator = draws.below("sizes").stream()

    def next(self, connection: Indices) -> arrays.Sizes:
        """Return the sizes of the next items of the source; see `Repeated.next`."""
        count = len(connection)
        missing = count - len(self._remaining)
        if missing > 0:
            blocks = -(-missing // BLOCK)
            drawn = self._stream.integers(0, self._mix.bounds[-1], blocks * BLOCK, np.int32)
            _look_up(drawn, self._mix)
            self._remaining = np.concatenate([self._remaining, drawn])
        taken, self._remaining = self._remaining[:count], self._remaining[count:]
        return taken


class Repeated:
    """Sizes of the items of one source that repeat in an order."""

    __slots__ = ("_length", "_position", "_repeated")

    def __init__(self, sizes: Sizes, connections: int) -> None:
        once = np.array(sizes.size_bytes, np.int32)
        self._repeated: arrays.Sizes = once[:1] if sizes.alike else np.repeat(once, sizes.weights)
        self._length = len(self._repeated)
        self._position = np.zeros(1 if sizes.alike else connections, np.int64)

    def next(self, connection: Indices) -> arrays.Sizes:
        """Return the sizes of the next items, which are shared: do not change them.

        Args:
            connection: (n,) The connection of each, from 0 within the source.
        """
        count = len(connection)
        if len(self._position) > 1:
            sizes = np.empty(count, np.int32)
            _next_sizes(connection.view(np.uint32), self._repeated, self._position, sizes)
            return sizes
        first = int(self._position[0])
        end = first + count
        if end > len(self._repeated):
            self._repeated = np.tile(self._repeated[: self._length], -(-end // self._length))
        self._position[0] = end % self._length
        return self._repeated[first:end]


@kernel
def _next_sizes(connection: Rows, once: arrays.Sizes, at: Whole, sizes: arrays.Sizes) -> None:
    """Write the size of each item: the next one in the order of its connection."""
    for i in range(len(connection)):
        turn = at[connection[i]]
        sizes[i] = once[turn]
        at[connection[i]] = turn + 1 if turn + 1 < len(once) else 0


class Mix(NamedTuple):
    """Sizes by random number.

    Attributes:
        size_bytes: (n,) The sizes.
        bounds: (n,) The number at which the range of each size ends, exclusive.
        guide: By the upper bits of a number, the first size whose range it can be in.
        shift: The number of lower bits that are dropped for this.
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
    """Replace each number by its size; the guide is at most a few steps off."""
    size_bytes, bounds, guide, shift = mix
    for i in range(len(numbers)):
        k = guide[numbers[i] >> shift]
        while bounds[k] <= numbers[i]:
            k += 1
        numbers[i] = size_bytes[k]
