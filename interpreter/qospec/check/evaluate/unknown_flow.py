"""A flow of a test that will be built on a template: of cells or of packets, one or several."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from qospec.check.evaluate.context import CheckError
from qospec.check.evaluate.measurements import FlowValue
from qospec.check.evaluate.values import POISON, Deferred, Value
from qospec.dataclass import dataclass
from qospec.protocol.streams import OWN, list_parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.source import Span
    from qospec.syntax import ast


@dataclass(frozen=True)
class OneOf(Value):
    """A value that is one of several. What is wrong with all of them is wrong."""

    what: ClassVar[str] = "a flow"
    choices: tuple[Value, ...]

    @property
    def path(self) -> str:
        """Return the flow as messages call it."""
        first = self.choices[0]
        return first.path if isinstance(first, FlowValue) else ""

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:
        """Return what the field may be; raises CheckError if no choice has it."""
        return self._collect(lambda value: value.get_field(name, evaluator))

    def get_item(self, key: Value, span: Span) -> Value:
        """Return what the item may be; raises CheckError if no choice has items."""
        return self._collect(lambda value: value.get_item(key, span))

    def call(self, call: ast.Call, scope: Scope, evaluator: Evaluator) -> Value:
        """Return what the call may give; raises CheckError if no choice can be called."""
        return self._collect(lambda value: value.call(call, scope, evaluator))

    def explain_unfinished(self, span: Span) -> CheckError | None:
        """Return the mistake of using it as a value, where more of a path must follow."""
        return self.choices[-1].explain_unfinished(span)

    def _collect(self, act: Callable[[Value], Value]) -> Value:
        found: list[Value] = []
        mistake: CheckError | None = None
        for choice in self.choices:
            try:
                found.append(act(choice))
            except CheckError as wrong:
                mistake = wrong
        if not found:
            assert mistake is not None  # noqa: S101 -- there is a choice
            raise mistake
        measured = [value for value in found if isinstance(value, Deferred)]
        if len(measured) < len(found):
            return OneOf(tuple(found))
        alike = len({value.dimension for value in measured}) == 1
        return measured[0] if alike else POISON


def make_unknown_flow(network: str) -> OneOf:
    """Return a flow that is not known yet, on a network."""
    cells = list_parts("cell", OWN)
    packets = list_parts("packet", OWN)
    tells = frozenset({"connections", "calls"})
    return OneOf(
        (
            FlowValue(network, "flow", 1, carries="cell", has=cells, tells=tells),
            FlowValue(network, "flow", 1, carries="packet", has=packets, tells=tells, unrated=""),
        )
    )
