"""The shape of each declaration and statement in YAML: one table, for reading and for writing.

A shape has a key, which is the keyword; the statements below it are grouped in one of four ways;
and each is a mapping of parts, or a single text if it has only the part `short`.
"""

from __future__ import annotations

from enum import Enum, unique

from qospec.dataclass import NamedTuple
from qospec.syntax import ast


class Grouping(Enum):
    """How the statements of one keyword are grouped below it."""

    NAMED = "a mapping from names"
    LISTED = "a list"
    LABELLED = "a list or a mapping from labels"
    ALONE = "a block"


@unique
class Role(Enum):
    """What a text stands for, as messages call it."""

    NAME = "a name"
    NAMES = "a name, or several with `,` between them"
    PORTS = "a port's name"
    VARIABLE = "`name: Type`"
    TURNS = "`name in values`"
    PATH = "a name such as `a.b[0]`"
    PATHS = "a name such as `a.b[0]`, or several with `,` between them"
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
    """A key of a statement: its role, the token before it in the text, the node's field."""

    key: str
    role: Role
    sign: str = ""
    field: str = ""
    required: bool = True


class Shape(NamedTuple):
    """The shape of one kind of node in YAML.

    Attributes:
        key: The keyword.
        node: The class of node.
        grouping: How statements are grouped below the keyword.
        name: The role of the names below it.
        parts: The keys of each thing, in the order of the text.
        short: The part that may stand for the whole, if it is the only one.
        block: Whether the statements of its body are beside the parts.
    """

    key: str
    node: type[ast.Node]
    grouping: Grouping = Grouping.NAMED
    name: Role = Role.NAME
    parts: tuple[Part, ...] = ()
    short: Part | None = None
    block: bool = False

    def find_part(self, key: str) -> Part | None:
        """Return the part of that key."""
        return next((part for part in self.parts if part.key == key), None)


_PARAMETERS = Part("parameters", Role.PARAMETERS, "", "parameters", required=False)
_WITH = Part("with", Role.BODY, "", "body", required=False)
_IS = Part("is", Role.VALUE, "=", "value")
_IN = Part("in", Role.EXPRESSION, "in", "values")
_WHERE = Part("where", Role.EXPRESSION, "where", "where", required=False)
_TARGET = Part("to", Role.NAME, "->", "target")
_CONDITION = Part("", Role.CONDITION, "", "condition")

FILE = (
    Shape(
        "let", ast.Let,
        parts=(Part("type", Role.NAME, ":", "annotation", required=False), _IS, _WITH), short=_IS,
    ),
    Shape("traffic", ast.Traffic, parts=(_PARAMETERS, _IS, _WITH), short=_IS),
    Shape("device", ast.Device, parts=(_PARAMETERS,), block=True),
    Shape("topology", ast.Topology, parts=(_PARAMETERS,), block=True),
    Shape(
        "test", ast.Test,
        parts=(
            _PARAMETERS, Part("is", Role.BASE, "=", "base", required=False),
            Part("on", Role.BASE, "on", "topology", required=False),
        ),
        block=True,
    ),
    Shape("property", ast.Property, block=True),
    Shape("reference", ast.Reference, parts=(Part("title", Role.TEXT, "", "title"),), block=True),
)  # fmt: skip
"""The keys of a file, after its first key and its imports."""

BIND = Shape("", ast.Bind, name=Role.NAMES, parts=(_IS, _WITH), short=_IS)
"""A key of a block that is not a keyword."""

BLOCK = (
    FILE[0],
    Shape("port", ast.Port, name=Role.PORTS, short=Part("", Role.NAME, ":", "carries")),
    Shape("->", ast.Wire, Grouping.LISTED, short=Part("", Role.WIRE)),
    Shape(
        "link", ast.Link, Grouping.LISTED,
        parts=(Part("between", Role.ENDS), Part("via", Role.BASE, "via", "medium"), _WITH),
        short=Part("", Role.LINK),
    ),
    Shape("for", ast.Loop, name=Role.TURNS, block=True),
    Shape(
        "flow", ast.Flow,
        parts=(
            Part("is", Role.BASE, "=", "traffic"), _WITH,
            Part("from", Role.PATH, "from", "origin"), Part("to", Role.PATH, "to", "target"),
            Part("via", Role.PATHS, "via", "via", required=False),
        ),
    ),
    Shape(
        "sweep", ast.Sweep, name=Role.NAMES,
        parts=(_IN, _WHERE), short=_IN,
    ),
    Shape("control", ast.Control, short=Part("", Role.BASE, "=", "topology")),
    Shape("search", ast.Search, parts=(_IN,), block=True),
    Shape("goal", ast.Goal, block=True),
    Shape("point", ast.Point, block=True),
    Shape("at", ast.At, name=Role.EXPRESSION, block=True),
    Shape("run", ast.Run, Grouping.ALONE, block=True),
    Shape("machine", ast.Machine, block=True),
    Shape("state", ast.State, block=True),
    Shape(
        "on", ast.Transition, name=Role.PATH,
        parts=(_WHERE, _TARGET, _WITH), short=_TARGET,
    ),
    Shape("require", ast.Criterion, Grouping.LABELLED, short=_CONDITION),
    Shape("expect", ast.Criterion, Grouping.LABELLED, short=_CONDITION),
    Shape("invariant", ast.Criterion, Grouping.LABELLED, short=_CONDITION),
    Shape("report", ast.Report, Grouping.LABELLED, short=Part("", Role.SHOWN, "", "value")),
    Shape(
        "forall", ast.ForAll, name=Role.VARIABLE,
        parts=(Part("is", Role.VALUE, "in", "values"), _WITH, _WHERE),
        short=Part("is", Role.VALUE, "in", "values"),
    ),
    Shape(
        "skip", ast.Skip, Grouping.LISTED,
        parts=(
            Part("unless", Role.EXPRESSION, "unless", "condition"),
            Part("because", Role.TEXT, "", "reason"),
        ),
    ),
)  # fmt: skip
"""The keywords of a block; one that may be a field is a field before a value."""


def find_shape(node: ast.Node) -> Shape:
    """Return the shape of a declaration or a statement."""
    if isinstance(node, ast.Criterion):
        return next(shape for shape in BLOCK if shape.key == node.kind)
    return next(shape for shape in (*BLOCK, *FILE, BIND) if shape.node is type(node))
