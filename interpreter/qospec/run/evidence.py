"""Whether what is counted can show what a criterion asks, however well it turns out.

20 delays have no p99.9999 but the longest of them, and 100,000 cells of which none is lost do not
show that fewer than one in a million would be.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from qospec.check.bounds import Bounds, bounds
from qospec.conditions import Constant, Operation, measurements
from qospec.diagnostics import Diagnostic
from qospec.run.losses import SURE, as_ratios, counting, judged
from qospec.run.quantiles import edges, fewest
from qospec.run.survey import cell_rate
from qospec.statistic import bound_of, share_of
from qospec.units import CELLS, PS_PER_S, RATIO, number_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.conditions import Expression, Leaf, Measured
    from qospec.model import Case, Flow, Statement
    from qospec.run.repeats import Repeat

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
        if not self.together:
            longest = f"of {counted} delays `{self.leaf.text}` is the longest"
            return longest, f"of {needed} one is expected beyond it"
        if bound_of(self.leaf.statistic) is not None:
            return f"{counted} delays cannot show `{self.text}`", f"it takes {needed}, none above"
        if self.leaf.dimension == RATIO:
            what = "cells" if self.leaf.metric.startswith("cell") else "packets"
            none = f"it takes {needed}, none {counting(self.leaf).counts}"
            return f"{counted} {what} cannot show `{self.text}`", none
        return f"{counted} delays cannot show `{self.text}`", f"it takes {needed} independent ones"


def needs(statement: Statement) -> Iterator[Need]:
    """Yield what a criterion needs that asks for a quantile, or for a loss ratio below a bound."""
    if statement.kind != "report" and not statement.idle:
        for part in _conjuncts(as_ratios(statement.expression)):
            yield from _of_quantiles(part, statement)
            yield from _of_ratios(part, statement)


def planned(case: Case) -> Iterator[Diagnostic]:
    """Yield a warning for each criterion that the items of a case cannot show."""
    for statement in case.statements:
        for need in needs(statement):
            flow = next((each for each in case.flows if each.name == need.leaf.flow), None)
            if flow is None or need.leaf.oam:
                continue
            items = _most(flow, need.leaf.member, case.run.measure_ps)
            items *= case.run.repeat if need.together else 1
            if items < need.items:
                message, note = need.lack(items)
                longer = "measure longer, repeat more often" if need.together else "measure longer"
                help_ = f"{longer}, or ask for less"
                yield Diagnostic("W0611", message, statement.span, notes=(note,), help=help_)


def caution(statement: Statement, repeats: Sequence[Repeat]) -> str:
    """Return why a criterion that passed has shown less than it says; nothing if it has."""
    for need in needs(statement) if statement.confidence is None else ():
        items = [_counted(need.leaf, repeat) for repeat in repeats]
        found = sum(items) if need.together else min(items, default=0)
        if found < need.items:
            return ": ".join(need.lack(found))
    return ""


def _conjuncts(expression: Expression) -> Iterator[Operation]:
    if isinstance(expression, Operation) and expression.operator == "and":
        for part in expression.operands:
            yield from _conjuncts(part)
    elif isinstance(expression, Operation):
        yield expression


def _of_quantiles(part: Operation, statement: Statement) -> Iterator[Need]:
    leaves = dict.fromkeys(measurements(part))
    for leaf in leaves:
        share = share_of(leaf.statistic)
        if share is None or share == 1:
            continue
        if statement.confidence is None:
            yield Need(leaf, math.ceil(1 / (1 - share)), together=False, text=statement.text)
        elif _needs_upper_bound(part, leaf):
            sure = 1 - (1 - statement.confidence) / len(leaves)
            yield Need(leaf, fewest(1 - share, sure), together=True, text=statement.text)


def _of_ratios(part: Operation, statement: Statement) -> Iterator[Need]:
    leaf = judged(part)
    if leaf is None or leaf.dimension != RATIO:
        return
    ratios = [each.value for each in part.operands if isinstance(each, Constant)]
    if len(ratios) != 1 or not isinstance(ratios[0], Fraction) or not 0 < ratios[0] < 1:
        return
    if _needs_upper_bound(part, leaf):
        sure = statement.confidence or SURE
        yield Need(leaf, fewest(ratios[0], sure), together=True, text=statement.text)


def _needs_upper_bound(part: Operation, leaf: Measured) -> bool:
    """Return whether a comparison can hold only if it is known how large what is measured is."""

    def unlimited(other: Leaf) -> Bounds:
        return Bounds(Fraction(1), None if other == leaf else Fraction(1))

    return any(bounds(edge.expression, unlimited).most is None for edge in edges(part, {}, 1))


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
