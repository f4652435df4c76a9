"""The rate of cells that arrive."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue import metric

if TYPE_CHECKING:
    from qospec.engine.tally import Tally

PS_PER_S = 10**12


@metric(source="RFC 1242, 3.17, in cells instead of frames")
class Throughput:
    """Divide the cells received by the length of the window, in cells/s.

    They are the cells sent within the window, so the rate is that of which the device carried, in
    the same time, what it was sent. RFC 1242 means by this word the highest such rate without loss;
    that one is found by a search.
    """

    dimension = "cell rate"
    statistics: tuple[str, ...] = ()
    exact = False
    needs: frozenset[str] = frozenset()

    def measure(self, tally: Tally, _statistic: str = "") -> Fraction | None:
        """Return cells/s; None if the window has no length."""
        return Fraction(tally.received * PS_PER_S, tally.window_ps) if tally.window_ps else None
