"""The nodes of statements. Imported as `qospec.syntax.ast`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from qospec.syntax.expressions import Documented, Node

if TYPE_CHECKING:
    from qospec.syntax.expressions import Call, Expression, Name, Path, Text


@dataclass(frozen=True, kw_only=True)
class Body(Node):
    """`{ statements }`."""

    statements: tuple[Statement, ...]


@dataclass(frozen=True, kw_only=True)
class Bind(Documented):
    """`a, b = value`."""

    names: tuple[Name, ...]
    value: Expression


@dataclass(frozen=True, kw_only=True)
class PortName(Node):
    """`p` or `p[count]`."""

    name: Name
    count: Expression | None


@dataclass(frozen=True, kw_only=True)
class Port(Documented):
    """`port p[4], q: cell`."""

    names: tuple[PortName, ...]
    carries: Name


@dataclass(frozen=True, kw_only=True)
class Wire(Node):
    """`a -> b.in -> c`."""

    ends: tuple[Path, ...]


@dataclass(frozen=True, kw_only=True)
class Link(Node):
    """`link a -- b via medium { field = value }`."""

    left: Path
    right: Path
    medium: Path | Call
    body: Body | None


@dataclass(frozen=True, kw_only=True)
class Loop(Node):
    """`for i in values { … }`."""

    name: Name
    values: Expression
    body: Body


@dataclass(frozen=True, kw_only=True)
class Flow(Documented):
    """`flow f = traffic { … } from a to b`."""

    name: Name
    traffic: Path | Call
    body: Body | None
    origin: Path
    target: Path


@dataclass(frozen=True, kw_only=True)
class Sweep(Documented):
    """`sweep x in values where condition`; several names are zipped."""

    names: tuple[Name, ...]
    values: Expression
    where: Expression | None


@dataclass(frozen=True, kw_only=True)
class Control(Documented):
    """`control name = topology(…)`: the same flows once more, on another topology."""

    name: Name
    topology: Path | Call


@dataclass(frozen=True, kw_only=True)
class Run(Node):
    """`run { warmup = …, measure = … }`."""

    body: Body


@dataclass(frozen=True, kw_only=True)
class Criterion(Documented):
    """`expect`, `require` or `invariant`, by `kind`; `confidence` of `with 95% confidence`."""

    kind: str
    label: Name | None
    condition: Expression
    confidence: Expression | None = None


@dataclass(frozen=True, kw_only=True)
class Report(Node):
    """`report value`, `report label: value` or `report [values]`."""

    value: Expression
    label: Name | None = None


@dataclass(frozen=True, kw_only=True)
class Skip(Node):
    """`skip unless condition "why"`."""

    condition: Expression
    reason: Text


@dataclass(frozen=True, kw_only=True)
class Search(Node):
    """`search x in range { goals and fields }`."""

    name: Name
    values: Expression
    body: Body


@dataclass(frozen=True, kw_only=True)
class Goal(Node):
    """`goal name { … }` within a search."""

    name: Name
    body: Body


@dataclass(frozen=True, kw_only=True)
class ForAll(Node):
    """`forall x: Type in values` within a property."""

    name: Name
    annotation: Name | None
    values: Expression


@dataclass(frozen=True, kw_only=True)
class Let(Documented):
    """`let name: Type = value`."""

    name: Name
    annotation: Name | None
    value: Expression


Statement = (
    Bind | Let | Port | Wire | Link | Loop | Flow | Sweep | Control | Search | Goal | Run
    | Criterion | Report | ForAll | Skip
)  # fmt: skip
