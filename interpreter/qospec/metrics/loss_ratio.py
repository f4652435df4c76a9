"""The share of packets that are lost."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Counting, Metric

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Tally


@metric(
    source="RFC 2544, 26.3 (frame loss rate); ITU-T Y.1540, 6 (IP packet loss ratio)",
    aliases=("loss", "frame_loss_ratio"),
    carries=("packet", "frame"),
)
class LossRatio(Metric):
    """Divide the packets lost by the packets sent, of those sent within the window.

    Of frames of cells likewise: one is lost if one of its cells is, or comes out of order. Of cells
    it is the `cell_loss_ratio`.
    """

    dimension = "ratio"
    counting = Counting("lost", "sent")
    least = 0
    most = 1
    series = ("",)

    def measure(self, tally: Tally, _statistic: str = "") -> Fraction | None:
        """Return a ratio; None if no packet was sent."""
        return Fraction(tally.lost_count, tally.sent) if tally.sent else None
