"""Loops of a test: the names of each iteration, and the flows that each makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.evaluate.loops import iterate_loop
from qospec.check.evaluate.measurements import ControlValue, FlowValue
from qospec.check.evaluate.scope import Binding, Scope, bind_known
from qospec.check.evaluate.unknown_flow import OneOf
from qospec.check.evaluate.values import Amount, List, Poison, Value
from qospec.check.records.parameters import let_binding
from qospec.check.test.sweeps import escape_for_shell
from qospec.dataclass import NamedTuple, dataclass
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.source import Span


HERE = "the loop's value"


class Iteration(NamedTuple):
    """One iteration of a loop: its number, its text in labels, and its names."""

    number: int
    shown: str
    scope: Scope


class Loops:
    """The loops of one case; each is expanded once, so that its declarations stay the same."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._opened: dict[tuple[int, int], tuple[Iteration, ...]] = {}

    def open_loop(self, node: ast.Loop, scope: Scope) -> tuple[Iteration, ...]:
        """Return the iterations of a loop, names declared; none if the list has a mistake."""
        key = (id(node), id(scope))
        if key not in self._opened:
            self._opened[key] = ()  # a mistake is reported once
            iterations: list[tuple[int, Value, bool]] = []

            def list_values() -> Value:
                iterations.extend(iterate_loop(node, scope, self._evaluator))
                return List(tuple(value for _, value, _ in iterations))

            values = Binding(node.name.text, node.name.span, HERE, list_values)
            values.evaluate(self._evaluator.context)
            self._opened[key] = tuple(
                Iteration(
                    index,
                    _show_value(value, index),
                    self._declare_names(node, value, values, scope),
                )
                for index, value, _ in iterations
            )
        return self._opened[key]

    def _declare_names(self, node: ast.Loop, value: Value, values: Binding, around: Scope) -> Scope:
        inner = Scope(around)
        own = bind_known(node.name, HERE, value)
        own.varies = values.varies
        inner.declare(own, self._evaluator.context)
        for statement in node.body.statements:
            if isinstance(statement, ast.Let):
                made = let_binding(statement, inner, self._evaluator)
                inner.declare(made, self._evaluator.context)
        return inner


def _show_value(value: Value, index: int) -> str:
    if isinstance(value, FlowValue | OneOf):
        return value.path
    if isinstance(value, ControlValue):
        return value.name
    return escape_for_shell(value.text) if isinstance(value, Amount) and value.text else str(index)


@dataclass(frozen=True)
class LoopFlows(Value):
    """A flow that a loop declares, seen from outside the loop: one per iteration."""

    what: ClassVar[str] = "an array of flows"
    name: str
    iterations: Mapping[int, Value]

    def get_item(self, key: Value, span: Span) -> Value:
        """Return the flow of the iteration with that index."""
        if isinstance(key, Poison) or (isinstance(key, Amount) and key.value is None):
            return Poison()
        found = None
        if isinstance(key, Amount) and key.value is not None and key.value.denominator == 1:
            found = self.iterations.get(int(key.value))
        if found is None:
            iterations = " ".join(str(iteration) for iteration in list(self.iterations)[:20])
            raise make_error(
                "E0215",
                f"`{self.name}` has no such iteration",
                span,
                note=f"iterations: {iterations}" if iterations else "its loop has no iterations",
            )
        return found

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Refuse: the flows of a loop may differ, so choose one first."""
        raise self._suggest_choice(name.span, f".{name.text}")

    def explain_unfinished(self, span: Span) -> CheckError:
        """Return the mistake of not choosing one."""
        return self._suggest_choice(span, "")

    def move_to_network(self, network: str, *, controlled: bool) -> LoopFlows:
        """Return the same flows on another network."""
        iterations = {
            iteration: on_network(value, network, controlled=controlled)
            for iteration, value in self.iterations.items()
        }
        return LoopFlows(self.name, iterations)

    def _suggest_choice(self, span: Span, behind: str) -> CheckError:
        first = next(iter(self.iterations), 0)
        return make_error(
            "E0511",
            f"`{self.name}` is one flow per iteration of its loop: say which",
            span,
            help=f"write `{self.name}[{first}]{behind}`, or judge each inside a `for`",
        )


def on_network(flow: Value, network: str, *, controlled: bool) -> Value:
    """Return the same flow at a point or, `controlled`, on a control; POISON stays POISON."""
    if isinstance(flow, FlowValue | LoopFlows):
        return flow.move_to_network(network, controlled=controlled)
    return flow
