"""Conditions and counters of a machine: from expressions to programs for whole numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.machine import DEEPEST, OPERATIONS, TOO_LARGE
from qospec.check.evaluate import arithmetic
from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.evaluate.criteria import build_condition
from qospec.check.evaluate.dimensions import NUMBER, describe_dimension
from qospec.check.evaluate.scope import Scope, bind_known
from qospec.check.evaluate.values import POISON, Amount, Deferred, Poison, Text
from qospec.check.records.addresses import number_address, read_address
from qospec.dataclass import NamedTuple
from qospec.model.expression import Attribute, Constant, Operation
from qospec.units import COUNT, PS_PER_S, TIME, format_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.catalogue.machine import Code
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.model.expression import Expression
    from qospec.source import Span
    from qospec.syntax import ast
    from qospec.units import Dimension

A_WINDOW = "a window"
_PUSHING = {name: OPERATIONS.index(name) for name in ("constant", "variable")}


class Variables(NamedTuple):
    """The names that conditions may use, besides those of the device.

    Attributes:
        scope: With all of these names.
        numbers: Of each, its place among all values and counters.
        dimensions: Of each, what it measures; None if that is not known, after a mistake.
        windows: Those that count what came, and which nothing sets.
    """

    scope: Scope
    numbers: Mapping[str, int]
    dimensions: Mapping[str, Dimension | None]
    windows: tuple[str, ...]


def read_variables(
    declared: Mapping[str, tuple[ast.Name, str, Dimension | None]],
    scope: Scope,
    evaluator: Evaluator,
) -> Variables:
    """Return the variables of a machine, given what each is; a mistake is reported."""
    inside = Scope(scope)
    for name, what, dimension in declared.values():
        known = Attribute(name.text)
        value = POISON if dimension is None else Deferred(known, dimension, exact=True)
        try:
            inside.declare(bind_known(name, what, value), evaluator.context)
        except CheckError as mistake:
            evaluator.context.report(mistake)
    numbers = {name: number for number, name in enumerate(declared)}
    dimensions = {name: declaration[2] for name, declaration in declared.items()}
    windows = tuple(name for name, (_, what, _) in declared.items() if what == A_WINDOW)
    return Variables(inside, numbers, dimensions, windows)


def compile_condition(node: ast.Expression, known: Variables, evaluator: Evaluator) -> Code:
    """Return the program of a condition; () after a mistake, which is reported."""
    try:
        expression = build_condition(node, known.scope, evaluator)
        return () if expression is None else compile_expression(expression, known, node.span)
    except CheckError as mistake:
        evaluator.context.report(mistake)
        return ()


def value_code(
    name: ast.Name, node: ast.Expression, known: Variables, evaluator: Evaluator
) -> Code:
    """Return the program of the new value of a variable; () after a mistake, which is reported."""
    dimension = known.dimensions[name.text]
    if dimension is None:
        return ()
    return _compile_number(f"`{name.text}`", node, dimension, known, evaluator)


def compile_address(
    port: str, node: ast.Expression, known: Variables, evaluator: Evaluator
) -> Code:
    """Return the program of an address that is called; () after a mistake, which is reported."""
    said = f"the address by `{port}`"
    try:
        value = evaluator.evaluate(node, known.scope)
        if isinstance(value, Text):
            number = number_address(read_address(value, "address", node.span))
            return ((_PUSHING["constant"], number),)
    except CheckError as mistake:
        evaluator.context.report(mistake)
        return ()
    return _compile_number(said, node, COUNT, known, evaluator)


def compile_time(
    field: str, node: ast.Expression, known: Variables, evaluator: Evaluator
) -> Code | None:
    """Return the program of a time that depends on variables; None if it does not."""
    if not node.list_names_used() & known.numbers.keys():
        return None
    return _compile_number(f"`{field}`", node, TIME, known, evaluator, divides=True)


def _compile_number(
    said: str,
    node: ast.Expression,
    dimension: Dimension,
    known: Variables,
    evaluator: Evaluator,
    *,
    divides: bool = False,
) -> Code:
    """Return the program of a number of a dimension; () after a mistake, which is reported."""
    try:
        value = evaluator.evaluate(node, known.scope)
        if isinstance(value, Poison):
            return ()
        if not isinstance(value, Amount | Deferred):
            raise make_error("E0204", f"{said} is a number, not {value.what}", node.span)
        if value.dimension != dimension and not arithmetic.is_literal_zero(value):
            raise make_error(
                "E0202",
                f"{said} is {describe_dimension(dimension)}, not "
                f"{describe_dimension(value.dimension)}",
                node.span,
                label=f"this is {describe_dimension(value.dimension)}",
            )
        expression = arithmetic.make_constant(value, node.span, dimension)
        return compile_expression(expression, known, node.span, divides=divides)
    except CheckError as mistake:
        evaluator.context.report(mistake)
        return ()


def convert_to_whole(value: Fraction, dimension: Dimension | None, span: Span) -> int:
    """Return an amount as the engine counts it: times in ps, all others in base units."""
    amount = value * _find_scale(dimension or COUNT)
    if amount.denominator != 1:
        raise make_error(
            "E0206",
            f"a machine counts in whole numbers, found {format_number(value, exact=True)}",
            span,
            help="write a whole number of cells, bits, picoseconds or the like",
        )
    if abs(amount) >= TOO_LARGE:
        raise make_error("E0205", "this number is too large for a machine", span)
    return int(amount)


def _find_scale(dimension: Dimension) -> int:
    return PS_PER_S if dimension == TIME else 1


def compile_expression(
    expression: Expression, known: Variables, span: Span, *, divides: bool = False
) -> Code:
    """Return the program of an expression, which may divide for a time; raises CheckError."""
    code = _Compiler(known, span, divides).compile(expression)
    depth = deepest = 0
    for operation, _ in code:
        name = OPERATIONS[operation]
        depth += 1 if name in _PUSHING else 0 if name in ("negate", "not", "abs") else -1
        deepest = max(deepest, depth)
    if deepest > DEEPEST:
        raise make_error("E0605", "this is too long for a machine", span, help="split it")
    return code


class _Compiler(NamedTuple):
    known: Variables
    span: Span
    divides: bool

    def compile(self, expression: Expression) -> Code:
        if isinstance(expression, Constant):
            value = expression.value
            if isinstance(value, bool):
                return ((_PUSHING["constant"], int(value)),)
            if isinstance(value, Fraction):
                whole = convert_to_whole(value, expression.dimension, self.span)
                return ((_PUSHING["constant"], whole),)
        if isinstance(expression, Attribute):
            return ((_PUSHING["variable"], self.known.numbers[expression.name]),)
        if isinstance(expression, Operation):
            if expression.operator == "in":
                item, listed = expression.operands
                assert isinstance(listed, Operation)  # noqa: S101 -- as `criteria` makes it
                alike = tuple(Operation("==", (item, operand)) for operand in listed.operands)
                return self.compile(Operation("or", alike))
            if expression.operator in OPERATIONS:
                return self._compile_operation(expression)
        raise self._explain_impossible()

    def _explain_impossible(self) -> CheckError:
        more = "; and `/` where that gives a time" if self.divides else ""
        return make_error(
            "E0424",
            f"a machine cannot work out `{' '.join(self.span.text.split())}`",
            self.span,
            note=f"it can: + - * min max abs, comparisons, `in`, and, or, not{more}",
        )

    def _compile_operation(self, expression: Operation) -> Code:
        operands = expression.operands
        sign = expression.operator
        scales = [_find_scale(_find_dimension(operand, self.known)) for operand in operands]
        if sign == "*" and scales[0] * scales[1] != _find_scale(expression.dimension or COUNT):
            message = "a machine cannot multiply by a time here"
            help_text = "divide last: `10 cell / rate`" if self.divides else ""
            raise make_error("E0424", message, self.span, help=help_text)
        if sign == "/":
            if not self.divides or expression.dimension != TIME or scales[1] != 1:
                raise self._explain_impossible()
            sign = "/" if scales[0] == PS_PER_S else "duration"
        code = [pair for operand in operands for pair in self.compile(operand)]
        again = max(1, len(operands) - 1)
        if not operands:  # in an empty list
            return ((_PUSHING["constant"], 0),)
        if len(operands) == 1 and sign in ("and", "or", "min", "max"):
            return tuple(code)
        return (*code, *[(OPERATIONS.index(sign), 0)] * again)


def _find_dimension(expression: Expression, known: Variables) -> Dimension:
    if isinstance(expression, Attribute):
        dimension = known.dimensions[expression.name]
    else:
        dimension = getattr(expression, "dimension", None)
    return NUMBER if dimension is None else dimension
