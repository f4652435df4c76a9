"""The cell loss ratio."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Counting, Metric

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Tally


@metric(source="ITU-T I.356, 6.2 (cell loss ratio)", aliases=("clr",), carries=("cell",))
class CellLossRatio(Metric):
    """Divide the cells lost by the cells sent, of those sent within the window.

    Not modelled: I.356 excludes cells in severely errored cell blocks; no cell is errored here.
    """

    dimension = "ratio"
    counting = Counting("lost", "sent")
    least = 0
    most = 1
    series = ("",)

    def measure(self, tally: Tally, _statistic: str = "") -> Fraction | None:
        """Return a ratio; None if no cell was sent."""
        return Fraction(tally.lost_count, tally.sent) if tally.sent else None
