"""Times of one law, drawn by the block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.arrays import np

if TYPE_CHECKING:
    from numpy.random import Generator

    from qospec.engine.arrays import Whole
    from qospec.engine.draws import Draws

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
