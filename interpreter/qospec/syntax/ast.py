"""The syntax tree: a specification as it is written, numbers and units still text.

One class per grammar rule: expressions, statements, declarations. Spans and doc comments are left
out of equality, so trees are equal wherever they stand and however they are commented.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, dataclass_transform

from qospec.dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.source import Span


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
@dataclass(frozen=True, kw_only=True)
class Node:
    """Anything with a place."""

    span: Span = field(compare=False, repr=False)

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)

    def list_children(self) -> list[Node]:
        """Return the nodes directly below this one, as its fields have them."""
        found: list[Node] = []
        for value in self.__dict__.values():
            if isinstance(value, Node):
                found.append(value)
            elif isinstance(value, tuple):
                found += [item for item in value if isinstance(item, Node)]
        return found

    def with_all_below(self) -> Iterator[Node]:
        """Yield this node and all below it."""
        waiting: list[Node] = [self]
        while waiting:
            here = waiting.pop()
            yield here
            waiting += here.list_children()

    def list_names_used(self) -> set[str]:
        """Return the first name of each path in it."""
        return {node.name.text for node in self.with_all_below() if isinstance(node, Path)}


class Documented(Node):
    """What a `##` comment may stand above (or, for a parameter or binding, behind)."""

    doc: str = field(default="", compare=False)


class Name(Node):
    """A name where it is declared, or one field of a path."""

    text: str


class Number(Node):
    """`4_000` or `1.5`, without a unit."""

    text: str


class Quantity(Node):
    """`64 kbit/s`, one token: the number's text and the unit's."""

    number: str
    unit: str


class Text(Node):
    """`"a string"`; `text` is what is between the quotes."""

    text: str


class Boolean(Node):
    """`true` or `false`."""

    value: bool


class Otherwise(Node):
    """`otherwise`, the class of what fits no other."""


class Layered(Node):
    """`value @ip`."""

    value: Expression
    layer: Name


class Unary(Node):
    """`-x` or `not x`."""

    operator: str
    operand: Expression


class Binary(Node):
    """`+ - * / of and or`."""

    operator: str
    left: Expression
    right: Expression


class Compare(Node):
    """`== != <= >= < >`."""

    operator: str
    left: Expression
    right: Expression


class Member(Node):
    """`x in [a, b]`."""

    item: Expression
    collection: Expression


class Within(Node):
    """`value within tolerance of target`."""

    value: Expression
    tolerance: Expression
    target: Expression


class Range(Node):
    """`first .. last step width`."""

    first: Expression
    last: Expression
    step: Expression | None


class Conditional(Node):
    """`value if condition else otherwise`."""

    value: Expression
    condition: Expression
    otherwise: Expression


class ListLiteral(Node):
    """`[a, b]`."""

    items: tuple[Expression, ...]


class TupleLiteral(Node):
    """`(a, b)`, a row of a zipped sweep and nothing else."""

    items: tuple[Expression, ...]


class Pair(Node):
    """`key: value`."""

    key: Expression
    value: Expression


class MapLiteral(Node):
    """`{ key: value }`."""

    pairs: tuple[Pair, ...]


class MixLiteral(Node):
    """`mix { size: weight }`, or `mix [size, size]` for an order."""

    sizes: MapLiteral | ListLiteral


class Index(Node):
    """`[expression]` behind a name."""

    value: Expression


class Path(Node):
    """`name.field[index].field`."""

    name: Name
    trail: tuple[Name | Index, ...] = ()


class Argument(Node):
    """`name = value` or `value` between parentheses."""

    name: Name | None
    value: Expression


class Call(Node):
    """`path(arguments)`."""

    path: Path
    arguments: tuple[Argument, ...]


class Record(Node):
    """`base { field = value }`: a copy with changes."""

    base: Path | Call
    body: Body


Expression = (
    Number | Quantity | Text | Boolean | Otherwise | Layered | Unary | Binary | Compare | Member
    | Within | Range | Conditional | ListLiteral | TupleLiteral | MapLiteral | MixLiteral | Path
    | Call | Record
)  # fmt: skip


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
    """`flow f = traffic { … } from a to b via router.east`."""

    name: Name
    traffic: Path | Call
    body: Body | None
    origin: Path
    target: Path
    via: Way | None = None


class Way(Node):
    """`router.east, router.west`: ports by which the items of a flow leave devices, in order."""

    ports: tuple[Path, ...]


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

    `confidence` is that of `with 95% confidence`, `claim` the word of `as shape`, `covers` what is
    behind `of`, `when` the condition of `when size == 64 B`.
    """

    kind: str
    label: Name | None
    condition: Expression
    confidence: Expression | None = None
    claim: Name | None = None
    covers: Expression | None = None
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
    """`on event where condition -> state { fields }` within a state; the event is its name."""

    name: Path
    where: Expression | None
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


class Point(Node):
    """`point name { values of variables, and fields }` within a test."""

    name: Name
    body: Body


class At(Node):
    """`at time { changes }` within a point or a test."""

    time: Expression
    body: Body


class ForAll(Node):
    """`forall x: Type in values where condition` within a property."""

    name: Name
    annotation: Name | None
    values: Expression
    where: Expression | None


class Let(Documented):
    """`let name: Type = value`."""

    name: Name
    annotation: Name | None
    value: Expression


Statement = (
    Bind | Let | Port | Wire | Link | Loop | Flow | Sweep | Control | Search | Goal | Point
    | At | Run | Criterion | Report | ForAll | Skip | Machine | State | Transition
)  # fmt: skip


__all__ = [
    "Argument",
    "At",
    "Binary",
    "Bind",
    "Body",
    "Boolean",
    "Call",
    "Compare",
    "Conditional",
    "Control",
    "Criterion",
    "Declaration",
    "Device",
    "Documented",
    "Expression",
    "File",
    "Flow",
    "ForAll",
    "Goal",
    "Import",
    "Index",
    "Layered",
    "Let",
    "Link",
    "ListLiteral",
    "Loop",
    "Machine",
    "MapLiteral",
    "Member",
    "MixLiteral",
    "Name",
    "Node",
    "Number",
    "Otherwise",
    "Pair",
    "Parameter",
    "Path",
    "Point",
    "Port",
    "PortName",
    "Property",
    "Quantity",
    "Range",
    "Record",
    "Reference",
    "Report",
    "Run",
    "Search",
    "Skip",
    "State",
    "Statement",
    "Sweep",
    "Test",
    "Text",
    "Topology",
    "Traffic",
    "Transition",
    "TupleLiteral",
    "Unary",
    "Wire",
    "Within",
]


class Parameter(Documented):
    """`name: Type = default`; the annotation of other types is `[Data]` or `Rate @line`."""

    name: Name
    annotation: Name
    default: Expression | None


class Traffic(Documented):
    """`traffic name(parameters) = value`."""

    name: Name
    parameters: tuple[Parameter, ...]
    value: Expression


class Device(Documented):
    """`device name(parameters) { … }`."""

    name: Name
    parameters: tuple[Parameter, ...]
    body: Body


class Topology(Documented):
    """`topology name(parameters) { … }`."""

    name: Name
    parameters: tuple[Parameter, ...]
    body: Body


class Test(Documented):
    """`test name(parameters) = base(arguments) on topology(arguments) { … }`.

    Of one whose header cannot be parsed, `is_incomplete`, only the name and the body are known.
    """

    name: Name
    parameters: tuple[Parameter, ...]
    base: Path | Call | None
    topology: Path | Call | None
    body: Body | None
    is_incomplete: bool = False

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Return its own statements, without those of its base."""
        return self.body.statements if self.body is not None else ()

    @property
    def base_path(self) -> Path | Name:
        """Return what it is built on, without arguments; its name if it is built on nothing."""
        base = self.base
        return self.name if base is None else base.path if isinstance(base, Call) else base


class Property(Documented):
    """`property name { … }`."""

    name: Name
    body: Body


class Reference(Documented):
    """`reference name "title" { field = value }`: published numbers, as data."""

    name: Name
    title: Text
    body: Body


class Import(Node):
    """`import a.b as c`."""

    path: tuple[Name, ...]
    alias: Name | None

    @property
    def name(self) -> str:
        """Return the name by which the importing file calls it."""
        return (self.alias or self.path[-1]).text


Declaration = Let | Traffic | Device | Topology | Test | Property | Reference


class File(Documented):
    """One file. `edition` is its first line's number.

    `unparsed` has the names in what could not be parsed: they may have been declared there.
    """

    edition: int
    imports: tuple[Import, ...]
    declarations: tuple[Declaration, ...]
    unparsed: frozenset[str] = field(default=frozenset(), compare=False)
