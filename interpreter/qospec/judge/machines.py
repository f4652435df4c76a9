"""What is observed of machines: counters, counts, and the stays in their states."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.statistics import parse_share, parse_stay_number
from qospec.engine.machine.stays import GOES_ON, Stays, list_intervals
from qospec.engine.measure.tally import Delays
from qospec.units import PS_PER_S, TIME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.catalogue.machine import Counts
    from qospec.engine.experiment import MeasurementSpec
    from qospec.units import Dimension


def read_machine(asked: str, counts: Counts, dimension: Dimension) -> Fraction | None:
    """Return a counter of a machine, a count, or what is observed of one of its states.

    None for a moment that never came, and for a statistic of stays of which none has ended.
    """
    what, _, name = asked.partition(".")
    if what == "counter":
        return Fraction(counts.counters[name], PS_PER_S if dimension == TIME else 1)
    if what != "state":
        return Fraction(getattr(counts, what))
    name, _, observed = name.partition(".")
    state = counts.states[name]
    counted = {"count": state.instances, "most": state.most, "entered": state.entered}
    if observed in counted:
        return Fraction(counted[observed])
    moments = {"first_entered": state.first_ps, "last_entered": state.last_ps}
    if observed in moments:
        return Fraction(moments[observed], PS_PER_S) if state.entered else None
    return _compute_of_stays(counts, name, observed.removeprefix("time."))


def _compute_of_stays(counts: Counts, name: str, statistic: str) -> Fraction | None:
    """Return a statistic of how long stays in a state lasted, or that of one of them."""
    state, number = counts.states[name], parse_stay_number(statistic)
    if number is None and parse_share(statistic) is None:
        summed: dict[str, Fraction | int] = {
            "min": state.shortest_ps,
            "mean": Fraction(state.sum_ps, state.stays or 1),
            "max": state.longest_ps,
        }
        return Fraction(summed[statistic], PS_PER_S) if state.stays else None
    lengths_ps = _list_stays(counts, name).in_order_ps
    if number is not None:
        lengths_ps, statistic = lengths_ps[number - 1 : number], "max"
    return _compute_of_lengths([ps for ps in lengths_ps if ps != GOES_ON], statistic)


def read_machine_series(
    asked: str, counts: Counts, measurement: MeasurementSpec, every_ps: int
) -> list[Fraction | None]:
    """Return in each interval what is observed of a state.

    That is `count` at its end, `entered` and `most` within it, and the `time` of stays that end
    within it; None where none does.
    """
    name, _, observed = asked.removeprefix("state.").partition(".")
    stays = _list_stays(counts, name)
    window = measurement.start_ps, measurement.stop_ps
    found: list[Fraction | None] = []
    for start_ps, stop_ps in list_intervals(*window, every_ps):
        if observed == "count":
            found.append(Fraction(stays.count_at(stop_ps)))
        elif observed == "most":
            found.append(Fraction(stays.count_most(start_ps, stop_ps)))
        elif observed == "entered":
            found.append(Fraction(stays.count_entered(start_ps, stop_ps)))
        else:
            ended_ps = stays.list_ended_ps(start_ps, stop_ps)
            found.append(_compute_of_lengths(ended_ps, observed.removeprefix("time.")))
    return found


def collect_stays(state: str, counts: Counts) -> Delays:
    """Return how long the stays in a state lasted that have ended, of which there is a log."""
    times = Counter(ps for ps in _list_stays(counts, state).in_order_ps if ps != GOES_ON)
    return Delays(
        times.total(),
        sum(ps * many for ps, many in times.items()),
        sum(ps * ps * many for ps, many in times.items()),
        min(times, default=None),
        max(times, default=None),
        tuple((ps, ps + 1, times[ps]) for ps in sorted(times)),
    )


def _list_stays(counts: Counts, state: str) -> Stays:
    return Stays(counts.log, list(counts.states).index(state))


def _compute_of_lengths(lengths_ps: Sequence[int], statistic: str) -> Fraction | None:
    """Return a statistic of some lengths, a quantile as the least that so many do not exceed."""
    if not lengths_ps:
        return None
    if statistic == "mean":
        return Fraction(sum(lengths_ps), len(lengths_ps) * PS_PER_S)
    share = {"min": Fraction(0), "max": Fraction(1)}.get(statistic) or parse_share(statistic)
    rank = -(-(share or 0) * len(lengths_ps) // 1)
    return Fraction(sorted(lengths_ps)[max(rank, 1) - 1], PS_PER_S)
