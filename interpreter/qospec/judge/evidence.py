"""Whether what is counted can show what a criterion asks, however well it turns out.

20 delays have no p99.9999 but the longest of them, and 100,000 cells of which none is lost do not
show that fewer than one in a million would be.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from qospec.catalogue.statistics import bound_of, share_of
from qospec.diagnostics import Diagnostic
from qospec.judge.losses import SURE, as_ratios, carriers, counting, judged
from qospec.judge.quantiles import fewest, items_of, needed_ends, shared
from qospec.model.expression import Constant, Operation, measurements
from qospec.plan.survey import cell_rate
from qospec.units import CELLS, PS_PER_S, RATIO, number_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from qospec.judge.repeats import Repeat
    from qospec.model.expression import Expression, Measured
    from qospec.model.suite import Case, Flow, Statement
    from qospec.plan.plan import CasePlan
    from qospec.source import Span

HALF = Fraction(1, 2)
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
"""Each comparison with the one that holds where it does not."""
SPREAD = 6
"""A source that draws its times hardly ever sends more standard deviations above the mean."""


class Need(NamedTuple):
    """What a criterion needs to be shown: so many items, of each repeat or of all `together`."""

    leaf: Measured
    items: int
    together: bool
    text: str

    def lack(self, items: int) -> tuple[str, str]:
        """Return in words that so many items are too few, and how many it takes."""
        counted, needed = (number_text(n, exact=True) for n in (items, self.items))
        called = items_of(self.leaf)
        if not self.together:
            low = (share_of(self.leaf.statistic) or 1) < HALF
            ends = ("shortest", "longest") if called == "delays" else ("least", "greatest")
            end, beyond = (ends[0], "below") if low else (ends[1], "beyond")
            found = f"of {counted} {called} `{self.leaf.text}` is the {end}"
            return found, f"of {needed} one is expected {beyond} it"
        if bound_of(self.leaf.statistic) is not None:
            return f"{counted} {called} cannot show `{self.text}`", f"it takes {needed}, none above"
        if self.leaf.dimension == RATIO:
            what = "cells" if "cell" in carriers(self.leaf) else "packets"
            none = f"it takes {needed}, none {counting(self.leaf).counts}"
            return f"{counted} {what} cannot show `{self.text}`", none
        return (
            f"{counted} {called} cannot show `{self.text}`",
            f"it takes {needed} independent ones",
        )


class Shortfall(NamedTuple):
    """That a case has only so many items of what a criterion needs."""

    need: Need
    items: int
    case: str

    @property
    def missing(self) -> Fraction:
        """Return how many times as many items it takes."""
        return Fraction(self.need.items, max(1, self.items))


def needs(statement: Statement) -> Iterator[Need]:
    """Yield what a criterion needs that asks for a quantile, or for a loss ratio below a bound."""
    if statement.kind != "report" and not statement.idle:
        for part, binding in _comparisons(as_ratios(statement.expression)):
            yield from _of_quantiles(part, statement)
            if binding:
                yield from _of_ratios(part, statement)


def planned(plans: Iterable[CasePlan]) -> Iterator[Diagnostic]:
    """Yield a warning for each criterion that the items of some of the cases cannot show."""
    found: dict[tuple[Span, str], list[Shortfall]] = {}
    asked: dict[Span, set[str]] = {}
    for case in (each.case for each in plans if not each.case.skip):
        for statement in case.statements:
            if not statement.idle:
                asked.setdefault(statement.span, set()).add(case.name)
            for short in _shortfalls(statement, case):
                found.setdefault((statement.span, short.need.leaf.text), []).append(short)
    for (span, _), all_short in found.items():
        yield _warning(span, all_short, len(asked[span]))


def _shortfalls(statement: Statement, case: Case) -> Iterator[Shortfall]:
    for need in needs(statement):
        flow = next((each for each in case.flows if each.name == need.leaf.flow), None)
        if flow is None or need.leaf.oam:
            continue
        items = _most(flow, need.leaf.member, case.run.measure_ps)
        items *= case.run.repeat if need.together else 1
        if items < need.items:
            yield Shortfall(need, items, case.name)


def _warning(span: Span, found: Sequence[Shortfall], cases: int) -> Diagnostic:
    """Return one warning for all cases of a criterion: that of the one that lacks most."""
    worst = max(found, key=lambda each: each.missing)
    message, note = worst.need.lack(worst.items)
    short = len({each.case for each in found})
    notes = [note]
    if cases > 1:
        notes.append(f"so it is in {short} of {cases} cases; it lacks most in `{worst.case}`")
    longer = "measure longer, repeat more often" if worst.need.together else "measure longer"
    return Diagnostic("W0611", message, span, notes=tuple(notes), help=f"{longer}, or ask for less")


def caution(statement: Statement, repeats: Sequence[Repeat]) -> str:
    """Return why a criterion that passed has shown less than it says; nothing if it has."""
    for need in needs(statement) if statement.confidence is None else ():
        items = [_counted(need.leaf, repeat) for repeat in repeats]
        found = sum(items) if need.together else min(items, default=0)
        if found < need.items:
            return ": ".join(need.lack(found))
    return ""


def _comparisons(
    expression: Expression, *, true: bool = True, binding: bool = True
) -> Iterator[tuple[Operation, bool]]:
    """Yield each comparison as it must come out, and whether the whole is false where it does not.

    `not a < b` is `a >= b`. Of what is joined by `or`, another part may do.
    """
    if not isinstance(expression, Operation):
        return
    operator = expression.operator
    if operator == "not":
        yield from _comparisons(expression.operands[0], true=not true, binding=binding)
    elif operator in ("and", "or"):
        binding = binding and operator == ("and" if true else "or")
        for part in expression.operands:
            yield from _comparisons(part, true=true, binding=binding)
    elif true or operator not in OPPOSITE:
        yield expression, binding and true
    else:
        yield replace(expression, operator=OPPOSITE[operator]), binding


def _of_quantiles(part: Operation, statement: Statement) -> Iterator[Need]:
    leaves = dict.fromkeys(measurements(part))
    for leaf in leaves:
        share = share_of(leaf.statistic)
        if share is None:
            continue
        rarer = min(share, 1 - share)
        if statement.confidence is None:
            yield Need(leaf, math.ceil(1 / rarer), together=False, text=statement.text)
            continue
        sure = shared(statement.confidence, leaves, part)
        ends = needed_ends(part, leaf)
        wanted = [fewest(1 - share, sure)] * ends.upper + [fewest(share, sure)] * ends.lower
        if wanted:
            yield Need(leaf, max(wanted), together=True, text=statement.text)


def _of_ratios(part: Operation, statement: Statement) -> Iterator[Need]:
    leaf = judged(part)
    if leaf is None or leaf.dimension != RATIO:
        return
    ratios = [each.value for each in part.operands if isinstance(each, Constant)]
    if len(ratios) != 1 or not isinstance(ratios[0], Fraction) or not 0 < ratios[0] < 1:
        return
    if needed_ends(part, leaf).upper:
        sure = statement.confidence or SURE
        yield Need(leaf, fewest(ratios[0], sure), together=True, text=statement.text)


def _most(flow: Flow, member: int | None, length_ps: int) -> int:
    """Return how many items a flow, or a member, sends at most; if it draws, hardly ever more."""
    members = len(flow.origins) if member is None else 1
    most: int | None = flow.arrivals.most_cells(flow.connections, length_ps)
    if most is not None:
        return members * most
    mean = members * cell_rate(flow) * length_ps / PS_PER_S
    return math.ceil(mean) + SPREAD * (math.isqrt(math.ceil(mean)) + 1)


def _counted(leaf: Measured, repeat: Repeat) -> int:
    if leaf.dimension == RATIO and bound_of(leaf.statistic) is None:
        of = replace(leaf, metric=counting(leaf).out_of, statistic="", dimension=CELLS)
        sent = repeat.read(of)
        return int(sent) if isinstance(sent, Fraction) else 0
    delays = repeat.delays(leaf)
    return delays.count if delays is not None else 0
