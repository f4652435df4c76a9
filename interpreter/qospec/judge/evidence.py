"""Whether the sample is large enough to show what a criterion states, however well it turns out.

The p99.9999 of 20 delays is just the longest of them, and 100,000 cells without a loss do not show
that fewer than one in a million would be lost.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.statistics import parse_bound, parse_share
from qospec.dataclass import NamedTuple
from qospec.diagnostics import Diagnostic, Label
from qospec.judge.losses import (
    DEFAULT_CONFIDENCE,
    as_ratios,
    find_compared_count,
    get_counting,
    list_item_kinds,
)
from qospec.judge.quantiles import (
    compute_bonferroni_level,
    find_minimum_sample_size,
    find_needed_bounds,
    name_items,
)
from qospec.model.expression import Constant, Operation, list_measurements
from qospec.model.suite import Point
from qospec.plan.offered import compute_cell_rate
from qospec.units import CELLS, PS_PER_S, RATIO, format_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from qospec.diagnostics import Problems
    from qospec.judge.repeats import RepeatReadings
    from qospec.model.checked import CheckedSuite
    from qospec.model.expression import Expression, Measured
    from qospec.model.suite import Flow, Statement
    from qospec.plan.phases import Examined
    from qospec.plan.plan import CasePlan
    from qospec.source import Span

HALF = Fraction(1, 2)
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
"""Each comparison with its negation."""
SPREAD = 6
"""Standard deviations above the mean that a random source hardly ever exceeds."""


class Need(NamedTuple):
    """The sample size that a criterion needs, of each repeat or of all repeats `together`."""

    leaf: Measured
    items: int
    together: bool
    text: str

    def describe_shortfall(self, items: int) -> tuple[str, str]:
        """Return in words that `items` are too few, and how many are needed."""
        counted, needed = (format_number(n) for n in (items, self.items))
        called = name_items(self.leaf)
        if not self.together:
            low = (parse_share(self.leaf.statistic) or 1) < HALF
            ends = ("shortest", "longest") if called == "delays" else ("least", "greatest")
            end, beyond = (ends[0], "below") if low else (ends[1], "beyond")
            found = f"of {counted} {called}, `{self.leaf.text}` is the {end}"
            return found, f"of {needed}, one is expected {beyond} it"
        if parse_bound(self.leaf.statistic) is not None:
            return (
                f"{counted} {called} cannot show `{self.text}`",
                f"{needed} are needed, none of them above",
            )
        if self.leaf.dimension == RATIO:
            what = "cells" if "cell" in list_item_kinds(self.leaf) else "packets"
            none = f"{needed} are needed, none of them {get_counting(self.leaf).counts}"
            what = what.removesuffix("s") if items == 1 else what
            return f"{counted} {what} cannot show `{self.text}`", none
        return (
            f"{counted} {called} cannot show `{self.text}`",
            f"{needed} independent ones are needed",
        )


class Shortfall(NamedTuple):
    """A case in which a criterion has fewer items than it needs."""

    need: Need
    items: int
    case: str
    span: Span
    phase: Span | None

    @property
    def ratio(self) -> Fraction:
        """Return the items needed over those there are."""
        return Fraction(self.need.items, max(1, self.items))


def needs(statement: Statement) -> Iterator[Need]:
    """Yield the sample sizes that a criterion needs for its quantiles and loss ratios."""
    if statement.kind != "report" and not statement.idle:
        for part, binding in _list_comparisons(as_ratios(statement.expression)):
            yield from _needs_of_quantiles(part, statement)
            if binding:
                yield from _needs_of_ratios(part, statement)


def examine(checked: CheckedSuite, problems: Problems, max_cells: int) -> None:
    """Report what `qos run` will not carry out of a sound suite, and what that cannot show.

    The most cells are of one trial.
    """
    from qospec.plan.survey import list_in_batches, verify

    for warning in warn_of_evidence(verify(checked, problems, max_cells)):
        problems.add(warning)
    batchwise = list_in_batches(checked.suite)
    if batchwise and not problems.errors:
        from qospec.plan.plan import Bounds, plan

        plan(checked.select(batchwise), "", Bounds(max_cells), problems)


def warn_of_evidence(plans: Iterable[CasePlan | Examined]) -> Iterator[Diagnostic]:
    """Yield a warning for each criterion that some of the cases have too few items to show.

    Those of a template that are written alike, one for each of its points, have one warning at each
    test that is built on it.
    """
    found: dict[tuple[Span, str], list[Shortfall]] = {}
    cases_of: dict[Span, set[str]] = {}
    for plan in (planned for planned in plans if not planned.case.skip):
        for statement in plan.case.statements:
            span = _find_span(statement, plan)
            if not statement.idle:
                cases_of.setdefault(span, set()).add(plan.case.name)
            for short in _find_shortfalls(statement, plan):
                own = span is statement.span
                text = short.need.leaf.text if own else statement.text
                found.setdefault((span, text), []).append(short)
    for (span, _), all_short in found.items():
        yield _build_warning(span, all_short, len(cases_of[span]))


def list_foreseen(plans: Iterable[CasePlan]) -> frozenset[tuple[str, str]]:
    """Return the criteria that have a warning, by their recorded places and labels."""
    return frozenset(
        (statement.span.recorded_place, statement.label)
        for plan in plans
        if not plan.case.skip
        for statement in plan.case.statements
        if any(_find_shortfalls(statement, plan))
    )


def _find_span(statement: Statement, plan: CasePlan | Examined) -> Span:
    """Return where a criterion is written; of a template in another file, where it is used.

    That is the argument that it names or, if it names none or several, what the test is built on.
    """
    test, own, maker = plan.span, statement.span, plan.maker
    if test is None or test.source.name == own.source.name:
        return own
    return test if maker is None else maker.move_to_use(Diagnostic("W0611", "", own)).span


def _find_shortfalls(statement: Statement, plan: CasePlan | Examined) -> Iterator[Shortfall]:
    for need in needs(statement):
        seen = _find_seen(need.leaf, plan)
        if seen is None or need.leaf.part != "user":
            continue
        items = _bound_items(seen.flow, need.leaf.member, seen.length_ps)
        items *= seen.repeats if need.together else 1
        if items < need.items:
            yield Shortfall(need, items, plan.case.name, statement.span, seen.phase)


class _Seen(NamedTuple):
    """A flow where something of it is measured: how long, in ps, how often, and at what point."""

    flow: Flow
    length_ps: int
    repeats: int
    phase: Span | None


def _find_seen(leaf: Measured, plan: CasePlan | Examined) -> _Seen | None:
    """Return where something is measured; None of trials of a search, which are not judged."""
    flows, run, often = plan.case.flows, plan.case.run, 1
    phase: Span | None = None
    if plan.case.phases:
        planned = next((e for e in plan.phases if e.phase.name == leaf.network), None)
        if planned is None or not isinstance(planned.phase, Point):
            return None
        flows, often, run = planned.flows, run.repeat, planned.phase.run
        phase = planned.phase.span
    # of a phase, that of its highest load is the last
    flow = next((flow for flow in reversed(flows) if flow.name == leaf.flow), None)
    return None if flow is None else _Seen(flow, run.measure_ps, run.repeat * often, phase)


def _build_warning(span: Span, found: Sequence[Shortfall], cases: int) -> Diagnostic:
    """Return one warning for all cases of a criterion, with the numbers of the worst."""
    worst = max(found, key=lambda shortfall: shortfall.ratio)
    message, note = worst.need.describe_shortfall(worst.items)
    short = len({shortfall.case for shortfall in found})
    notes = [note]
    if cases > 1:
        notes.append(
            f"so it is in {short} of {cases} cases; the shortfall is largest in `{worst.case}`"
        )
    places: tuple[Label, ...] = ()
    if span != worst.span:
        places = (Label(worst.span, "this criterion"),)
        places += (Label(worst.phase, "measured here"),) if worst.phase is not None else ()
        alike = len({(shortfall.span, shortfall.phase) for shortfall in found})
        if alike > 1:
            notes.append(f"{alike} criteria are alike; the shortfall of this one is largest")
    longer = "measure longer, repeat more often" if worst.need.together else "measure longer"
    return Diagnostic(
        "W0611",
        message,
        span,
        secondary=places,
        notes=tuple(notes),
        help=f"{longer}, or relax the criterion",
    )


def explain_caution(statement: Statement, repeats: Sequence[RepeatReadings]) -> str:
    """Return why a criterion that passed has shown less than it states; "" if it has not."""
    for need in needs(statement) if statement.confidence is None else ():
        items = [_count_items(need.leaf, repeat) for repeat in repeats]
        found = sum(items) if need.together else min(items, default=0)
        if found < need.items:
            return ": ".join(need.describe_shortfall(found))
    return ""


def _list_comparisons(
    expression: Expression, *, true: bool = True, binding: bool = True
) -> Iterator[tuple[Operation, bool]]:
    """Yield each comparison as it must come out, and whether the whole depends on it.

    `not a < b` is `a >= b`. A part of an `or` is not binding: another one may hold.
    """
    if not isinstance(expression, Operation):
        return
    operator = expression.operator
    if operator == "not":
        yield from _list_comparisons(expression.operands[0], true=not true, binding=binding)
    elif operator in ("and", "or"):
        binding = binding and operator == ("and" if true else "or")
        for part in expression.operands:
            yield from _list_comparisons(part, true=true, binding=binding)
    elif true or operator not in OPPOSITE:
        yield expression, binding and true
    else:
        yield replace(expression, operator=OPPOSITE[operator]), binding


def _needs_of_quantiles(part: Operation, statement: Statement) -> Iterator[Need]:
    leaves = dict.fromkeys(list_measurements(part))
    for leaf in leaves:
        share = parse_share(leaf.statistic)
        if share is None:
            continue
        rarer = min(share, 1 - share)
        if statement.confidence is None:
            yield Need(leaf, math.ceil(1 / rarer), together=False, text=statement.text)
            continue
        sure = compute_bonferroni_level(statement.confidence, leaves, part)
        ends = find_needed_bounds(part, leaf)
        sizes = [find_minimum_sample_size(1 - share, sure)] * ends.upper + [
            find_minimum_sample_size(share, sure)
        ] * ends.lower
        if sizes:
            yield Need(leaf, max(sizes), together=True, text=statement.text)


def _needs_of_ratios(part: Operation, statement: Statement) -> Iterator[Need]:
    leaf = find_compared_count(part)
    if leaf is None or leaf.dimension != RATIO:
        return
    ratios = [operand.value for operand in part.operands if isinstance(operand, Constant)]
    if len(ratios) != 1 or not isinstance(ratios[0], Fraction) or not 0 < ratios[0] < 1:
        return
    if find_needed_bounds(part, leaf).upper:
        sure = statement.confidence or DEFAULT_CONFIDENCE
        yield Need(
            leaf, find_minimum_sample_size(ratios[0], sure), together=True, text=statement.text
        )


def _bound_items(flow: Flow, member: int | None, length_ps: int) -> int:
    """Return how many items a flow or a member sends at most; of a random one, almost surely."""
    members = len(flow.origins) if member is None else 1
    sent = (flow, *(change.flow for change in flow.changes))  # as if each were sent all the time
    most: list[int | None] = [e.arrivals.count_most_items(e.connections, length_ps) for e in sent]
    known = [count for count in most if count is not None]
    if len(known) == len(most):
        return members * sum(known)
    mean = members * sum(map(compute_cell_rate, sent)) * length_ps / PS_PER_S
    return math.ceil(mean) + SPREAD * (math.isqrt(math.ceil(mean)) + 1)


def _count_items(leaf: Measured, repeat: RepeatReadings) -> int:
    if leaf.dimension == RATIO and parse_bound(leaf.statistic) is None:
        of = replace(leaf, metric=get_counting(leaf).out_of, statistic="", dimension=CELLS)
        sent = repeat.read(of)
        return int(sent) if isinstance(sent, Fraction) else 0
    delays = repeat.read_delays(leaf)
    return delays.count if delays is not None else 0
