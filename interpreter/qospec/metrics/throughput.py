"""The rate of cells or packets that arrive."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Metric
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Tally


@metric(
    source="RFC 2285, 3.6.1 (forwarding rate) and RFC 1242, 3.17 (throughput), of packets; of cells"
    " likewise",
    carries=("cell", "packet", "frame"),
)
class Throughput(Metric):
    """Divide the cells or packets that arrived in the window by its length, in cell/s or pkt/s.

    Items count when they arrive, not when they are sent, so it never exceeds what the line carries.
    At a place inside the network they count when they pass it.
    In RFC 1242 throughput is the highest such rate without loss, which a search finds.
    """

    dimension = "cell rate"
    measured_at = ("flow", "place")
    better = "more"
    least = 0
    delivered = True
    series = ("",)

    def measure(self, tally: Tally, _statistic: str = "") -> Fraction | None:
        """Return cells or packets per second; None if the window has no length."""
        return Fraction(tally.carried * PS_PER_S, tally.window_ps) if tally.window_ps else None
