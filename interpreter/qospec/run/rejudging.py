"""Judges a case of a record again, by the statements that its specification has now.

A statement that is as it was keeps what it came to. Of another one the metrics in the record are
read, each trial by itself. What the record does not hold leaves it undecided, and so does another
experiment: what was measured then is not what the specification says now.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from qospec.check.records.captures import find_replaced
from qospec.dataclass import NamedTuple, dataclass
from qospec.judge.conclusions import Conclusion, conclude, conclude_case
from qospec.judge.found import OFFERED, read_found
from qospec.judge.hanging import describe_hangs, explain_hangs, read_hangs
from qospec.judge.precision import depends_on_times
from qospec.judge.repeats import MeanReadings
from qospec.judge.result import Judged, Result
from qospec.judge.verdict import is_invalidated, judge
from qospec.model.expression import Found, Measured, list_found, list_observed
from qospec.model.suite import Case, Point, Search
from qospec.protocol.streams import name_population
from qospec.record.outcome import (
    conclude_outcome,
    describe_case,
    describe_frame,
    describe_not_run,
    is_finished,
)
from qospec.record.phases import read_goals
from qospec.record.quantity import read_number
from qospec.record.statements import describe_covered, describe_statement
from qospec.run.properties import evaluate_property
from qospec.run.provenance import describe_sources

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from qospec.document import Document
    from qospec.judge.repeats import RepeatReadings
    from qospec.model.checked import CaseMaker, CheckedSuite
    from qospec.model.expression import Expression, Leaf, Value
    from qospec.model.suite import GoalResult, Statement, Suite
    from qospec.plan.plan import CasePlan

    Metrics = Mapping[str, Mapping[str, Any]]

LACKING = "not measured: "
"""How the note of a statement begins whose values the record does not hold."""
CONFIDENT = "a confidence needs more of each repeat than a record holds"
IN_TRIALS = "what is required of each trial of a search is judged while that runs"
IN_INTERVALS = "the record does not hold it by such intervals"


@dataclass(frozen=True)
class RecordedCase:
    """A case of a record.

    Attributes:
        case: What was run, as the texts in the record say.
        maker: What made its trials, if it has phases.
        document: What it came to.
        replaced: A capture that it sent and that is no longer at hand; "" if there is none.
    """

    case: Case
    maker: CaseMaker | None
    document: Mapping[str, Any]
    replaced: str = ""


class RecordedReadings:
    """The metrics and the results of goals that a record holds of one trial."""

    drawn = False
    """It is not known; only a confidence, which is not judged again, would depend on it."""

    def __init__(
        self, metrics: Metrics, goals: Mapping[str, GoalResult], *, exact: bool = True
    ) -> None:
        self._metrics = metrics
        self._goals = goals
        self._exact = exact

    def read(self, leaf: Leaf) -> Value:
        """Return the value of a measurement; None if it had no data, or is not in the record."""
        if isinstance(leaf, Found):
            return read_found(leaf, self._goals)
        quantity = self._find(leaf) if isinstance(leaf, Measured) and self.holds(leaf) else None
        return None if quantity is None else read_number(quantity["value"])

    def holds(self, leaf: Leaf) -> bool:
        """Return whether the record says what was measured, be it that there was no data.

        It does not say of an outage whether it went on when the trial ended, nor of times that are
        not exact between what they are.
        """
        if isinstance(leaf, Found):
            return leaf.part not in OFFERED
        if not isinstance(leaf, Measured) or leaf.place is not None or "outages" in leaf.needs:
            return False
        if not self._exact and depends_on_times(leaf):
            return False
        return _name_metric(leaf) in self._metrics.get(_name_flow(leaf), {})

    def _find(self, leaf: Measured) -> Mapping[str, Any] | None:
        found: Mapping[str, Any] | None = self._metrics[_name_flow(leaf)][_name_metric(leaf)]
        return found

    def read_delays(self, leaf: Measured) -> None:
        """Return that the delays by themselves are not in the record."""

    def read_series(self, _expression: Expression, _every_ps: int) -> list[Value]:
        """Return that nothing is there by interval."""
        return []


def _name_flow(leaf: Measured) -> str:
    name = name_population(leaf.flow, leaf.member, leaf.part)
    return f"{leaf.network}.{name}" if leaf.network else name


def _name_metric(leaf: Measured) -> str:
    return f"{leaf.metric}.{leaf.statistic}" if leaf.statistic else leaf.metric


def conclude_again(
    suite: Suite,
    plans: Sequence[CasePlan],
    outcome: Document,
    then: CheckedSuite,
    commands: Mapping[str, str],
    *,
    keep_going: bool,
) -> Document:
    """Return the outcome of a record, judged again.

    Args:
        suite: What is specified now.
        plans: Its cases.
        outcome: Of the record.
        then: What was specified when the record was made.
        commands: What runs a case alone, by its name.
        keep_going: As of `_judge_again`.
    """
    before = {case.name: case for test in then.suite.tests for case in test.cases}
    recorded = {
        document["name"]: RecordedCase(
            case, then.makers.get(case.name), document, find_replaced(case, outcome["provenance"])
        )
        for document in outcome["cases"]
        if (case := before.get(document["name"]))
    }
    cases = [
        _judge_again(
            plan, recorded.get(name := plan.case.name), commands[name], keep_going=keep_going
        )
        for plan in plans
    ]
    provenance = {**outcome["provenance"], "sources": describe_sources(suite)}
    frame = describe_frame(suite, plans, outcome["seed"], provenance)
    return {**frame, **conclude_outcome(frame, cases), "cases": cases}


def _judge_again(
    plan: CasePlan, recorded: RecordedCase | None, command: str, *, keep_going: bool
) -> Document:
    """Return the document of a case: what was measured, judged by the statements of its plan.

    Args:
        plan: The case as it is specified now.
        recorded: The same case in the record; None if that has none.
        command: What runs it, to measure what the record lacks.
        keep_going: Whether repeats go on after a failed `require`.
    """
    if plan.examiner is not None:
        return {**describe_case(plan, evaluate_property(plan, plan.examiner)), "again": command}
    if plan.case.skip:
        return {**describe_case(plan, Result(())), "again": command}
    why = _find_obstacle(plan, recorded)
    if recorded is None or why:
        return _describe_unmeasured(plan, why, command)
    document = recorded.document
    exact = "precision" not in document
    repeats = [RecordedReadings(metrics, {}, exact=exact) for metrics in document["repeats"]]
    if not plan.case.phases:
        repeats = repeats[: plan.case.run.repeat]
        repeats = repeats if keep_going else _cut_at_failure(plan.case.statements, repeats)
    same = len(repeats) == len(document["repeats"]) and plan.case.run == recorded.case.run
    kept = _list_kept(recorded) if same else {}
    errors = bool(document["errors"])
    judged = [
        _keep(statement, shown)
        if (shown := kept.get(_strip_words(statement)))
        else _judge_changed(
            statement, _list_trials(statement, plan.case, document, repeats), errors=errors
        )
        for statement in plan.case.statements
    ]
    conclusions = [conclusion for conclusion, _ in judged]
    hangs = read_hangs(document)
    stuck = explain_hangs(hangs, plan.case.statements)
    complete = _is_complete(document) and not stuck
    verdict = conclude_case(plan.case, conclusions, errors=errors, complete=complete)
    known = explain_hangs(hangs, ())
    return {
        **document,
        **describe_hangs(hangs, plan.case.statements),
        "verdict": verdict,
        "statements": [shown for _, shown in judged],
        "why": [*stuck, *(line for line in document["why"] if line not in known)],
        "again": command,
    }


def _find_obstacle(plan: CasePlan, recorded: RecordedCase | None) -> str:
    """Return why nothing that was measured is of a case as it is specified now; "" if it is."""
    if recorded is None:
        return "the record has no such case"
    if not is_finished(recorded.document) or recorded.document["verdict"] == "skip":
        reasons = [*recorded.document["errors"], *recorded.document["why"]]
        return f"in the record it did not run to its end: {'; '.join(reasons)}"
    if difference := _find_difference(plan, recorded):
        return f"{difference} not what the record was made of"
    return ""


def _find_difference(plan: CasePlan, recorded: RecordedCase) -> str:
    """Return what of an experiment is not as it was, with its verb; "" if all is."""
    if recorded.replaced:
        return f"the capture `{recorded.replaced}` is"
    now, then = plan.case, recorded.case
    parts: dict[str, Callable[[Case], Any]] = {
        "its topology is": _strip_invariants,
        "its flows are": lambda case: case.flows,
        "its run is": lambda case: replace(case.run, repeat=1),
        "its searches and points are": lambda case: case.phases,
    }
    found = next((words for words, read in parts.items() if read(now) != read(then)), "")
    if found or plan.maker is None or recorded.maker is None:
        return found
    for search in (phase for phase in now.phases if isinstance(phase, Search)):
        made, before = (maker(search, search.high, {}) for maker in (plan.maker, recorded.maker))
        same = (
            isinstance(made, Case)
            and isinstance(before, Case)
            and made.statements == before.statements
        )
        if any(goal.meets for goal in search.goals) and not same:
            return "what its goals ask for is"
    return ""


def _strip_invariants(case: Case) -> dict[str, Any]:
    return {name: replace(network, invariants=()) for name, network in case.networks.items()}


def _describe_unmeasured(plan: CasePlan, why: str, command: str) -> Document:
    """Return the document of a case of which nothing was measured: it is at best inconclusive."""
    note = f"{LACKING}{why}"
    conclusions = [conclude(statement, [], 1) for statement in plan.case.statements]
    return {
        **describe_not_run(plan, command),
        "ran": True,
        "statements": [
            describe_statement(
                statement, conclusion if statement.idle else conclusion._replace(note=note)
            )
            for statement, conclusion in zip(plan.case.statements, conclusions, strict=True)
        ],
        "errors": [],
        "why": [note],
    }


def _cut_at_failure(
    statements: Sequence[Statement], repeats: Sequence[RecordedReadings]
) -> list[RecordedReadings]:
    """Return the repeats up to the first in which something that is required failed.

    A run would have ended with it. What is not in the record is not known to have failed.
    """
    kept: list[RecordedReadings] = []
    for readings in repeats:
        kept.append(readings)
        judged = (
            (statement, judge(statement, readings.read))
            for statement in statements
            if all(readings.holds(leaf) for leaf in list_observed(statement.expression))
        )
        if is_invalidated(judged):
            break
    return kept


def _list_kept(recorded: RecordedCase) -> dict[Statement, Mapping[str, Any]]:
    """Return the statements that were judged, without words, and what they came to."""
    before = zip(recorded.case.statements, recorded.document["statements"], strict=False)
    return {_strip_words(statement): shown for statement, shown in before}


def _keep(statement: Statement, shown: Mapping[str, Any]) -> tuple[Conclusion, Document]:
    """Return what a statement came to when it was judged first, with the words it has now."""
    document = {name: value for name, value in shown.items() if name != "covers"}
    document |= {
        "label": statement.label,
        "text": statement.text,
        "claim": statement.claim,
        "place": statement.span.recorded_place,
        **describe_covered(statement),
    }
    return Conclusion(shown["verdict"], None, shown["note"]), document


def _strip_words(statement: Statement) -> Statement:
    """Return a statement without what does not decide it."""
    return replace(statement, label="", text="", claim="", covers=(), published=False)


class _Trials(NamedTuple):
    """What the record holds of the trials in which a statement is judged.

    `due` is in how many it should be; `lacking` says what the record does not hold of it, and why.
    """

    readings: Sequence[RepeatReadings]
    due: int
    lacking: str


def _judge_changed(
    statement: Statement, trials: _Trials, *, errors: bool
) -> tuple[Conclusion, Document]:
    """Return what a statement comes to by the metrics in the record."""
    judged = [Judged(None, judge(statement, readings.read)) for readings in trials.readings]
    alone = statement if statement.idle else replace(statement, confidence=None)
    conclusion = conclude(alone, judged, trials.due, errors=errors)
    if statement.confidence is not None and not statement.idle:
        conclusion = Conclusion("inconclusive", None, f"{LACKING}{CONFIDENT}")
    elif trials.lacking and conclusion.verdict in ("", "inconclusive"):
        conclusion = conclusion._replace(note=f"{LACKING}{trials.lacking}")
    return conclusion, describe_statement(statement, conclusion)


def _list_trials(
    statement: Statement,
    case: Case,
    document: Mapping[str, Any],
    repeats: Sequence[RecordedReadings],
) -> _Trials:
    """Return what a record holds of the trials in which a statement is judged."""
    names = {leaf.network for leaf in list_observed(statement.expression)}
    points = [phase for phase in case.phases if isinstance(phase, Point) and phase.name in names]
    found = list_found(statement.expression)
    groups: list[list[RecordedReadings]] = [[readings] for readings in repeats]
    if case.phases:
        groups = list(_group_by_repeat(names, document))
    leaves = dict.fromkeys((*list_observed(statement.expression), *found))
    missing = [
        f"`{leaf.text}`"
        for leaf in leaves
        if not all(readings.holds(leaf) for group in groups for readings in group)
    ]
    lacking = f"the record does not hold {' and '.join(missing)}" if missing else ""
    if case.phases and statement.kind not in ("expect", "report"):
        lacking = IN_TRIALS
    if statement.every_ps is not None:
        lacking = IN_INTERVALS
    shares = bool(found) or any(point.uses_goals for point in points)
    if case.run.repeat > 1 and statement.kind == "report" and shares:
        return _Trials([MeanReadings(group) for group in groups], case.run.repeat, lacking)
    due = case.run.repeat * max((point.run.repeat for point in points), default=1)
    return _Trials([readings for group in groups for readings in group], due, lacking)


def _group_by_repeat(
    names: Collection[str], document: Mapping[str, Any]
) -> Iterator[list[RecordedReadings]]:
    """Yield for each repeat what its searches found, with each trial of these points."""
    rest, exact = iter(document["repeats"]), "precision" not in document
    for number in sorted({phase["repeat"] for phase in document["phases"]}):
        phases = [phase for phase in document["phases"] if phase["repeat"] == number]
        ran = {phase["name"]: phase["repeats"] for phase in phases if phase["kind"] == "point"}
        goals = dict(result for phase in phases for result in read_goals(phase))
        entries = list(islice(rest, max(ran.values(), default=0)))
        trials = max((ran.get(name, 0) for name in names), default=1)
        yield [
            RecordedReadings(_choose_metrics(entries, trial, ran, names), goals, exact=exact)
            for trial in range(max(1, trials))
        ]


def _choose_metrics(
    entries: Sequence[Metrics], trial: int, ran: Mapping[str, int], names: Collection[str]
) -> Metrics:
    """Return what was measured at points in a trial; the only one of a point is beside each."""
    return {
        flow: metrics
        for name in names
        if ran.get(name)
        for flow, metrics in entries[min(trial, ran[name] - 1)].items()
        if flow.startswith(f"{name}.")
    }


def _is_complete(document: Mapping[str, Any]) -> bool:
    """Return whether all searches came to their end, and all points were run."""
    phases = document.get("phases", ())
    goals = [goal for phase in phases for goal in phase.get("goals", ())]
    return all(goal["complete"] for goal in goals) and all(
        phase.get("ran", True) for phase in phases
    )
