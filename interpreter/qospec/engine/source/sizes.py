"""The sizes of the items of a source: all equal, in an order, or drawn from a mix."""

from __future__ import annotations

import functools
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from qospec.dataclass import NamedTuple, dataclass
from qospec.engine.arrays import np
from qospec.engine.kernel import kernel
from qospec.protocol.atm import CELL_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

    from qospec.engine import arrays
    from qospec.engine.arrays import Indices, Rows, Whole
    from qospec.engine.random import Draws
    from qospec.protocol.encapsulation import Encapsulation

Number = TypeVar("Number", bound=Any)

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
        order: The size of each item, as int32, in place of that order, where there are many: then
            sizes are ascending, and weights as if they were drawn.
    """

    size_bytes: tuple[int, ...]
    weights: tuple[int, ...] = (1,)
    in_order: bool = False
    order: bytes = field(default=b"", repr=False)

    @property
    def alike(self) -> bool:
        """Return whether all items have one size."""
        return len(set(self.size_bytes)) == 1

    def compute_mean(self, length: Callable[[int], int]) -> Fraction:
        """Return the mean of a length that depends on the size."""
        pairs = zip(self.size_bytes, self.weights, strict=True)
        return Fraction(sum(length(size) * weight for size, weight in pairs), sum(self.weights))

    def start(self, connections: int, draws: Draws) -> Drawn | Repeated[np.int32]:
        """Return the state at the beginning of a trial, for a source of `connections`."""
        once = np.array(self.size_bytes, np.int32)
        if self.alike:
            return Repeated(once[:1], 1)
        if not self.in_order:
            return Drawn(self, draws)
        listed = np.frombuffer(self.order, np.int32) if self.order else once.repeat(self.weights)
        return Repeated(listed, connections)


@functools.cache
def compute_mean_bytes(
    sizes: Sizes, link: Encapsulation, layer: str, transport_bytes: int
) -> Fraction:
    """Return the mean length of packets of these sizes in a layer of a link."""
    # Cached: the cases of a sweep use the same few means, of mixes of up to hundreds of sizes.
    return sizes.compute_mean(lambda packet: link.count_layer_bytes(packet, layer, transport_bytes))


CELLS = Sizes((CELL_BYTES,))


class Drawn:
    """Sizes of the items of one source that are drawn, in the order in which they are ready."""

    __slots__ = ("_mix", "_remaining", "_stream")

    def __init__(self, sizes: Sizes, draws: Draws) -> None:
        self._mix = _mix(sizes)
        self._remaining: arrays.Sizes = np.empty(0, np.int32)
        self._stream: Generator = draws.derive("sizes").open_stream()

    def take_next(self, connection: Indices) -> arrays.Sizes:
        """Return the sizes of the next items of the source; see `Repeated.take_next`."""
        count = len(connection)
        missing = count - len(self._remaining)
        if missing > 0:
            done, more = len(self._remaining), -(-missing // BLOCK) * BLOCK
            drawn = self._stream.integers(0, self._mix.bounds[-1], more, np.int32)
            found = np.empty(done + more, np.int32)
            found[:done] = self._remaining
            _look_up(drawn, self._mix, found[done:])
            self._remaining = found
        taken, self._remaining = self._remaining[:count], self._remaining[count:]
        return taken


class Repeated(Generic[Number]):
    """Sizes or marks of the items of one source that repeat in an order."""

    __slots__ = ("_length", "_position", "_repeated")

    def __init__(self, once: NDArray[Number], connections: int) -> None:
        self._repeated = once
        self._length = len(once)
        self._position = np.zeros(connections, np.int64)

    def take_next(self, connection: Indices) -> NDArray[Number]:
        """Return those of the next items, which are shared: do not change them.

        Args:
            connection: (n,) The connection of each, from 0 within the source.
        """
        count = len(connection)
        if len(self._position) > 1:
            found = np.empty(count, self._repeated.dtype)
            _take_next(connection.view(np.uint32), self._repeated, self._position, found)
            return found
        first = int(self._position[0])
        end = first + count
        if end > len(self._repeated):
            # Some more, since windows hold more or fewer by a few items.
            enough = -(-(end + count // 8) // self._length)
            self._repeated = np.tile(self._repeated[: self._length], enough)
        self._position[0] = end % self._length
        return self._repeated[first:end]


@kernel
def _take_next(connection: Rows, once: Any, at: Whole, found: Any) -> None:
    """Write what is next of each item, in the order of its connection."""
    for i in range(len(connection)):
        turn = at[connection[i]]
        found[i] = once[turn]
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
def _look_up(numbers: arrays.Sizes, mix: Mix, found: arrays.Sizes) -> None:
    """Write the size of each number; the guide is at most a few steps off."""
    size_bytes, bounds, guide, shift = mix
    for i in range(len(numbers)):
        k = guide[numbers[i] >> shift]
        while bounds[k] <= numbers[i]:
            k += 1
        found[i] = size_bytes[k]
