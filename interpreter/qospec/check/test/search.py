"""`search x in low .. high { goal … }`: its variable, and what a goal offers to criteria."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.catalogue.kinds import LONGEST_PS, REQUIRED, Domain, Kind, Parameter
from qospec.check.evaluate.context import error
from qospec.check.evaluate.dimensions import named
from qospec.check.evaluate.goals import GoalValue
from qospec.check.evaluate.loops import misplaced
from qospec.check.evaluate.scope import Binding, known_binding
from qospec.check.evaluate.values import Amount, Poison, Value
from qospec.check.records.record import fields_of
from qospec.model.suite import Goal, Search
from qospec.syntax import ast
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.check.test.parts import CaseScope

HERE = "a search"
WHAT = "what is searched"
FINEST = Fraction(1, 10**6)
METHODS = ("mlrsearch", "rfc2544")

TIMES = {
    "mlrsearch": {"trial": PS_PER_S, "total": 21 * PS_PER_S},
    "rfc2544": {"trial": 60 * PS_PER_S, "total": 60 * PS_PER_S},
}
"""Defaults by method. Source: FD.io CSIT's use of MLRsearch; RFC 2544, 24, trial duration."""

_ATTRIBUTES = {
    "trial": Parameter("trial", Domain("time", 1, LONGEST_PS), None),
    "total": Parameter("total", Domain("time", 1, LONGEST_PS), None),
    "exceed": Parameter("exceed", Domain("ratio", 0, 1), Fraction(1, 2)),
    "width": Parameter("width", Domain("ratio", FINEST, Fraction(1, 2)), Fraction(1, 200)),
}
"""What a goal requires of a load. Source: RFC 9971 (MLRsearch), attributes of a search goal."""


class SearchFields:
    """The fields of a search and of its goals."""

    loss: Fraction
    """The greatest share of cells that may be lost in a good trial."""
    trial: int
    """How long a trial lasts."""
    total: int
    """How long the trials of one load last together."""
    exceed: Fraction
    """The greatest share of these in which a good load may have bad trials."""
    width: Fraction
    """How near the bounds come to each other, as a share of the upper one."""
    method: str
    """By which rules the loads are chosen."""


SEARCH = Kind(
    name="search",
    role="element",
    duty="element",
    summary="How the greatest load is looked for.",
    source="spec/6-procedures.md",
    parameters={
        **_ATTRIBUTES,
        "method": Parameter("method", Domain("choice", choices=METHODS), "mlrsearch"),
    },
    build=SearchFields,
)
GOAL = replace(
    SEARCH,
    name="goal",
    summary="What a load must meet.",
    parameters={
        "loss": Parameter("loss", Domain("ratio", 0, 1), REQUIRED),
        **{name: replace(each, default=None) for name, each in _ATTRIBUTES.items()},
    },
)


class SearchBuilder:
    """The search of a test: its variable at the greatest load, and its goals, as names."""

    def __init__(
        self, names: CaseScope, evaluator: Evaluator, load: Fraction | None = None
    ) -> None:
        self.node, self._scope = _only(names, evaluator)
        self._load = load
        self.search: Search | None = None
        self._evaluator = evaluator
        self._context = evaluator.context
        self._used = False

    def declare(self) -> None:
        """Declare what is searched and the goals; a mistake is reported."""
        self._context.judging = False
        node, scope = self.node, self._scope
        if node is None:
            return
        low, high = self._ends(node, scope)
        self.search = self._search(node, low, high, scope)
        tried: Value = high if high is not None else Poison()
        if self._load is not None and high is not None:
            tried = Amount(self._load, high.dimension, high.layer)

        def use() -> Value:
            self._used = True
            return tried

        searched = Binding(node.name.text, node.name.span, WHAT, use)
        first = next((each.name.text for each in _goals(node)), "goal")
        searched.instead = f"{first}.{node.name.text}"
        scope.declare(searched, self._context)
        for goal in _goals(node):
            made = GoalValue(goal.name.text, node.name.text, high)
            scope.declare(known_binding(goal.name, "a goal", made), self._context)

    def close(self) -> None:
        """Withdraw the variable, and what depends on it, from criteria: only flows may use it."""
        self._context.judging = True
        if self.node is None or self._used:
            return
        name = self.node.name
        self._context.report(
            error(
                "E0514",
                f"no flow depends on `{name.text}`",
                name.span,
                help=f"use it in a flow's traffic, such as `load(rate = {name.text})`",
            )
        )

    def _ends(self, node: ast.Search, scope: Scope) -> tuple[Amount | None, Amount | None]:
        values = node.values
        if not isinstance(values, ast.Range) or values.step is not None:
            self._context.report(
                error(
                    "E0514",
                    "a search takes a lower and an upper bound, without steps",
                    values.span,
                    help="write `in lowest .. highest`",
                )
            )
            return None, None
        low, high = (self._end(each, scope) for each in (values.first, values.last))
        if low is None or high is None:
            return low, high
        if low.dimension != high.dimension:
            self._context.report(
                error(
                    "E0203",
                    f"a search between {named(low.dimension)} and {named(high.dimension)}",
                    values.last.span,
                    label=f"this is {named(high.dimension)}",
                    secondary=(values.first.span, f"this is {named(low.dimension)}"),
                )
            )
        elif low.value is not None and high.value is not None and not 0 < low.value < high.value:
            self._context.report(
                error(
                    "E0514",
                    "a search starts above 0 and goes up",
                    values.span,
                    help="write the lowest load first, such as `1% of bottleneck`",
                )
            )
        else:
            return low, high
        return None, None

    def _end(self, node: ast.Expression, scope: Scope) -> Amount | None:
        value = self._evaluator.plain(node, scope)
        if isinstance(value, Amount):
            return value
        if not isinstance(value, Poison):
            what = f"expected a number, found {value.what}"
            self._context.report(error("E0204", what, node.span))
        return None

    def _search(
        self, node: ast.Search, low: Amount | None, high: Amount | None, scope: Scope
    ) -> Search | None:
        before = self._context.mistakes
        given = self._fields(SEARCH, node.body, scope)
        goals = [self._goal(each, given, scope) for each in _goals(node)]
        if not goals:
            self._context.report(
                error(
                    "E0514",
                    f"the search for `{node.name.text}` has no goal",
                    node.name.span,
                    help="add `goal ndr { loss = 0 }`",
                )
            )
        if self._context.mistakes > before or low is None or high is None:
            return None
        if low.value is None or high.value is None:
            return None
        method = str(given.get("method", METHODS[0]))
        made = tuple(goal for goal in goals if goal is not None)
        ends = (low.value, high.value)
        return Search(
            node.name.text, *ends, high.dimension, method, made, node.span, layer=high.layer
        )

    def _fields(self, kind: Kind, body: ast.Body, scope: Scope) -> dict[str, Any]:
        """Return the fields that a body gives; report anything else in it."""
        binds = []
        for statement in body.statements:
            if isinstance(statement, ast.Bind):
                binds.append(statement)
            elif kind is GOAL or not isinstance(statement, ast.Goal):
                self._context.report(misplaced(statement, "a goal" if kind is GOAL else HERE))
        return fields_of(kind, binds, body, scope, self._evaluator)

    def _goal(self, node: ast.Goal, around: dict[str, Any], scope: Scope) -> Goal | None:
        own = self._fields(GOAL, node.body, scope)
        method = str(around.get("method", METHODS[0]))
        defaults = {
            name: TIMES[method].get(name, each.default) for name, each in _ATTRIBUTES.items()
        }
        given = {**around, **own}
        if "trial" in given and "total" not in given:
            defaults["total"] = max(defaults["total"], given["trial"])
            if method == "rfc2544":
                defaults["total"] = given["trial"]
        found = {**defaults, **given}
        if "loss" not in own:
            return None
        if found["total"] < found["trial"]:
            self._context.report(
                error(
                    "E0514",
                    f"`{node.name.text}` has a trial longer than all trials together",
                    node.span,
                    note="`total` is the length of all trials of one load, `trial` that of one",
                    help="give `total` at least the length of `trial`",
                )
            )
        left = tuple(name for name in _ATTRIBUTES if name not in given)
        times = (int(found["trial"]), int(found["total"]))
        ratios = (Fraction(found["exceed"]), Fraction(found["width"]))
        return Goal(node.name.text, Fraction(own["loss"]), *times, *ratios, left)


def _only(names: CaseScope, evaluator: Evaluator) -> tuple[ast.Search | None, Scope]:
    found = list(names.of(ast.Search))
    for each, _ in found[1:]:
        evaluator.context.report(
            error(
                "E0102",
                "a test has at most one search",
                each.name.span,
                secondary=(found[0][0].name.span, "the first"),
                help="give the search two goals, or write another test",
            )
        )
    return found[0] if found else (None, names.scope)


def _goals(node: ast.Search) -> Sequence[ast.Goal]:
    return [each for each in node.body.statements if isinstance(each, ast.Goal)]
