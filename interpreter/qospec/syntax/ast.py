"""The syntax tree: a specification as it is written, numbers and units still text.

One class per grammar rule. Spans and doc comments are left out of equality, so trees are equal
wherever they stand and however they are commented.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qospec.source import Span


@dataclass(frozen=True, kw_only=True)
class Node:
    """Anything with a place."""

    span: Span = field(compare=False, repr=False)


# ---- expressions


@dataclass(frozen=True, kw_only=True)
class Name(Node):
    """A name where it is declared, or one field of a path."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Number(Node):
    """`4_000` or `1.5`, without a unit."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Quantity(Node):
    """`64 kbit/s`, one token: the number's text and the unit's."""

    number: str
    unit: str


@dataclass(frozen=True, kw_only=True)
class Text(Node):
    """`"a string"`; `text` is what is between the quotes."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Truth(Node):
    """`true` or `false`."""

    value: bool


@dataclass(frozen=True, kw_only=True)
class Otherwise(Node):
    """`otherwise`, the class of what fits no other."""


@dataclass(frozen=True, kw_only=True)
class Layered(Node):
    """`value @ip`."""

    value: Expression
    layer: Name


@dataclass(frozen=True, kw_only=True)
class Unary(Node):
    """`-x` or `not x`."""

    operator: str
    operand: Expression


@dataclass(frozen=True, kw_only=True)
class Binary(Node):
    """`+ - * / of and or`."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, kw_only=True)
class Compare(Node):
    """`== != <= >= < >`."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, kw_only=True)
class Member(Node):
    """`x in [a, b]`."""

    item: Expression
    collection: Expression


@dataclass(frozen=True, kw_only=True)
class Within(Node):
    """`value within tolerance of target`."""

    value: Expression
    tolerance: Expression
    target: Expression


@dataclass(frozen=True, kw_only=True)
class Range(Node):
    """`first .. last step width`."""

    first: Expression
    last: Expression
    step: Expression | None


@dataclass(frozen=True, kw_only=True)
class Choose(Node):
    """`value if condition else otherwise`."""

    value: Expression
    condition: Expression
    otherwise: Expression


@dataclass(frozen=True, kw_only=True)
class ListOf(Node):
    """`[a, b]`."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, kw_only=True)
class TupleOf(Node):
    """`(a, b)`, a row of a zipped sweep and nothing else."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, kw_only=True)
class Pair(Node):
    """`key: value`."""

    key: Expression
    value: Expression


@dataclass(frozen=True, kw_only=True)
class MapOf(Node):
    """`{ key: value }`, or `mix { … }` when `mix` is set."""

    pairs: tuple[Pair, ...]
    mix: bool = False


@dataclass(frozen=True, kw_only=True)
class Index(Node):
    """`[expression]` behind a name."""

    value: Expression


@dataclass(frozen=True, kw_only=True)
class Path(Node):
    """`name.field[index].field`."""

    name: Name
    trail: tuple[Name | Index, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Argument(Node):
    """`name = value` or `value` between parentheses."""

    name: Name | None
    value: Expression


@dataclass(frozen=True, kw_only=True)
class Call(Node):
    """`path(arguments)`."""

    path: Path
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, kw_only=True)
class Record(Node):
    """`base { field = value }`: a copy with changes."""

    base: Path | Call
    body: Body


Expression = (
    Number | Quantity | Text | Truth | Otherwise | Layered | Unary | Binary | Compare | Member | Within
    | Range | Choose | ListOf | TupleOf | MapOf | Path | Call | Record
)  # fmt: skip


# ---- statements


@dataclass(frozen=True, kw_only=True)
class Body(Node):
    """`{ statements }`."""

    statements: tuple[Statement, ...]


@dataclass(frozen=True, kw_only=True)
class Documented(Node):
    """What a `##` comment may stand above (or, for a parameter or binding, behind)."""

    doc: str = field(default="", compare=False)


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


# ---- declarations


@dataclass(frozen=True, kw_only=True)
class Parameter(Documented):
    """`name: Type = default`."""

    name: Name
    annotation: Name
    default: Expression | None


@dataclass(frozen=True, kw_only=True)
class Let(Documented):
    """`let name: Type = value`."""

    name: Name
    annotation: Name | None
    value: Expression


@dataclass(frozen=True, kw_only=True)
class Traffic(Documented):
    """`traffic name(parameters) = value`."""

    name: Name
    parameters: tuple[Parameter, ...]
    value: Expression


@dataclass(frozen=True, kw_only=True)
class Device(Documented):
    """`device name(parameters) { … }`."""

    name: Name
    parameters: tuple[Parameter, ...]
    body: Body


@dataclass(frozen=True, kw_only=True)
class Topology(Documented):
    """`topology name(parameters) { … }`."""

    name: Name
    parameters: tuple[Parameter, ...]
    body: Body


@dataclass(frozen=True, kw_only=True)
class Test(Documented):
    """`test name on topology(arguments) { … }`."""

    name: Name
    topology: Path | Call
    body: Body


@dataclass(frozen=True, kw_only=True)
class Property(Documented):
    """`property name { … }`."""

    name: Name
    body: Body


@dataclass(frozen=True, kw_only=True)
class Reference(Documented):
    """`reference name "title" { field = value }`: published numbers, as data."""

    name: Name
    title: Text
    body: Body


@dataclass(frozen=True, kw_only=True)
class Import(Node):
    """`import a.b as c`."""

    path: tuple[Name, ...]
    alias: Name | None

    @property
    def name(self) -> str:
        """Return the name by which the importing file calls it."""
        return (self.alias or self.path[-1]).text


Declaration = Let | Traffic | Device | Topology | Test | Property | Reference

Statement = (
    Bind | Let | Port | Wire | Link | Loop | Flow | Sweep | Control | Search | Goal | Run | Criterion
    | Report | ForAll | Skip
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class File(Documented):
    """One file. `edition` is its first line's number.

    `unread` holds the names in what could not be read: they may have been declared there.
    """

    edition: int
    imports: tuple[Import, ...]
    declarations: tuple[Declaration, ...]
    unread: frozenset[str] = field(default=frozenset(), compare=False)
