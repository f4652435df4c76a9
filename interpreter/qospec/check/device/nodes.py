"""The nodes of a topology, by the names that its links and its tests use."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from qospec.catalogue.kinds import Domain, Parameter
from qospec.check.device.machine_values import MachineValue
from qospec.check.device.ports import SIDES, PartValue
from qospec.check.evaluate import loops
from qospec.check.evaluate.context import make_error
from qospec.check.evaluate.measurements import PlaceValue
from qospec.check.evaluate.values import Amount, Pattern, Poison, Value, find_position
from qospec.check.records.fields import convert
from qospec.dataclass import dataclass
from qospec.diagnostics import suggest_name
from qospec.model.expression import Place
from qospec.model.suite import Tester
from qospec.units import PACKET_RATE, PS_PER_S

if TYPE_CHECKING:
    from qospec.check.device.ports import Template
    from qospec.check.evaluate.context import CheckError
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.check.records.record import Record
    from qospec.model.device import DeviceUse
    from qospec.source import Span
    from qospec.syntax import ast


HOST_PORT = ("", 0)
"""The port of a host."""
FINEST_SKEW = Fraction(1, 10**9)
"""With which times stay within int64 when they are converted from one clock to another."""
PLAIN_RATIO = "a number without a unit is a ratio: 20 in a million is `20 ppm`"
PROPERTIES = {
    "clock": ("skew", Domain("ratio", -Fraction(1, 100), Fraction(1, 100), beyond=PLAIN_RATIO)),
    "resolution": ("resolution_ps", Domain("time", 0, PS_PER_S)),
    "overhead": ("overhead_ps", Domain("time", -PS_PER_S, PS_PER_S)),
    "lowest_rate": ("lowest_rate", Domain("cell rate", 0)),
    "aal5_connections": ("aal5_connections", Domain("integer", 1, 2**20)),
}
"""By argument of `host` that is a number: the attribute of a `Tester`, and what it may be."""


@dataclass(frozen=True)
class HostPlan(Value):
    """`host(count = …)`, before it has a name."""

    what: ClassVar[str] = "a host"
    count: int | None
    known: bool
    tester: Tester = Tester()


class Design(Pattern):
    """A device as it is declared, without parameters."""

    what: ClassVar[str] = "a device"

    @abstractmethod
    def with_defaults(self, node: ast.Node, evaluator: Evaluator) -> Value:
        """Return a single device with the parameters' defaults."""


@dataclass(frozen=True)
class DevicePlan(Value):
    """A device with its parameters and count, before it has a name."""

    what: ClassVar[str] = "a device with its parameters"
    template: Template
    count: int | None
    known: bool
    use: DeviceUse = field(compare=False)


@dataclass(eq=False)
class Node:
    """One host or device in a topology. `links` and `media` are by port: link's place, medium.

    `use` is the device with its parameters; None for a host.
    """

    path: str
    template: Template | None
    tester: Tester
    known: bool
    use: DeviceUse | None = None
    links: dict[tuple[str, int], Span] = field(default_factory=dict)
    rates: dict[tuple[str, int], Value] = field(default_factory=dict)
    media: dict[tuple[str, int], Record] = field(default_factory=dict)

    @property
    def made_of(self) -> str:
        """Return the name of its device; "" for a host."""
        return "" if self.template is None else self.template.name

    def write_example_link(self, port: tuple[str, int], path: str) -> str:
        """Return how a port may be linked: by a medium of what it carries."""
        ports = self.template.ports if self.template else {}
        carries = ports[port[0]].carries if port[0] in ports else ""
        medium = "fast_ethernet" if carries == "packet" else "stm1"
        return f"link {path} -- … via media.{medium}"


@dataclass(frozen=True)
class NodeArray(Value):
    """An array of hosts or devices."""

    what: ClassVar[str] = "an array of nodes"
    name: str
    nodes: tuple[Node, ...]
    known: bool

    @property
    def made_of(self) -> str:
        """Return the name of their device."""
        return self.nodes[0].made_of if self.nodes else ""

    def get_item(self, key: Value, span: Span) -> Value:
        """Return one of them."""
        index = find_position(key, len(self.nodes), f"`{self.name}`", span, known=self.known)
        return NodeValue(self.nodes[index or 0]) if self.nodes else Poison()

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Refuse: choose one first."""
        hosts = all(node.template is None for node in self.nodes)
        behind = "" if hosts and name.text not in SIDES else f".{name.text}"
        raise make_error(
            "E0401",
            f"`{self.name}` is an array of {len(self.nodes)}",
            name.span,
            help=f"say which: `{self.name}[0]{behind}`",
        )


@dataclass(frozen=True)
class NodeValue(Value):
    """One host or device."""

    what: ClassVar[str] = "a node"
    node: Node

    @property
    def made_of(self) -> str:
        """Return the name of its device."""
        return self.node.made_of

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:
        """Return a port of a device, one of its elements, or the side of a host's port."""
        template = self.node.template
        if template is None and name.text in SIDES:
            return _find_side(self.node, HOST_PORT, self.node.path, name, evaluator)
        if template is None:
            raise make_error(
                "E0401",
                f"`{self.node.path}` is a host: it has one port, without a name",
                name.span,
                help=f"write `{self.node.path}` in a link, or `{self.node.path}.tx` to measure "
                "what it sends",
            )
        ports = template.ports.get(name.text)
        part = _find_part(self.node, name.text)
        if part is not None:
            evaluator.context.add_meaning(name, part.part.span)
            return part
        if ports is None and any(p.path.startswith(f"{name.text}[") for p in template.parts):
            return NodeParts(self.node, name.text)
        if ports is None and name.text in template.unfinished and not template.complete:
            return Poison()
        if ports is None:
            raise self._explain_unknown(name, template)
        evaluator.context.add_meaning(name, ports.span)
        if ports.count is None:
            return NodePort(self.node, (name.text, 0), name.text)
        return NodePorts(self.node, name.text, ports.count, ports.known and self.node.known)

    def _explain_unknown(self, name: ast.Name, template: Template) -> CheckError:
        paths = (part.path.partition("[")[0] for part in template.parts)
        elements = [path for path in dict.fromkeys(paths) if path.isidentifier()]
        near = suggest_name(name.text, [*template.ports, *elements])
        known = f"ports of {template.name}: {' '.join(template.ports)}"
        if not template.ports:
            known = f"{template.name} has no ports"
        return make_error(
            "E0401",
            f"`{self.node.path}` has no port {'or element ' if elements else ''}`{name.text}`",
            name.span,
            note=f"{known}; its elements: {' '.join(elements)}" if elements else known,
            near=near,
        )


def _find_side(
    node: Node, port: tuple[str, int], path: str, side: ast.Name, evaluator: Evaluator
) -> Value:
    """Return the side of a port where items enter the node, or where they leave it."""
    if not node.known:
        return Poison()
    medium = node.media.get(port)
    if medium is None and port in node.links:  # its mistakes were reported
        return Poison()
    if medium is None:
        raise make_error(
            "E0422",
            f"`{path}` is not linked, so nothing passes there",
            side.span,
            help=f"link it, as in `{node.write_example_link(port, path)}`, or measure elsewhere",
        )
    carries = str(medium.evaluate_arguments(evaluator)[0].get("carries", "cell"))
    name = f"{path}.{side.text}"
    return PlaceValue.from_place(Place(name, name, 0, carries, framed=True))


def _find_part(node: Node, path: str) -> PartValue | None:
    """Return an element of a device in a topology."""
    template = node.template
    if template is None:
        return None
    for index, part in enumerate(template.parts):
        if part.path == path:
            carries = template.kinds.get(index, template.carries)
            made = MachineValue if part.kind.duty == "machine" else PartValue
            return made(index, part, device=node.path, carries=carries)
    return None


@dataclass(frozen=True)
class NodeParts(Value):
    """The elements of a device in a topology under one name, one per iteration of a loop."""

    what: ClassVar[str] = "an array of elements"
    node: Node
    name: str

    def get_item(self, key: Value, span: Span) -> Value:
        """Return one of them."""
        index = key.value if isinstance(key, Amount) else None
        part = _find_part(self.node, f"{self.name}[{index}]")
        if part is not None or isinstance(key, Poison):
            return part or key
        paths = [p.path for p in self.node.template.parts] if self.node.template else []
        known = [path for path in paths if path.startswith(f"{self.name}[")]
        raise make_error(
            "E0215",
            f"`{self.node.path}.{self.name}` has no such iteration",
            span,
            note=f"its iterations: {' '.join(known)}",
        )


@dataclass(frozen=True)
class NodePorts(Value):
    """An array of ports of a device in a topology."""

    what: ClassVar[str] = "an array of ports"
    node: Node
    name: str
    count: int
    known: bool

    def get_item(self, key: Value, span: Span) -> Value:
        """Return one of them."""
        index = (
            find_position(
                key, self.count, f"`{self.node.path}.{self.name}`", span, known=self.known
            )
            or 0
        )
        return NodePort(self.node, (self.name, index), f"{self.name}[{index}]", known=self.known)


@dataclass(frozen=True)
class NodePort(Value):
    """One port of a device in a topology."""

    what: ClassVar[str] = "a port"
    node: Node
    port: tuple[str, int]
    name: str
    known: bool = True

    @property
    def path(self) -> str:
        """Return its name for messages."""
        return f"{self.node.path}.{self.name}"

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:
        """Return the rate of the line that is linked to the port, or a side of it."""
        if name.text in SIDES:
            return _find_side(self.node, self.port, self.path, name, evaluator)
        if name.text != "rate":
            raise make_error(
                "E0104",
                f"a port of a topology has no field `{name.text}`",
                name.span,
                note=f"fields of a port: rate {' '.join(SIDES)}",
            )
        rate = self.node.rates.get(self.port)
        if rate is None and self.port in self.node.links:  # its mistakes were reported
            return Poison()
        if rate is None:
            raise make_error(
                "E0422",
                f"`{self.path}` is not linked, so it has no rate",
                name.span,
                help=f"link it, as in `{self.node.write_example_link(self.port, self.path)}`,"
                " or write the rate",
            )
        return rate


@dataclass(frozen=True)
class HostKind(Value):
    """`host`: a port of the tester."""

    what: ClassVar[str] = "`host`"

    def get_item(self, key: Value, span: Span) -> Value:  # noqa: ARG002
        """Refuse what other languages write for an array."""
        help_text = f"write `host(count = {span.text})` for an array"
        raise make_error("E0215", "`host` cannot be indexed", span, help=help_text)

    def call(self, call: ast.Call, scope: Scope, evaluator: Evaluator) -> Value:
        """Return hosts: `count` of them, as the other arguments say."""
        loops.refuse_duplicates(call.arguments)
        like: dict[str, Any] = {}
        count, known = None, True
        for argument in call.arguments:
            name = argument.name.text if argument.name else ""
            if name == "count":
                count, known = loops.evaluate_count(argument.value, scope, evaluator)
            elif name == "slotted":
                like["slotted"] = evaluator.require_truth(argument.value, scope) is not False
            elif name in PROPERTIES:
                found = _evaluate_property(name, argument.value, scope, evaluator)
                known &= found is not None
                like[PROPERTIES[name][0]] = found or 0
            else:
                raise make_error(
                    "E0104",
                    f"`host` has no parameter `{name}`"
                    if name
                    else "`host` takes named arguments only",
                    argument.span,
                    note=f"parameters of host: count slotted {' '.join(PROPERTIES)}",
                )
        return HostPlan(count, known, Tester(**like))

    def copy(self, body: ast.Body, scope: Scope, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Refuse fields: they go in parentheses."""
        raise make_error(
            "E0104",
            "the fields of a host go in parentheses",
            body.span,
            help=f"write `host({_write_arguments(body)})`",
        )


def _write_arguments(body: ast.Body) -> str:
    """Return the fields of a body as arguments, or an example if there are none."""
    written = [" ".join(statement.span.text.split()) for statement in body.statements]
    return ", ".join(written) or "slotted = false"


def _evaluate_property(
    name: str, node: ast.Expression, scope: Scope, evaluator: Evaluator
) -> Fraction | int | None:
    """Return a quantity of a host in base units; None if it is not known yet."""
    _, domain = PROPERTIES[name]
    value = evaluator.require_plain(node, scope)
    if name == "lowest_rate" and isinstance(value, Amount) and value.dimension == PACKET_RATE:
        domain = replace(domain, name="packet rate")
    line = evaluator.context.catalogue.find("element", "line")
    assert line is not None  # noqa: S101 -- the package has it
    found: Fraction | int | None = convert(value, Parameter(name, domain, 0), line, node.span)
    if name == "clock" and found is not None and (found / FINEST_SKEW) % 1:
        raise make_error(
            "E0205",
            "`clock` must be a multiple of 0.001 ppm",
            node.span,
            help="give fewer digits",
        )
    return found
