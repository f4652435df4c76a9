"""The values of expressions while a specification is checked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from qospec.check.evaluate.context import CheckError, IndexedError, make_error
from qospec.dataclass import dataclass
from qospec.model.expression import count_leaves
from qospec.secret import redact
from qospec.units import format_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from fractions import Fraction

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.model.expression import Expression, Found
    from qospec.source import Span
    from qospec.syntax import ast
    from qospec.units import Dimension


class Value:
    """The value of an expression. `what` names its type in messages."""

    what: ClassVar[str] = "a value"

    @property
    def made_of(self) -> str:
        """Return the name of the device that it is a node of; "" for what is no node."""
        return ""

    @property
    def parts(self) -> int:
        """Return of how many values it consists, repeated ones included."""
        return 1

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Return what `value.name` stands for."""
        raise make_error("E0104", f"{self.what} has no field `{name.text}`", name.span)

    def get_item(self, key: Value, span: Span) -> Value:  # noqa: ARG002
        """Return what `value[key]` stands for."""
        raise IndexedError(f"{self.what} cannot be indexed", span)

    def call(self, call: ast.Call, scope: Scope, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Return what `value(arguments)` stands for."""
        raise make_error("E0114", f"{self.what} takes no arguments", call.span)

    def copy(self, body: ast.Body, scope: Scope, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Return what `value { field = … }` stands for."""
        raise make_error(
            "E0104",
            f"{self.what} has no fields to change",
            body.span,
            help="remove the braces, or write a kind in place of what is before them",
        )

    def explain_unfinished(self, span: Span) -> CheckError | None:  # noqa: ARG002
        """Return the mistake of using it as a value, where more of a path must follow."""
        return None


class Pattern(Value, ABC):
    """A device or a kind: what a topology makes nodes of. It has no fields itself."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Return its name, without the file that declares it."""


class Poison(Value):
    """The value after a reported mistake, or of what cannot be known; it causes no messages."""

    what: ClassVar[str] = "something unknown"

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Return itself."""
        return self

    def get_item(self, key: Value, span: Span) -> Value:  # noqa: ARG002
        """Return itself."""
        return self

    def call(self, call: ast.Call, scope: Scope, evaluator: Evaluator) -> Value:
        """Check the arguments, and return itself."""
        for argument in call.arguments:
            evaluator.evaluate(argument.value, scope)
        return self

    def copy(self, body: ast.Body, scope: Scope, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Return itself."""
        return self


POISON = Poison()


@dataclass(frozen=True)
class Amount(Value):
    """A number or quantity, exact, in base units.

    Attributes:
        value: None while a declaration is checked on its own and this depends on a parameter.
        dimension: Of the value.
        layer: Which bits are counted; "" for none said.
        text: As the author wrote it, if it is a literal.
        published: The place of a reference's value that it depends on.
    """

    what: ClassVar[str] = "a number"
    value: Fraction | None
    dimension: Dimension
    layer: str = ""
    text: str = field(default="", compare=False)
    published: Span | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Text(Value):
    """A text."""

    what: ClassVar[str] = "a text"
    text: str
    published: Span | None = field(default=None, compare=False)
    written: Span | None = field(default=None, compare=False)

    @property
    def home(self) -> str:
        """Return the name of the file that it is written in."""
        return self.written.source.name if self.written is not None else ""


@dataclass(frozen=True)
class Symbol(Value):
    """A bare word that stands for itself, such as a choice.

    `resolved` is False for a word in a sweep that may be an undeclared name instead.
    """

    what: ClassVar[str] = "a word"
    name: str
    span: Span = field(compare=False)
    resolved: bool = field(default=True, compare=False)

    def copy(self, body: ast.Body, scope: Scope, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Refuse: a word is not the device or element that it may name elsewhere."""
        raise make_error(
            "E0104",
            f"`{self.name}` is a word here, and has no fields to change",
            body.span,
            help="sweep over devices of your own, and take one by a parameter of type `Device`",
        )

    def explain_unfinished(self, span: Span) -> CheckError | None:  # noqa: ARG002
        """Return the mistake of a word in a sweep that was meant as a name."""
        if self.resolved:
            return None
        return make_error(
            "E0101",
            f"nothing here is named `{self.name}`",
            self.span,
            help="declare it; a word stands for itself only where a field offers it as a choice",
        )


@dataclass(frozen=True)
class Boolean(Value):
    """True, false, or not known yet."""

    what: ClassVar[str] = "a boolean"
    value: bool | None
    published: Span | None = field(default=None, compare=False)


@dataclass(frozen=True)
class List(Value):
    """A list or a range. If not `known`, `items` has one that stands for all."""

    what: ClassVar[str] = "a list"
    items: tuple[Value, ...]
    known: bool = True

    @cached_property
    def parts(self) -> int:
        """Return how many values are in it."""
        return sum(item.parts for item in self.items)

    @cached_property
    def published(self) -> Span | None:
        """Return where a published item of it stands. Kept: lists of lists may share items."""
        return _find_first_published(self.items)

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Refuse: only its items may have fields."""
        raise make_error(
            "E0104",
            f"a list has no field `{name.text}`",
            name.span,
            help=f"choose an item, as in `[0].{name.text}`, or loop: `for one in … {{ … }}`",
        )

    def get_item(self, key: Value, span: Span) -> Value:
        """Return the item at that place, from 0."""
        index = find_position(key, len(self.items), "this list", span, known=self.known)
        return POISON if index is None else self.items[index]


@dataclass(frozen=True)
class Map(Value):
    """A map; keys are numbers or words.

    Attributes:
        entries: The values by key.
        pairs: Its entries as they are written.
        amounts: Of keys that are numbers, what they measure.
    """

    what: ClassVar[str] = "a map"
    entries: Mapping[Fraction | str, Value]
    pairs: Mapping[Fraction | str, ast.Pair] = field(default_factory=dict, compare=False)
    amounts: Mapping[Fraction | str, Amount] = field(default_factory=dict, compare=False)

    @cached_property
    def parts(self) -> int:
        """Return how many values are in it."""
        return sum(entry.parts for entry in self.entries.values())

    @cached_property
    def published(self) -> Span | None:
        """Return where a published entry of it stands."""
        return _find_first_published(self.entries.values())

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Refuse: an entry is written with its key in brackets."""
        known = name.text in self.entries
        raise make_error(
            "E0104",
            f"a map has no field `{name.text}`",
            name.span,
            help=f"write `[{name.text}]` for its entry" if known else "",
        )

    @cached_property
    def _written(self) -> Mapping[str, ast.Pair]:
        return {str(key): pair for key, pair in self.pairs.items()}

    def write_pair(self, key: str, whole: Span) -> ast.Pair | None:
        """Return an entry as it is written, if that is within `whole`: a map may have a name."""
        found = self._written.get(key)
        return found if found is not None and found.span in whole else None

    def get_item(self, key: Value, span: Span) -> Value:
        """Return the value under that key."""
        expected: Fraction | str | None
        if isinstance(key, Amount):
            expected = key.value
        elif isinstance(key, Text):
            expected = key.text
        else:
            expected = key.name if isinstance(key, Symbol) else None
        if expected is None and isinstance(key, Amount | Poison):
            return POISON
        if expected is None:
            raise make_error(
                "E0204", f"expected a number, a text or a word as key, found {key.what}", span
            )
        if expected not in self.entries:
            keys = ", ".join(str(entry) for entry in self.entries)
            raise make_error(
                "E0216", f"this map has no entry {expected}", span, note=f"its entries: {keys}"
            )
        return self.entries[expected]


@dataclass(frozen=True)
class Deferred(Value):
    """A value that must be measured.

    Attributes:
        expression: What is evaluated once it has been measured.
        dimension: Of the value.
        exact: Whether it is a count, which may be compared with `==`.
        layer: As of `Amount`.
    """

    what: ClassVar[str] = "a measured value"
    expression: Expression
    dimension: Dimension
    exact: bool
    layer: str = field(default="", kw_only=True)

    @property
    def parts(self) -> int:
        """Return how many constants and measured values are in it."""
        return count_leaves(self.expression)


@dataclass(frozen=True)
class DeferredBoolean(Value):
    """A boolean that is known only after the run."""

    what: ClassVar[str] = "a result of a search"
    expression: Found


def find_position(
    key: Value, length: int, what: str, span: Span, *, known: bool = True
) -> int | None:
    """Return the position of an index; None if it cannot be known."""
    if isinstance(key, Poison):
        return None
    if not isinstance(key, Amount):
        raise make_error("E0215", f"expected a whole number as index, found {key.what}", span)
    if not known:
        return 0
    if key.value is None:
        return None
    if key.value.denominator != 1 or not 0 <= key.value < length:
        extent = f"0 to {length - 1}" if length else "none: it is empty"
        raise make_error(
            "E0215", f"{what} has no item {key.value}", span, note=f"its items are {extent}"
        )
    return int(key.value)


def find_published(value: Value) -> Span | None:
    """Return the place of a reference's value that a value depends on, if any."""
    if isinstance(value, Amount | Text | Boolean):
        return value.published
    return value.published if isinstance(value, List | Map) else None


def _find_first_published(items: Iterable[Value]) -> Span | None:
    return next((place for item in items if (place := find_published(item))), None)


def write_plain_value(value: Value) -> str:
    """Return a value as it would be written, without keys; of one that is no literal what it is."""
    if isinstance(value, Amount):
        if value.text or value.value is None:
            return value.text
        text = format_value(value.value, value.dimension, exact=True)
        return f"{text} @{value.layer}" if value.layer else text
    if isinstance(value, Text):
        return redact(f'"{value.text}"')[1:-1]
    if isinstance(value, Symbol):
        return value.name
    return str(value.value).lower() if isinstance(value, Boolean) else value.what
