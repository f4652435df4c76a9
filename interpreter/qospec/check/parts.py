"""What a device is made of, by the names that its wires use: ports, elements and arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from qospec.check.context import wrong
from qospec.check.values import Amount, Poison, Value, position
from qospec.diagnostics import did_you_mean

if TYPE_CHECKING:
    from qospec.catalogue import Kind
    from qospec.check.expressions import Evaluator
    from qospec.conditions import Expression
    from qospec.source import Span
    from qospec.syntax import ast


@dataclass(frozen=True)
class Part:
    """An element of a device. `element` is None when it could not be built or is not known yet."""

    path: str
    kind: Kind
    element: Any
    predicates: tuple[Expression, ...]
    span: Span
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    loose: bool = False


class End(NamedTuple):
    """Where a wire leads: an input of an element, a port, or the end of the way."""

    kind: Literal["element", "port", "terminate", "discard"]
    part: int = -1
    input: str = ""
    port: tuple[str, int] = ("", 0)


class Origin(NamedTuple):
    """Where a wire begins: an output of an element, or (part -1) what comes in by a port."""

    part: int = -1
    output: str = ""
    port: tuple[str, int] = ("", 0)


@dataclass
class Ports:
    """A port or an array of them. `count` is None for a single one; `known` as of a list."""

    name: str
    count: int | None
    known: bool
    span: Span


@dataclass
class Template:
    """A device with its parameters given, ready to be put into a topology any number of times."""

    name: str
    parts: list[Part] = field(default_factory=list)
    ports: dict[str, Ports] = field(default_factory=dict)
    wires: dict[Origin, End] = field(default_factory=dict)
    places: dict[Origin, Span] = field(default_factory=dict)


@dataclass(frozen=True)
class PortValue(Value):
    """A port, an array of ports, or one of an array."""

    what: ClassVar[str] = "a port"
    ports: Ports
    index: int | None = None

    def item(self, key: Value, span: Span) -> Value:
        """Return one port of an array."""
        if self.ports.count is None or self.index is not None:
            raise wrong("E0215", f"`{self.ports.name}` is a single port", span)
        index = position(
            key, self.ports.count, f"`{self.ports.name}`", span, known=self.ports.known
        )
        return PortValue(self.ports, 0 if index is None else index)

    def field(self, name: ast.Name, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Return the side where cells come in, or where they leave."""
        if name.text not in ("rx", "tx"):
            raise wrong(
                "E0401",
                f"a port has no side `{name.text}`",
                name.span,
                remedy="write `.rx` for what comes in, `.tx` for what leaves",
            )
        if self.ports.count is not None and self.index is None:
            raise wrong(
                "E0401",
                f"`{self.ports.name}` is an array of ports",
                name.span,
                remedy=f"say which: `{self.ports.name}[0].{name.text}`",
            )
        return SideValue((self.ports.name, self.index or 0), name.text)


@dataclass(frozen=True)
class SideValue(Value):
    """`port.rx` or `port.tx`."""

    what: ClassVar[str] = "a side of a port"
    port: tuple[str, int]
    side: str


@dataclass(frozen=True)
class PartValue(Value):
    """An element, or one of its inputs and outputs."""

    what: ClassVar[str] = "an element"
    index: int
    part: Part
    name: str = ""

    def field(self, name: ast.Name, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Return the input or output of that name, or the array of them."""
        known = (*self.part.inputs, *self.part.outputs)
        if not self.part.loose and not any(each.partition("[")[0] == name.text for each in known):
            raise self._unknown(name.text, name.span)
        return PartValue(self.index, self.part, name.text)

    def item(self, key: Value, span: Span) -> Value:
        """Return one input or output of an array."""
        known = (*self.part.inputs, *self.part.outputs)
        if not self.name:
            raise wrong("E0215", f"`{self.part.path}` is a single element", span)
        array = [each for each in known if each.startswith(f"{self.name}[")]
        unknown = isinstance(key, Poison) or (isinstance(key, Amount) and key.value is None)
        if self.part.loose or unknown:
            return PartValue(self.index, self.part, array[0] if array else f"{self.name}[0]")
        index = position(key, len(array), f"`{self.part.path}.{self.name}`", span)
        return PartValue(self.index, self.part, f"{self.name}[{index}]")

    def _unknown(self, name: str, span: Span) -> Exception:
        both = (("inputs", self.part.inputs), ("outputs", self.part.outputs))
        near = did_you_mean(name, [*self.part.inputs, *self.part.outputs])
        listed = "; ".join(f"its {what} are {' '.join(names)}" for what, names in both if names)
        return wrong(
            "E0401",
            f"`{self.part.path}` has no input or output `{name}`",
            span,
            label=f"did you mean `{near}`?" if near else "",
            note=listed,
            remedy=f"write `{near}`" if near else "",
        )


@dataclass
class Turns(Value):
    """What a name bound inside `for` stands for outside: one thing per turn."""

    what: ClassVar[str] = "an array of elements"
    name: str
    span: Span
    turns: dict[int, Value]
    known: bool

    def item(self, key: Value, span: Span) -> Value:
        """Return that of one turn."""
        if isinstance(key, Poison) or not self.known:
            return next(iter(self.turns.values()))
        if not isinstance(key, Amount) or key.value is None:
            return next(iter(self.turns.values()))
        if key.value.denominator != 1 or int(key.value) not in self.turns:
            turns = ", ".join(str(turn) for turn in list(self.turns)[:10])
            raise wrong(
                "E0215", f"`{self.name}` has no turn {key.value}", span, note=f"its turns: {turns}"
            )
        return self.turns[int(key.value)]
