"""Conditions: small trees whose leaves are constants and what is measured.

A condition is all of a specification that stays open until a trial has run, and what a classifier
asks of a cell. Truth has three values, for a measurement may have no data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qospec.units import Dimension


@dataclass(frozen=True)
class Constant:
    """A value known before the run, in base units (s, bit, m, counts), or a name, text or truth.

    `text` is how the author wrote it; `published` whether a `reference` went into it.
    """

    value: Fraction | bool | str
    dimension: Dimension | None
    text: str = ""
    published: bool = False


@dataclass(frozen=True)
class Measured:
    """A metric of a flow: `bare.user[3].oam.delay.p99`.

    Attributes:
        network: "" for the topology of the test, else the control's name.
        flow: The flow's name.
        member: Which member of a flow between arrays; None for all of them, pooled.
        oam: Whether the OAM cells of its connections are meant instead of the user cells.
        metric: The metric's name in the catalogue.
        statistic: "p99", "max", or "" for a single number.
        dimension: Of the value.
        text: As written.
    """

    network: str
    flow: str
    member: int | None
    oam: bool
    metric: str
    statistic: str
    dimension: Dimension
    text: str


@dataclass(frozen=True)
class Attribute:
    """What a classifier may ask of a cell: category, clp, oam, virtual_path."""

    name: str


@dataclass(frozen=True)
class Operation:
    """`operator` is one of + - * / negate, == != < <= > >=, in, and or not, list, or as follows.

    `within` and `within share` have three operands: value, tolerance, target. The tolerance is a
    width of the values' dimension, or a share of the target.
    """

    operator: str
    operands: tuple[Expression, ...]
    dimension: Dimension | None = None


Expression = Constant | Measured | Attribute | Operation
Value = Fraction | bool | str | tuple[Any, ...] | None
Reader = Callable[["Measured | Attribute"], Value]


def evaluate(expression: Expression, read: Reader) -> Value:
    """Return the value of an expression; None where a measurement has no data and decides.

    Truth is three-valued: `false and None` is false, `true and None` is None.
    """
    if isinstance(expression, Constant):
        return expression.value
    if isinstance(expression, Measured | Attribute):
        return read(expression)
    values = tuple(evaluate(operand, read) for operand in expression.operands)
    return _operate(expression, values)


def _operate(operation: Operation, values: tuple[Value, ...]) -> Value:
    operator = operation.operator
    if operator == "and":
        return False if False in values else None if None in values else True
    if operator == "or":
        return True if True in values else None if None in values else False
    if operator == "list":
        return values
    if None in values:
        return None
    return _OPERATIONS[operator](*values)


def _among(value: Value, values: tuple[Value, ...]) -> Value:
    return True if value in values else None if None in values else False


_OPERATIONS: dict[str, Callable[..., Value]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: None if b == 0 else Fraction(a) / b,
    "negate": lambda a: -a,
    "not": lambda a: not a,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "in": _among,
    "within": lambda a, width, b: bool(abs(a - b) <= width),
    "within share": lambda a, share, b: bool(abs(a - b) <= share * abs(b)),
}


def measurements(expression: Expression) -> tuple[Measured, ...]:
    """Return the measurements in an expression, in order of appearance."""
    if isinstance(expression, Measured):
        return (expression,)
    if isinstance(expression, Operation):
        return tuple(leaf for operand in expression.operands for leaf in measurements(operand))
    return ()
