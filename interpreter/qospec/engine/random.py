"""Random numbers from named streams, times of one distribution, and numbers drawn by kernels.

The key of a stream is a hash of the root seed and the names of its user, so adding a flow or an
element never changes the numbers of another. Philox is counter-based; its bits are the same on all
machines. Times are drawn in blocks. A kernel that needs few numbers, and not one for each item,
draws them itself: the n-th of a key, whenever it is needed.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from numpy.random import Generator

    from qospec.engine.arrays import Whole


@dataclass(frozen=True)
class Draws:
    """The streams below one name, such as (seed, case, repeat).

    Attributes:
        path: The name.
        opened: The names of all streams that were opened below the same seed.
    """

    path: tuple[str, ...]
    opened: set[bytes] = field(default_factory=set, compare=False)

    def derive(self, *names: str) -> Draws:
        """Return the streams below further names."""
        return Draws((*self.path, *names), self.opened)

    def open_stream(self) -> Generator:
        """Return the stream of this name, at its beginning."""
        # Imported here, as checking reads the classes that draw but draws nothing.
        import hashlib

        name = "\x1f".join(self.path).encode()
        self.opened.add(name)
        key = int.from_bytes(hashlib.blake2b(name, digest_size=16).digest(), "little")
        return np.random.Generator(np.random.Philox(key=key))


LATEST_PS = 2**62
"""The limit of drawn times, which is after the end of any trial."""
NEVER = 1e300
"""The mean time to an event that never happens."""


class DrawnTimes:
    """Times of one distribution, drawn in blocks and limited to int64."""

    __slots__ = ("_mean_ps", "_stream")

    def __init__(self, mean_ps: float, draws: Draws | None) -> None:
        self._mean_ps = mean_ps
        self._stream: Generator | None = None if draws is None else draws.open_stream()

    def draw(self, times_ps: Whole) -> None:
        """Write the next times: constant, or exponential and rounded down to whole ps."""
        if self._stream is None:
            times_ps[:] = int(self._mean_ps)
        else:
            exact = self._stream.exponential(self._mean_ps, len(times_ps))
            times_ps[:] = np.minimum(exact, float(LATEST_PS)).astype(np.int64)


WORD = 32
"""The bits of a word of Threefry-2x32."""
_MASK = (1 << WORD) - 1
_ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)
_PARITY = 0x1BD11BDA


@kernel
def draw_threefry(key: tuple[int, int], counter: int) -> tuple[int, int]:
    """Return two random words: those of a key with that number, which is not negative.

    Threefry-2x32 with 20 rounds adds, rotates and xors words, so in int64 nothing overflows.
    Source: Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (SC 2011).
    """
    keys = (key[0], key[1], _PARITY ^ key[0] ^ key[1])
    first, second = (counter + keys[0]) & _MASK, ((counter >> WORD) + keys[1]) & _MASK
    for number in range(20):
        first = (first + second) & _MASK
        turn = _ROTATIONS[number & 7]
        second = ((second << turn | second >> (WORD - turn)) & _MASK) ^ first
        if number & 3 == 3:  # noqa: PLR2004  every fourth round
            group = (number + 1) >> 2
            first = (first + keys[group % 3]) & _MASK
            second = (second + keys[(group + 1) % 3] + group) & _MASK
    return first, second
