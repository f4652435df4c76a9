"""The nodes of values, and what all nodes are. Imported as `qospec.syntax.ast`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qospec.source import Span
    from qospec.syntax.statements import Body


@dataclass(frozen=True, kw_only=True)
class Node:
    """Anything with a place."""

    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, kw_only=True)
class Documented(Node):
    """What a `##` comment may stand above (or, for a parameter or binding, behind)."""

    doc: str = field(default="", compare=False)


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
    Number | Quantity | Text | Truth | Otherwise | Layered | Unary | Binary | Compare | Member
    | Within | Range | Choose | ListOf | TupleOf | MapOf | Path | Call | Record
)  # fmt: skip
