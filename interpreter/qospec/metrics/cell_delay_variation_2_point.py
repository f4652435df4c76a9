"""The cell delay variation between two points."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue import metric
from qospec.engine.tally import share_of

if TYPE_CHECKING:
    from qospec.engine.tally import Delays, Tally


@metric(
    source="ITU-T I.356, 6 (2-point cell delay variation)",
    name="cell_delay_variation_2_point",
    aliases=("cdv_2pt",),
    carries=("cell",),
)
class CellDelayVariation2Point:
    """Measure by how much delays exceed the least delay of the population, in ps.

    v_k = x_k - d, where x_k is the transfer delay of cell k; the reference d is the least of them.
    `max` is peak to peak; `mean` is exact; quantiles `pN` come from a histogram of the delays, so
    they are off by up to 0.1 % of the delay.
    """

    dimension = "time"
    least = 0
    statistics: tuple[str, ...] = ("max", "mean", "p*")
    exact = False
    needs: frozenset[str] = frozenset({"histogram"})

    def measure(self, tally: Tally, statistic: str) -> Fraction | int | None:
        """Return ps; None if no cell arrived, or for a quantile if no histogram was kept."""
        share = share_of(statistic)
        if share is None and statistic not in self.statistics[:2]:
            raise ValueError(f"cell_delay_variation_2_point has no statistic `{statistic}`")
        delays = tally.delays
        if delays.min_ps is None:
            return None
        delay_ps = _delay_ps(delays, statistic, share)
        return None if delay_ps is None else delay_ps - delays.min_ps


def _delay_ps(delays: Delays, statistic: str, share: Fraction | None) -> Fraction | int | None:
    if share is not None:
        return delays.quantile_ps(share)
    return Fraction(delays.sum_ps, delays.count) if statistic == "mean" else delays.max_ps
