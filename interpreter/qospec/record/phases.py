"""Searches and operating points in the record: their trials, and what goals have found."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.statistics import describe_cause
from qospec.judge.found import (
    LOWEST_BAD,
    NONE_BAD_AT_ALL,
    NONE_GOOD_AT_ALL,
    describe_bounds,
    explain_inversion,
)
from qospec.judge.hanging import merge_hangs
from qospec.judge.losses import write_none_lost_note
from qospec.judge.phases import PointResult, SearchResult
from qospec.judge.verdict import Side
from qospec.model.suite import GoalResult
from qospec.protocol.streams import describe_items
from qospec.record.quantity import describe_quantity
from qospec.search.classification import is_counted, is_good
from qospec.search.method import count_trials_of_load
from qospec.units import PS_PER_S, RATIO, TIME, format_value

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from typing import Any

    from qospec.document import Document
    from qospec.judge.phases import PhaseResult, PhasesResult, SearchTrial
    from qospec.judge.readings import FlowCount, Loss
    from qospec.model.suite import Goal, Search
    from qospec.units import Dimension

MAX_CAUSES = 3
"""The most causes of loss that a sentence names."""


def describe_phase_results(result: PhasesResult) -> list[Document]:
    """Return the documents of all phases that were begun, repeat by repeat."""
    return [
        {"name": phase.phase.name, "repeat": number, **_describe_phase(phase)}
        for number, phases in enumerate(result.repeats, 1)
        for phase in phases
    ]


def _describe_phase(result: PhaseResult) -> Document:
    if isinstance(result, SearchResult):
        return _describe_search(result)
    return {
        "kind": "point",
        "measure": _describe_time(result.phase.run.measure_ps),
        "repeats": len(result.trials),
        "flows": list(result.flows),
        "ran": bool(result.trials),
        "note": result.note or _describe_lost(result),
    }


def _describe_lost(result: PointResult) -> str:
    """Return how many items were lost at a point, of how many; "" if none were."""
    flows = [flow for trial in result.trials for flow in trial.flows]
    lost, sent = (sum(getattr(flow, of) for flow in flows) for of in ("lost", "sent"))
    if not lost:
        return ""
    kinds = {
        describe_items(loss.population, loss.carries)[0] for t in result.trials for loss in t.losses
    }
    items = f"{kinds.pop()}s" if len(kinds) == 1 else "items"
    trials = len(result.trials)
    return f"{lost:_} of {sent:_} {items} were lost" + (
        f" in {trials} trials" if trials > 1 else ""
    )


def _describe_search(result: SearchResult) -> Document:
    search = result.phase
    dimension = search.dimension
    return {
        "kind": "search",
        "variable": search.name,
        "method": search.method,
        "low": describe_quantity(search.low, dimension),
        "high": describe_quantity(search.high, dimension),
        "step": describe_quantity(search.step, dimension),
        "goals": [_describe_goal(goal, result) for goal in search.goals],
        "trials": [_describe_trial(trial, search) for trial in result.trials],
        "emulated": _describe_time(result.emulated_ps),
    }


def _describe_goal(goal: Goal, result: SearchResult) -> Document:
    dimension, found = result.phase.dimension, result.goals[goal.name]
    return {
        "name": goal.name,
        "loss": None if goal.meets else describe_quantity(goal.loss, RATIO),
        **({"meets": goal.meets} if goal.meets else {}),
        "trial": _describe_time(goal.trial_ps),
        "total": _describe_time(goal.total_ps),
        "exceed": describe_quantity(goal.exceed, RATIO),
        "width": describe_quantity(goal.width, dimension if goal.absolute else RATIO),
        **({"varies": True} if goal.varies else {}),
        "defaults": list(goal.defaults),
        "lower": describe_quantity(found.lower, dimension),
        "upper": describe_quantity(found.upper, dimension),
        "regular": found.regular,
        "complete": found.complete,
        "throughput": describe_quantity(found.throughput, dimension),
        "evidence": _describe_evidence(goal, result),
        "notes": list(_list_notes(goal, result)),
        "why": list(_list_causes(goal, found, result)),
    }


def read_goals(phase: Mapping[str, Any]) -> Iterator[tuple[str, GoalResult]]:
    """Yield what a search has found by its document, goal by goal; nothing of a point.

    It does not hold what flows are to send at the bounds.
    """
    for goal in phase.get("goals", ()):
        lower, upper, throughput = (
            Fraction(goal[name]["value"]) if goal.get(name) else None
            for name in ("lower", "upper", "throughput")
        )
        good = [
            Fraction(trial["load"]["value"])
            for trial in phase["trials"]
            if trial["verdicts"].get(goal["name"]) == "good"
        ]
        inversion = None
        if goal["complete"] and not goal["regular"] and upper is not None:
            highest = max(good, default=upper)
            inversion = (upper, highest) if highest > upper else None
        yield (
            goal["name"],
            GoalResult(
                lower, upper, ended=goal["complete"], throughput=throughput, inversion=inversion
            ),
        )


def _describe_trial(tried: SearchTrial, search: Search) -> Document:
    trial = tried.trial
    of = [goal for goal in search.goals if is_counted(goal, trial)]
    stands_for = 1 if trial.drawn else max(map(count_trials_of_load, of))
    return {
        "load": describe_quantity(trial.load, search.dimension),
        "number": trial.number,
        "length": _describe_time(trial.length_ps),
        **({"stands_for": stands_for} if stands_for > 1 else {}),
        "sent": trial.sent,
        "lost": trial.lost,
        "loss": describe_quantity(Fraction(trial.lost, trial.sent), RATIO),
        "verdicts": {goal.name: "good" if is_good(goal, trial) else "bad" for goal in of},
    }


def _list_notes(goal: Goal, result: SearchResult) -> Iterator[str]:
    """Yield what a reader should know of a result besides its bounds."""
    search, found = result.phase, result.goals[goal.name]
    if result.note:
        yield f"{'ended early' if result.trials else 'not searched'}: {result.note}"
        return
    if found.complete and found.lower is None and found.upper is not None:
        places = ", ".join(_list_places(goal, found, result))
        lost = f"; items were lost at {places}" if places else ""
        yield f"{NONE_GOOD_AT_ALL if found.inversion is None else LOWEST_BAD}{lost}"
    if found.complete and found.upper is None and found.lower is not None:
        yield NONE_BAD_AT_ALL
    if not found.complete:
        width = format_value(goal.width, search.dimension if goal.absolute else RATIO)
        yield f"{_explain_end(found, result)} before the bounds were as close as {width}"
    if found.inversion is not None:
        yield explain_inversion(*found.inversion, search.dimension)
    yield from _list_hidden_losses(goal, result)
    yield from _list_copies(goal, result)


def _list_hidden_losses(goal: Goal, result: SearchResult) -> Iterator[str]:
    """Yield a sentence for each flow that lost a larger share than the goal allows.

    That is in the good trials at the lower bound: the tested flows are pooled, and what others
    lose does not count.
    """
    for flow in _list_flows_at_lower(goal, result):
        if not goal.meets and flow.sent and Fraction(flow.lost, flow.sent) > goal.loss:
            item, name = describe_items(flow.population, flow.carries)
            share = format_value(Fraction(flow.lost, flow.sent), RATIO)
            yield f"`{name}` lost {share} of its {item}s at the load found"


def _list_copies(goal: Goal, result: SearchResult) -> Iterator[str]:
    """Yield a sentence for each flow of which copies arrived at the lower bound.

    A tester that only counts what arrives would take them for items that were lost.
    """
    for flow in _list_flows_at_lower(goal, result):
        if flow.copies:
            item, name = describe_items(flow.population, flow.carries)
            sent = f"{flow.sent:_} {item}s of `{name}`"
            yield f"beside {sent}, {flow.copies:_} copies arrived at the load found"


def _list_flows_at_lower(goal: Goal, result: SearchResult) -> list[FlowCount]:
    """Return for each flow what it sent in the good trials at the lower bound, and what became."""
    found: dict[str, FlowCount] = {}
    for search_trial in _list_trials_at(result.goals[goal.name].lower, goal, result):
        for flow in search_trial.result.flows if is_good(goal, search_trial.trial) else ():
            before = found.get(flow.population)
            found[flow.population] = flow if before is None else before.add(flow)
    return list(found.values())


def _describe_evidence(goal: Goal, result: SearchResult) -> str:
    """Return what the trials at the lower bound prove if they lost nothing, but may have."""
    lower = result.goals[goal.name].lower
    trials = [search_trial.trial for search_trial in _list_trials_at(lower, goal, result)]
    if goal.meets or not any(trial.drawn for trial in trials) or any(t.lost for t in trials):
        return ""
    return write_none_lost_note(sum(trial.sent for trial in trials))


def _list_causes(goal: Goal, found: GoalResult, result: SearchResult) -> Iterator[str]:
    """Yield a sentence for each place where items were lost at the upper bound, most first.

    Before that, what was measured there of a condition, and what waits for ever.
    """
    yield from _describe_missed(goal, found, result)
    yield from _list_hangs_above(goal, found, result)
    lost: Counter[tuple[str, str, str, str]] = Counter()
    trials: Counter[tuple[str, str, str, str]] = Counter()
    for loss in _list_losses_above(goal, found, result):
        place = loss.population, loss.carries, loss.element, loss.cause
        lost[place] += loss.cells
        trials[place] += 1
    for place, count in lost.most_common(MAX_CAUSES):
        population, carries, element, cause = place
        item, flow = describe_items(population, carries)
        items = f"{count:_} {item}{'' if count == 1 else 's'} of {flow}"
        often = f" in {trials[place]} trials" if trials[place] > 1 else ""
        yield f"{items}{often}: {element} ({describe_cause(cause)})"


def _describe_missed(goal: Goal, found: GoalResult, result: SearchResult) -> Iterator[str]:
    """Yield what was measured in the bad trials at the upper bound of a goal with a condition."""
    missed: dict[tuple[str, Dimension | None], list[Side]] = {}
    for search_trial in _list_trials_at(found.upper, goal, result):
        for flow, judgement in search_trial.result.judge_goal(goal).items():
            if judgement.verdict != "pass":
                side = judgement.measured or Side(None, None)
                missed.setdefault((flow, side.dimension), []).append(side)
    for (flow, dimension), sides in missed.items():
        values = sorted(side.value for side in sides if isinstance(side.value, Fraction | int))
        ends = dict.fromkeys([values[0], values[-1]]) if values else {}
        texts = [format_value(Fraction(value), dimension) for value in ends if dimension]
        of = f" of {flow}" if flow else ""
        often = f" in {len(sides)} trials" if len(sides) > 1 else ""
        yield f"{goal.meets}{of}: {' to '.join(texts) or 'no data'} measured{often}"


def _list_hangs_above(goal: Goal, found: GoalResult, result: SearchResult) -> Iterator[str]:
    """Yield what waits for ever in the bad trials at the upper bound."""
    trials = _list_trials_at(found.upper, goal, result)
    hangs = (hang for trial, its in trials if not is_good(goal, trial) for hang in its.hangs)
    yield from (hang.finding for hang in merge_hangs(hangs))


def _list_places(goal: Goal, found: GoalResult, result: SearchResult) -> list[str]:
    """Return where items were lost at the upper bound, and why, where most were lost first."""
    lost: Counter[str] = Counter()
    for loss in _list_losses_above(goal, found, result):
        lost[f"{loss.element} ({describe_cause(loss.cause)})"] += loss.cells
    return [place for place, _ in lost.most_common(MAX_CAUSES)]


def _list_losses_above(goal: Goal, found: GoalResult, result: SearchResult) -> Iterator[Loss]:
    """Yield what was lost in the bad trials at the upper bound; nothing if there is none."""
    for search_trial in _list_trials_at(found.upper, goal, result):
        if not is_good(goal, search_trial.trial):
            yield from (
                loss
                for loss in search_trial.result.losses
                if search_trial.result.is_tested(loss.population)
            )


def _list_trials_at(
    load: Fraction | None, goal: Goal, result: SearchResult
) -> Iterator[SearchTrial]:
    """Yield the trials at a load that count for a goal."""
    for trial in result.trials:
        if trial.trial.load == load and is_counted(goal, trial.trial):
            yield trial


def explain_phases(
    result: PhasesResult, unmet: Collection[str] = (), points: Collection[str] = ()
) -> list[str]:
    """Return in sentences what kept goals from higher loads, and what was not finished.

    Of goals that were pursued to their end, only the `unmet` ones are named, if there are any:
    those in criteria that do not hold. Else, if these measure at `points`, only goals of earlier
    phases are, on which the points may depend. What is not so in each repeat says in which it is.
    """
    found: dict[str, list[int]] = {}
    for number, phases in enumerate(result.repeats, 1):
        named = unmet or _list_goals_before(phases, points)
        lines = (line for phase in phases for line in _explain_phase(phase, named, unmet))
        for line in dict.fromkeys(lines):
            found.setdefault(line, []).append(number)
    return [
        line if len(its) == len(result.repeats) else f"{_describe_repeats(its)}: {line}"
        for line, its in found.items()
    ]


def _list_goals_before(phases: Sequence[PhaseResult], points: Collection[str]) -> Collection[str]:
    """Return the goals of the phases ahead of the last of the points; without points, all."""
    places = [place for place, result in enumerate(phases) if result.phase.name in points]
    ahead = phases[: max(places)] if places else phases
    searches = (result.phase for result in ahead if isinstance(result, SearchResult))
    return {goal.name for search in searches for goal in search.goals}


def _describe_repeats(numbers: Sequence[int]) -> str:
    """Return `in repeat 2`, `in repeats 1, 2 and 5`."""
    *others, last = map(str, numbers)
    return f"in repeats {', '.join(others)} and {last}" if others else f"in repeat {last}"


def _explain_phase(
    result: PhaseResult, named: Collection[str], unmet: Collection[str]
) -> Iterator[str]:
    if isinstance(result, SearchResult):
        yield from _explain_search(result, named, unmet)
    elif result.note:
        yield f"the point `{result.phase.name}` was not run: {result.note}"


def _explain_search(
    result: SearchResult, named: Collection[str], unmet: Collection[str]
) -> Iterator[str]:
    search = result.phase
    if result.note:
        what = "ended early" if result.trials else "was not searched"
        yield f"`{search.name}` {what}: {result.note}"
        return
    for goal in search.goals:
        found = result.goals[goal.name]
        if not found.complete:
            why = _explain_end(found, result)
            interval = describe_bounds(found.lower, found.upper, search.dimension) or "in the range"
            yield f"`{goal.name}` is known only to be {interval}: {why}"
        if found.upper is not None and goal.name in named:
            at = format_value(found.upper, search.dimension)
            causes = "; ".join(_list_causes(goal, found, result)) or "nothing was lost"
            yield f"`{goal.name}` at its upper bound of {at}: {causes}"
        if found.complete and found.upper is None and goal.name in unmet:
            high = format_value(search.high, search.dimension)
            yield f"`{goal.name}` has no upper bound: no load was bad, up to {high}"


def _explain_end(found: GoalResult, result: SearchResult) -> str:
    if result.cut:
        return "the case ended"
    if found.ended:
        return f"the method `{result.phase.method}` asked for no more trials"
    return "the search reached its budget"


def _describe_time(length_ps: int) -> Document | None:
    return describe_quantity(Fraction(length_ps, PS_PER_S), TIME)
