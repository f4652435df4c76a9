"""A device within another: its elements become the outer one's, its ports mere names.

A template contains no inner devices: where the outer device wires `stage.entry.rx` and
`stage.exit.tx`, the wires are joined with those behind the ports.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from qospec.check.device.ports import End, Inner, LoopArray, Origin, Ports, PortValue, Template
from qospec.check.device.predicates import list_attributes
from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.evaluate.values import POISON, Value
from qospec.check.records.kinds import explain_not_built
from qospec.dataclass import dataclass
from qospec.diagnostics import suggest_name
from qospec.model.expression import Counted, with_leaves

if TYPE_CHECKING:
    from collections.abc import Collection

    from qospec.check.device.nodes import Design, DevicePlan
    from qospec.check.evaluate.context import Context
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.model.expression import Expression, Leaf
    from qospec.source import Span
    from qospec.syntax import ast

Port = tuple[str, int]

NOWHERE = End("discard")
ENTRY = Origin().part
"""In place of an element: what enters by a port."""


@dataclass(frozen=True)
class InnerValue(Value):
    """A device inside another; its ports are ends of wires."""

    what: ClassVar[str] = "a device"
    inner: Inner
    number: int

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:
        """Return a port."""
        template = self.inner.template
        ports = template.ports.get(name.text)
        if ports is not None:
            evaluator.context.add_meaning(name, ports.span)
            return PortValue(ports, None, self.number, self.inner.path)
        near = suggest_name(name.text, template.ports)
        raise make_error(
            "E0401",
            f"`{self.inner.path}` has no port `{name.text}`",
            name.span,
            note=f"ports of {template.name}: {' '.join(template.ports) or 'none'}",
            near=near,
        )


def with_defaults(design: Design, node: ast.Node, evaluator: Evaluator) -> Value:
    """Return a device with the parameters' defaults; POISON after a mistake, which is reported."""
    try:
        return design.with_defaults(node, evaluator)
    except CheckError as mistake:
        evaluator.context.report(mistake)
        return POISON


def embed(template: Template, plan: DevicePlan, path: ast.Name, context: Context) -> Value:
    """Add a device, or an array of them; POISON after a mistake, which is reported."""
    numbers = range(1 if plan.count is None else plan.count)
    paths = [path.text if plan.count is None else f"{path.text}[{number}]" for number in numbers]
    embedded: dict[int, Value] = {}
    try:
        for number in numbers:
            embedded[number] = _embed(template, plan.template, paths[number], path.span, context)
    except CheckError as mistake:
        context.report(mistake)
        return POISON
    return (
        embedded[0] if plan.count is None else LoopArray(path.text, path.span, embedded, plan.known)
    )


def _embed(template: Template, design: Template, path: str, span: Span, context: Context) -> Value:
    """Add a device's elements and invariants to another's, under a path; raises CheckError."""
    if len(template.parts) + len(design.parts) > context.limits.elements:
        many = f"more than {context.limits.elements:_} elements"
        raise make_error("E0602", many, span, help="nest fewer devices in it")
    brought = 1 + len(design.parts) + len(design.invariants)
    context.count_inner(brought, span)
    inner = Inner(path, design, len(template.parts), span)
    template.inners.append(inner)
    for asking in (condition for part in design.parts for condition in part.predicates):
        if "input" in list_attributes(asking):
            raise explain_not_built("a class that tests the port of an inner device", span)
    own = {part.path for part in design.parts}
    template.parts += [replace(part, path=f"{path}.{part.path}") for part in design.parts]

    def write_whole(leaf: Leaf) -> Expression:
        if not isinstance(leaf, Counted):
            return leaf
        if leaf.path not in own:
            raise explain_not_built("an invariant that counts at a port of an inner device", span)
        return replace(leaf, path=f"{path}.{leaf.path}", text=f"{path}.{leaf.text}")

    for invariant in design.invariants:
        condition = with_leaves(invariant.condition, write_whole)
        template.invariants.append(
            invariant._replace(label=f"{path}: {invariant.label}", condition=condition)
        )
    return InnerValue(inner, len(template.inners) - 1)


def join(template: Template, context: Context) -> None:
    """Join the wires of a device with those of its inner devices, and report loose ends."""
    if not template.inners:
        return
    outer, places = template.wires, template.places
    template.wires = {origin: end for origin, end in outer.items() if origin.inner < 0}
    template.places = dict(places)
    for number, inner in enumerate(template.inners):
        _verify(inner, number, outer, context)
        for origin, end in inner.template.wires.items():
            if origin.part >= 0:
                shifted = Origin(inner.base + origin.part, origin.output)
                template.wires[shifted] = _renumber(end, inner, number)
                template.places[shifted] = inner.template.places[origin]
            else:  # a way in, which need not be used
                template.merged.add(_renumber(end, inner, number))
        template.merged |= {_renumber(end, inner, number) for end in inner.template.merged}
    for origin, end in template.wires.items():
        last, by = _resolve_end(end, template, outer, context)
        template.wires[origin] = last
        template.places[origin] = places.get(by, template.places[origin])


def _renumber(end: End, inner: Inner, number: int) -> End:
    if end.kind == "element":
        return End("element", inner.base + end.part, end.input)
    return End("port", port=end.port, inner=number) if end.kind == "port" else end


def _resolve_end(
    end: End, template: Template, outer: dict[Origin, End], context: Context
) -> tuple[End, Origin]:
    """Return where a wire ends beyond all ports of inner devices, and the last wire outside."""
    passed: set[End] = set()
    by = Origin()
    while end.inner >= 0:
        inner = template.inners[end.inner]
        if end in passed:
            message = f"this loop takes no time: it passes only through ports of `{inner.path}`"
            help_text = "add an element that takes time, such as `delay`"
            context.report(make_error("E0409", message, inner.span, help=help_text))
            return NOWHERE, by
        passed.add(end)
        if end.kind == "port":
            by = Origin(port=end.port, inner=end.inner)
            end = outer.get(by, NOWHERE)
        else:
            behind = inner.template.wires.get(Origin(port=end.port), NOWHERE)
            end = _renumber(behind, inner, end.inner)
    return end, by


def _verify(inner: Inner, number: int, outer: dict[Origin, End], context: Context) -> None:
    """Report a port whose output goes nowhere, and a device that nothing feeds."""
    fed = {end.port for end in outer.values() if end.inner == number}
    reached = _find_reachable_ports(inner.template, fed)
    leaving = {end.port for end in inner.template.wires.values() if end.kind == "port"}
    for ports in inner.template.ports.values():
        for port in _iterate_ports(ports):
            wired = Origin(port=port, inner=number) in outer
            unused = ports.count is not None and port not in reached
            if port in leaving and ports.known and not wired and not unused:
                context.report(_explain_unwired(inner, ports, port))
    entries = [
        origin.port
        for origin, end in inner.template.wires.items()
        if origin.part < 0 and end.kind == "element"
    ]
    if entries and not fed:
        entry = _name_port(inner.template.ports[entries[0][0]], entries[0])
        context.report(
            make_error(
                "E0403",
                f"nothing feeds `{inner.path}`",
                inner.span,
                label="declared here, never fed",
                help=f"connect something to it (`… -> {inner.path}.{entry}.rx`)",
            )
        )


def _find_reachable_ports(template: Template, fed: Collection[Port]) -> set[Port]:
    """Return the ports by which cells leave that entered by the ports that are `fed`.

    A router sends cells only along their path, so nothing is lost beyond it.
    """
    found: set[Port] = set()
    outputs: dict[int, list[End]] = {}
    for origin, end in template.wires.items():
        if origin.part >= 0 or origin.port in fed:
            outputs.setdefault(origin.part, []).append(end)
    ways = outputs.pop(ENTRY, [])
    while ways:
        end = ways.pop()
        if end.kind == "port":
            found.add(end.port)
        elif end.kind == "element" and template.parts[end.part].kind.duty != "router":
            ways += outputs.pop(end.part, [])
    return found


def _iterate_ports(ports: Ports) -> list[Port]:
    return [(ports.name, index) for index in range(1 if ports.count is None else ports.count)]


def _name_port(ports: Ports, port: Port) -> str:
    return ports.name if ports.count is None else f"{ports.name}[{port[1]}]"


def _explain_unwired(inner: Inner, ports: Ports, port: Port) -> CheckError:
    shown = f"{inner.path}.{_name_port(ports, port)}.tx"
    return make_error(
        "E0402",
        f"output `{shown}` goes nowhere",
        inner.span,
        label="cells leave it there",
        help=f"connect it (`{shown} -> …`) or write `{shown} -> discard`",
    )
