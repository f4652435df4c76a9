"""The cell transfer delay."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.catalogue.statistics import offers, parse_cells
from qospec.engine.measure.metric import Metric
from qospec.engine.measure.tally import read_places

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Tally


@metric(
    source="ITU-T I.356, 6.5 (cell transfer delay)",
    aliases=("delay", "ctd"),
    carries=("cell", "packet", "frame"),
)
class TransferDelay(Metric):
    """Measure from the first bit that leaves the source to the last bit that arrives, in ps.

    `mean`, `min`, `max` and `std` are exact; `std` is that of the population, not of a sample, and
    rounded down to 1/n ps. A quantile `pN` is the smallest delay that N % of the cells or packets
    do not exceed, from a histogram, with an error of up to 0.1 %; `p99_9` is that of 99.9 %. None
    exceeds `bound`, which is not measured but proved by network calculus, if it can be. Of cells in
    frames, `cell_1` is the mean of the first of each frame, `cells_2_191` that of the others, up to
    the 191st; `received` has the numbers of these.
    """

    dimension = "time"
    noun = "delays"
    least = 0
    packet_statistics = ("mean", "min", "max", "std", "p*", "bound")
    statistics = (*packet_statistics, "cell_*")
    series = ("mean", "min", "max")
    needs = frozenset({"histogram"})

    def measure(self, tally: Tally, statistic: str) -> Fraction | int | None:
        """Return ps; None if no cell arrived, or for a quantile if no histogram was kept."""
        if not offers(self.statistics, statistic):
            raise ValueError(f"transfer_delay has no statistic `{statistic}`")
        if statistic == "bound":
            return tally.delay_bound_ps
        places = parse_cells(statistic)
        if places is not None:
            count, sum_ps = read_places(tally.positions, places)
            return Fraction(sum_ps, count) if count else None
        return tally.delays.read(statistic)
