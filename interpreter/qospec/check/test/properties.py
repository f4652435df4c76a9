"""`property name { forall … expect … }`: what holds for all values drawn.

Streams of cells can be drawn too; `FUNCTIONS` lists the functions that take them.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, ClassVar

from qospec.check.evaluate import literals
from qospec.check.evaluate.clauses import refuse_clauses
from qospec.check.evaluate.context import CheckError, error
from qospec.check.evaluate.dimensions import NUMBER, TYPES, named
from qospec.check.evaluate.loops import misplaced
from qospec.check.evaluate.scope import Binding, Scope, known_binding
from qospec.check.evaluate.values import POISON, Amount, Boolean, List, Poison, Value
from qospec.check.records.parameters import let_value
from qospec.check.test import tautologies
from qospec.dataclass import dataclass
from qospec.diagnostics import did_you_mean
from qospec.model.expression import Constant, Counted, Found, Operation
from qospec.model.suite import Property
from qospec.syntax import ast
from qospec.units import CELL_RATE, CELLS, TIME

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.model.expression import Expression
    from qospec.source import Span
    from qospec.syntax import ast
    from qospec.units import Dimension

HERE = "a property"


def checked(node: ast.Property, home: Scope, evaluator: Evaluator) -> Property | None:
    """Return a property; None after a mistake in it, which is reported."""
    context = evaluator.context
    before = context.mistakes
    scope = _scope(node, home)
    for statement in node.body.statements:
        if isinstance(statement, ast.ForAll):
            value = _guarded(statement, scope, evaluator)
            scope.declare(known_binding(statement.name, "a drawn value", value), context)
        elif isinstance(statement, ast.Let):
            scope.declare(_let(statement, scope, evaluator), context)
    for statement in node.body.statements:
        if isinstance(statement, ast.Criterion) and statement.kind == "expect":
            _expected(statement, scope, evaluator)
        elif not isinstance(statement, ast.ForAll | ast.Let):
            context.report(misplaced(statement, HERE))
    for binding in scope.names.values():
        binding.value(context)
    for kind, missing, help_text in (
        (ast.ForAll, "draws nothing", "add `forall rate: CellRate in 1 cell/s .. 100 cell/s`"),
        (ast.Criterion, "expects nothing", "add an `expect`"),
    ):
        if not any(isinstance(each, kind) for each in node.body.statements):
            message = f"the property `{node.name.text}` {missing}"
            context.report(error("E0516", message, node.name.span, help=help_text))
    return None if context.mistakes > before else Property(node.name.text, node.doc, node.span)


def _scope(node: ast.Property, home: Scope) -> Scope:
    """Return the names of a property: functions, unless the file declares such a name."""
    scope = Scope(home)
    for name, function in FUNCTIONS.items():
        if home.find(name) is None:
            scope.names[name] = _function(name, function, node)
    return Scope(scope)


def _function(name: str, function: Function, node: ast.Property) -> Binding:
    return Binding(name, node.name.span, "a function of properties", lambda: function)


def _let(node: ast.Let, scope: Scope, evaluator: Evaluator) -> Binding:
    return Binding(
        node.name.text, node.name.span, "a value", lambda: let_value(node, scope, evaluator)
    )


def _guarded(node: ast.ForAll, scope: Scope, evaluator: Evaluator) -> Value:
    try:
        return _drawn(node, scope, evaluator)
    except CheckError as mistake:
        evaluator.context.report(mistake)
        return POISON


def _drawn(node: ast.ForAll, scope: Scope, evaluator: Evaluator) -> Value:
    """Return the placeholder for all values that may be drawn; raises CheckError."""
    if isinstance(node.values, ast.Range):
        return _between(node, node.values, scope, evaluator)
    values = evaluator.plain(node.values, scope)
    if isinstance(values, Arrivals | Poison):
        if node.annotation is not None and isinstance(values, Arrivals):
            raise error(
                "E0115",
                f"arrivals are not of type `{node.annotation.text}`",
                node.annotation.span,
                help=f"write `forall {node.name.text} in {node.values.span.text}`",
            )
        return values
    if isinstance(values, List) and values.items:
        first = values.items[0]
        _typed(node, first)
        if isinstance(first, Amount):
            return Amount(None, first.dimension, first.layer)
        return Boolean(None) if isinstance(first, Boolean) else first
    raise error(
        "E0516",
        f"expected a range, a list or `cells(…)` to draw from, found {values.what}",
        node.values.span,
        help="write `in 1 cell/s .. 100 cell/s`, or `in cells(at_most = 100)`",
    )


def _between(node: ast.ForAll, values: ast.Range, scope: Scope, evaluator: Evaluator) -> Value:
    ends = [evaluator.plain(each, scope) for each in (values.first, values.last)]
    first, last = ends
    if isinstance(first, Poison) or isinstance(last, Poison):
        return POISON
    for end, place in zip(ends, (values.first, values.last), strict=True):
        if not isinstance(end, Amount):
            raise error("E0204", f"expected a number, found {end.what}", place.span)
        _typed(node, end)
    assert isinstance(first, Amount)  # noqa: S101
    assert isinstance(last, Amount)  # noqa: S101
    if first.dimension != last.dimension and 0 not in (first.value, last.value):
        raise error(
            "E0203",
            f"a range between {named(first.dimension)} and {named(last.dimension)}",
            values.last.span,
            secondary=(values.first.span, f"this is {named(first.dimension)}"),
        )
    if first.value is not None and last.value is not None and first.value > last.value:
        raise error(
            "E0217",
            "this range runs downwards",
            values.span,
            help=literals.ascending(values, first, last),
        )
    whole = last if first.value == 0 else first
    return Amount(None, whole.dimension, whole.layer)


def _typed(node: ast.ForAll, value: Value) -> None:
    """Require that a drawn value is of its type."""
    if node.annotation is None:
        return
    name = node.annotation.text
    if name not in TYPES:
        near = did_you_mean(name, TYPES)
        raise error(
            "E0115",
            f"`{name}` is not a type that can be drawn",
            node.annotation.span,
            note="types: " + " ".join(TYPES),
            near=near,
            help="write one of them",
        )
    fits = isinstance(value, Amount) and (value.dimension == TYPES[name] or value.value == 0)
    if not fits:
        what = named(value.dimension) if isinstance(value, Amount) else value.what
        raise error(
            "E0202",
            f"`{node.name.text}` is {named(TYPES[name])}, not {what}",
            node.values.span,
            secondary=(node.annotation.span, "by its type"),
        )


def _opened(node: ast.Expression, scope: Scope, evaluator: Evaluator) -> Expression:
    """Return a condition in which what is counted of drawn streams is unknown."""
    if isinstance(node, ast.Compare | ast.Binary):
        sides = (_opened(each, scope, evaluator) for each in (node.left, node.right))
        sign = "*" if node.operator == "of" else node.operator
        return Operation(sign, tuple(sides))
    value = evaluator.plain(node, scope)
    if isinstance(value, Amount) and value.value is not None:
        return Constant(value.value, value.dimension)
    if isinstance(value, Amount) and isinstance(node, ast.Call) and node.path.name.text == "count":
        return Counted("", "", None, value.dimension, node.span.text)
    return Found("", "", None, node.span.text)


def _expected(node: ast.Criterion, scope: Scope, evaluator: Evaluator) -> None:
    try:
        refuse_clauses(node, "a property", "holds for all values")
    except CheckError as mistake:
        evaluator.context.report(mistake)
    before = evaluator.context.mistakes
    known = evaluator.truth(node.condition, scope)
    if evaluator.context.mistakes == before and known is None:
        why = tautologies.reason(_opened(node.condition, scope, evaluator))
        if why and why != tautologies.SAME:
            example = "conforms(passed, pcr = rate, cdvt = tau)"
            evaluator.context.report(tautologies.never_fails("expect", why, node.span, example))
    same = isinstance(node.condition, ast.Compare) and node.condition.left == node.condition.right
    if evaluator.context.mistakes == before and (same or known is not None):
        evaluator.context.report(
            error(
                "E0516",
                "this does not depend on what is drawn"
                + (": both sides are the same" if same else ""),
                node.condition.span,
                help="expect something of a value that `forall` draws",
            )
        )


MAX_CELLS = 1_000_000


@dataclass(frozen=True)
class Arrivals(Value):
    """The times of cells, drawn or derived from others."""

    what: ClassVar[str] = "a stream of cells"


@dataclass(frozen=True)
class Function(Value):
    """A function: its parameters, by name and in order, and its result.

    A parameter is a dimension, or None for a stream of cells. Those of `optional` may be left out.
    """

    what: ClassVar[str] = "a function"
    name: str
    summary: str
    parameters: Mapping[str, Dimension | None] = field(compare=False)
    gives: Value
    optional: frozenset[str] = frozenset()

    def call(self, call: ast.Call, scope: Scope, evaluator: Evaluator) -> Value:
        """Return its result, once its arguments have been checked; raises CheckError."""
        given: dict[str, Span] = {}
        free = list(self.parameters)
        for argument in call.arguments:
            name = argument.name.text if argument.name else next(iter(free), "")
            if name not in self.parameters:
                raise self._unknown(argument)
            if name in given:
                raise error(
                    "E0114",
                    f"`{name}` is given twice",
                    argument.span,
                    secondary=(given[name], "given here already"),
                )
            given[name] = argument.span
            free.remove(name)
            self._fits(name, argument.value, evaluator.plain(argument.value, scope))
        missing = [name for name in free if name not in self.optional]
        if missing:
            raise error(
                "E0105",
                f"`{self.name}` needs `{missing[0]}`",
                call.span,
                help=f"add `{missing[0]} = …`",
            )
        return self.gives

    def _unknown(self, argument: ast.Argument) -> Exception:
        listed = " ".join(self.parameters)
        name = argument.name.text if argument.name else ""
        near = did_you_mean(name, self.parameters)
        message = (
            f"`{self.name}` has no parameter `{name}`" if name else f"too many for `{self.name}`"
        )
        return error(
            "E0104" if name else "E0114",
            message,
            argument.span,
            note=f"parameters of {self.name}: {listed}",
            near=near,
        )

    def _fits(self, name: str, node: ast.Expression, value: Value) -> None:
        expected = self.parameters[name]
        if isinstance(value, Poison) or (expected is None and isinstance(value, Arrivals)):
            return
        if expected is None:
            raise error(
                "E0204",
                f"`{self.name}` takes a stream of cells, not {value.what}",
                node.span,
                help="draw one: `forall arrivals in cells(at_most = 100)`",
            )
        if not isinstance(value, Amount):
            raise error("E0204", f"`{name}` is {named(expected)}, not {value.what}", node.span)
        if value.dimension != expected and value.value != 0:
            raise error(
                "E0202", f"`{name}` is {named(expected)}, not {named(value.dimension)}", node.span
            )
        if value.value is not None and value.value < 0:
            raise error("E0205", f"`{name}` must be at least 0", node.span)
        known = value.value
        counts = known is None or (known.denominator == 1 and 0 < known <= MAX_CELLS)
        if name == "at_most" and not counts:
            limit = f"a whole number from 1 to {MAX_CELLS:_}"
            raise error("E0205", f"`at_most` is {limit}", node.span)


CONTRACT = {"arrivals": None, "pcr": CELL_RATE, "cdvt": TIME}

FUNCTIONS = {
    each.name: each
    for each in (
        Function("cells", "Draws times of cells.", {"at_most": NUMBER}, Arrivals()),
        Function(
            "police",
            "Gives the cells that a policer of this contract passes.",
            CONTRACT,
            Arrivals(),
            frozenset(["cdvt"]),
        ),
        Function(
            "conforms",
            "Asks whether all cells conform to this contract.",
            CONTRACT,
            Boolean(None),
            frozenset(["cdvt"]),
        ),
        Function("count", "Counts cells.", {"arrivals": None}, Amount(None, CELLS)),
    )
}
"""The functions of properties, by name."""
