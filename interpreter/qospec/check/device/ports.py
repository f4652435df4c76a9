"""The parts of a device by the names that its wires use: ports, elements and arrays."""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from qospec.catalogue.form import Form
from qospec.check.device.observables import (
    UTILISATION,
    Losses,
    Occupancy,
    describe_kind,
    explain_not_observed,
    has_occupancy,
    list_loss_causes,
    make_utilisation,
)
from qospec.check.evaluate.context import IndexedError, make_error
from qospec.check.evaluate.measurements import Located, PlaceValue
from qospec.check.evaluate.unmeasured import list_measured_at_places
from qospec.check.evaluate.values import Amount, Deferred, Poison, Value, find_position
from qospec.dataclass import NamedTuple, dataclass
from qospec.diagnostics import suggest_name
from qospec.model.expression import Counted, Place
from qospec.units import CELLS, PACKETS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.catalogue.kinds import Carried, Kind
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.model.expression import Expression
    from qospec.source import Span
    from qospec.syntax import ast
    from qospec.units import Dimension

SIDES = ("rx", "tx")
"""Of a port: where items enter, and where they leave."""


@dataclass(frozen=True)
class Part:
    """An element of a device. `element` is None when it could not be built or is not known yet.

    `named` says where an output was given its name, if the text did so; `places` is as of
    `model.suite.Instance`.
    """

    path: str
    kind: Kind
    element: Any
    predicates: tuple[Expression, ...]
    span: Span
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    loose: bool = False
    named: Mapping[str, Span] = field(default_factory=dict)
    places: Mapping[str, Span] = field(default_factory=dict)

    @cached_property
    def ends(self) -> frozenset[str]:
        """Return the names of its inputs and outputs, and those of arrays of them."""
        every = (*self.inputs, *self.outputs)
        return frozenset(every) | {name.partition("[")[0] for name in every}


class End(NamedTuple):
    """Where a wire leads: an input of an element, a port, or `discard`.

    `inner` is the number of the inner device whose port it is.
    """

    kind: Literal["element", "port", "inner", "terminate", "discard"]
    part: int = -1
    input: str = ""
    port: tuple[str, int] = ("", 0)
    inner: int = -1


class Origin(NamedTuple):
    """Where a wire begins: an output of an element, or (part -1) a port by which items enter.

    Or it is a port by which items leave the inner device with the number `inner`.
    """

    part: int = -1
    output: str = ""
    port: tuple[str, int] = ("", 0)
    inner: int = -1


@dataclass
class Ports:
    """A port or an array of them. `count` is None for a single one; `known` as of a list."""

    name: str
    count: int | None
    known: bool
    span: Span
    carries: str = "cell"


class Inner(NamedTuple):
    """A device inside another: its path there, and the number of its first element."""

    path: str
    template: Template
    base: int
    span: Span


class Invariant(NamedTuple):
    """What holds in every run of a device; in its condition, paths are those within the device."""

    label: str
    text: str
    condition: Expression
    span: Span


@dataclass
class Template:
    """A device with its parameters given, which a topology can instantiate any number of times.

    `merged` holds the ends of wires whose beginnings depend on an unknown parameter, so that
    `wires` cannot hold them apart; and where the ports of inner devices lead. `inners` are used
    until all wires are joined. `kinds` holds, by number of an element, whether cells or packets
    arrive there. `written` are its own invariants, in each iteration of a loop, with the names that
    they see. If not `complete`, something in it was wrong; in the declarations of what is
    `unfinished`, or it is part of another device.
    """

    name: str
    parts: list[Part] = field(default_factory=list)
    ports: dict[str, Ports] = field(default_factory=dict)
    wires: dict[Origin, End] = field(default_factory=dict)
    places: dict[Origin, Span] = field(default_factory=dict)
    merged: set[End] = field(default_factory=set)
    invariants: list[Invariant] = field(default_factory=list)
    kinds: dict[int, str] = field(default_factory=dict)
    inners: list[Inner] = field(default_factory=list)
    written: list[tuple[ast.Criterion, Scope]] = field(default_factory=list)
    complete: bool = True
    unfinished: frozenset[str] = frozenset()

    @property
    def carries(self) -> str:
        """Return what an element counts that no item reaches: packets if any port carries them."""
        return "packet" if any(p.carries == "packet" for p in self.ports.values()) else "cell"

    @property
    def sound(self) -> bool:
        """Return whether it has no mistake, and all of its elements are known."""
        return self.complete and not any(part.loose for part in self.parts)


def find_leaving(part: Part, carries: str) -> str:
    """Return what such items are behind an element, as far as it is known: cells or packets."""
    if part.element is None:
        return carries
    after: Form = part.element.predict_form(Form(cast("Carried", carries)))
    return after.carries


def find_counted_dimension(carries: str) -> Dimension:
    """Return the dimension of what is counted: cells or packets."""
    return PACKETS if carries == "packet" else CELLS


@dataclass(frozen=True)
class PortValue(Value):
    """A port, an array of ports, or one of an array; of a device inside, if `inner` says which."""

    what: ClassVar[str] = "a port"
    ports: Ports
    index: int | None = None
    inner: int = -1
    device: str = ""

    def get_item(self, key: Value, span: Span) -> Value:
        """Return one port of an array."""
        if self.ports.count is None or self.index is not None:
            raise IndexedError(f"`{self.ports.name}` is a single port", span)
        index = find_position(
            key, self.ports.count, f"`{self.ports.name}`", span, known=self.ports.known
        )
        return replace(self, index=0 if index is None else index)

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Return the side where cells enter, or where they leave."""
        if name.text not in SIDES:
            raise make_error(
                "E0401",
                f"a port has no side `{name.text}`",
                name.span,
                help="write `.rx` for what enters, `.tx` for what leaves",
            )
        if self.ports.count is not None and self.index is None:
            raise make_error(
                "E0401",
                f"`{self.ports.name}` is an array of ports",
                name.span,
                help=f"say which: `{self.ports.name}[0].{name.text}`",
            )
        index = "" if self.index is None else f"[{self.index}]"
        path = f"{self.ports.name}{index}.{name.text}"
        path = f"{self.device}.{path}" if self.device else path
        port = (self.ports.name, self.index or 0)
        return SideValue(port, name.text, path, self.inner, self.ports.carries)


@dataclass(frozen=True)
class SideValue(Value):
    """`port.rx` or `port.tx`."""

    what: ClassVar[str] = "a side of a port"
    port: tuple[str, int]
    side: str
    path: str
    inner: int = -1
    carries: str = "cell"

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:
        """Return how many cells or packets pass here, for an invariant."""
        if self.inner >= 0:
            message = "what passes through a port of an inner device cannot be observed"
            raise make_error("E0423", message, name.span, help="use a port of the device itself")
        if name.text != "count":
            return super().get_field(name, evaluator)
        counts, text = find_counted_dimension(self.carries), f"{self.path}.count"
        return Deferred(Counted("", self.path, None, counts, text), counts, exact=True)


@dataclass(frozen=True)
class PartValue(Located):
    """An element, or one of its inputs and outputs; of a `device` in a topology, or within one."""

    what: ClassVar[str] = "an element"
    index: int
    part: Part
    name: str = ""
    device: str = ""
    carries: str = "cell"

    @property
    def path(self) -> str:
        """Return its name for messages."""
        return f"{self.device}.{self.part.path}" if self.device else self.part.path

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:
        """Return the input or output of that name, an array of them, or what is observed here."""
        lost = list_loss_causes(self.part.kind, name.text)
        if not self.name and (name.text not in self.part.ends or self.device):
            if lost:
                text = f"{self.path}.{name.text}"
                # What is lost where cells become packets are packets.
                counts = find_counted_dimension(find_leaving(self.part, self.carries))
                counted = Counted("", self.path, lost, counts, text)
                kind, asked = self.part.kind, name.text
                return Losses(counted, counts, exact=True, kind=kind, path=self.path, asked=asked)
            if name.text == "occupancy" and has_occupancy(self.part.kind):
                limit = None if self.part.element is None else self.part.element.buffer
                in_packets = limit is not None and limit.unit == "packet"
                return Occupancy(
                    self.path, PACKETS if in_packets else find_counted_dimension(self.carries)
                )
            if name.text == UTILISATION and self.part.kind.build.serves:
                return make_utilisation(self.path)
        if self.device:
            return self._find_observed(name, evaluator)
        if not self.part.loose and name.text not in self.part.ends:
            raise self._explain_unknown(name.text, name.span)
        evaluator.context.add_meaning(name, self.part.named.get(name.text))
        return replace(self, name=name.text)

    def _find_observed(self, name: ast.Name, evaluator: Evaluator) -> Value:
        """Return an output of an element in a topology, or a metric of what leaves by it."""
        if not self.name and name.text in {place.partition("[")[0] for place in self._places}:
            return replace(self, name=name.text)
        offered = list_measured_at_places(evaluator.context.catalogue)
        if name.text in offered:
            return PlaceValue.from_place(self.place_at(name.span)).get_field(name, evaluator)
        what, observed = describe_kind(self.part.kind)
        offered = offered if self._places else []
        raise explain_not_observed((what, (*observed, *offered)), self.path, name.text, name.span)

    @property
    def _places(self) -> tuple[str, ...]:
        """Return its outputs that are places: what waits for a line leaves by the line."""
        return () if self.part.kind.is_served else self.part.outputs

    @property
    def _place(self) -> Place | None:
        """Return the output that it is, or its only one."""
        outputs = self._places
        name = self.name or (outputs[0] if len(outputs) == 1 else "")
        if name not in outputs:
            return None
        return Place(
            f"{self.path}.{self.name}" if self.name else self.path,
            self.path,
            outputs.index(name),
            find_leaving(self.part, self.carries),
            framed=self.part.kind.duty == "line",
        )

    def place_at(self, span: Span) -> Place:
        """Return it as a place."""
        place, outputs = self._place, self._places
        if place is None and outputs:
            raise make_error(
                "E0423",
                f"`{self.path}` has several outputs: say which one",
                span,
                note=f"its outputs are {' '.join(outputs)}",
                help=f"write `{self.path}.{outputs[0]}`",
            )
        if place is None:
            raise make_error(
                "E0423",
                f"`{self.path}` is not a place: what waits in it leaves by a line",
                span,
                help="write the side of the port where it leaves: `x.east.tx`",
            )
        return place

    def get_item(self, key: Value, span: Span) -> Value:
        """Return one input or output of an array."""
        known = (*self.part.inputs, *self.part.outputs)
        if not self.name:
            raise IndexedError(f"`{self.part.path}` is a single element", span)
        array = [name for name in known if name.startswith(f"{self.name}[")]
        unknown = isinstance(key, Poison) or (isinstance(key, Amount) and key.value is None)
        if self.part.loose or unknown:
            return replace(self, name=array[0] if array else f"{self.name}[0]")
        index = find_position(key, len(array), f"`{self.part.path}.{self.name}`", span)
        return replace(self, name=f"{self.name}[{index}]")

    def _explain_unknown(self, name: str, span: Span) -> Exception:
        both = (("inputs", self.part.inputs), ("outputs", self.part.outputs))
        near = suggest_name(name, [*self.part.inputs, *self.part.outputs])
        listed = "; ".join(f"its {what} are {' '.join(names)}" for what, names in both if names)
        return make_error(
            "E0401",
            f"`{self.part.path}` has no input or output `{name}`",
            span,
            note=listed,
            near=near,
            help=f"name `{name}` in its `order`" if "order" in self.part.kind.parameters else "",
        )


@dataclass
class LoopArray(Value):
    """What a name bound inside `for` is outside: an array with an item per iteration."""

    what: ClassVar[str] = "an array of elements"
    name: str
    span: Span
    iterations: dict[int, Value]
    known: bool

    def get_item(self, key: Value, span: Span) -> Value:
        """Return the item of one iteration."""
        if isinstance(key, Poison) or not self.known:
            return next(iter(self.iterations.values()))
        if not isinstance(key, Amount) or key.value is None:
            return next(iter(self.iterations.values()))
        if key.value.denominator != 1 or int(key.value) not in self.iterations:
            iterations = ", ".join(str(iteration) for iteration in list(self.iterations)[:10])
            raise make_error(
                "E0215",
                f"`{self.name}` has no iteration {key.value}",
                span,
                note=f"its iterations: {iterations}",
            )
        return self.iterations[int(key.value)]
