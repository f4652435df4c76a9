"""How fairly the members of a group share what arrives."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Metric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.engine.measure.tally import Tally


@metric(
    source="Jain, Chiu, Hawe, DEC-TR-301 (1984): a quantitative measure of fairness",
    aliases=("jain_fairness",),
    carries=("cell", "packet", "frame"),
)
class FairnessIndex(Metric):
    """Compare the throughputs x of a flow's members: the square of their sum, over n sums of x².

    It is 1 if all are equal and 1/n if one gets everything. Members are those of a flow between
    arrays; for a single flow, or for one member, its connections. Cells or packets that arrive
    within the window count, whatever their size.
    """

    dimension = "ratio"
    better = "more"
    least = 0
    most = 1
    fall_per_loss = Fraction(1)
    """Of equal members x at most 1 it is at least their mean: no x is less than its square."""
    needs = frozenset({"shares"})

    def measure(self, tally: Tally, _statistic: str = "") -> Fraction | None:
        """Return a ratio; None if nothing arrived in the window."""
        return compute_index(tally.shares)


@metric(source="Jain, Chiu, Hawe, DEC-TR-301 (1984), of losses", carries=("frame",))
class LossFairnessIndex(Metric):
    """Compare the ratios that a flow's members lose of what they send, as `fairness_index` does."""

    dimension = "ratio"
    better = "more"
    least = 0
    most = 1
    needs = frozenset({"shares"})

    def measure(self, tally: Tally, _statistic: str = "") -> Fraction | None:
        """Return a ratio; None if nothing was lost."""
        return compute_index([Fraction(lost, sent) for sent, lost in tally.fates if sent])


def compute_index(shares: Sequence[Fraction | int]) -> Fraction | None:
    """Return Jain's index; None if all are 0."""
    squares = len(shares) * sum(share**2 for share in shares)
    return Fraction(sum(shares) ** 2) / squares if squares else None
