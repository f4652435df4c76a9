"""Conditions: small trees whose leaves are constants and what is measured.

A condition is all of a specification that is unknown until a trial has run, or what a classifier
tests of a cell. Logic is three-valued, since a measurement may have no data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from qospec.dataclass import NamedTuple, dataclass
from qospec.model.bounds import ANYTHING, Bounds, combine, compare, make_bounds

if TYPE_CHECKING:
    from qospec.protocol.streams import KindName
    from qospec.units import Dimension


@dataclass(frozen=True)
class Constant:
    """A value known before the run, in base units (s, bit, m, counts), or a name, text or boolean.

    `text` is how the author wrote it; `published` whether it depends on a `reference`.
    """

    value: Fraction | bool | str
    dimension: Dimension | None
    text: str = ""
    published: bool = False


class Place(NamedTuple):
    """Where items pass: a side of a port, or an output of an element.

    Attributes:
        name: As written: `router.east.tx`, `router.fabric.exit[0]`.
        path: Of the element; of a side of a port, its name.
        output: The number of the element's output.
        carries: "cell" or "packet".
        framed: Whether it is at the end of a line, so that packets have frames.
    """

    name: str
    path: str
    output: int
    carries: str
    framed: bool


@dataclass(frozen=True)
class Measured:
    """A metric of a flow: `bare.user[3].oam.delay.p99`; or of what passes a place inside.

    Attributes:
        network: "" for the topology of the test, else the control's name.
        flow: The flow's name; "" for all items that pass a place.
        member: Which member of a flow between arrays; None for all of them, pooled.
        part: Of which part of the flow it is.
        metric: The metric's name in the catalogue.
        statistic: "p99", "max", or "" for a single number.
        dimension: Of the value.
        text: As written.
        members: How many members are pooled; None for a single flow and for one member.
        needs: What must be recorded for it; see the metrics.
        least: A lower bound; None if none is known.
        most: An upper bound, likewise.
        place: Where it is measured; None: at the flow's ends.
        of_source: Whether it follows from what a source sends, so that no device changes it.
    """

    network: str
    flow: str
    member: int | None
    part: KindName
    metric: str
    statistic: str
    dimension: Dimension
    text: str
    members: int | None = None
    needs: frozenset[str] = frozenset()
    least: Fraction | None = None
    most: Fraction | None = None
    place: Place | None = None
    of_source: bool = False


@dataclass(frozen=True)
class Counted:
    """What is observed inside a device: by default, items counted in the whole trial.

    Attributes:
        network: As of `Measured`.
        path: Of an element, or of the line that carries what passes a side of a port; "" for a port
            without a link, where nothing passes.
        causes: The causes of loss at the element to count; None to count what left the line.
        dimension: Cells, packets, or a ratio.
        text: As written.
        observed: Instead of a count, what within the window: "occupancy.max" or "occupancy.mean" of
            a queue, "utilisation" of a server; or what is proved of a queue, "occupancy.bound".
    """

    network: str
    path: str
    causes: tuple[str, ...] | None
    dimension: Dimension
    text: str
    observed: str = ""


@dataclass(frozen=True)
class Found:
    """What a search has found for a goal: the `load` itself, its `lower` or `upper` bound.

    Or the highest `good` load above one that is bad; or, with no dimension, whether the result is
    `regular`, or `complete`. Of a `whole` number, such as one of calls, there is none between
    bounds that are 1 apart. `load_dimension` is that of the loads, whatever the part.
    """

    goal: str
    part: str
    dimension: Dimension | None
    text: str
    whole: bool = False
    load_dimension: Dimension | None = None


@dataclass(frozen=True)
class Evaluated:
    """A condition of a property, which is known once its functions have been carried out."""

    text: str
    dimension: Dimension | None = None


@dataclass(frozen=True)
class Attribute:
    """What a classifier can test of a cell: category, clp, oam, virtual_path."""

    name: str


@dataclass(frozen=True)
class Operation:
    """`operator` is one of + - * / negate abs min max, == != < <= > >=, in, and or not, or list.

    Or as follows. `within` and `within share` have three operands: value, tolerance, target. The
    tolerance is a width of the values' dimension, or a share of the target.
    """

    operator: str
    operands: tuple[Expression, ...]
    dimension: Dimension | None = None

    @cached_property
    def leaves(self) -> int:
        """Return how many constants and measured values are below it. Kept: operands are shared."""
        return sum(map(count_leaves, self.operands))


COUNTERS = "machine.counter."
"""How what is observed of a machine's counters begins: they may be set to any number."""
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "within", "within share")

Expression = Constant | Measured | Counted | Found | Evaluated | Attribute | Operation
Value = Fraction | bool | str | tuple[Any, ...] | None
Leaf = Measured | Counted | Found | Evaluated | Attribute
Reader = Callable[[Leaf], Value]
T = TypeVar("T")


def count_leaves(expression: Expression) -> int:
    """Return how many constants and measured values an expression has, repeated ones included."""
    return expression.leaves if isinstance(expression, Operation) else 1


def evaluate(expression: Expression, read: Reader) -> Value:
    """Return the value of an expression; None if it depends on a measurement without data.

    Logic is three-valued: `false and None` is false, `true and None` is None. What `read` gives as
    `Bounds` makes others of what is computed, and a comparison is None if it depends on where in
    its bounds a value is.
    """
    if isinstance(expression, Constant):
        return expression.value
    if isinstance(expression, Leaf):
        return read(expression)
    values = tuple(evaluate(operand, read) for operand in expression.operands)
    return _operate(expression, values)


def find_declared_bounds(leaf: Leaf) -> Bounds:
    """Return the bounds of a measured value that hold for any measurement."""
    if isinstance(leaf, Measured):
        return Bounds(leaf.least, leaf.most)
    if not isinstance(leaf, Counted) or leaf.observed.startswith(COUNTERS):
        return ANYTHING
    return Bounds(Fraction(0), Fraction(1) if leaf.observed == "utilisation" else None)


def bound_expression(
    expression: Expression, of: Callable[[Leaf], Bounds] = find_declared_bounds
) -> Bounds:
    """Return the bounds of an expression's value; `of` gives those of measured values."""
    return make_bounds(evaluate(expression, of))


def evaluate_without_readings(expression: Expression) -> Value:
    """Return the value of an expression if it is the same for any measurement; else None."""
    return evaluate(expression, lambda _: None)


def is_constant(expression: Expression) -> bool:
    """Return whether nothing in an expression is measured."""
    if isinstance(expression, Operation):
        return all(map(is_constant, expression.operands))
    return isinstance(expression, Constant)


def is_published(expression: Expression) -> bool:
    """Return whether an expression depends on a published number."""
    if isinstance(expression, Operation):
        return any(map(is_published, expression.operands))
    return isinstance(expression, Constant) and expression.published


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
    listed: Any = values[-1] if operator == "in" else ()
    if Bounds in map(type, chain(values, listed)):
        return _operate_within(operation, values)
    return _OPERATIONS[operator](*values)


def _operate_within(operation: Operation, values: tuple[Value, ...]) -> Value:
    """Return what an operation makes of values of which some are known within bounds only."""
    operator = operation.operator
    if operator == "not":
        return None
    if operator == "in":
        one, among = values
        equal = [_is_equal(one, other) for other in among]  # type: ignore[union-attr]
        return True if True in equal else None if None in equal else False
    sides = [make_bounds(value) for value in values]
    if operator not in COMPARISONS:
        return combine(operator, sides)
    below = [
        isinstance(operand, Found) and side.least != side.most
        for operand, side in zip(operation.operands, sides, strict=True)
    ]
    return compare(operator, sides, below)


def _is_equal(one: Value, other: Value) -> bool | None:
    return None if other is None else compare("==", (make_bounds(one), make_bounds(other)), ())


def _is_among(value: Value, values: tuple[Value, ...]) -> Value:
    return True if value in values else None if None in values else False


_OPERATIONS: dict[str, Callable[..., Value]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: None if b == 0 else Fraction(a) / b,
    "negate": lambda a: -a,
    "abs": abs,
    "min": lambda *values: min(values),
    "max": lambda *values: max(values),
    "not": lambda a: not a,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "in": _is_among,
    "within": lambda a, width, b: bool(abs(a - b) <= width),
    "within share": lambda a, share, b: bool(abs(a - b) <= share * abs(b)),
}


def list_measurements(expression: Expression) -> tuple[Measured, ...]:
    """Return the measurements in an expression, in order of appearance."""
    return _list_leaves(expression, Measured)


def list_found(expression: Expression) -> tuple[Found, ...]:
    """Return the results of goals in an expression, in order of appearance."""
    return _list_leaves(expression, Found)


def list_counted(expression: Expression) -> tuple[Counted, ...]:
    """Return what is counted inside devices in an expression, in order of appearance."""
    return _list_leaves(expression, Counted)


def _list_leaves(expression: Expression, wanted: type[T]) -> tuple[T, ...]:
    if isinstance(expression, wanted):
        return (expression,)
    if isinstance(expression, Operation):
        return tuple(leaf for part in expression.operands for leaf in _list_leaves(part, wanted))
    return ()


def list_observed(expression: Expression) -> tuple[Measured | Counted, ...]:
    """Return all in an expression that a trial measures: of flows, then inside devices."""
    return (*list_measurements(expression), *list_counted(expression))


def is_measured(expression: Expression) -> bool:
    """Return whether an expression depends on what a run measures, finds or evaluates."""
    if isinstance(expression, Evaluated):
        return True
    return bool(list_observed(expression) or list_found(expression))


def with_leaves(expression: Expression, change: Callable[[Leaf], Expression]) -> Expression:
    """Return an expression whose leaves, but for its constants, are changed."""
    if isinstance(expression, Operation):
        operands = tuple(with_leaves(operand, change) for operand in expression.operands)
        return replace(expression, operands=operands)
    return change(expression) if isinstance(expression, Leaf) else expression
