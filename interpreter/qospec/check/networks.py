"""Networks of topologies with their arguments: each is worked out once for all cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from qospec.check import flat, topology
from qospec.check.context import Refused, wrong
from qospec.check.declared import TopologyValue
from qospec.check.values import Poison
from qospec.syntax import ast

if TYPE_CHECKING:
    from qospec.check.expressions import Evaluator
    from qospec.check.scope import Binding, Scope
    from qospec.check.values import Value
    from qospec.model.suite import Network


class Laid(NamedTuple):
    """A topology in use: the names that a test sees, and the network if all of it is right."""

    names: dict[str, Binding]
    network: Network | None


class Networks:
    """What was worked out, by declaration and arguments."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._known: dict[tuple[TopologyValue, tuple[Value, ...]], Laid] = {}

    def of(self, node: ast.Path | ast.Call, scope: Scope) -> Laid | None:
        """Return the network that `topology(arguments)` stands for; None if that is in error."""
        path = node.path if isinstance(node, ast.Call) else node
        arguments = node.arguments if isinstance(node, ast.Call) else ()
        value = self._evaluator.value(path, scope)
        if isinstance(value, Poison):
            return None
        try:
            if not isinstance(value, TopologyValue):
                raise wrong(
                    "E0421",
                    f"a test is on a topology, `{path.span.text}` is {value.what}",
                    path.span,
                    remedy="name a topology",
                )
            bound = value.signature.bind(arguments, scope, node)
        except Refused as refused:
            self._evaluator.context.tell(refused)
            return None
        if bound is None:
            return None
        inside, values = bound
        return self._laid(value, inside, values)

    def _laid(self, value: TopologyValue, inside: Scope, values: tuple[Value, ...]) -> Laid:
        key = (value, values)
        if key not in self._known:
            laid = topology.layout(value.node, inside, self._evaluator)
            found = flat.network(laid, self._evaluator) if laid.complete else None
            self._known[key] = Laid(laid.names, found)
        return self._known[key]
