"""How each declaration and each statement stands in YAML: one table, for reading and for writing.

A shape has a key, which is the keyword; what stands below it is gathered in one of four ways; and
each thing below is a mapping of parts, or one text where only the part `short` is there.
"""

from __future__ import annotations

from enum import Enum, unique
from typing import NamedTuple

from qospec.syntax import ast


class Way(Enum):
    """What stands below a keyword."""

    NAMED = "a mapping from names"
    LISTED = "a list"
    LABELLED = "a list or a mapping from labels"
    ALONE = "a block"


@unique
class Role(Enum):
    """What a text says: the words for it, for messages."""

    NAME = "a name"
    NAMES = "a name, or several with `,` between them"
    PORTS = "a port's name"
    VARIABLE = "`name: Type`"
    TURNS = "`name in values`"
    PATH = "a name such as `a.b[0]`"
    BASE = "a name or a call"
    EXPRESSION = "a value"
    CONDITION = "a condition"
    SHOWN = "a value to report"
    VALUE = "a value or a record"
    WIRE = "`a -> b`"
    LINK = "`a -- b via medium`"
    ENDS = "`a -- b`"
    IMPORT = "a file's name"
    PARAMETER = "`Type` or `Type = value`"
    TEXT = "a text"
    PARAMETERS = "a mapping from names to types"
    BODY = "a block"


class Part(NamedTuple):
    """A key of a thing: its role, what stands before it in the text, the node's field."""

    key: str
    role: Role
    sign: str = ""
    field: str = ""
    needed: bool = True


class Shape(NamedTuple):
    """How one kind of node stands in YAML.

    Attributes:
        key: The keyword.
        node: The class of node.
        way: What stands below the keyword.
        name: What the names below it say.
        parts: The keys of each thing, in the order of the text.
        short: The part that may stand for the thing, if no other part is there.
        block: Whether the statements of its body stand beside the parts.
    """

    key: str
    node: type[ast.Node]
    way: Way = Way.NAMED
    name: Role = Role.NAME
    parts: tuple[Part, ...] = ()
    short: Part | None = None
    block: bool = False

    def part(self, key: str) -> Part | None:
        """Return the part of that key."""
        return next((part for part in self.parts if part.key == key), None)


_PARAMETERS = Part("parameters", Role.PARAMETERS, "", "parameters", needed=False)
_WITH = Part("with", Role.BODY, "", "body", needed=False)
_IS = Part("is", Role.VALUE, "=", "value")
_IN = Part("in", Role.EXPRESSION, "in", "values")
_TARGET = Part("to", Role.NAME, "->", "target")
_CONDITION = Part("", Role.CONDITION, "", "condition")

FILE = (
    Shape(
        "let", ast.Let,
        parts=(Part("type", Role.NAME, ":", "annotation", needed=False), _IS, _WITH), short=_IS,
    ),
    Shape("traffic", ast.Traffic, parts=(_PARAMETERS, _IS, _WITH), short=_IS),
    Shape("device", ast.Device, parts=(_PARAMETERS,), block=True),
    Shape("topology", ast.Topology, parts=(_PARAMETERS,), block=True),
    Shape("test", ast.Test, parts=(Part("on", Role.BASE, "on", "topology"),), block=True),
    Shape("property", ast.Property, block=True),
    Shape("reference", ast.Reference, parts=(Part("title", Role.TEXT, "", "title"),), block=True),
)  # fmt: skip
"""What stands in a file, below its first key and its imports."""

BIND = Shape("", ast.Bind, name=Role.NAMES, parts=(_IS, _WITH), short=_IS)
"""What stands in a block under a key that is no keyword."""

BLOCK = (
    FILE[0],
    Shape("port", ast.Port, name=Role.PORTS, short=Part("", Role.NAME, ":", "carries")),
    Shape("->", ast.Wire, Way.LISTED, short=Part("", Role.WIRE)),
    Shape(
        "link", ast.Link, Way.LISTED,
        parts=(Part("between", Role.ENDS), Part("via", Role.BASE, "via", "medium"), _WITH),
        short=Part("", Role.LINK),
    ),
    Shape("for", ast.Loop, name=Role.TURNS, block=True),
    Shape(
        "flow", ast.Flow,
        parts=(
            Part("is", Role.BASE, "=", "traffic"), _WITH,
            Part("from", Role.PATH, "from", "origin"), Part("to", Role.PATH, "to", "target"),
        ),
    ),
    Shape(
        "sweep", ast.Sweep, name=Role.NAMES,
        parts=(_IN, Part("where", Role.EXPRESSION, "where", "where", needed=False)), short=_IN,
    ),
    Shape("control", ast.Control, short=Part("", Role.BASE, "=", "topology")),
    Shape("search", ast.Search, parts=(_IN,), block=True),
    Shape("goal", ast.Goal, block=True),
    Shape("run", ast.Run, Way.ALONE, block=True),
    Shape("machine", ast.Machine, block=True),
    Shape("state", ast.State, block=True),
    Shape("on", ast.Transition, parts=(_TARGET, _WITH), short=_TARGET),
    Shape("require", ast.Criterion, Way.LABELLED, short=_CONDITION),
    Shape("expect", ast.Criterion, Way.LABELLED, short=_CONDITION),
    Shape("invariant", ast.Criterion, Way.LABELLED, short=_CONDITION),
    Shape("report", ast.Report, Way.LABELLED, short=Part("", Role.SHOWN, "", "value")),
    Shape(
        "forall", ast.ForAll, name=Role.VARIABLE,
        parts=(Part("is", Role.VALUE, "in", "values"), _WITH),
        short=Part("is", Role.VALUE, "in", "values"),
    ),
    Shape(
        "skip", ast.Skip, Way.LISTED,
        parts=(
            Part("unless", Role.EXPRESSION, "unless", "condition"),
            Part("because", Role.TEXT, "", "reason"),
        ),
    ),
)  # fmt: skip
"""What stands in a block under a keyword; a keyword that may be a field is one before a value."""


def shape_of(node: ast.Node) -> Shape:
    """Return the shape of a declaration or a statement."""
    if isinstance(node, ast.Criterion):
        return next(shape for shape in BLOCK if shape.key == node.kind)
    return next(shape for shape in (*BLOCK, *FILE, BIND) if shape.node is type(node))
