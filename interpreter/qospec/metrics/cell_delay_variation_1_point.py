"""The cell delay variation at one point, against the contract's peak cell rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Metric

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Tally


@metric(
    source="ITU-T I.356, 6.5.2 (1-point cell delay variation)",
    name="cell_delay_variation_1_point",
    aliases=("cdv_1pt",),
    carries=("cell",),
)
class CellDelayVariation1Point(Metric):
    """Compare the arrivals of each VC with a clock at its peak cell rate 1/T, in ps.

    y_k = c_k - a_k for the k-th arrival a_k, where c_0 = a_0 and c_(k+1) = c_k + T if c_k >= a_k,
    else a_k + T. A positive value is a cell that arrived early, in a clump; a negative one, after a
    gap. `max` is the worst clumping of any VC, `min` the widest gap. Only user cells are measured;
    y is rounded down to a whole ps.
    """

    dimension = "time"
    statistics = ("max", "min")
    needs = frozenset({"one_point_variation"})

    def measure(self, tally: Tally, statistic: str) -> int | None:
        """Return ps; None if no cell arrived, or they were not tracked."""
        if statistic == "max":
            return tally.one_point_variation_max_ps
        if statistic == "min":
            return tally.one_point_variation_min_ps
        raise ValueError(f"cell_delay_variation_1_point has no statistic `{statistic}`")
