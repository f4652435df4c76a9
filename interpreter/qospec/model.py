"""The checked specification: names resolved, cases expanded, topologies flat, quantities exact.

What remains open is only what must be measured: the conditions of statements are small trees whose
leaves are constants and measurements. Everything here is plain values and can be sent to another process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from qospec.catalogue import Kind
    from qospec.source import Source, Span
    from qospec.units import Dimension

# ---- conditions


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
    """`operator` is one of + - * / negate, == != < <= > >=, in, within, and or not, list.

    `within` has three operands: value, tolerance, target. A tolerance that is a ratio is of the target.
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
    return _OPERATIONS[operator](operation, *values)


def _within(operation: Operation, value: Any, tolerance: Any, target: Any) -> Value:
    relative = (
        operation.operands[1].dimension
        if isinstance(operation.operands[1], Constant | Operation)
        else None
    )
    width = tolerance * abs(target) if relative is not None and relative.is_ratio else tolerance
    return bool(abs(value - target) <= width)


_OPERATIONS: dict[str, Callable[..., Value]] = {
    "+": lambda _, a, b: a + b,
    "-": lambda _, a, b: a - b,
    "*": lambda _, a, b: a * b,
    "/": lambda _, a, b: None if b == 0 else Fraction(a) / b,
    "negate": lambda _, a: -a,
    "not": lambda _, a: not a,
    "==": lambda _, a, b: a == b,
    "!=": lambda _, a, b: a != b,
    "<": lambda _, a, b: a < b,
    "<=": lambda _, a, b: a <= b,
    ">": lambda _, a, b: a > b,
    ">=": lambda _, a, b: a >= b,
    "in": lambda _, a, b: a in b,
    "within": _within,
}


def measurements(expression: Expression) -> tuple[Measured, ...]:
    """Return the measurements in an expression, in order of appearance."""
    if isinstance(expression, Measured):
        return (expression,)
    if isinstance(expression, Operation):
        return tuple(leaf for operand in expression.operands for leaf in measurements(operand))
    return ()


# ---- networks


@dataclass(frozen=True)
class Instance:
    """An element in its place in a flat network.

    Attributes:
        path: Such as `enc_a.upc[2]`; a link's line is called `enc_a.black -> sw.p[0]`.
        kind: What it is.
        element: The object that `kind.build` made of the author's arguments.
        predicates: For a classifier: the condition of each output, in order; the first that holds decides.
        span: Where it was written.
    """

    path: str
    kind: Kind
    element: Any
    predicates: tuple[Expression, ...] = ()
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Wire:
    """From an element's output to `to`: an element's input, a host, or the end of the way.

    `end` is "element" (then `to` and `input` say which), "host" (`to` is the host's index), "terminate"
    (arrived here: counts as received) or "discard" (thrown away: counts as lost).
    """

    element: int
    output: int
    end: Literal["element", "host", "terminate", "discard"]
    to: int = 0
    input: int = 0


@dataclass(frozen=True)
class Host:
    """Where flows begin and end. `line` is the element (a line) that its cells leave by, -1 if none."""

    path: str
    line: int


@dataclass(frozen=True)
class Network:
    """A topology, flat: devices dissolved into their elements, each link into a line per direction."""

    name: str
    elements: tuple[Instance, ...]
    wires: tuple[Wire, ...]
    hosts: tuple[Host, ...]

    def host(self, path: str) -> int:
        """Return the index of the host of that path; raises KeyError."""
        for index, host in enumerate(self.hosts):
            if host.path == path:
                return index
        raise KeyError(path)


@dataclass(frozen=True)
class Flow:
    """A flow: like connections from hosts to hosts.

    Attributes:
        name: As written.
        kind: Of its traffic.
        traffic: The object built of the traffic's fields: offers `contract()`.
        arrivals: The arrival process built.
        origins: Paths of hosts, one per member.
        targets: Paths of hosts, one per member.
        connections: VCs per member.
        phases: "even" or "random".
        clp: Of each cell.
        virtual_path: VPI.
    """

    name: str
    kind: Kind
    traffic: Any
    arrivals: Any
    origins: tuple[str, ...]
    targets: tuple[str, ...]
    connections: int
    phases: str
    clp: int
    virtual_path: int
    span: Span | None = field(default=None, compare=False)


# ---- tests


@dataclass(frozen=True)
class Statement:
    """`expect`, `require` or `report`.

    `label` is the author's, or the condition as written. A report has one statement per value.
    """

    kind: Literal["expect", "require", "report"]
    label: str
    text: str
    expression: Expression
    span: Span = field(compare=False)


@dataclass(frozen=True)
class Run:
    """How a case is run: `measure` begins after `warmup`; `repeat` trials with independent draws.

    `overload` says that flows may ask for more than a line carries.
    """

    warmup_ps: int
    measure_ps: int
    repeat: int
    overload: bool = False


@dataclass(frozen=True)
class Case:
    """One point of a test's sweeps. `networks` holds the topology under "" and the controls by name."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    networks: dict[str, Network]
    flows: tuple[Flow, ...]
    run: Run
    statements: tuple[Statement, ...]


@dataclass(frozen=True)
class Test:
    """A test, with a case per point of its sweeps."""

    __test__ = False  # not one of pytest's

    name: str
    doc: str
    covers: tuple[str, ...]
    cases: tuple[Case, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True)
class Reference:
    """Published numbers, as data: what a report prints of a `reference`."""

    name: str
    title: str
    entries: tuple[tuple[str, str], ...]
    span: Span = field(compare=False)


@dataclass(frozen=True)
class Suite:
    """All that was named on the command line."""

    tests: tuple[Test, ...]
    references: tuple[Reference, ...]
    sources: tuple[Source, ...]
