"""Readings: the metrics of what a trial observed, in the units of the language."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from typing import TYPE_CHECKING

from qospec.catalogue.statistics import GOES_ON, PATTERNS, PRECISION, WITHIN, parse_bound
from qospec.check.evaluate.measurements import CAUSES
from qospec.dataclass import NamedTuple, dataclass
from qospec.engine.experiment import Intervals
from qospec.judge.hanging import list_hangs, list_standing
from qospec.judge.machines import collect_stays, read_machine, read_machine_series
from qospec.judge.precision import widen
from qospec.model.expression import (
    Attribute,
    Counted,
    Evaluated,
    Found,
    evaluate,
    list_counted,
    list_measurements,
)
from qospec.protocol.streams import KINDS, name_population
from qospec.units import (
    CELL_RATE,
    CELLS,
    COUNT,
    COUNTED,
    DATA,
    PS_PER_S,
    RATE,
    RATIO,
    TIME,
    format_value,
    to_seconds,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qospec.catalogue.kinds import Catalogue
    from qospec.catalogue.machine import Counts
    from qospec.engine.measure.ledger import Discipline
    from qospec.engine.measure.metric import Metric
    from qospec.engine.measure.observation import Observation
    from qospec.engine.measure.tally import Delays, Tally
    from qospec.engine.source.launched import ProgramRun
    from qospec.judge.hanging import Hang
    from qospec.model.expression import Expression, Leaf, Measured, Place, Value
    from qospec.plan.plan import Planned
    from qospec.protocol.streams import KindName, Population
    from qospec.units import Dimension

DIMENSIONS: dict[str, tuple[Dimension, int | Fraction]] = {
    "cells": (CELLS, 1),
    "cell rate": (CELL_RATE, 1),
    "rate": (RATE, 1),
    "data": (DATA, Fraction(1, 8)),
    "time": (TIME, 10**12),
    "ratio": (RATIO, 1),
    "count": (COUNT, 1),
}
"""The dimension of a metric by name, with the number of engine units in one of the language."""

OF_MACHINES = "machine."
QUANTILES = PATTERNS["p*"].shown
"""The quantiles that a report shows of every distribution."""


@dataclass(frozen=True)
class Loss:
    """Cells or packets of a population that an element discarded."""

    population: str
    carries: str
    element: str
    cause: str
    cells: int


class FlowCount(NamedTuple):
    """How many items of a flow were sent, or exchanges begun, and how many of these were lost.

    Beside them, how many `copies` of its items arrived; of an exchange there is none.
    """

    population: str
    carries: str
    sent: int
    lost: int
    copies: int = 0

    def add(self, other: FlowCount) -> FlowCount:
        """Return the counts of both together, of the same flow."""
        sums = (a + b for a, b in zip(self[2:], other[2:], strict=True))
        return FlowCount(self.population, self.carries, *sums)


class Bounded(NamedTuple):
    """A delay or a backlog in a trial, and the most that is proved to be possible.

    Attributes:
        what: What it is, in words.
        most: The bound, in base units; None if none is proved.
        measured: The most that was measured; None if nothing was.
        dimension: Of both.
        why: Why there is no bound.
        least: The least delay that was measured, in seconds; None of a backlog.
    """

    what: str
    most: Fraction | None
    measured: Fraction | None
    dimension: Dimension
    why: str = ""
    least: Fraction | None = None


class ConservationError(Exception):
    """More or fewer cells ended than were sent: a bug in the engine, not a fault of a device."""


class BoundError(Exception):
    """More was measured than is proved to be possible: a bug of an element, or of the proof."""


class Readings:
    """What was observed in one trial of each network of a case."""

    def __init__(
        self, catalogue: Catalogue, seen: Mapping[str, tuple[Planned, Observation]]
    ) -> None:
        """Take the plan and the observation of each network, by its name."""
        self._catalogue = catalogue
        self._seen = seen
        self._tallies: dict[str, Tally] = {}
        self._packets: set[str] = set()
        self._wholes: dict[KindName, set[str]] = {}
        self._silent: list[str] = []
        self._told_by: dict[str, str] = {}
        for network, (planned, observation) in seen.items():
            prefix = f"{network}." if network else ""
            if observation.ledger.imbalance:
                raise ConservationError(f"{prefix}{observation.ledger.imbalance}")
            tells = {source.name: source.arrivals.tells for source in planned.experiment.sources}
            for population in planned.populations.values():
                tally = _count_population(population, planned, observation)
                self._tallies[prefix + population.name] = tally
                if population.flow in planned.packets and not KINDS[population.kind].are:
                    self._packets.add(prefix + population.name)
                if KINDS[population.kind].follows == "nothing":
                    self._wholes.setdefault(population.kind, set()).add(prefix + population.name)
                # What no source sends, endpoints do, which tell of connections.
                told_by = tells.get(population.flow, "connections")
                self._told_by[prefix + population.name] = told_by
                if population.member is None and population.kind == "user" and not tally.sent:
                    self._silent.append(prefix + population.name)
            # Bounds are of the model, which neither a kernel nor a device is.
            if observation.is_modelled and not observation.disciplines:
                _check_bounds(prefix, planned, observation, self._tallies)
        for name, tally in self._tallies.items():
            if tally.sent != tally.received + tally.lost_count + tally.consumed:
                ended = f"{tally.received} received, {tally.lost_count} lost"
                ended += f", {tally.consumed} consumed" if tally.consumed else ""
                raise ConservationError(f"{name}: {tally.sent} cells sent, {ended}")

    def read(self, leaf: Leaf) -> Value:
        """Return the value of a measurement, in base units of the language; None without data."""
        if isinstance(leaf, Attribute | Found | Evaluated) or leaf.network not in self._seen:
            return None  # not measured here, or at a point that was not run
        if isinstance(leaf, Counted):
            return self._count(leaf)
        if leaf.statistic.startswith(PRECISION):
            return self._read_precision(leaf)
        if leaf.place is not None:
            return self._measure(leaf.metric, self._tally_passed(leaf, leaf.place), leaf.statistic)
        tally = self._get_tally(leaf)
        if tally is None:  # OAM cells of a network in which nothing makes any
            absent = self._get_metric(leaf.metric).when_absent
            return None if absent is None else Fraction(absent)
        return self._read_flow(leaf, tally)

    def _read_flow(self, leaf: Measured, tally: Tally) -> Value:
        if leaf.statistic == GOES_ON:
            return self._get_metric(leaf.metric).goes_on(tally)
        bound_ps = parse_bound(leaf.statistic)
        if bound_ps is not None:
            return _share_above(self.read_delays(leaf), bound_ps)
        return self._measure(leaf.metric, tally, leaf.statistic)

    def _read_precision(self, leaf: Measured) -> Value:
        """Return how far off times are, or between what a value is, that of `leaf.statistic`."""
        _, observation = self._seen[leaf.network]
        if not observation.precision_ps:
            return None
        if leaf.statistic == PRECISION:
            return to_seconds(observation.precision_ps)
        asked = replace(leaf, statistic=leaf.statistic.removeprefix(WITHIN))
        value = self.read(asked)
        if not isinstance(value, Fraction):
            return None
        shares = partial(_share_above, self.read_delays(asked))
        return widen(asked, value, observation, shares)

    @property
    def drawn(self) -> bool:
        """Return whether anything in these trials was drawn at random."""
        return any(observation.drawn for _, observation in self._seen.values())

    def read_delays(self, leaf: Measured) -> Delays | None:
        """Return the delays of which a metric gives quantiles; for others, the transfer delays."""
        tally = self._get_tally(leaf)
        return None if tally is None else self._get_metric(leaf.metric).select_delays(tally)

    def read_stays(self, path: str, state: str, network: str) -> Delays | None:
        """Return how long stays in a state of a machine lasted; None of what did not run."""
        if network not in self._seen:
            return None
        counts = self._seen[network][1].machines.get(path)
        return None if counts is None else collect_stays(state, counts)

    def read_series(self, expression: Expression, every_ps: int) -> list[Value]:
        """Return the value of an expression in each interval in order; None without data."""
        leaves: dict[Leaf, list[Fraction | None]] = {}
        for leaf in list_measurements(expression):
            tallies = self._list_tallies(leaf, every_ps)
            leaves[leaf] = [self._measure(leaf.metric, of, leaf.statistic) for of in tallies]
        for counted in list_counted(expression):
            leaves[counted] = self._read_machine_series(counted, every_ps)
        found: list[Value] = []
        for number in range(max(map(len, leaves.values()), default=0)):
            now = {leaf: values[number] if values else None for leaf, values in leaves.items()}
            found.append(evaluate(expression, now.__getitem__))
        return found

    def _read_machine_series(self, leaf: Counted, every_ps: int) -> list[Fraction | None]:
        """Return what is observed of a state by interval; none of a network that did not run."""
        if leaf.network not in self._seen:
            return []
        planned, observation = self._seen[leaf.network]
        asked, measurement = leaf.observed.removeprefix(OF_MACHINES), planned.experiment.measurement
        return read_machine_series(asked, observation.machines[leaf.path], measurement, every_ps)

    def _list_tallies(self, leaf: Measured, every_ps: int) -> list[Tally]:
        """Return the tallies of all intervals; none of OAM cells in a network without any."""
        if leaf.network not in self._seen:
            return []
        planned, observation = self._seen[leaf.network]
        name = name_population(leaf.flow, leaf.member, leaf.part)
        of, tally = planned.populations.get(name), self._get_tally(leaf)
        if of is None or tally is None or observation.series is None:
            return []
        intervals = Intervals(of.first, of.stop, every_ps)
        found = observation.series.pool_intervals(intervals, tally.size_bytes)
        # Where packets pass beside, the bytes of cells are counted too, and mean nothing.
        return [replace(one, volume=None) if tally.volume is None else one for one in found]

    def _get_tally(self, leaf: Measured) -> Tally | None:
        prefix = f"{leaf.network}." if leaf.network else ""
        return self._tallies.get(prefix + name_population(leaf.flow, leaf.member, leaf.part))

    def _tally_passed(self, leaf: Measured, place: Place) -> Tally:
        """Return what passed a place: of a flow, or of all."""
        planned, observation = self._seen[leaf.network]
        assert observation.passages is not None  # noqa: S101 -- what was run has them
        part = slice(0, planned.experiment.streams.indices)
        if leaf.flow:
            of = planned.populations.get(name_population(leaf.flow, leaf.member, leaf.part))
            part = slice(0) if of is None else slice(of.first, of.stop)
        packets = place.carries == "packet"
        return observation.passages.pool(place.name, part, packets=packets)

    def _count(self, leaf: Counted) -> Fraction | None:
        """Return what is observed of an element; 0 where nothing of these flows can come.

        None for a bound that is not proved.
        """
        planned, observation = self._seen[leaf.network]
        if leaf.observed:
            return _read_observed(leaf, planned, observation)
        if leaf.causes is None:
            return Fraction(observation.ledger.sum_items(planned.lines.get(leaf.path, "")).left)
        lost = observation.ledger.lost
        return Fraction(sum(lost.get((leaf.path, cause), 0) for cause in leaf.causes))

    def _measure(self, metric: str, tally: Tally, statistic: str) -> Fraction | None:
        return _measure_scaled(self._get_metric(metric), tally, statistic)

    def _get_metric(self, name: str) -> Metric:
        kind = self._catalogue.find("metric", name)
        if kind is None:
            raise KeyError(name)
        metric: Metric = kind.build()
        return metric

    def list_all(self) -> Iterator[tuple[str, str, Fraction | None, Dimension]]:
        """Yield population, metric with statistic, value and dimension of everything measured."""
        for population, tally in self._tallies.items():
            for metric, dimension, statistics in _list_shown(
                self._catalogue, self._carries(population)
            ):
                if not metric.needs <= tally.recorded:
                    continue
                if metric.told_by not in ("", self._told_by[population]):
                    continue
                if metric.sized and population in self._wholes.get("exchanges", ()):
                    continue
                for statistic, shown in statistics:
                    yield population, shown, _measure_scaled(metric, tally, statistic), dimension

    def list_bounds(self) -> Iterator[Bounded]:
        """Yield the delays of flows and the queues that were observed, and what is proved."""
        for network, (planned, observation) in self._seen.items():
            if not observation.is_modelled or observation.precision_ps:
                continue  # what is proved is exact, and says nothing of a time that is not
            prefix = f"{network}." if network else ""
            for population in planned.populations.values():
                delays = self._tallies[prefix + population.name].delays
                longest_ps, least = delays.max_ps, to_seconds(delays.min_ps)
                if longest_ps is None and population.kind != "user":
                    continue
                most_ps, why, _ = planned.proofs.find_delay(population.first, population.stop)
                what = f"delay of {prefix}{population.name}"
                yield Bounded(what, to_seconds(most_ps), to_seconds(longest_ps), TIME, why, least)
            for path, seen in observation.occupancies.items():
                waiting = planned.proofs.waiting.get(path)
                most = None if waiting is None else Fraction(waiting)
                why = planned.proofs.explain_unbounded(path)
                yield Bounded(f"items in {prefix}{path}", most, Fraction(seen.most), COUNT, why)

    def count_exchanged(self) -> list[FlowCount]:
        """Return how many items of each flow were sent, and how many of these were lost.

        Of flows between endpoints these are exchanges, since what is sent again was not lost for
        them; of frames, these.
        """
        counts = []
        for network, (planned, _) in self._seen.items():
            prefix = f"{network}." if network else ""
            whole = [
                population
                for population in planned.populations.values()
                if population.member is None
            ]
            counted = {its.flow: its.kind for its in whole if KINDS[its.kind].follows == "nothing"}
            copies = {
                population.flow: self._tallies[prefix + population.name].received
                for population in whole
                if population.kind == "copies" and population.flow not in counted
            }
            for population in whole:
                if population.kind == counted.get(population.flow, "user"):
                    name = prefix + population.name
                    tally, again = self._tallies[name], copies.get(population.flow, 0)
                    carries = self._carries(name)
                    counts.append(FlowCount(name, carries, tally.sent, tally.lost_count, again))
        return counts

    def describe_silent_flows(self) -> Iterator[str]:
        """Yield a sentence for each flow that sent nothing within the window."""
        for flow in self._silent:
            yield f"{flow} sent no {self._carries(flow)} within the window"

    @property
    def is_modelled(self) -> bool:
        """Return whether the elements of the specification took part in all of these trials."""
        return all(observation.is_modelled for _, observation in self._seen.values())

    @property
    def machines(self) -> dict[str, Counts]:
        """Return what was observed of each machine, by its path."""
        return {
            path: counts
            for _, observation in self._seen.values()
            for path, counts in observation.machines.items()
        }

    def list_hangs(self) -> Iterator[Hang]:
        """Yield what waits for ever at the end of the trial."""
        for network, (planned, observation) in self._seen.items():
            yield from list_hangs(network, planned.waits, observation.machines)
            yield from list_standing(network, observation.standing)

    @property
    def occupancies(self) -> dict[str, int]:
        """Return the most that waited in each queue of the test's topology that was watched."""
        seen = self._seen[""][1].occupancies if "" in self._seen else {}
        return {path: queue.most for path, queue in seen.items()}

    @property
    def passed(self) -> dict[str, int]:
        """Return how many items passed each place of the test's topology that was watched."""
        if "" not in self._seen:
            return {}
        planned, observation = self._seen[""]
        taps = planned.experiment.measurement.taps
        passages = observation.passages
        return {} if passages is None else {tap.place: passages.count(tap.place) for tap in taps}

    def count_discarded(self, network: str, path: str, cause: str) -> int:
        """Return how many items an element discarded for a cause in the whole trial."""
        _, observation = self._seen[network]
        return observation.ledger.lost.get((path, cause), 0)

    def list_losses(self) -> Iterator[Loss]:
        """Yield the losses, the largest first within a population."""
        for population, tally in self._tallies.items():
            for (element, cause), cells in sorted(
                tally.lost.items(), key=lambda item: (-item[1], item[0])
            ):
                if cells:
                    yield Loss(population, self._carries(population), element, cause, cells)

    @property
    def precision_ps(self) -> int:
        """Return how far off times of these trials may be; 0 if all are exact."""
        return max((seen.precision_ps for _, seen in self._seen.values()), default=0)

    def list_disciplines(self) -> Iterator[tuple[str, Discipline]]:
        """Yield by path of an element the counters of a kernel's disciplines."""
        for network, (_, observation) in self._seen.items():
            for path, its in observation.disciplines.items():
                prefix = f"{network}." if network else ""
                yield from ((prefix + path, discipline) for discipline in its)

    def list_programs(self) -> Iterator[ProgramRun]:
        """Yield what came of programs that a kernel has run."""
        for _, observation in self._seen.values():
            yield from observation.programs

    def _carries(self, population: str) -> str:
        frames = population in self._wholes.get("frames", ())
        return "packet" if population in self._packets else "frame" if frames else "cell"


@cache
def _list_shown(
    catalogue: Catalogue, carries: str
) -> tuple[tuple[Metric, Dimension, tuple[tuple[str, str], ...]], ...]:
    """Return the metrics of flows of such items, each with its dimension, and what is shown of it.

    That is each statistic and its name.
    """
    found = []
    for name, kind in sorted(catalogue.select_role("metric").items()):
        metric: Metric = kind.build()
        if carries not in kind.carries or "flow" not in metric.measured_at:
            continue
        dimension = DIMENSIONS[metric.dimension][0]
        statistics = _list_statistics(kind.list_statistics(carries))
        found.append(
            (
                metric,
                COUNTED[carries].get(dimension, dimension),
                tuple((its, f"{name}.{its}" if its else name) for its in statistics),
            )
        )
    return tuple(found)


def _measure_scaled(metric: Metric, tally: Tally, statistic: str) -> Fraction | None:
    """Return a value in units of the language; None without data."""
    value = metric.measure(tally, statistic)
    if value is None:
        return None
    _, scale = DIMENSIONS[metric.dimension]
    return Fraction(value, scale)


def _count_population(of: Population, planned: Planned, observation: Observation) -> Tally:
    """Return the counts of a population, with the bound of its delays if one is proved."""
    tally = observation.pool(of.first, of.stop, of.share_connections)
    if not observation.is_modelled:
        return tally
    return replace(tally, delay_bound_ps=planned.proofs.find_delay(of.first, of.stop).most_ps)


def _check_bounds(
    prefix: str, planned: Planned, observation: Observation, tallies: Mapping[str, Tally]
) -> None:
    """Raise BoundError if a delay or a backlog exceeds what is proved."""
    for population in planned.populations.values():
        longest_ps = tallies[prefix + population.name].delays.max_ps
        proof = planned.proofs.find_delay(population.first, population.stop)
        if longest_ps is not None and proof.most_ps is not None and longest_ps > proof.most_ps:
            terms = ", ".join(f"{path} {_format_time(ps)}" for path, ps in proof.path)
            raise BoundError(
                f"{prefix}{population.name} was delayed by {_format_time(longest_ps)}, and at most"
                f" {_format_time(proof.most_ps)} is possible: {terms}"
            )
    for path, (most, *_) in observation.occupancies.items():
        possible = planned.proofs.waiting.get(path)
        if possible is not None and most > possible:
            raise BoundError(f"{most} items waited in {prefix}{path}, and at most {possible} can")


def _format_time(time_ps: int) -> str:
    return f"{format_value(Fraction(time_ps, PS_PER_S), TIME)} ({time_ps:_} ps)"


def _read_observed(leaf: Counted, planned: Planned, observation: Observation) -> Fraction | None:
    """Return what is observed of a queue, a server or a machine; or what is proved of a queue."""
    if leaf.observed == "occupancy.bound":
        possible = planned.proofs.waiting.get(leaf.path)
        return None if possible is None else Fraction(possible)
    if leaf.observed == "utilisation":
        return Fraction(observation.busy_ps.get(leaf.path, 0), observation.window_ps)
    if leaf.observed.startswith(OF_MACHINES):
        asked, counts = leaf.observed.removeprefix(OF_MACHINES), observation.machines[leaf.path]
        return read_machine(asked, counts, leaf.dimension)
    most, waited_ps, *_ = observation.occupancies.get(leaf.path, (0, 0))
    mean = Fraction(waited_ps, observation.window_ps)
    return Fraction(most) if leaf.observed == "occupancy.max" else mean


def _share_above(delays: Delays | None, bound_ps: int) -> Fraction | None:
    """Return the share of delays that may be above a bound; None if there are none."""
    if delays is None or not delays.count:
        return None
    _, possibly = delays.count_above(bound_ps)
    return Fraction(possibly, delays.count)


def _list_statistics(declared: tuple[str, ...]) -> Iterator[str]:
    """Yield the statistics that a report shows; it lists causes of loss and bounds elsewhere."""
    for statistic in declared or ("",):
        if statistic in PATTERNS:
            yield from PATTERNS[statistic].shown
        elif statistic not in (CAUSES, "bound"):
            yield statistic
