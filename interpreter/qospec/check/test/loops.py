"""Loops of a test: the names of each turn, and the flows that a loop makes, once per turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from qospec.check.evaluate.context import CheckError, error
from qospec.check.evaluate.loops import iterations_of
from qospec.check.evaluate.scope import Binding, Scope, known_binding
from qospec.check.evaluate.values import Amount, List, Poison, Value
from qospec.check.records.parameters import let_value
from qospec.check.test.measurements import FlowValue
from qospec.check.test.sweeps import shell_safe
from qospec.dataclass import dataclass
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.source import Span


HERE = "the loop's value"


class Iteration(NamedTuple):
    """One turn of a loop: its number, how it is shown in labels, and its names."""

    number: int
    shown: str
    scope: Scope


class Loops:
    """The loops of one case; each is opened once, so that what it declares stays."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._opened: dict[tuple[int, int], tuple[Iteration, ...]] = {}

    def opened(self, node: ast.Loop, scope: Scope) -> tuple[Iteration, ...]:
        """Return the turns of a loop, with its name and values declared; none of a wrong list."""
        key = (id(node), id(scope))
        if key not in self._opened:
            self._opened[key] = ()  # a mistake is told once
            turns: list[tuple[int, Value, bool]] = []

            def over() -> Value:
                turns.extend(iterations_of(node, scope, self._evaluator))
                return List(tuple(value for _, value, _ in turns))

            values = Binding(node.name.text, node.name.span, HERE, over)
            values.value(self._evaluator.context)
            self._opened[key] = tuple(
                Iteration(index, _shown(value, index), self._names(node, value, values, scope))
                for index, value, _ in turns
            )
        return self._opened[key]

    def _names(self, node: ast.Loop, value: Value, values: Binding, around: Scope) -> Scope:
        inner = Scope(around)
        own = known_binding(node.name, HERE, value)
        own.instead = values.instead
        inner.declare(own, self._evaluator.context)
        for statement in node.body.statements:
            if isinstance(statement, ast.Let):
                inner.declare(self._let(statement, inner), self._evaluator.context)
        return inner

    def _let(self, node: ast.Let, scope: Scope) -> Binding:
        return Binding(
            node.name.text,
            node.name.span,
            "a value",
            lambda: let_value(node, scope, self._evaluator, criteria=True),
        )


def _shown(value: Value, index: int) -> str:
    if isinstance(value, FlowValue):
        return value.path
    return shell_safe(value.text) if isinstance(value, Amount) and value.text else str(index)


@dataclass(frozen=True)
class LoopFlows(Value):
    """A flow that a loop declares, outside of the loop: one per turn."""

    what: ClassVar[str] = "an array of flows"
    name: str
    turns: Mapping[int, Value]

    def item(self, key: Value, span: Span) -> Value:
        """Return the flow of the turn with that index."""
        if isinstance(key, Poison) or (isinstance(key, Amount) and key.value is None):
            return Poison()
        found = None
        if isinstance(key, Amount) and key.value is not None and key.value.denominator == 1:
            found = self.turns.get(int(key.value))
        if found is None:
            turns = " ".join(str(turn) for turn in list(self.turns)[:20])
            raise error(
                "E0215",
                f"`{self.name}` has no such iteration",
                span,
                note=f"iterations: {turns}" if turns else "its loop has no iterations",
            )
        return found

    def field(self, name: ast.Name, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Refuse: the flows of a loop may differ, so one must be chosen first."""
        raise self._which(name.span, f".{name.text}")

    def unfinished(self, span: Span) -> CheckError:
        """Say that one must be chosen."""
        return self._which(span, "")

    def on(self, network: str) -> LoopFlows:
        """Return the same flows on another network."""
        turns = {turn: on_network(value, network) for turn, value in self.turns.items()}
        return LoopFlows(self.name, turns)

    def _which(self, span: Span, behind: str) -> CheckError:
        first = next(iter(self.turns), 0)
        return error(
            "E0511",
            f"`{self.name}` is one flow per iteration of its loop: say which",
            span,
            help=f"write `{self.name}[{first}]{behind}`, or judge each inside a `for`",
        )


def on_network(flow: Value, network: str) -> Value:
    """Return the same flow on another network; one that is wrong is wrong there too."""
    return flow.on(network) if isinstance(flow, FlowValue | LoopFlows) else flow
