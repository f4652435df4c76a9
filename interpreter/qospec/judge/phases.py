"""What the phases of a case came to: the trials of searches and operating points.

A statement about points is judged in each of their trials, and one about goals once per repeat of
the case. Over all repeats, the trials of a point at a load that was found count as one: their mean.
`require` and invariants of what is sent are judged in every trial, where it runs.
"""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple, dataclass
from qospec.judge.found import read_found
from qospec.judge.readings import Readings
from qospec.judge.repeats import MeanReadings
from qospec.judge.result import Judged
from qospec.judge.verdict import judge
from qospec.model.expression import Found, list_found, list_observed
from qospec.search.classification import is_counted, is_good
from qospec.units import format_value

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from qospec.catalogue.kinds import Catalogue
    from qospec.engine.measure.observation import Observation
    from qospec.engine.measure.tally import Delays
    from qospec.judge.hanging import Hang
    from qospec.judge.readings import FlowCount, Loss
    from qospec.judge.repeats import RepeatReadings
    from qospec.judge.verdict import Judgement
    from qospec.model.expression import Expression, Leaf, Measured, Value
    from qospec.model.suite import Goal, GoalResult, Point, Search, Statement
    from qospec.plan.plan import Planned
    from qospec.search.trial import Trial


class Refusal(NamedTuple):
    """Why a trial cannot be run: by what searches have found, or by what is wrong `at_load`."""

    message: str
    at_load: bool = False


@dataclass(frozen=True)
class TrialResult:
    """What came of one trial, wherever it ran.

    Attributes:
        flows: How many cells or packets of each flow were sent and lost; of exchanges, how many
            began and failed.
        tested: Names of the flows whose losses a search goes by; the others are the background.
        drawn: Whether anything was drawn at random.
        judgements: Of its statements, by label.
        losses: Where items were lost.
        seen: What a trial of a point was, and what it observed; None for a search.
        error: An error of the tester; "" if there was none.
        refused: Why it was not run; None if it was.
        senders: The names of the flows that took part.
        length_ps: How long it measured.
        offered: The items/s that the tested flows were to send.
        hangs: What waits for ever at its end though none of its statements asks for that.
    """

    flows: tuple[FlowCount, ...] = ()
    tested: frozenset[str] = frozenset()
    drawn: bool = False
    judgements: Mapping[str, Judgement] = field(default_factory=dict)
    losses: tuple[Loss, ...] = ()
    seen: tuple[Planned, Observation] | None = None
    error: str = ""
    refused: Refusal | None = None
    senders: tuple[str, ...] = ()
    length_ps: int = 0
    offered: Fraction = Fraction(0)
    hangs: tuple[Hang, ...] = ()

    @property
    def sent(self) -> int:
        """Return how many items the tested flows sent."""
        return sum(flow.sent for flow in self.flows if self.is_tested(flow.population))

    @property
    def lost(self) -> int:
        """Return how many of these were lost."""
        return sum(flow.lost for flow in self.flows if self.is_tested(flow.population))

    def judge_goal(self, goal: Goal) -> dict[str, Judgement]:
        """Return the judgements of a goal's condition by flow, "" if that names its flows."""
        return {
            flow.removesuffix("]"): judgement
            for label, judgement in self.judgements.items()
            for name, _, flow in [label.partition("[")]
            if goal.meets and name == goal.label
        }

    def misses(self, goal: Goal) -> bool:
        """Return whether a goal has a condition that the trial does not meet, or lacks data for."""
        found = self.judge_goal(goal).values()
        return any(judgement.verdict != "pass" for judgement in found)

    def is_tested(self, population: str) -> bool:
        """Return whether a population is a tested flow, or a part of one."""
        return population.partition(".")[0] in self.tested


class SearchTrial(NamedTuple):
    """A trial that a search asked for."""

    trial: Trial
    result: TrialResult


@dataclass(frozen=True)
class SearchResult:
    """A search as far as it came: its trials in the order of the method, what goals have found.

    `emulated_ps` is the length of all trials, with warmups. `cut` says that the case ended before
    the search did, a `note` that it was not run, and why.
    """

    phase: Search
    trials: tuple[SearchTrial, ...]
    goals: Mapping[str, GoalResult]
    emulated_ps: int
    cut: bool = False
    note: str = ""


@dataclass(frozen=True)
class PointResult:
    """An operating point: its trials, or a `note` that says why there are none."""

    phase: Point
    flows: tuple[str, ...]
    trials: tuple[TrialResult, ...]
    note: str = ""


PhaseResult = SearchResult | PointResult


class PhaseReadings:
    """What one repeat has found and, in one trial of each point, measured."""

    def __init__(self, goals: Mapping[str, GoalResult], readings: Readings, *, drawn: bool) -> None:
        self.readings = readings
        self.drawn = drawn
        self._goals = goals

    def read(self, leaf: Leaf) -> Value:
        """Return the value of a measurement, or what was found for a goal; None without data."""
        if isinstance(leaf, Found):
            return read_found(leaf, self._goals)
        return self.readings.read(leaf)

    def read_delays(self, leaf: Measured) -> Delays | None:
        """Return the delays of which a metric gives quantiles; for others, the transfer delays."""
        return self.readings.read_delays(leaf)

    def read_series(self, expression: Expression, every_ps: int) -> list[Value]:
        """Return the value of an expression in each interval in order; None without data."""
        return self.readings.read_series(expression, every_ps)


@dataclass(frozen=True)
class PhasesResult:
    """The phases of a case, by repeat, out of the `planned` ones; errors of the tester itself."""

    catalogue: Catalogue
    repeats: tuple[tuple[PhaseResult, ...], ...]
    planned: int
    errors: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Return whether all searches came to their end, and all points were run."""
        return all(map(_is_complete, (phase for phases in self.repeats for phase in phases)))

    def list_readings(self) -> list[Readings]:
        """Return what was measured at points in each trial; one may have fewer than another."""
        readings = []
        for phases in self.repeats:
            points = _find_points(phases)
            for number in range(max((len(point.trials) for point in points.values()), default=0)):
                here = {name: ran for name, ran in points.items() if number < len(ran.trials)}
                readings.append(self._build_readings(here, number))
        return readings

    def list_hangs(self) -> Iterator[Hang]:
        """Yield what waits for ever at points, and in trials that a goal counts as good.

        A bad trial is bad whatever waits in it.
        """
        for trial in self.list_readings():
            yield from trial.list_hangs()
        for phases in self.repeats:
            for phase in phases:
                if isinstance(phase, SearchResult):
                    yield from _list_hangs_of_good(phase)

    def judge_statement(self, statement: Statement) -> tuple[list[Judged], int]:
        """Return the repeats in which a statement is judged, and how many there should be."""
        judged = self._judge_trials(statement)
        if judged:
            return [Judged(None, judgement) for judgement in judged], len(judged)
        repeats, due, count = [], 0, 1
        names = {leaf.network for leaf in list_observed(statement.expression)}
        for phases in self.repeats:
            points = {name: ran for name, ran in _find_points(phases).items() if name in names}
            count, ran = _count_trials(points.values())
            trials: list[RepeatReadings] = [
                self._combine_readings(phases, self._build_readings(points, number))
                for number in range(ran)
            ]
            if self._is_averaged(statement, names):
                trials, count = [MeanReadings(trials)], 1
            repeats += [Judged(trial, judge(statement, trial.read)) for trial in trials]
            due += count
        return repeats, due + (self.planned - len(self.repeats)) * count

    def _is_averaged(self, statement: Statement, names: set[str]) -> bool:
        """Return whether each repeat of the case is one value of a statement over all repeats.

        The trials of a point share what a search found, and so they are one draw of it.
        """
        together = statement.kind == "report" or statement.confidence is not None
        shared = any(list_found(statement.expression)) or any(
            phase.phase.uses_goals
            for phases in self.repeats
            for phase in phases
            if isinstance(phase, PointResult) and phase.phase.name in names
        )
        return self.planned > 1 and together and shared

    def _combine_readings(
        self, phases: Sequence[PhaseResult], readings: Readings
    ) -> RepeatReadings:
        drawn = readings.drawn or any(map(_is_drawn, phases))
        return PhaseReadings(_find_goals(phases), readings, drawn=drawn)

    def _judge_trials(self, statement: Statement) -> list[Judgement]:
        """Return the judgements of what is required of each trial, in all of them."""
        if statement.kind in ("expect", "report"):
            return []
        return [
            trial.judgements[statement.label]
            for phases in self.repeats
            for phase in phases
            for trial in _list_trials(phase)
            if statement.label in trial.judgements
        ]

    def _build_readings(self, points: Mapping[str, PointResult], number: int) -> Readings:
        seen = {
            name: ran.trials[min(number, len(ran.trials) - 1)].seen
            for name, ran in points.items()
            if ran.trials
        }
        return Readings(
            self.catalogue, {n: reading for n, reading in seen.items() if reading is not None}
        )


def _list_hangs_of_good(result: SearchResult) -> Iterator[Hang]:
    search = result.phase
    for trial, its in result.trials:
        if any(is_counted(goal, trial) and is_good(goal, trial) for goal in search.goals):
            load = f"{search.name} = {format_value(trial.load, search.dimension)}"
            yield from (hang._replace(trial=load) for hang in its.hangs)


def _is_complete(phase: PhaseResult) -> bool:
    if isinstance(phase, PointResult):
        return not phase.note
    return all(goal.complete for goal in phase.goals.values())


def _list_trials(phase: PhaseResult) -> Iterator[TrialResult]:
    if isinstance(phase, PointResult):
        yield from phase.trials
    else:
        yield from (trial.result for trial in phase.trials)


def _find_points(phases: Sequence[PhaseResult]) -> dict[str, PointResult]:
    return {phase.phase.name: phase for phase in phases if isinstance(phase, PointResult)}


def _find_goals(phases: Sequence[PhaseResult]) -> dict[str, GoalResult]:
    return {
        name: result
        for phase in phases
        if isinstance(phase, SearchResult)
        for name, result in phase.goals.items()
    }


def _count_trials(points: Collection[PointResult]) -> tuple[int, int]:
    """Return in how many trials a statement on points should be judged, and in how many it is.

    The only trial of a point stands beside each trial of another; the others have equally many,
    as was checked, unless the case ended in one. Of a point that was not run, one has no data.
    """
    if not all(point.trials for point in points):
        return 1, 1
    repeated = [point for point in points if point.phase.run.repeat > 1]
    planned = next((point_result.phase.run.repeat for point_result in repeated), 1)
    return planned, min((len(point_result.trials) for point_result in repeated), default=1)


def _is_drawn(phase: PhaseResult) -> bool:
    return isinstance(phase, SearchResult) and any(trial.result.drawn for trial in phase.trials)
