"""Phases before they run: their trials at both ends of what they may try, and whether they fit."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.diagnostics import Demand, Diagnostic, Label
from qospec.model.suite import WIDEST, Case, GoalResult, Point, Search, list_tested
from qospec.plan.first_links import is_growing, list_overloads, sum_offered_bps
from qospec.plan.offered import compute_cell_rate
from qospec.units import PS_PER_S, RATIO, TIME, format_number, format_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from qospec.diagnostics import Problems
    from qospec.model.checked import Argument, CaseMaker
    from qospec.model.suite import Flow, Goal, Phase
    from qospec.plan.first_links import Overload
    from qospec.source import Span


SHOWN = 10_000
"""Four digits are shown."""
NEAR = Fraction(1, 1 << 20)
"""How near a value others are tried that tell how what follows from it grows, as a share."""
COARSE = Fraction(1, 10)
"""Of widths as shares: bounds that far apart do not even give the first digit of a load."""


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
    maker: CaseMaker | None = None


TOO_SHORT = "E0610"


def check_ends(maker: CaseMaker, phase: Phase, problems: Problems) -> Ends | None:
    """Return the trials of a phase at both ends; None if one cannot be run.

    At a point, as if the goals that it depends on had found their lowest or highest loads. What
    does not fit is in `problems`.
    """
    made = list(_make_ends(maker, phase))
    mistakes = [mistake for mistake in made if isinstance(mistake, Diagnostic)]
    cases = [case for case in made if isinstance(case, Case)]
    if mistakes:
        for mistake in mistakes:
            problems.add(mistake)
        return None
    ends = Ends(*cases)
    unfit = list(_find_unfit(maker, phase, ends))
    for problem in unfit:
        problems.add(problem)
    return None if any(problem.severity == "error" for problem in unfit) else ends


def gather_at_use(unfit: Iterable[Diagnostic], maker: CaseMaker) -> Iterator[Diagnostic]:
    """Yield what is wrong with phases, those of a template at the test that is built on it.

    What follows from one argument in the same way is said once, with the other phases; so is that
    trials send nothing, with the remedy for all of them.
    """
    found: dict[tuple[object, ...], Diagnostic] = {}
    phases: dict[tuple[object, ...], dict[str, None]] = {}
    for problem in unfit:
        moved = maker.move_to_use(problem)
        is_own, is_short = moved.span == problem.span, problem.code == TOO_SHORT
        if is_own and not is_short:
            yield problem
            continue
        where = [phase for phase in maker.case.phases if problem.span in phase.span]
        key: tuple[object, ...] = (moved.code, *map(type, where), None if is_own else moved.span)
        here = {f"`{phase.name}`": None for phase in where}
        if key not in found or (isinstance(moved, Demand) and moved.is_beyond(found[key])):
            found[key] = moved
            phases[key] = here | phases.get(key, {})
        phases[key] |= here
    for key, moved in found.items():
        others = list(phases[key])[1:]
        more = (f"the same holds for {', '.join(others)}",) if others else ()
        yield replace(moved, notes=(*moved.notes, *more))


def _find_parameter(maker: CaseMaker, span: Span | None) -> str:
    """Return the parameter for which a test gives what is written in a template; "" if none."""
    return "" if span is None else maker.find_parameter_at(span)


def _make_ends(maker: CaseMaker, phase: Phase) -> Iterator[Case | Diagnostic]:
    """Yield the trials at both ends, which are the same at a point that depends on no goal."""
    if isinstance(phase, Point) and not phase.uses_goals:
        yield from [maker(phase, None, {})] * 2
        return
    for end in ("low", "high"):
        load = getattr(phase, end) if isinstance(phase, Search) else None
        yield maker(phase, load, _build_results(maker.case, end))


MOST_TRIED = 100
"""How many loads between the ends are checked of a phase that depends on conditions."""


def make_trials_between(maker: CaseMaker, phase: Phase, problems: Problems) -> Iterator[Case]:
    """Yield the trials of a search at loads between its ends; the first mistake ends them.

    Only where something in them depends on a condition, such as `a if n > 9 else b`: else what fits
    at both ends fits between them. Of more loads than can be checked, some at equal distances.
    """
    if not isinstance(phase, Search) or not maker.depends_on_conditions(phase):
        return
    for load in _list_loads_between(phase):
        made = maker(phase, load, _build_results(maker.case, "high"))
        if isinstance(made, Diagnostic):
            where = f"so it is in a trial at `{phase.name}` = {_load(load, phase)}"
            problems.add(replace(made, notes=(*made.notes, where)))
            return
        yield made


def _list_loads_between(search: Search) -> Iterator[Fraction]:
    """Yield loads between the ends of a search: all of its steps if these are few."""
    step = search.step or (search.high - search.low) / (MOST_TRIED + 1)
    steps = int((search.high - search.low) / step)
    every = max(1, -(-(steps - 1) // MOST_TRIED))
    yield from (search.low + number * step for number in range(every, steps, every))


def _build_results(case: Case, end: str) -> dict[str, GoalResult]:
    """Return what all searches find if they end at the lowest or the highest load."""
    searches = [phase for phase in case.phases if isinstance(phase, Search)]
    loads = {search: getattr(search, end) for search in searches}
    return {
        goal.name: GoalResult(loads[search], loads[search])
        for search in searches
        for goal in search.goals
    }


def _find_unfit(maker: CaseMaker, phase: Phase, ends: Ends) -> Iterator[Diagnostic]:
    """Yield what is wrong with a phase: a load that no trial can offer, or that sends nothing."""
    if isinstance(phase, Search):
        yield from _find_always_too_short(maker, phase, ends)
        for goal in phase.goals:
            yield from _find_too_fine(goal, phase, ends, maker)
            yield from _find_too_coarse(goal, phase)
        yield from _find_alike(phase, maker)
        yield from _find_always_above(maker, phase, ends)
    else:
        if _count_items(phase, ends.high) < 1:
            length = _find_parameter(maker, phase.measure_span)
            yield _report_too_short(phase, ends.high, f"`{phase.name}`", length)
        yield from _point_above(maker, phase, ends.low)


def _find_always_too_short(maker: CaseMaker, search: Search, ends: Ends) -> Iterator[Diagnostic]:
    """Yield that a trial at the lowest load sends nothing even if others find their highest loads.

    Whether it does if they find less is known once those have found something.
    """
    if _count_items(search, ends.low, rounded=True) >= 1:
        return
    lowest = maker(search, search.low, _build_results(maker.case, "high"))
    if isinstance(lowest, Diagnostic):
        yield lowest
    elif _count_items(search, lowest, rounded=True) < 1:
        where = f"`{search.name}` = {_load(search.low, search)}"
        yield _report_too_short(
            search, lowest, where, _find_parameter(maker, search.goals[0].trial_span)
        )


def _find_always_above(maker: CaseMaker, search: Search, ends: Ends) -> Iterator[Diagnostic]:
    """Yield what the first links cannot carry even if all other searches find their lowest loads.

    Whether they can carry more than that is known once those have found something.
    """
    if not any(list_overloads(ends.high)):
        return
    found = _build_results(maker.case, "low")
    highest = maker(search, search.high, found)
    if isinstance(highest, Diagnostic):
        yield highest
        return
    for overload in list_overloads(highest):
        yield _report_above(maker, search, highest, overload, found, ends.low)


def _point_above(maker: CaseMaker, point: Point, trial: Case) -> Iterator[Diagnostic]:
    """Yield what the first links cannot carry even if all searches find their lowest loads."""
    found, lower = _build_results(maker.case, "low"), None
    for overload in list_overloads(trial):
        if point.load is not None and not point.uses_goals and lower is None:
            halved = maker(point, point.load.value / 2, found)
            lower = halved if isinstance(halved, Case) else None
        yield _report_above(maker, point, trial, overload, found, lower)


def _load(value: Fraction, phase: Phase) -> str:
    of = phase if isinstance(phase, Search) else phase.load
    if of is None:
        return ""
    return format_value(value, of.dimension) + (f" @{of.layer}" if of.layer else "")


def _format_time(least_s: Fraction) -> str:
    return format_value(-_cut(-least_s), TIME)


def _cut(value: Fraction) -> Fraction:
    """Return a value rounded down to four digits, so that what a help says is enough."""
    unit = Fraction(1)
    while abs(value) >= SHOWN * unit:
        unit *= 10
    while abs(value) < SHOWN * unit / 10:
        unit /= 10
    return value // unit * unit


def _count_items(phase: Phase, trial: Case, *, rounded: bool = False) -> Fraction:
    """Return how many items a trial sends while it measures, on average; of a search, those tested.

    If its length may have been `rounded` down, as that of a burst, as many as it may have meant.
    """
    length_ps = trial.run.measure_ps + rounded
    flows = list_tested(trial.flows) if isinstance(phase, Search) else trial.flows
    return sum((_count_flow_items(flow, length_ps) for flow in flows), Fraction(0))


def _count_flow_items(flow: Flow, length_ps: int) -> Fraction:
    mean = compute_cell_rate(flow) * length_ps / PS_PER_S
    if not mean:  # it sends a number of items, at no rate
        mean = Fraction(flow.arrivals.count_most_items(flow.connections, length_ps) or 0)
    return len(flow.origins) * mean


def _describe_sent(case: Case) -> str:
    """Return what the flows send."""
    carried = {"cell" if flow.packets is None else "packet" for flow in case.flows}
    return " or ".join(sorted(carried))


def _report_too_short(phase: Phase, case: Case, where: str, parameter: str) -> Diagnostic:
    """Return the error of a trial that sends nothing; a `parameter` says how long it lasts."""
    items, length_ps, called = _count_items(phase, case), case.run.measure_ps, _describe_sent(case)
    length = format_value(Fraction(length_ps, PS_PER_S), TIME)
    longer, least_s = "send something in it", Fraction(0)
    if items:
        least_s = Fraction(length_ps, PS_PER_S) / items
        least = _format_time(least_s)
        longer = f"let a trial last at least {least}"
        longer += ", or raise the lowest load" if isinstance(phase, Search) else ""
        longer = f"give `{parameter}` at least {least}" if parameter else longer
    place = phase.goals[0].trial_span if isinstance(phase, Search) else phase.measure_span
    return Demand(
        TOO_SHORT,
        f"a trial at {where} sends less than one {called}",
        phase.span if place is None else place,
        secondary=() if parameter or place is None else (Label(phase.span, "in this phase"),),
        notes=(f"{format_number(items)} {called}s in {length}",),
        help=longer,
        demanded="time",
        degree=least_s,
    )


def _suggest_finer(maker: CaseMaker, goal: Goal, search: Search, items: Fraction) -> str:
    """Return how long a trial must last, or what else helps, as the test can say it.

    Loads that are `width` apart differ by that many items.
    """
    length, width = (_find_parameter(maker, span) for span in (goal.trial_span, goal.width_span))
    least = _format_time(Fraction(goal.trial_ps, PS_PER_S) / items)
    longer = f"give `{length}` at least {least}" if length else f"let a trial last at least {least}"
    wide = -_cut(-goal.width / items)
    if wide > (search.high - search.low if goal.absolute else WIDEST):
        return longer
    shown = _load(wide, search) if goal.absolute else format_value(wide, RATIO)
    return f"{longer}, or `{width or 'width'}` at least {shown}"


def _find_too_fine(
    goal: Goal, search: Search, ends: Ends, maker: CaseMaker
) -> Iterator[Diagnostic]:
    """Yield a warning if loads that are to be told apart differ by less than one item."""
    length_ps = ends.high.run.measure_ps
    if goal.varies:
        return
    more = (
        (_count_items(search, ends.high) - _count_items(search, ends.low))
        * goal.trial_ps
        / length_ps
    )
    width = goal.width if goal.absolute else goal.width * search.high
    items = more * width / (search.high - search.low)
    if not 0 < items < 1:
        return
    called = _describe_sent(ends.high)
    shown = _load(goal.width, search) if goal.absolute else format_value(goal.width, RATIO)
    length = Fraction(goal.trial_ps, PS_PER_S)
    yield Demand(
        "W0617",
        f"a trial of `{goal.name}` is too short for its `width`: "
        f"loads so far apart differ by less than one {called}",
        goal.width_span or search.span,
        secondary=() if goal.trial_span is None else (Label(goal.trial_span, "a trial"),),
        notes=(
            f"`width` is {shown}: {format_number(items)} {called}s in {format_value(length, TIME)}",
        ),
        help=_suggest_finer(maker, goal, search, items),
        demanded="time",
        degree=length / items,
    )


def _find_too_coarse(goal: Goal, search: Search) -> Iterator[Diagnostic]:
    """Yield a warning if bounds may stay far apart, as they do if a `%` was missed."""
    if goal.absolute or goal.width <= COARSE:
        return
    yield Diagnostic(
        "W0627",
        f"the bounds of `{goal.name}` may stay {format_value(goal.width, RATIO)} of the load apart",
        goal.width_span or search.span,
        notes=("without `%`, 1 is the whole load",),
        help=f"was `{format_number(goal.width)}%` meant? If not, choose at most "
        f"`{format_number(100 * COARSE)}%`",
    )


def _find_alike(search: Search, maker: CaseMaker) -> Iterator[Diagnostic]:
    """Yield a warning for each goal that asks the same of a load as one before it."""
    first: dict[tuple[object, ...], Goal] = {}
    for goal in search.goals:
        known = first.setdefault(
            (goal.loss, goal.meets, goal.trial_ps, goal.total_ps, goal.exceed, goal.varies), goal
        )
        if known is not goal:
            loss = _find_parameter(maker, goal.loss_span)
            yield Diagnostic(
                "W0628",
                f"`{goal.name}` asks the same of a load as `{known.name}`",
                goal.loss_span or search.span,
                secondary=() if known.loss_span is None else (Label(known.loss_span, "as here"),),
                notes=("both find the same load",),
                help=f"choose another `{loss}`"
                if loss
                else "give them different ratios of loss, or leave one of them out",
            )


def _report_above(
    maker: CaseMaker,
    phase: Phase,
    trial: Case,
    overload: Overload,
    found: Mapping[str, GoalResult],
    lower: Case | None = None,
) -> Diagnostic:
    """Return the error of a trial that offers a first link more than it carries.

    Args:
        maker: Of the case with all phases; it knows what a template is given.
        phase: The phase of the trial.
        trial: At the highest load of a search.
        overload: What is too much.
        found: What goals have found, as far as the trial depends on it.
        lower: A trial at a lower load, which shows how much of what is offered depends on the load.
    """
    place = phase.span
    if isinstance(phase, Search):
        place = phase.high_span or place
    elif overload.change:
        place = phase.run.changes[overload.change - 1].span
    elif phase.load is not None:
        place = phase.load.span
    depends = lower is None or is_growing(lower, trial, overload)
    remedy = _suggest_less(maker, phase, trial, overload, found, lower)
    return Demand(
        "E0305",
        explain_too_much(phase, overload, depends=depends),
        remedy.place or (place if depends else phase.span),
        label=overload.offered,
        secondary=() if overload.line.span is None else (Label(overload.line.span, "linked here"),),
        notes=(overload.carried,),
        help=remedy.text,
        demanded=remedy.of or phase.name if remedy.most else "",
        degree=-remedy.most,
    )


class Remedy(NamedTuple):
    """How to offer a first link no more than it carries.

    Attributes:
        text: In words.
        most: Up to which load, or value of an argument; 0 if none is named.
        of: The parameter of that argument, "" for a load.
        place: Where a template names it.
    """

    text: str
    most: Fraction = Fraction(0)
    of: str = ""
    place: Span | None = None


def explain_too_much(phase: Phase, overload: Overload, *, depends: bool = True) -> str:
    """Return that a phase offers more than a first link carries; what of a search `depends` on."""
    load = f"the load of `{phase.name}`"
    if isinstance(phase, Search) and depends:
        load = f"the highest load, {_load(phase.high, phase)},"
    elif isinstance(phase, Point) and overload.change:
        changed_s = Fraction(phase.run.changes_ps[overload.change - 1], PS_PER_S)
        load += f" from {_format_time(changed_s)} on"
    return f"{load} is more than the first link can carry"


def _suggest_less(
    maker: CaseMaker,
    phase: Phase,
    trial: Case,
    overload: Overload,
    found: Mapping[str, GoalResult],
    lower: Case | None,
) -> Remedy:
    """Return how to offer a first link no more than it carries."""
    load = phase.high if isinstance(phase, Search) else phase.load and phase.load.value
    if lower is None or not load or overload.change:
        return Remedy("send less")
    if not is_growing(lower, trial, overload):
        it = f"it does not depend on `{phase.name}`"
        return Remedy(f"lower the load, or what it follows from: {it}")
    low = phase.low if isinstance(phase, Search) else load / 2
    at_low, at_load = (sum_offered_bps(case, overload.line, 0) for case in (lower, trial))
    most = load - (load - low) * (at_load - overload.most_bps) / (at_load - at_low)
    least = phase.low if isinstance(phase, Search) else Fraction(0)

    def is_carried(tried: Fraction) -> bool:
        made = maker(phase, tried, found) if tried > least else None
        return isinstance(made, Case) and not any(list_overloads(made))

    span = phase.high_span if isinstance(phase, Search) else phase.load and phase.load.span
    for argument in maker.list_arguments(span) if span and most > least else ():
        found_most = _find_most(argument, most)
        enough = _cut(found_most) if found_most else found_most
        follows = argument.follow(enough) if enough else None
        if follows is not None and is_carried(follows):
            layer = f" @{argument.layer}" if argument.layer else ""
            shown = format_value(enough, argument.dimension) + layer
            text = f"give `{argument.name}` at most {shown}"
            return Remedy(text, enough, argument.name, argument.place)
    most = _cut(most) if most > 0 else most
    if isinstance(phase, Search) and phase.step is not None:
        most = phase.low + (most - phase.low) // phase.step * phase.step
    shown = _load(most, phase)
    if not is_carried(most):
        below = f"search below {shown}, which the link carries"
        return Remedy(below, most) if 0 < most <= least else Remedy("send less")
    if isinstance(phase, Search):
        return Remedy(f"search up to {shown}", most)
    words = phase.load.words if phase.load else ""
    return Remedy(f"let `{words}` be at most {shown} in `{phase.name}`", most)


def _find_most(argument: Argument, most: Fraction) -> Fraction:
    """Return the greatest value of an argument from which no more than `most` follows; 0 if none.

    What follows is taken to grow with it, in pieces that are linear: each step continues that of
    the least value that is too much, or halves what is left between.
    """
    enough, too_much = Fraction(0), argument.value
    for _ in range(MOST_TRIED):
        above, near = (argument.follow(value) for value in (too_much, too_much * (1 - NEAR)))
        if above is None or near is None:
            break
        slope = (above - near) / (too_much * NEAR)
        tried = too_much - (above - most) / slope if slope > 0 else enough
        if tried <= enough:
            tried = (enough + too_much) / 2
        follows = argument.follow(tried)
        if follows is None or follows == most:
            return tried if follows == most else enough
        enough, too_much = (tried, too_much) if follows < most else (enough, tried)
        if too_much - enough < argument.value * NEAR:
            break
    return enough
