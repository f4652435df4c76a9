"""The cell delay variation between two points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.catalogue.statistics import offers
from qospec.engine.measure.metric import Metric

if TYPE_CHECKING:
    from fractions import Fraction

    from qospec.engine.measure.tally import Delays, Tally


@metric(
    source="ITU-T I.356, 6.5.2 (2-point cell delay variation)",
    name="cell_delay_variation_2_point",
    aliases=("cdv_2pt",),
    carries=("cell",),
)
class CellDelayVariation2Point(Metric):
    """Measure by how much delays exceed the smallest delay of the population, in ps.

    v_k = x_k - d, where x_k is the transfer delay of cell k and the reference d is the smallest of
    all. `max` is peak to peak; `mean` is exact; quantiles `pN` come from a histogram of the delays,
    with an error of up to 0.1 % of the delay.
    """

    dimension = "time"
    least = 0
    statistics = ("max", "mean", "p*")
    needs = frozenset({"histogram"})

    def select_delays(self, tally: Tally) -> Delays:
        return tally.delays.reduce(tally.delays.min_ps or 0)

    def measure(self, tally: Tally, statistic: str) -> Fraction | int | None:
        """Return ps; None if no cell arrived, or for a quantile if no histogram was kept."""
        if not offers(self.statistics, statistic):
            raise ValueError(f"cell_delay_variation_2_point has no statistic `{statistic}`")
        delay_ps, least_ps = tally.delays.read(statistic), tally.delays.min_ps
        return None if delay_ps is None or least_ps is None else delay_ps - least_ps
