"""How much those members of a group lose that lose most and least."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Metric, compute_statistic

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Tally


@metric(
    source="ATM Forum/97-0178 (1997), 4: the greatest and the least loss of frames by source",
    carries=("cell", "packet", "frame"),
)
class MemberLossRatio(Metric):
    """Divide what each member loses by what it sends, of what is sent within the window.

    Members are those of a flow between arrays; for a single flow, or for one member, its
    connections. A member that sends nothing is left out.
    """

    dimension = "ratio"
    statistics = ("min", "mean", "max")
    least = 0
    most = 1
    needs = frozenset({"shares"})

    def measure(self, tally: Tally, statistic: str) -> Fraction | None:
        """Return a ratio, `mean` of all members alike; None if none sent anything."""
        if statistic not in self.statistics:
            raise ValueError(f"losses of members have no statistic `{statistic}`")
        return compute_statistic(
            [Fraction(lost, sent) for sent, lost in tally.fates if sent], statistic
        )
