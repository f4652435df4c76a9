"""The nodes of values. Imported as `qospec.syntax.ast`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.syntax.node import Node

if TYPE_CHECKING:
    from qospec.syntax.statements import Body


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


class Truth(Node):
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


class Choose(Node):
    """`value if condition else otherwise`."""

    value: Expression
    condition: Expression
    otherwise: Expression


class ListOf(Node):
    """`[a, b]`."""

    items: tuple[Expression, ...]


class TupleOf(Node):
    """`(a, b)`, a row of a zipped sweep and nothing else."""

    items: tuple[Expression, ...]


class Pair(Node):
    """`key: value`."""

    key: Expression
    value: Expression


class MapOf(Node):
    """`{ key: value }`."""

    pairs: tuple[Pair, ...]


class MixOf(Node):
    """`mix { size: weight }`, or `mix [size, size]` for an order."""

    sizes: MapOf | ListOf


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
    Number | Quantity | Text | Truth | Otherwise | Layered | Unary | Binary | Compare | Member
    | Within | Range | Choose | ListOf | TupleOf | MapOf | MixOf | Path | Call | Record
)  # fmt: skip
