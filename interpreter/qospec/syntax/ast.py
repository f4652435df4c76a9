"""The syntax tree: a specification as it is written, numbers and units still text.

One class per grammar rule. Spans and doc comments are left out of equality, so trees are equal
wherever they stand and however they are commented.
"""

from __future__ import annotations

from dataclasses import field

from qospec.syntax.expressions import (
    Argument,
    Binary,
    Call,
    Choose,
    Compare,
    Expression,
    Index,
    Layered,
    ListOf,
    MapOf,
    Member,
    MixOf,
    Name,
    Number,
    Otherwise,
    Pair,
    Path,
    Quantity,
    Range,
    Record,
    Text,
    Truth,
    TupleOf,
    Unary,
    Within,
)
from qospec.syntax.node import Documented, Node
from qospec.syntax.statements import (
    Bind,
    Body,
    Control,
    Criterion,
    Flow,
    ForAll,
    Goal,
    Let,
    Link,
    Loop,
    Machine,
    Port,
    PortName,
    Report,
    Run,
    Search,
    Skip,
    State,
    Statement,
    Sweep,
    Transition,
    Wire,
)

__all__ = [
    "Argument",
    "Binary",
    "Bind",
    "Body",
    "Call",
    "Choose",
    "Compare",
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
    "ListOf",
    "Loop",
    "Machine",
    "MapOf",
    "Member",
    "MixOf",
    "Name",
    "Node",
    "Number",
    "Otherwise",
    "Pair",
    "Parameter",
    "Path",
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
    "Truth",
    "TupleOf",
    "Unary",
    "Wire",
    "Within",
]


class Parameter(Documented):
    """`name: Type = default`."""

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
    """`test name on topology(arguments) { … }`."""

    name: Name
    topology: Path | Call
    body: Body


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

    `unread` holds the names in what could not be read: they may have been declared there.
    """

    edition: int
    imports: tuple[Import, ...]
    declarations: tuple[Declaration, ...]
    unread: frozenset[str] = field(default=frozenset(), compare=False)
