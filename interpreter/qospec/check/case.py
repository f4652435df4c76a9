"""One case of a test: its networks, flows, run and statements, for one point of its sweeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.check import flows as flow_rules
from qospec.check.bodies import misplaced, turns_of
from qospec.check.conditions import condition, reported
from qospec.check.context import Refused, wrong
from qospec.check.kinds import not_built
from qospec.check.measured import ControlValue, FlowValue
from qospec.check.parameters import let_value
from qospec.check.running import run_of
from qospec.check.scope import Binding, Scope, clash, settled
from qospec.check.sweeps import safe
from qospec.check.values import Amount, Series, Value
from qospec.conditions import Expression
from qospec.model import Case, Flow, Network, Statement
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.check.expressions import Evaluator
    from qospec.check.networks import Networks
    from qospec.check.sweeps import Combination

HERE = "a test"


class Stage:
    """The names of a case: those of the file, then the topology's, then its own."""

    def __init__(
        self, test: ast.Test, home: Scope, points: Combination, evaluator: Evaluator
    ) -> None:
        self.nodes = Scope(home)
        self.scope = Scope(self.nodes)
        self._home = home
        self._context = evaluator.context
        for point in points:
            self.scope.declare(point.binding, self._context)
        for statement in test.body.statements:
            if isinstance(statement, ast.Let):
                self._let(statement, evaluator)

    def _let(self, node: ast.Let, evaluator: Evaluator) -> None:
        made = Binding(
            node.name.text,
            node.name.span,
            "a value",
            lambda: let_value(node, self.scope, evaluator, criteria=True),
        )
        self.scope.declare(made, self._context)

    def furnish(self, names: dict[str, Binding]) -> None:
        """Add the names of the topology."""
        for name, binding in names.items():
            for taken in (self._home.find(name), self.scope.names.get(name)):
                if taken is not None and taken.span != binding.span:
                    self._context.tell(clash(taken, binding))
            self.nodes.names[name] = binding


class CaseBuilder:
    """Works out the statements of a test, values first, then flows, then criteria."""

    def __init__(
        self, test: ast.Test, stage: Stage, networks: Networks, evaluator: Evaluator
    ) -> None:
        self._test = test
        self._stage = stage
        self._scope = stage.scope
        self._networks = networks
        self._evaluator = evaluator
        self._context = evaluator.context
        self._flows: dict[str, FlowValue] = {}
        self._built: list[Flow] = []
        self._statements: list[Statement] = []
        self._labels: dict[str, ast.Node] = {}

    def build(self, name: str, points: Combination) -> Case | None:
        """Return the case, or None if something of it is wrong."""
        before = self._context.mistakes
        found: dict[str, Network] = {}
        laid = self._networks.of(self._test.topology, self._scope)
        if laid is not None:
            self._stage.furnish(laid.names)
            if laid.network is not None:
                found[""] = laid.network
        self._stage.nodes.veiled = laid is None
        body = self._test.body.statements
        for statement in body:
            self._guard(self._flow, statement)
        for statement in body:
            self._guard(lambda each: self._control(each, found), statement)
        self._flow_list()
        run = run_of(self._test, self._scope, self._evaluator)
        for statement in body:
            self._guard(lambda each: self._judged(each, self._scope, ""), statement)
        for binding in self._scope.names.values():
            self._guard(lambda each: each.value(self._context), binding)
        if self._context.mistakes > before or run is None or "" not in found:
            return None
        parameters = tuple((point.binding.name, point.text) for point in points)
        return Case(name, parameters, found, tuple(self._built), run, tuple(self._statements))

    def _guard(self, act: object, what: object) -> None:
        try:
            act(what)  # type: ignore[operator]
        except Refused as refused:
            self._context.tell(refused)

    def _flow(self, node: ast.Statement) -> None:
        if not isinstance(node, ast.Flow):
            return
        made, many = flow_rules.flow(node, self._scope, self._evaluator)
        value = FlowValue("", node.name.text, many)
        self._flows[node.name.text] = value
        self._scope.declare(settled(node.name, "a flow", value), self._context)
        if made is not None:
            self._built.append(made)

    def _flow_list(self) -> None:
        if "flows" not in self._scope.names and self._scope.find("flows") is None:
            listed = Series(tuple(self._flows.values()))
            self._scope.names["flows"] = Binding(
                "flows", self._test.name.span, "all flows", lambda: listed
            )

    def _control(self, node: ast.Statement, found: dict[str, Network]) -> None:
        if not isinstance(node, ast.Control):
            return
        value = ControlValue(node.name.text, self._flows)
        self._scope.declare(settled(node.name, "a control", value), self._context)
        laid = self._networks.of(node.topology, self._scope)
        if laid is None or laid.network is None:
            return
        found[node.name.text] = laid.network
        if "" in found:
            here, there = ({host.path for host in each.hosts} for each in (found[""], laid.network))
            if here != there:
                first = min(here ^ there)
                where = "the test's topology" if first in here else "the control's"
                raise wrong(
                    "E0417",
                    "a control has the hosts of the test's topology",
                    node.topology.span,
                    label=f"only {where} has `{first}`",
                    other=(self._test.topology.span, "the test's topology"),
                    remedy="give both the same hosts, as many of each",
                )

    def _judged(self, node: ast.Statement, scope: Scope, turn: str) -> None:
        """Add what a statement judges or reports; loops repeat their statements."""
        if isinstance(node, ast.Criterion) and node.kind != "invariant":
            self._criterion(node, scope, turn)
        elif isinstance(node, ast.Report):
            self._report(node, scope, turn)
        elif isinstance(node, ast.Loop):
            self._loop(node, scope, turn)
        elif turn and isinstance(node, ast.Flow):
            raise wrong(
                "E0511",
                "a flow inside `for` is not built yet",
                node.span,
                remedy="write one flow between arrays of hosts: it runs index by index",
            )
        elif isinstance(node, ast.Let) and turn:
            made = Binding(
                node.name.text,
                node.name.span,
                "a value",
                lambda: let_value(node, scope, self._evaluator, criteria=True),
            )
            scope.declare(made, self._context)
        elif turn or not isinstance(node, ast.Flow | ast.Control | ast.Run | ast.Sweep | ast.Let):
            if isinstance(node, ast.Bind) and not turn and node.names[0].text == "covers":
                return
            raise _stray(node)

    def _loop(self, node: ast.Loop, scope: Scope, turn: str) -> None:
        for number, value, _ in turns_of(node, scope, self._evaluator):
            inner = Scope(scope)
            inner.declare(settled(node.name, "the loop's value", value), self._context)
            shown = value.path if isinstance(value, FlowValue) else _shown(value, number)
            for statement in node.body.statements:
                try:
                    self._judged(statement, inner, f"{turn}[{shown}]")
                except Refused as refused:
                    self._context.tell(refused)

    def _criterion(self, node: ast.Criterion, scope: Scope, turn: str) -> None:
        if node.confidence is not None:
            raise not_built("with … confidence", node.confidence.span)
        expression = condition(node.condition, scope, self._evaluator)
        self._add(node.kind, node.label, node.condition, expression, turn)

    def _report(self, node: ast.Report, scope: Scope, turn: str) -> None:
        label: ast.Name | None = node.label
        items: Sequence[ast.Expression] = (node.value,)
        if isinstance(node.value, ast.ListOf):
            items = node.value.items
            if label is not None and len(items) > 1:
                raise wrong(
                    "E0510",
                    "a label names one value",
                    label.span,
                    remedy="write a `report` with its own label for each",
                )
        for item in items:
            try:
                expression = reported(item, scope, self._evaluator)
            except Refused as refused:
                self._context.tell(refused)
                continue
            self._add("report", label, item, expression, turn)

    def _add(
        self,
        kind: str,
        name: ast.Name | None,
        node: ast.Expression,
        expression: Expression | None,
        turn: str,
    ) -> None:
        text = " ".join(node.span.text.split())
        label = f"{name.text if name else text}{turn}"
        place = name or node
        known = self._labels.get(label)
        if known is not None and (name is not None or kind != "report"):
            raise wrong(
                "E0509",
                f"two statements are called `{label}`",
                place.span,
                other=(known.span, "first here"),
                remedy="give one of them another label",
            )
        self._labels.setdefault(label, place)
        if expression is not None:
            said = {"expect": "expect", "require": "require"}.get(kind, "report")
            self._statements.append(Statement(said, label, text, expression, node.span))  # type: ignore[arg-type]


def _shown(value: Value, number: int) -> str:
    return safe(value.text) if isinstance(value, Amount) and value.text else str(number)


def _stray(node: ast.Statement) -> Refused:
    if isinstance(node, ast.Bind):
        return wrong(
            "E0104",
            f"a test has no field `{node.names[0].text}`",
            node.span,
            note="fields of a test: covers",
            remedy=f"write `let {node.names[0].text} = …` for a value",
        )
    return misplaced(node, HERE)
