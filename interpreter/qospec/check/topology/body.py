"""Evaluates the body of a topology: its nodes, and the links between them."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, TypeVar

from qospec.check.declarations import DeviceValue
from qospec.check.device import item_kinds
from qospec.check.device.nodes import (
    HOST_PORT,
    DevicePlan,
    HostKind,
    HostPlan,
    Node,
    NodeArray,
    NodePort,
    NodePorts,
    NodeValue,
)
from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.evaluate.loops import as_let, declare_poisoned, explain_misplaced, iterate_loop
from qospec.check.evaluate.scope import NODE, Binding, Scope, bind_known
from qospec.check.evaluate.values import POISON, Poison, Value
from qospec.check.records.kinds import KindValue
from qospec.check.records.parameters import let_binding
from qospec.check.records.record import Record
from qospec.dataclass import NamedTuple, dataclass
from qospec.model.suite import Tester
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.source import Span

HERE = "a topology"
T = TypeVar("T")

End = tuple[Node, tuple[str, int], str, bool]
"""An end of a link: its node, its port, its path, and whether it is known which one it is."""

USE_MEDIUM = {
    "packet": "use a medium for packets, such as `media.ethernet { rate = … @line }`",
    "cell": "use a medium for cells",
}
"""By what a port carries, the help for a link that carries the other."""


class Cable(NamedTuple):
    """A link: both ends (node, port, path) and the line that each direction becomes."""

    left: tuple[Node, tuple[str, int], str]
    right: tuple[Node, tuple[str, int], str]
    medium: Record
    span: Span


@dataclass
class Layout:
    """A topology with its parameters given, before it is flattened."""

    name: str
    nodes: list[Node] = field(default_factory=list)
    cables: list[Cable] = field(default_factory=list)
    names: dict[str, Binding] = field(default_factory=dict)
    complete: bool = True


def lay_out(topology: ast.Topology, scope: Scope, evaluator: Evaluator) -> Layout:
    """Return a topology with the parameters of `scope`; mistakes are reported."""
    builder = _Builder(topology, evaluator)
    before, evaluator.context.loop_iterations = evaluator.context.mistakes, 0
    body = Scope(scope)
    builder.declare(topology.body.statements, body, outermost=True)
    for link, where in builder.links:
        builder.add_link(link, where)
    for binding in body.names.values():
        binding.evaluate(evaluator.context)
    builder.layout.names = body.names
    builder.layout.complete = builder.layout.complete and evaluator.context.mistakes == before
    return builder.layout


class _Builder:
    """Collects what the statements of a topology declare; links are added once all is declared."""

    def __init__(self, topology: ast.Topology, evaluator: Evaluator) -> None:
        self.layout = Layout(topology.name.text)
        self.links: list[tuple[ast.Link, Scope]] = []
        self._taken: set[str] = set()
        self._evaluator = evaluator
        self._context = evaluator.context
        self._elements = 0
        self._media: dict[int, Record] = {}

    def declare(
        self, statements: Sequence[ast.Statement], scope: Scope, *, outermost: bool
    ) -> None:
        """Declare the values and nodes of a body, then what its loops hold."""
        for statement in statements:
            try:
                self._declare(statement, scope, outermost=outermost)
            except CheckError as mistake:
                self._context.report(mistake)
        for statement in statements:
            try:
                if isinstance(statement, ast.Bind) and outermost:
                    self._bind(statement, scope)
                elif isinstance(statement, ast.Loop):
                    self._run_loop(statement, scope)
            except CheckError as mistake:
                self._context.report(mistake)
            if isinstance(statement, ast.Bind) and declare_poisoned(statement, scope):
                self.layout.complete = False

    def _declare(self, statement: ast.Statement, scope: Scope, *, outermost: bool) -> None:
        if isinstance(statement, ast.Let):
            self._let(statement, scope)
        elif isinstance(statement, ast.Link):
            self.links.append((statement, scope))
        elif isinstance(statement, ast.Bind):
            if not outermost:
                raise make_error(
                    "E0112",
                    "a node must be declared outside of loops",
                    statement.span,
                    help="declare an array outside of the loop: `… = host(count = …)`",
                )
        elif not isinstance(statement, ast.Loop):
            raise explain_misplaced(statement, HERE)

    def _let(self, node: ast.Let, scope: Scope) -> None:
        scope.declare(let_binding(node, scope, self._evaluator, criteria=False), self._context)

    def _run_loop(self, node: ast.Loop, scope: Scope) -> None:
        for _, value, _ in iterate_loop(node, scope, self._evaluator):
            inner = Scope(scope)
            inner.declare(bind_known(node.name, "the loop's value", value), self._context)
            self.declare(node.body.statements, inner, outermost=False)

    def _bind(self, node: ast.Bind, scope: Scope) -> None:
        plan = self._evaluator.evaluate(node.value, scope, "devices")
        if isinstance(plan, HostKind):
            plan = HostPlan(None, known=True)
        elif isinstance(plan, DeviceValue):
            plan = plan.with_defaults(node.value, self._evaluator)
        for name in node.names:
            value = self._add_nodes(name, plan, node)
            scope.declare(bind_known(name, NODE, value), self._context)

    def _add_nodes(self, name: ast.Name, plan: Value, node: ast.Bind) -> Value:
        if isinstance(plan, Poison):
            self.layout.complete = False
            return POISON
        if not isinstance(plan, HostPlan | DevicePlan):
            what = f"`{plan.kind.name}`" if isinstance(plan, KindValue) else plan.what
            raise make_error(
                "E0420",
                f"expected a host or a device, found {what}",
                node.value.span,
                help=self._suggest_value(name.text, plan, node),
                fix=as_let(node, plan),
            )
        template, use = None, None
        if isinstance(plan, DevicePlan):
            template, use = plan.template, plan.use
        self.layout.complete &= template is None or template.sound
        tester = plan.tester if isinstance(plan, HostPlan) else Tester(slotted=False)
        many = 1 if plan.count is None else plan.count
        self._elements += many * (len(template.parts) if template else 1)
        if self._elements > self._context.limits.elements:
            self.layout.complete = False
            raise make_error(
                "E0602",
                f"a topology of more than {self._context.limits.elements:_} elements",
                node.span,
                help="make it smaller",
            )
        if plan.count is None:
            made = Node(name.text, template, tester, plan.known, use)
            self.layout.nodes.append(made)
            return NodeValue(made)
        nodes = tuple(
            Node(f"{name.text}[{i}]", template, tester, plan.known, use) for i in range(many)
        )
        self.layout.nodes += nodes
        return NodeArray(name.text, nodes, plan.known)

    def _suggest_value(self, name: str, value: Value, node: ast.Bind) -> str:
        """Return what to write for a value that is bound like a node."""
        kind = value.kind if isinstance(value, KindValue | Record) else None
        if kind is not None and kind.role == "element":
            return "an element belongs in a `device`; `import std.devices.generic` has simple ones"
        line = self._context.catalogue.find("element", "line")
        text = node.span.source.text
        above = text[text.rfind("\n", 0, node.span.start) + 1 : node.span.start]
        if line is not None and line.find_parameter(name) and "link" in above.split():
            return f"change a medium in braces: `via … {{ {name} = {node.value.span.text} }}`"
        return f"write `let {name} = …` for a value"

    def add_link(self, node: ast.Link, scope: Scope) -> None:
        """Add a link; after a mistake, which is reported, its other end still counts as linked."""
        left = self._run_reported(self._end, node.left, scope)
        right = self._run_reported(self._end, node.right, scope)
        medium = self._run_reported(self._evaluate_medium, node, scope)
        if left is not None and right is not None and medium is not None:
            self._run_reported(self._join, node, left, right, medium)
            return
        self.layout.complete = False
        for end, place in ((left, node.left), (right, node.right)):
            if end is not None:
                end[0].links.setdefault(end[1], place.span)

    def _run_reported(self, act: Callable[..., T], *given: object) -> T | None:
        try:
            return act(*given)
        except CheckError as mistake:
            self._context.report(mistake)
            return None

    def _join(self, node: ast.Link, left: End, right: End, medium: Record) -> None:
        """Join two ends; raises CheckError."""
        if left[0] is right[0] and left[1] == right[1] and left[3]:
            raise make_error("E0411", f"`{left[2]}` is linked to itself", node.span)
        rate = medium.kind.find_parameter("rate")
        carries = item_kinds.find_carried_by_line(
            medium, medium.evaluate_arguments(self._evaluator)[0], self._evaluator
        )
        for end, place in ((left, node.left), (right, node.right)):
            known = end[0].links.get(end[1])
            if known is not None and end[3]:
                raise make_error(
                    "E0411",
                    f"`{end[2]}` is linked already",
                    place.span,
                    label="linked again here",
                    secondary=(known, "first linked here"),
                    help="use another port",
                )
            self._fits(end[0], end[1], carries, place)
            end[0].links[end[1]] = place.span
            end[0].media[end[1]] = medium
            if rate is not None:
                end[0].rates[end[1]] = medium.evaluate_parameter(rate, self._evaluator)
        self.layout.cables.append(Cable(left[:3], right[:3], medium, node.span))

    def _end(self, node: ast.Path, scope: Scope) -> End | None:
        value = self._evaluator.evaluate(node, scope)
        if isinstance(value, Poison):
            return None
        if isinstance(value, NodePort):
            return value.node, value.port, value.path, value.node.known and value.known
        if isinstance(value, NodeValue) and value.node.template is None:
            return value.node, HOST_PORT, value.node.path, value.node.known
        help_text = ""
        if isinstance(value, NodeArray | NodePorts):
            help_text = f"say which: `{node.span.text}[0]`"
        elif isinstance(value, NodeValue):
            port = self._find_free_port(value.node, node.span)
            help_text = "give it one more port: all are linked"
            help_text = f"say which port: `{node.span.text}.{port}`" if port else help_text
        raise make_error(
            "E0412",
            f"expected a host or a port, found {value.what}",
            node.span,
            help=help_text,
        )

    def _find_free_port(self, node: Node, place: Span) -> str:
        """Return a port of a device that no link names, nor an earlier message; "" without one."""
        ends = (end for link, _ in self.links for end in (link.left, link.right))
        self._taken.update(end.span.text for end in ends)
        for name, ports in node.template.ports.items() if node.template else ():
            for index in range(1 if ports.count is None else ports.count):
                port = name if ports.count is None else f"{name}[{index}]"
                path = f"{place.text}.{port}"
                if (name, index) not in node.links and path not in self._taken:
                    self._taken.add(path)
                    return port
        return ""

    def _fits(self, node: Node, port: tuple[str, int], carries: str, place: ast.Path) -> None:
        """Report a port of packets on a link of cells, or the reverse."""
        ports = None if node.template is None else node.template.ports.get(port[0])
        if ports is not None and ports.carries != carries:
            self._context.report(
                make_error(
                    "E0425",
                    f"`{place.span.text}` is a port of {ports.carries}s, but this link carries "
                    f"{carries}s",
                    place.span,
                    secondary=(ports.span, "declared here"),
                    help=USE_MEDIUM[ports.carries],
                )
            )

    def _evaluate_medium(self, node: ast.Link, scope: Scope) -> Record | None:
        value = self._evaluator.evaluate(node.medium, scope, "media")
        if isinstance(value, KindValue):
            value = Record(value.kind, {}, node.medium.span, self._evaluator)
        if node.body is not None:
            value = value.copy(node.body, scope, self._evaluator)
        if isinstance(value, Poison):
            return None
        if not isinstance(value, Record) or value.kind.duty != "line":
            what = f"`{value.kind.name}`" if isinstance(value, Record) else value.what
            raise make_error(
                "E0413",
                f"expected a medium, found {what}",
                node.medium.span,
                help="write a medium such as `media.stm1`, or `line { rate = … }`",
            )
        if id(value) not in self._media:
            value.evaluate_arguments(self._evaluator)  # so that its mistakes are reported
            self._media[id(value)] = value
        return value
