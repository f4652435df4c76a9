"""One case of a test: its networks, flows, run and statements, for one point of its sweeps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.check.device import invariants
from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.evaluate.measurements import ControlValue, FlowValue
from qospec.check.evaluate.scope import FLOWS, Binding, bind_known
from qospec.check.evaluate.unknown_flow import make_unknown_flow
from qospec.check.evaluate.values import POISON, List, Value
from qospec.check.test import flows as flow_rules
from qospec.check.test.changes import apply_to_test
from qospec.check.test.loops import LoopFlows, Loops, on_network
from qospec.check.test.run_settings import build_run, skip_reason
from qospec.check.test.statements import Statements, list_conditions
from qospec.dataclass import NamedTuple
from qospec.model.suite import Case, Flow, Network
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.check.test.parts import CaseScope
    from qospec.check.topology.flatten import Networks
    from qospec.model.suite import Phase, Run, Statement


class CaseId(NamedTuple):
    """The name of a case, and the values of its sweeps as text."""

    name: str
    parameters: tuple[tuple[str, str], ...]


class CaseBuilder:
    """Evaluates the statements of a test: values first, then flows, then criteria.

    Attributes:
        found: The networks, the topology as "".
        listed: What can be measured of the flows, by name.
        built: The flows.
        uses: By flow, the variables of phases that it depends on.
        nodes: By flow, where it is written.
    """

    def __init__(self, names: CaseScope, networks: Networks, evaluator: Evaluator) -> None:
        self._test = names.test
        self._names = names
        self._scope = names.scope
        self._networks = networks
        self._evaluator = evaluator
        self._context = evaluator.context
        self.found: dict[str, Network] = {}
        self.placed: Mapping[str, Binding] = {}
        self.listed: dict[str, FlowValue] = {}
        self.built: list[Flow] = []
        self.uses: dict[str, frozenset[str]] = {}
        self.nodes: dict[str, ast.Flow] = {}
        self._loops = Loops(evaluator)
        self._unbound: frozenset[str] = frozenset()
        self._builds = True

    def build(self, case: CaseId) -> Case | None:
        """Return a case without phases, or None after a mistake in it."""
        before, self._context.loop_iterations = self._context.mistakes, 0
        self.declare_topology()
        self.declare_flows()
        known = self._names.topology is not None and self._context.mistakes == before
        run = build_run(self._names, self._evaluator, self.built if known else None)
        run = apply_to_test(self._names, run, self._evaluator)
        found = self.add_judged(case, run, ())
        return found if self._context.mistakes == before else None

    def declare_topology(self) -> None:
        """Declare the names of the topology, if there is one."""
        if self._names.topology is None:
            return
        instance = self._networks.find_network(*self._names.topology)
        self._names.add_topology(instance and instance.names)
        self.placed = {} if instance is None else instance.names
        if instance is not None and instance.network is not None:
            self.found[""] = self._names.network = instance.network

    def declare_flows(self, unbound: frozenset[str] = frozenset(), *, built: bool = True) -> None:
        """Declare the flows, but for those that use a variable that is unbound here.

        If they are not `built`, only what can be measured of them is worked out.
        """
        self._unbound, self._builds = unbound, built
        self._context.judging = False
        self._run_each(lambda statement, scope: self._declare_flow(statement, scope, "", {}))
        self._list_flows()

    def add_judged(self, case: CaseId, run: Run | None, phases: tuple[Phase, ...]) -> Case | None:
        """Return the case with what is asked of it; None if it lacks a part."""
        self._context.judging = True
        self._run_each(self._declare_control)
        judged = Statements(self._names, run, self._loops, self._evaluator, phases)
        self._run_each(lambda statement, scope: judged.add(statement, scope, ""))
        why = skip_reason(self._names, self._evaluator)
        for binding in self._scope.names.values():
            self._run_guarded(lambda bound: bound.evaluate(self._context), binding)
        if run is None or "" not in self.found:
            return None
        flows, networks = tuple(self.built), self.found
        statements = (*judged.statements, *invariants.list_invariants(networks))
        return Case(case.name, case.parameters, networks, flows, run, statements, why, phases)

    def add_required(self, case: CaseId, run: Run) -> Case:
        """Return the case of a trial, with what is required of it."""
        self._context.judging = True
        judged = Statements(self._names, run, self._loops, self._evaluator, kinds=("require",))
        self._run_each(lambda statement, scope: judged.add(statement, scope, ""))
        statements = (*judged.statements, *invariants.list_invariants(self.found))
        return Case(case.name, case.parameters, self.found, tuple(self.built), run, statements)

    def list_conditions(self, node: ast.Search, scope: Scope) -> tuple[Statement, ...]:
        """Return what goals of a search ask of a trial by a condition; raises CheckError."""
        tested = {name: flow for name, flow in self.listed.items() if self.uses[name]}
        self._context.judging = True
        return tuple(list_conditions(node, scope, tested or self.listed, self._evaluator))

    def _run_each(self, act: Callable[[ast.Statement, Scope], None]) -> None:
        for statement, scope in self._names.statements:
            self._run_guarded(lambda node, names=scope: act(node, names), statement)

    def _run_guarded(self, act: object, what: object) -> None:
        try:
            act(what)  # type: ignore[operator]
        except CheckError as mistake:
            self._context.report(mistake)

    def _declare_flow(
        self, node: ast.Statement, scope: Scope, subscript: str, around: Mapping[str, str]
    ) -> None:
        """Declare a flow, or those of a loop; `around` are the variables that loops run over."""
        if isinstance(node, ast.Loop) and _has_flows(node):
            self._declare_loop_flows(node, scope, subscript, around)
        if not isinstance(node, ast.Flow):
            return
        self._verify_topology(node, "a flow")
        name = f"{node.name.text}{subscript}"
        if name in self.listed and subscript:
            raise make_error(
                "E0102",
                f"two flows are called `{name}`",
                node.name.span,
                help="loop over values that differ, and give each loop's flows another name",
            )
        made: list[Flow] = []

        def make() -> Value:
            if not self._builds:
                return flow_rules.list_measured(node, name, scope, self._evaluator) or POISON
            flow, value = flow_rules.build_flow(node, name, scope, self._evaluator)
            made.extend([flow] if flow is not None else [])
            return POISON if value is None else value

        making = Binding(node.name.text, node.name.span, FLOWS[0], make)
        making.varies = dict(around)
        value = making.evaluate(self._context)
        uses = frozenset(making.varies)
        if uses & self._unbound or not isinstance(value, FlowValue):
            # it takes no part here; or what is measured of it depends on what is wrong with it
            scope.declare(bind_known(node.name, FLOWS[0], POISON), self._context)
            return
        self.listed[name], self.uses[name], self.nodes[name] = value, uses, node
        scope.declare(bind_known(node.name, FLOWS[0], value), self._context)
        self.built += [replace(flow, tested=True) for flow in made] if uses else made

    def _verify_topology(self, node: ast.Statement, what: str) -> None:
        if self._names.topology is None:
            name = self._test.name.text
            raise make_error(
                "E0522",
                f"{what} needs a topology, and `{name}` has none",
                node.span,
                note=f"without `on`, `{name}` is a template, which other tests are built on",
                help=f"write `test {name} on …`, or leave it to the tests that name a topology",
            )

    def _declare_loop_flows(
        self, node: ast.Loop, scope: Scope, outer: str, around: Mapping[str, str]
    ) -> None:
        """Make the flows of each iteration; outside they are arrays, by the iterations' indices."""
        arrays: dict[str, tuple[Binding, dict[int, Value]]] = {}
        for iteration in self._loops.open_loop(node, scope):
            varies = {**around, **iteration.scope.names[node.name.text].varies}
            for statement in node.body.statements:
                inner = f"{outer}[{iteration.number}]"
                self._run_guarded(
                    lambda flow, t=iteration, i=inner, v=varies: self._declare_flow(
                        flow, t.scope, i, v
                    ),
                    statement,
                )
            for name, binding in iteration.scope.names.items():
                if binding.what in FLOWS:
                    value = binding.evaluate(self._context)
                    arrays.setdefault(name, (binding, {}))[1][iteration.number] = value
        for name, (binding, iterations) in arrays.items():
            outside = ast.Name(text=name, span=binding.span)
            array = LoopFlows(f"{name}{outer}", iterations)
            scope.declare(bind_known(outside, FLOWS[1], array), self._context)

    def _list_flows(self) -> None:
        listed = List(self.list_flows_on(""), known=self._names.topology is not None)
        for scope in self._names.scopes:
            known = scope.find("flows")
            if known is None:
                scope.names["flows"] = bind_known(
                    ast.Name(text="flows", span=self._test.name.span), "all flows", listed
                )
                continue
            message = "`flows` is the list of all flows of a test: no name can hide it"
            self._context.report(
                make_error("E0102", message, known.span, help="choose another name")
            )

    def list_flows_on(self, network: str, *, varied: bool = False) -> tuple[Value, ...]:
        """Return the list of all flows at a point; of a template, one stands for all.

        If `varied`, only those are in it that depend on a variable of the phase.
        """
        if self._names.topology is None:
            return (make_unknown_flow(network),)
        listed = self.listed.items()
        return tuple(
            flow.move_to_network(network, controlled=False)
            for name, flow in listed
            if self.uses[name] or not varied
        )

    def on_network(self, name: str, *, controlled: bool = False) -> dict[str, Value]:
        """Return the flows at a point or on a control, by their names outside loops."""
        own = [binding for binding in self._scope.names.values() if binding.what in FLOWS]
        return {
            binding.name: on_network(binding.evaluate(self._context), name, controlled=controlled)
            for binding in own
        }

    def _declare_control(self, node: ast.Statement, scope: Scope) -> None:
        found = self.found
        if not isinstance(node, ast.Control):
            return
        self._verify_topology(node, "a control")
        flows = self.on_network(node.name.text, controlled=True)
        value = ControlValue(node.name.text, flows)
        scope.declare(bind_known(node.name, "a control", value), self._context)
        instance = self._networks.find_network(node.topology, scope)
        if instance is None or instance.network is None:
            return
        found[node.name.text] = instance.network
        if "" in found and self._names.topology is not None:
            topology, _ = self._names.topology
            here, there = (
                {host.path for host in network.hosts} for network in (found[""], instance.network)
            )
            if here != there:
                first = min(here ^ there)
                where = "the test's topology" if first in here else "the control's"
                raise make_error(
                    "E0417",
                    "a control needs the hosts of the test's topology",
                    node.topology.span,
                    label=f"only {where} has `{first}`",
                    secondary=(topology.span, "the test's topology"),
                    help="give both the same hosts, as many of each",
                )
            self._verify_ways(node, instance.network)

    def _verify_ways(self, node: ast.Control, network: Network) -> None:
        """Refuse a control that lacks a port by which items of a flow are to leave a device."""
        for flow in self.built:
            port = next((port for port in flow.via if f"{port}.tx" not in network.sides), None)
            if port is not None:
                raise make_error(
                    "E0417",
                    "a control needs the ports that flows name in `via`",
                    node.topology.span,
                    label=f"`{port}` is not linked here",
                    secondary=(flow.span, "named here"),
                    help="link that port in the control's topology, too",
                )


def _has_flows(node: ast.Loop) -> bool:
    return any(
        isinstance(statement, ast.Flow)
        or (isinstance(statement, ast.Loop) and _has_flows(statement))
        for statement in node.body.statements
    )
