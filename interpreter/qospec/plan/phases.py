"""Phases before they run: their trials at both ends of what they may try, and whether they fit."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from qospec.diagnostics import Diagnostic, Label
from qospec.model.suite import Case, GoalResult, Point, Search
from qospec.plan.forms import form_sent
from qospec.plan.offered import asked_bps, cell_rate, members_of
from qospec.units import PS_PER_S, RATE, RATIO, TIME, number_text, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qospec.diagnostics import Problems
    from qospec.model.suite import Flow, Goal, Phase
    from qospec.source import Span


SHOWN = 10_000
"""Four digits are shown."""


class Ends(NamedTuple):
    """The cases of a trial of a phase at its lowest and its highest load."""

    low: Case
    high: Case


class ExaminedPhase(NamedTuple):
    """A phase, with the flows of its lowest load, then those of its highest."""

    phase: Phase
    flows: tuple[Flow, ...]


class Examined(NamedTuple):
    """A case that has been checked, and is not planned: as of `CasePlan`."""

    case: Case
    span: Span
    phases: tuple[ExaminedPhase, ...] = ()


def checked_ends(case: Case, phase: Phase, problems: Problems) -> Ends | None:
    """Return the trials of a phase at both ends; None if one cannot be run.

    At a point, as if the goals that it depends on had found their lowest or highest loads. What
    does not fit is in `problems`.
    """
    made = list(_made(case, phase))
    mistakes = [each for each in made if isinstance(each, Diagnostic)]
    cases = [each for each in made if isinstance(each, Case)]
    if mistakes:
        for each in mistakes:
            problems.add(each)
        return None
    ends = Ends(*cases)
    unfit = list(_unfit(case, phase, ends))
    for each in unfit:
        problems.add(each)
    return None if any(each.severity == "error" for each in unfit) else ends


def at_use(unfit: Iterable[Diagnostic], case: Case) -> Iterator[Diagnostic]:
    """Yield what is wrong with phases, those of a template at the test that is built on it.

    What follows from one argument in the same way is said once, with the other phases.
    """
    found: dict[tuple[str, Span], Diagnostic] = {}
    phases: dict[tuple[str, Span], list[str]] = {}
    for each in unfit:
        moved = case.at.at_use(each) if case.at is not None else each
        if moved.span == each.span:
            yield each
            continue
        key = moved.code, moved.span
        found.setdefault(key, moved)
        here = (f"`{phase.name}`" for phase in case.phases if each.span in phase.span)
        phases.setdefault(key, []).extend(here)
    for key, moved in found.items():
        others = list(dict.fromkeys(phases[key]))[1:]
        more = (f"the same holds for {', '.join(others)}",) if others else ()
        yield replace(moved, notes=(*moved.notes, *more))


def _parameter(case: Case, span: Span | None) -> str:
    """Return the parameter for which a test gives what is written in a template; "" if none."""
    return case.at.parameter_at(span) if span is not None and case.at is not None else ""


def _made(case: Case, phase: Phase) -> Iterator[Case | Diagnostic]:
    assert case.at is not None  # noqa: S101 -- a case with phases has it
    for end in ("low", "high"):
        load = getattr(phase, end) if isinstance(phase, Search) else None
        yield case.at(phase, load, _found(case, end))


MOST_TRIED = 100
"""How many loads between the ends are checked of a phase that depends on conditions."""


def between_ends(case: Case, phase: Phase, problems: Problems) -> Iterator[Case]:
    """Yield the trials of a search at loads between its ends; the first mistake ends them.

    Only where something in them depends on a condition, such as `a if n > 9 else b`: else what fits
    at both ends fits between them. Of more loads than can be checked, some at equal distances.
    """
    assert case.at is not None  # noqa: S101 -- a case with phases has it
    if not isinstance(phase, Search) or not case.at.chooses(phase):
        return
    for load in _loads_between(phase):
        made = case.at(phase, load, _found(case, "high"))
        if isinstance(made, Diagnostic):
            where = f"so it is in a trial at `{phase.name}` = {_load(load, phase)}"
            problems.add(replace(made, notes=(*made.notes, where)))
            return
        yield made


def _loads_between(search: Search) -> Iterator[Fraction]:
    """Yield loads between the ends of a search: all of its steps if these are few."""
    step = search.step or (search.high - search.low) / (MOST_TRIED + 1)
    steps = int((search.high - search.low) / step)
    every = max(1, -(-(steps - 1) // MOST_TRIED))
    yield from (search.low + number * step for number in range(every, steps, every))


def _found(case: Case, end: str) -> dict[str, GoalResult]:
    """Return what all searches find if they end at the lowest or the highest load."""
    searches = [each for each in case.phases if isinstance(each, Search)]
    loads = {each: getattr(each, end) for each in searches}
    return {
        goal.name: GoalResult(loads[each], loads[each]) for each in searches for goal in each.goals
    }


def _unfit(case: Case, phase: Phase, ends: Ends) -> Iterator[Diagnostic]:
    """Yield what is wrong with a phase: a load that no trial can offer, or that sends nothing."""
    if isinstance(phase, Search):
        yield from _always_too_short(case, phase, ends)
        for goal in phase.goals:
            yield from _too_fine(goal, phase, ends, case)
        yield from _always_above(case, phase, ends)
    else:
        if _items(ends.high) < 1:
            length = _parameter(case, phase.measure_span)
            yield _too_short(phase, ends.high, f"`{phase.name}`", length)
        yield from above_first_link(phase, ends.low, case)


def _always_too_short(case: Case, search: Search, ends: Ends) -> Iterator[Diagnostic]:
    """Yield that a trial at the lowest load sends nothing even if others find their highest loads.

    Whether it does if they find less is known once those have found something.
    """
    assert case.at is not None  # noqa: S101 -- a case with phases has it
    if _items(ends.low, rounded=True) >= 1:
        return
    lowest = case.at(search, search.low, _found(case, "high"))
    if isinstance(lowest, Diagnostic):
        yield lowest
    elif _items(lowest, rounded=True) < 1:
        where = f"`{search.name}` = {_load(search.low, search)}"
        yield _too_short(search, lowest, where, _parameter(case, search.goals[0].trial_span))


def _always_above(case: Case, search: Search, ends: Ends) -> Iterator[Diagnostic]:
    """Yield what the first links cannot carry even if all other searches find their lowest loads.

    Whether they can carry more than that is known once those have found something.
    """
    assert case.at is not None  # noqa: S101 -- a case with phases has it
    if not any(above_first_link(search, ends.high, case, ends.low)):
        return
    highest = case.at(search, search.high, _found(case, "low"))
    if isinstance(highest, Diagnostic):
        yield highest
    else:
        yield from above_first_link(search, highest, case, ends.low)


def _load(value: Fraction, search: Search) -> str:
    return text_of(value, search.dimension) + (f" @{search.layer}" if search.layer else "")


def _time(least_s: Fraction) -> str:
    return text_of(-_cut(-least_s), TIME)


def _cut(value: Fraction) -> Fraction:
    """Return a value rounded down to four digits, so that what a help says is enough."""
    unit = Fraction(1)
    while abs(value) >= SHOWN * unit:
        unit *= 10
    while abs(value) < SHOWN * unit / 10:
        unit /= 10
    return value // unit * unit


def _items(case: Case, *, rounded: bool = False) -> Fraction:
    """Return how many items a trial sends while it measures, on average.

    If its length may have been `rounded` down, as that of a burst, as many as it may have meant.
    """
    length_ps = case.run.measure_ps + rounded
    return sum((_items_of(flow, length_ps) for flow in case.flows), Fraction(0))


def _items_of(flow: Flow, length_ps: int) -> Fraction:
    mean = cell_rate(flow) * length_ps / PS_PER_S
    if not mean:  # it sends a number of items, at no rate
        mean = Fraction(flow.arrivals.most_items(flow.connections, length_ps) or 0)
    return len(flow.origins) * mean


def _called(case: Case) -> str:
    """Return what the flows send."""
    carried = {"cell" if flow.stream is None else "packet" for flow in case.flows}
    return " or ".join(sorted(carried))


def _too_short(phase: Phase, case: Case, where: str, parameter: str) -> Diagnostic:
    """Return the error of a trial that sends nothing; a `parameter` says how long it lasts."""
    items, length_ps, called = _items(case), case.run.measure_ps, _called(case)
    length = text_of(Fraction(length_ps, PS_PER_S), TIME)
    longer = "send something in it"
    if items:
        least = _time(Fraction(length_ps, PS_PER_S) / items)
        longer = f"let a trial last at least {least}"
        longer += ", or raise the lowest load" if isinstance(phase, Search) else ""
        longer = f"give `{parameter}` at least {least}" if parameter else longer
    place = phase.goals[0].trial_span if isinstance(phase, Search) else phase.measure_span
    return Diagnostic(
        "E0610",
        f"a trial at {where} sends less than one {called}",
        place if parameter and place is not None else phase.span,
        notes=(f"{number_text(items)} {called}s in {length}",),
        help=longer,
    )


def _finer(case: Case, goal: Goal, least: str) -> str:
    """Return how long a trial must last, or what else helps, as the test can say it."""
    length, width = (_parameter(case, each) for each in (goal.trial_span, goal.width_span))
    longer = f"give `{length}` at least {least}" if length else f"let a trial last at least {least}"
    return f"{longer}, or give a greater `{width or 'width'}`"


def _too_fine(goal: Goal, search: Search, ends: Ends, case: Case) -> Iterator[Diagnostic]:
    """Yield a warning if loads that are to be told apart differ by less than one item."""
    length_ps = ends.high.run.measure_ps
    if goal.varies:
        return
    more = (_items(ends.high) - _items(ends.low)) * goal.trial_ps / length_ps
    width = goal.width if goal.absolute else goal.width * search.high
    items = more * width / (search.high - search.low)
    if not 0 < items < 1:
        return
    called = _called(ends.high)
    shown = _load(goal.width, search) if goal.absolute else text_of(goal.width, RATIO)
    length = Fraction(goal.trial_ps, PS_PER_S)
    yield Diagnostic(
        "W0617",
        f"a trial of `{goal.name}` is too short for its `width`: "
        f"loads so far apart differ by less than one {called}",
        goal.width_span or search.span,
        secondary=() if goal.trial_span is None else (Label(goal.trial_span, "a trial"),),
        notes=(f"`width` is {shown}: {number_text(items)} {called}s in {text_of(length, TIME)}",),
        help=_finer(case, goal, _time(length / items)),
    )


def above_first_link(
    phase: Phase, case: Case, whole: Case | None = None, lowest: Case | None = None
) -> Iterator[Diagnostic]:
    """Yield an error for each line of a host whose flows offer more than it carries.

    Args:
        phase: The phase that offers it.
        case: Its trial, that at the highest load of a search.
        whole: The case with all phases, which knows what a template is given.
        lowest: Of a search: the trial at the lowest load.
    """
    network = case.networks[""]
    least = {} if lowest is None else _asked_of_first_links(lowest)
    for line, shares in sorted(_asked_of_first_links(case).items()):
        instance = network.elements[line]
        clock = instance.element.clock(stamps=False)
        total = sum(shares.values(), Fraction(0))
        if total <= clock.bit_rate:
            continue
        layer = "cell" if clock.encapsulation is None else "line"
        names = " and ".join(f"`{case.flows[each].name}`" for each in sorted(shares))
        at, help_text, place = f"the load of `{phase.name}`", "send less", phase.span
        if isinstance(phase, Point):
            place = phase.load_span or place
        elif total == sum(least.get(line, {}).values()):
            help_text = (
                f"lower the load, or what it follows from: it does not depend on `{phase.name}`"
            )
        else:
            at, place = f"the highest load, {_load(phase.high, phase)},", phase.high_span or place
            most = _load(_cut(phase.high * Fraction(clock.bit_rate) / total), phase)
            parameter = "" if whole is None else _parameter(whole, place)
            to_fit = f"give `{parameter}` at most {most}" if parameter else f"search up to {most}"
            help_text = f"{to_fit}, if all flows grow with it"
        yield Diagnostic(
            "E0305",
            f"{at} is more than the first link can carry",
            place,
            label=f"{names}: {text_of(total, RATE)} @{layer}",
            secondary=() if instance.span is None else (Label(instance.span, "linked here"),),
            notes=(f"`{instance.path}` carries {text_of(clock.bit_rate, RATE)} @{layer}",),
            help=help_text,
        )


def _asked_of_first_links(case: Case) -> dict[int, dict[int, Fraction]]:
    """Return the bit/s that each flow asks of each line that a host sends on."""
    network = case.networks[""]
    asked: dict[int, dict[int, Fraction]] = {}
    for member in members_of(case.flows, network):
        line, flow = network.hosts[member.origin].line, case.flows[member.flow]
        if line >= 0 and member.part == "user" and not (flow.stream and flow.stream.answers):
            clock = network.elements[line].element.clock(stamps=False)
            shares = asked.setdefault(line, {})
            share = asked_bps(flow, form_sent(member), clock)
            shares[member.flow] = shares.get(member.flow, Fraction(0)) + share
    return asked
