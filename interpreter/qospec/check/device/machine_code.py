"""Conditions and counters of a machine: from expressions to programs for whole numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.machine import DEEPEST, OPERATIONS
from qospec.check.evaluate import arithmetic
from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.evaluate.criteria import build_condition
from qospec.check.evaluate.dimensions import NUMBER, describe_dimension
from qospec.check.evaluate.scope import Scope, bind_known
from qospec.check.evaluate.values import Amount, Deferred, Poison
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

LARGEST = 2**62
"""Numbers are below this."""
_PUSHING = {name: OPERATIONS.index(name) for name in ("constant", "variable")}


class Variables(NamedTuple):
    """The names that conditions may use, besides those of the device.

    Attributes:
        scope: With all of these names.
        numbers: Of each, its place among all values and counters.
        dimensions: Of each, what it measures.
    """

    scope: Scope
    numbers: Mapping[str, int]
    dimensions: Mapping[str, Dimension]


def read_variables(
    declared: Mapping[str, tuple[ast.Name, str, Dimension]], scope: Scope, evaluator: Evaluator
) -> Variables:
    """Return the values and counters of a machine, given what each is; a mistake is reported."""
    inside = Scope(scope)
    for name, what, dimension in declared.values():
        value = Deferred(Attribute(name.text), dimension, exact=True)
        try:
            inside.declare(bind_known(name, what, value), evaluator.context)
        except CheckError as mistake:
            evaluator.context.report(mistake)
    numbers = {name: number for number, name in enumerate(declared)}
    return Variables(
        inside, numbers, {name: declaration[2] for name, declaration in declared.items()}
    )


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
    value, dimension = evaluator.evaluate(node, known.scope), known.dimensions[name.text]
    if isinstance(value, Poison):
        return ()
    try:
        if not isinstance(value, Amount | Deferred):
            raise make_error("E0204", f"`{name.text}` is a number, not {value.what}", node.span)
        if value.dimension != dimension and not arithmetic.is_literal_zero(value):
            raise make_error(
                "E0202",
                f"`{name.text}` is {describe_dimension(dimension)}, not "
                f"{describe_dimension(value.dimension)}",
                node.span,
                label=f"this is {describe_dimension(value.dimension)}",
            )
        expression = arithmetic.make_constant(value, node.span, dimension)
        return compile_expression(expression, known, node.span)
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
    if abs(amount) >= LARGEST:
        raise make_error("E0205", "this number is too large for a machine", span)
    return int(amount)


def _find_scale(dimension: Dimension) -> int:
    return PS_PER_S if dimension == TIME else 1


def compile_expression(expression: Expression, known: Variables, span: Span) -> Code:
    """Return the program of an expression; raises CheckError."""
    code = _compile(expression, known, span)
    depth = deepest = 0
    for operation, _ in code:
        name = OPERATIONS[operation]
        depth += 1 if name in _PUSHING else 0 if name in ("negate", "not", "abs") else -1
        deepest = max(deepest, depth)
    if deepest > DEEPEST:
        raise make_error("E0605", "this is too long for a machine", span, help="split it")
    return code


def _compile(expression: Expression, known: Variables, span: Span) -> Code:
    if isinstance(expression, Constant):
        value = expression.value
        if isinstance(value, bool):
            return ((_PUSHING["constant"], int(value)),)
        if isinstance(value, Fraction):
            return ((_PUSHING["constant"], convert_to_whole(value, expression.dimension, span)),)
    if isinstance(expression, Attribute):
        return ((_PUSHING["variable"], known.numbers[expression.name]),)
    if isinstance(expression, Operation):
        if expression.operator == "in":
            item, listed = expression.operands
            assert isinstance(listed, Operation)  # noqa: S101 -- as `criteria` makes it
            alike = tuple(Operation("==", (item, operand)) for operand in listed.operands)
            return _compile(Operation("or", alike), known, span)
        if expression.operator in OPERATIONS:
            return _compile_operation(expression, known, span)
    raise make_error(
        "E0424",
        f"a machine cannot work out `{' '.join(span.text.split())}`",
        span,
        note="it can: + - * min max abs, comparisons, `in`, and, or, not",
    )


def _compile_operation(expression: Operation, known: Variables, span: Span) -> Code:
    operands = expression.operands
    if expression.operator == "*":
        scales = [_find_scale(_find_dimension(operand, known)) for operand in operands]
        if scales[0] * scales[1] != _find_scale(expression.dimension or COUNT):
            raise make_error("E0424", "a machine cannot multiply by a time here", span)
    code = [pair for operand in operands for pair in _compile(operand, known, span)]
    again = max(1, len(operands) - 1)
    if not operands:  # in an empty list
        return ((_PUSHING["constant"], 0),)
    if len(operands) == 1 and expression.operator in ("and", "or", "min", "max"):
        return tuple(code)
    return (*code, *[(OPERATIONS.index(expression.operator), 0)] * again)


def _find_dimension(expression: Expression, known: Variables) -> Dimension:
    if isinstance(expression, Attribute):
        return known.dimensions[expression.name]
    dimension = getattr(expression, "dimension", None)
    return NUMBER if dimension is None else dimension
