"""Dissolves a topology into one flat network of elements and wires.

A topology with its arguments is evaluated once for all cases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qospec.check.declarations import TopologyValue
from qospec.check.device import invariants
from qospec.check.device.body import build_element
from qospec.check.device.ports import End, Origin
from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.evaluate.values import Poison
from qospec.check.topology import body
from qospec.dataclass import NamedTuple
from qospec.model.suite import Host, Instance, Network, Wire
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from qospec.catalogue.kinds import Kind
    from qospec.check.device.nodes import Node
    from qospec.check.device.ports import Template
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Binding, Scope
    from qospec.check.evaluate.values import Value
    from qospec.check.records.record import Record
    from qospec.check.topology.body import Cable, Layout
    from qospec.model.suite import Network, Statement, Tester

Port = tuple[str, int]


def build_network(layout: Layout, evaluator: Evaluator) -> Network | None:
    """Return the flat network, or None after a mistake in a line."""
    return _Flattening(layout, evaluator).run()


class _Flattening:
    """Numbers the elements first, then adds the wires between the numbers."""

    def __init__(self, layout: Layout, evaluator: Evaluator) -> None:
        self._layout = layout
        self._evaluator = evaluator
        self._elements: list[Instance] = []
        self._wires: list[Wire] = []
        self._numbers: dict[int, dict[int, int]] = {}
        self._hosts: dict[int, int] = {}
        self._leaving: dict[tuple[int, Port], int] = {}
        self._arriving: dict[tuple[int, Port], int] = {}
        self._entries: dict[str, str] = {}
        self._sides: dict[str, str] = {}
        self._unserved: dict[tuple[int, frozenset[Port]], frozenset[int]] = {}
        self._built: dict[tuple[int, bool, Fraction], Any] = {}

    def run(self) -> Network | None:
        """Return the network."""
        nodes = self._layout.nodes
        for node in nodes:
            if node.template is None:
                self._hosts[id(node)] = len(self._hosts)
            else:
                self._place_elements(node, node.template)
        fine = [self._add_link(cable) for cable in self._layout.cables]
        if not all(fine):
            return None
        for node in nodes:
            if node.template is not None:
                self._add_wires(node, node.template)
        for cable in self._layout.cables:
            self._add_arrivals(cable.left, cable.right)
            self._add_arrivals(cable.right, cable.left)
        hosts = tuple(
            Host(node.path, self._leaving.get((id(node), ("", 0)), -1), node.tester)
            for node in nodes
            if node.template is None
        )
        held = tuple(
            statement
            for node in nodes
            if node.template is not None
            for statement in self._list_invariants(node, node.template)
        )
        return Network(
            self._layout.name,
            tuple(self._elements),
            tuple(self._wires),
            hosts,
            held,
            self._entries,
            self._sides,
            {node.path: node.use for node in nodes if node.use is not None},
        )

    def _list_invariants(self, node: Node, template: Template) -> Iterator[Statement]:
        """Return the invariants of a device in the topology, with full paths in what they count."""

        def find_line(port: Port, side: str) -> str:
            lines = self._leaving if side == "tx" else self._arriving
            number = lines.get((id(node), port))
            return "" if number is None else self._elements[number].path

        return invariants.list_device_invariants(template, node.path, find_line)

    def _place_elements(self, node: Node, template: Template) -> None:
        """Number a device's elements, without those that need a line of a port without a link."""
        unlinked = frozenset(
            (ports.name, index)
            for ports in template.ports.values()
            for index in range(1 if ports.count is None else ports.count)
            if (ports.name, index) not in node.links
        )
        key = (id(template), unlinked)
        if key not in self._unserved:
            self._unserved[key] = _find_unserved(template, unlinked)
        numbers: dict[int, int] = {}
        for index, part in enumerate(template.parts):
            if index not in self._unserved[key]:
                numbers[index] = len(self._elements)
                path = f"{node.path}.{part.path}"
                places = part.span, part.places
                self._elements.append(
                    Instance(path, part.kind, part.element, part.predicates, *places)
                )
        self._numbers[id(node)] = numbers

    def _add_link(self, cable: Cable) -> bool:
        for start, stop in ((cable.left, cable.right), (cable.right, cable.left)):
            element = self._build_line(cable.medium, start[0].tester)
            if element is None:
                return False
            self._leaving[id(start[0]), start[1]] = len(self._elements)
            kind: Kind = cable.medium.kind
            path = f"{start[2]} -> {stop[2]}"
            self._sides[f"{start[2]}.tx"] = self._sides[f"{stop[2]}.rx"] = path
            self._elements.append(Instance(path, kind, element, (), cable.span))
        return True

    def _build_line(self, medium: Record, tester: Tester) -> Any:
        """Return the line on which a port sends, by the clock of that port."""
        key = (id(medium), tester.slotted, tester.skew)
        if key not in self._built:
            arguments, complete = medium.evaluate_arguments(self._evaluator)
            if tester.slotted and "slotted" in medium.kind.parameters:
                arguments["slotted"] = True
            if tester.skew and "rate" in arguments:
                arguments["rate"] *= 1 + tester.skew
            if complete:
                rate = medium.kind.find_parameter("rate")
                if rate is not None and "rate" not in arguments:
                    self._evaluator.context.report(
                        make_error("E0105", "this line has no rate", medium.span)
                    )
            self._built[key] = (
                build_element(medium, arguments, complete=True, evaluator=self._evaluator)
                if complete
                else None
            )
        return self._built[key]

    def _add_wires(self, node: Node, template: Template) -> None:
        numbers = self._numbers[id(node)]
        for origin, end in template.wires.items():
            if origin.part in numbers:
                output = template.parts[origin.part].outputs.index(origin.output)
                self._wires.append(
                    self._add_wire_to(numbers[origin.part], output, node, template, end)
                )

    def _add_wire_to(
        self, element: int, output: int, node: Node, template: Template, end: End
    ) -> Wire:
        if end.kind == "terminate":
            return Wire(element, output, "terminate")
        if end.kind == "element":
            number = self._numbers[id(node)].get(end.part)
            if number is not None:
                place = template.parts[end.part].inputs.index(end.input)
                return Wire(element, output, "element", number, place)
        if end.kind == "port":
            line = self._leaving.get((id(node), end.port))
            if line is not None:
                return Wire(element, output, "element", line, 0)
        return Wire(element, output, "discard")

    def _add_arrivals(self, start: tuple[Node, Port, str], stop: tuple[Node, Port, str]) -> None:
        """Add the wire from the end of a line to the node where it ends."""
        line = self._leaving[id(start[0]), start[1]]
        node, port, _ = stop
        self._arriving[id(node), port] = line
        if node.template is None:
            self._wires.append(Wire(line, 0, "host", self._hosts[id(node)]))
            return
        single = node.template.ports[port[0]].count is None
        self._entries[self._elements[line].path] = port[0] if single else f"{port[0]}[{port[1]}]"
        end = node.template.wires.get(Origin(port=port), End("discard"))
        self._wires.append(self._add_wire_to(line, 0, node, node.template, end))


def _find_unserved(template: Template, unlinked: frozenset[Port]) -> frozenset[int]:
    """Return the queues and schedulers of a device that lead to no line."""
    ends: dict[int, list[End]] = {}
    for origin, end in template.wires.items():
        if origin.part >= 0 and template.parts[origin.part].kind.is_served:
            ends.setdefault(origin.part, []).append(end)
    found: set[int] = set()
    before = -1
    while len(found) > before:
        before = len(found)
        found |= {
            index
            for index, some in ends.items()
            if all(
                end.kind == "discard"
                or (end.kind == "port" and end.port in unlinked)
                or (end.kind == "element" and end.part in found)
                for end in some
            )
        }
    return frozenset(found)


class TopologyInstance(NamedTuple):
    """A topology with arguments: the names that a test sees, and its network if valid."""

    names: dict[str, Binding]
    network: Network | None


class Networks:
    """Topologies that were evaluated, by declaration and arguments."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._known: dict[tuple[TopologyValue, tuple[Value, ...]], TopologyInstance] = {}

    def find_network(self, node: ast.Path | ast.Call, scope: Scope) -> TopologyInstance | None:
        """Return the topology that `topology(arguments)` means; None after a mistake."""
        path = node.path if isinstance(node, ast.Call) else node
        arguments = node.arguments if isinstance(node, ast.Call) else ()
        value = self._evaluator.evaluate(path, scope)
        if isinstance(value, Poison):
            return None
        try:
            if not isinstance(value, TopologyValue):
                raise make_error(
                    "E0421",
                    f"expected a topology, found {value.what}",
                    path.span,
                    help="name a topology",
                )
            bound = value.signature.bind(arguments, scope, node)
        except CheckError as mistake:
            self._evaluator.context.report(mistake)
            return None
        if bound is None:
            return None
        inside, values = bound
        return self._build_instance(value, inside, values)

    def _build_instance(
        self, value: TopologyValue, inside: Scope, values: tuple[Value, ...]
    ) -> TopologyInstance:
        key = (value, values)
        if key not in self._known:
            made = body.lay_out(value.node, inside, self._evaluator)
            found = build_network(made, self._evaluator) if made.complete else None
            self._known[key] = TopologyInstance(made.names, found)
        return self._known[key]
