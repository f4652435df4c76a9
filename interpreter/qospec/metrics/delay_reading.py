"""The transfer delay as the tester reads it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.catalogue.statistics import offers, parse_cells
from qospec.engine.measure.metric import Metric
from qospec.engine.measure.tally import read_places

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Delays, Tally


@metric(
    source="Babic, Durresi, Jain, ATM Forum/97-0178 (1997), 1.1 (resolution and overhead)",
    carries=("cell", "packet", "frame"),
)
class DelayReading(Metric):
    """Read the transfer delay by the clock of the host where cells or packets arrive, in ps.

    The clock has a tick in each `resolution` of the host, and shows the last one: a reading is the
    time of arrival with the host's `overhead`, less the time of sending, each rounded down to a
    tick. So each is a whole number of ticks. If nothing keeps step with the ticks, their mean is
    that of the delays, and the overhead. An overhead below 0 is that of a clock that starts late; a
    reading is never below 0. Statistics are those of `transfer_delay`, without `bound`.
    """

    dimension = "time"
    noun = "delays"
    least = 0
    packet_statistics = ("mean", "min", "max", "std", "p*")
    statistics = (*packet_statistics, "cell_*")
    needs = frozenset({"readings"})

    def select_delays(self, tally: Tally) -> Delays | None:
        return tally.readings

    def measure(self, tally: Tally, statistic: str) -> Fraction | int | None:
        """Return ps; None if nothing arrived, or the readings were not recorded."""
        if not offers(self.statistics, statistic):
            raise ValueError(f"delay_reading has no statistic `{statistic}`")
        places = parse_cells(statistic)
        if places is not None:
            count, sum_ps = read_places(tally.position_readings, places)
            return Fraction(sum_ps, count) if count else None
        return None if tally.readings is None else tally.readings.read(statistic)
