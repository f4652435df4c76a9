"""The nodes of statements. Imported as `qospec.syntax.ast`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.syntax.node import Documented, Node

if TYPE_CHECKING:
    from qospec.syntax.expressions import Call, Expression, Name, Path, Text


class Body(Node):
    """`{ statements }`."""

    statements: tuple[Statement, ...]


class Bind(Documented):
    """`a, b = value`."""

    names: tuple[Name, ...]
    value: Expression


class PortName(Node):
    """`p` or `p[count]`."""

    name: Name
    count: Expression | None


class Port(Documented):
    """`port p[4], q: cell`."""

    names: tuple[PortName, ...]
    carries: Name


class Wire(Node):
    """`a -> b.in -> c`."""

    ends: tuple[Path, ...]


class Link(Node):
    """`link a -- b via medium { field = value }`."""

    left: Path
    right: Path
    medium: Path | Call
    body: Body | None


class Loop(Node):
    """`for i in values { … }`."""

    name: Name
    values: Expression
    body: Body


class Flow(Documented):
    """`flow f = traffic { … } from a to b`."""

    name: Name
    traffic: Path | Call
    body: Body | None
    origin: Path
    target: Path


class Sweep(Documented):
    """`sweep x in values where condition`; several names are zipped."""

    names: tuple[Name, ...]
    values: Expression
    where: Expression | None


class Control(Documented):
    """`control name = topology(…)`: the same flows once more, on another topology."""

    name: Name
    topology: Path | Call


class Run(Node):
    """`run { warmup = …, measure = … }`."""

    body: Body


class Criterion(Documented):
    """`expect`, `require` or `invariant`, by `kind`, with its clauses.

    `confidence` is that of `with 95% confidence`, `claim` the word of `as shape`, `when` the
    condition of `when size == 64 B`.
    """

    kind: str
    label: Name | None
    condition: Expression
    confidence: Expression | None = None
    claim: Name | None = None
    when: Expression | None = None


class Report(Node):
    """`report value`, `report label: value` or `report [values]`.

    `every` is the length of `every 100 ms`, for a time series; `when`, in which cases.
    """

    value: Expression
    label: Name | None = None
    every: Expression | None = None
    when: Expression | None = None


class Skip(Node):
    """`skip unless condition "why"`."""

    condition: Expression
    reason: Text


class Machine(Documented):
    """`machine name { fields and states }` within a device."""

    name: Name
    body: Body


class State(Documented):
    """`state name { transitions }` within a machine; the first is where it begins."""

    name: Name
    body: Body


class Transition(Documented):
    """`on event -> state { fields }` within a state; the event is its name."""

    name: Name
    target: Name
    body: Body | None


class Search(Node):
    """`search x in range { goals and fields }`."""

    name: Name
    values: Expression
    body: Body


class Goal(Node):
    """`goal name { … }` within a search."""

    name: Name
    body: Body


class ForAll(Node):
    """`forall x: Type in values` within a property."""

    name: Name
    annotation: Name | None
    values: Expression


class Let(Documented):
    """`let name: Type = value`."""

    name: Name
    annotation: Name | None
    value: Expression


Statement = (
    Bind | Let | Port | Wire | Link | Loop | Flow | Sweep | Control | Search | Goal | Run
    | Criterion | Report | ForAll | Skip | Machine | State | Transition
)  # fmt: skip
