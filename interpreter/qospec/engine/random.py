"""Random numbers, each from a stream of its own that is named, not numbered; and times of one law.

A stream's key is a hash of the root seed and of the names of what draws from it, so another flow or
element never moves the numbers of this one. Philox counts; its bits are the same everywhere. Times
are drawn by the block.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.engine.arrays import np

if TYPE_CHECKING:
    from numpy.random import Generator

    from qospec.engine.arrays import Whole


@dataclass(frozen=True)
class Draws:
    """The streams below one name, such as (seed, case, repeat).

    Attributes:
        path: The name.
        asked: The names of the streams that were asked for, of all that are below the same seed.
    """

    path: tuple[str, ...]
    asked: set[bytes] = field(default_factory=set, compare=False)

    def below(self, *names: str) -> Draws:
        """Return the streams of something within."""
        return Draws((*self.path, *names), self.asked)

    def stream(self) -> Generator:
        """Return the stream of this name, at its beginning."""
        # Checking reads the classes that draw, and draws nothing: it need not load this.
        import hashlib

        name = "\x1f".join(self.path).encode()
        self.asked.add(name)
        key = int.from_bytes(hashlib.blake2b(name, digest_size=16).digest(), "little")
        return np.random.Generator(np.random.Philox(key=key))


LATEST_PS = 2**62
"""What is drawn is cut to this: it lies behind the end of any trial."""
NEVER = 1e300
"""The mean time to what does not happen."""


class DrawnTimes:
    """Times of one law, drawn by the block; cut to what int64 holds."""

    __slots__ = ("_mean_ps", "_stream")

    def __init__(self, mean_ps: float, draws: Draws | None) -> None:
        self._mean_ps = mean_ps
        self._stream: Generator | None = None if draws is None else draws.stream()

    def draw(self, times_ps: Whole) -> None:
        """Write the next times: all alike, or exponential ones rounded down to whole ps."""
        if self._stream is None:
            times_ps[:] = int(self._mean_ps)
        else:
            exact = self._stream.exponential(self._mean_ps, len(times_ps))
            times_ps[:] = np.minimum(exact, float(LATEST_PS)).astype(np.int64)
