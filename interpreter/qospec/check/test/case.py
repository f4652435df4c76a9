"""One case of a test: its networks, flows, run and statements, for one point of its sweeps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.check.device import invariants
from qospec.check.evaluate.context import CheckError, error
from qospec.check.evaluate.measurements import ControlValue, FlowValue
from qospec.check.evaluate.scope import known_binding
from qospec.check.evaluate.values import POISON, List, Value
from qospec.check.test import flows as flow_rules
from qospec.check.test.loops import LoopFlows, Loops, on_network
from qospec.check.test.run_settings import run_of, skip_reason
from qospec.check.test.search import SearchBuilder
from qospec.check.test.statements import Statements
from qospec.model.suite import Case, Flow, Network, Search
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Binding, Scope
    from qospec.check.test.parts import CaseScope
    from qospec.check.test.sweeps import Combination
    from qospec.check.topology.flatten import Networks
    from qospec.model.suite import Phase

FLOWS = ("a flow", "a flow of a loop")
"""What messages call names of flows."""


class CaseBuilder:
    """Evaluates the statements of a test: values first, then flows, then criteria."""

    def __init__(self, names: CaseScope, networks: Networks, evaluator: Evaluator) -> None:
        self._test = names.test
        self._names = names
        self._scope = names.scope
        self._networks = networks
        self._evaluator = evaluator
        self._context = evaluator.context
        self._loops = Loops(evaluator)
        self._flows: dict[str, FlowValue] = {}
        self._built: list[Flow] = []

    def build(self, name: str, points: Combination) -> Case | None:
        """Return the case, or None after a mistake in it."""
        before, self._context.loop_iterations = self._context.mistakes, 0
        found = self._topology()
        searching = SearchBuilder(self._names, self._evaluator)
        searching.declare()
        self._each(lambda statement, scope: self._flow(statement, scope, ""))
        searching.close()
        self._each(lambda statement, scope: self._control(statement, scope, found))
        self._flow_list()
        run = run_of(self._names, searching.search, self._evaluator)
        judged = Statements(self._names, run, self._loops, self._evaluator)
        self._each(lambda statement, scope: judged.add(statement, scope, ""))
        why = skip_reason(self._names, self._evaluator)
        for binding in self._scope.names.values():
            self._guard(lambda each: each.value(self._context), binding)
        if self._context.mistakes > before or run is None or "" not in found:
            return None
        parameters = tuple((point.binding.name, point.text) for point in points)
        statements = (*judged.statements, *invariants.of_networks(found))
        flows = tuple(self._built)
        phases = () if searching.search is None else (searching.search,)
        return Case(name, parameters, found, flows, run, statements, why, phases)

    def trial(
        self,
        name: str,
        points: Combination,
        phase: Phase,
        load: Fraction | None,
        trial_ps: int | None,
    ) -> Case | None:
        """Return the case of one trial of a phase, or None after a mistake in it."""
        before = self._context.mistakes
        networks = self._topology()
        searching = SearchBuilder(self._names, self._evaluator, load)
        searching.declare()
        self._each(lambda statement, scope: self._flow(statement, scope, ""))
        searching.close()
        self._each(lambda statement, scope: self._control(statement, scope, networks))
        self._flow_list()
        run = run_of(self._names, searching.search, self._evaluator)
        judged = Statements(self._names, run, self._loops, self._evaluator, kinds=("require",))
        self._each(lambda statement, scope: judged.add(statement, scope, ""))
        if self._context.mistakes > before or run is None or not isinstance(phase, Search):
            return None
        length_ps = trial_ps or phase.goals[0].trial_ps
        run = replace(run, measure_ps=length_ps, repeat=1)
        parameters = tuple((point.binding.name, point.text) for point in points)
        statements = (*judged.statements, *invariants.of_networks(networks))
        return Case(name, parameters, networks, tuple(self._built), run, statements)

    def _topology(self) -> dict[str, Network]:
        """Declare the names of the topology, and return its network; nothing after a mistake."""
        instance = self._networks.of(*self._names.topology)
        self._names.add_topology(instance and instance.names)
        return {"": instance.network} if instance is not None and instance.network else {}

    def _each(self, act: Callable[[ast.Statement, Scope], None]) -> None:
        for statement, scope in self._names.statements:
            self._guard(lambda each, names=scope: act(each, names), statement)

    def _guard(self, act: object, what: object) -> None:
        try:
            act(what)  # type: ignore[operator]
        except CheckError as mistake:
            self._context.report(mistake)

    def _flow(self, node: ast.Statement, scope: Scope, subscript: str) -> None:
        if isinstance(node, ast.Loop) and _makes_flows(node):
            self._flows_of_loop(node, scope, subscript)
        if not isinstance(node, ast.Flow):
            return
        name = f"{node.name.text}{subscript}"
        if name in self._flows and subscript:
            raise error(
                "E0102",
                f"two flows are called `{name}`",
                node.name.span,
                help="loop over values that differ, and give each loop's flows another name",
            )
        made, value = flow_rules.flow(node, name, scope, self._evaluator)
        if value is None:  # what is measured of it hangs on what is wrong with it
            scope.declare(known_binding(node.name, FLOWS[0], POISON), self._context)
            return
        self._flows[name] = value
        scope.declare(known_binding(node.name, FLOWS[0], value), self._context)
        if made is not None:
            self._built.append(made)

    def _flows_of_loop(self, node: ast.Loop, scope: Scope, around: str) -> None:
        """Make the flows of each iteration; outside they are arrays, by the iterations' indices."""
        arrays: dict[str, tuple[Binding, dict[int, Value]]] = {}
        for iteration in self._loops.opened(node, scope):
            for statement in node.body.statements:
                inner = f"{around}[{iteration.number}]"
                self._guard(
                    lambda each, t=iteration, i=inner: self._flow(each, t.scope, i), statement
                )
            for name, binding in iteration.scope.names.items():
                if binding.what in FLOWS:
                    value = binding.value(self._context)
                    arrays.setdefault(name, (binding, {}))[1][iteration.number] = value
        for name, (binding, iterations) in arrays.items():
            outside = ast.Name(text=name, span=binding.span)
            array = LoopFlows(f"{name}{around}", iterations)
            scope.declare(known_binding(outside, FLOWS[1], array), self._context)

    def _flow_list(self) -> None:
        listed = List(tuple(self._flows.values()))
        for scope in self._names.scopes:
            known = scope.find("flows")
            if known is None:
                scope.names["flows"] = known_binding(
                    ast.Name(text="flows", span=self._test.name.span), "all flows", listed
                )
                continue
            message = "`flows` is the list of all flows of a test: no name can hide it"
            self._context.report(error("E0102", message, known.span, help="choose another name"))

    def _declared(self) -> dict[str, Value]:
        """Return the flows by their names outside loops."""
        own = [each for each in self._scope.names.values() if each.what in FLOWS]
        return {each.name: each.value(self._context) for each in own}

    def _control(self, node: ast.Statement, scope: Scope, found: dict[str, Network]) -> None:
        if not isinstance(node, ast.Control):
            return
        flows = {n: on_network(flow, node.name.text) for n, flow in self._declared().items()}
        value = ControlValue(flows)
        scope.declare(known_binding(node.name, "a control", value), self._context)
        instance = self._networks.of(node.topology, scope)
        if instance is None or instance.network is None:
            return
        found[node.name.text] = instance.network
        if "" in found:
            here, there = (
                {host.path for host in each.hosts} for each in (found[""], instance.network)
            )
            if here != there:
                first = min(here ^ there)
                where = "the test's topology" if first in here else "the control's"
                raise error(
                    "E0417",
                    "a control needs the hosts of the test's topology",
                    node.topology.span,
                    label=f"only {where} has `{first}`",
                    secondary=(self._names.topology[0].span, "the test's topology"),
                    help="give both the same hosts, as many of each",
                )


def _makes_flows(node: ast.Loop) -> bool:
    return any(
        isinstance(each, ast.Flow) or (isinstance(each, ast.Loop) and _makes_flows(each))
        for each in node.body.statements
    )
