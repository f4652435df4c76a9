"""A test as a sequence of parts, and the names of one of its cases.

Each part is evaluated in its own file. Its names are known to the parts after it, which are built
on it; it does not know theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from qospec.check.evaluate.scope import Binding, Scope, clash
from qospec.check.records.parameters import let_value
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.test.sweeps import Combination

T = TypeVar("T", bound=ast.Statement)


class Part(NamedTuple):
    """A test as it is written, and the names around it: of its file, and its parameters."""

    node: ast.Test
    home: Scope


Parts = tuple[Part, ...]
"""What a test is built on, then the test itself."""


class CaseScope:
    """The names of a case: for each part those of its file, then the topology's, then the case's.

    Attributes:
        test: The test itself, the last of the parts.
        scope: Its names.
        scopes: The names of each part.
        statements: The statements of all parts, in order, each with the names that it sees.
    """

    def __init__(self, parts: Parts, points: Combination, evaluator: Evaluator) -> None:
        self.test = parts[-1].node
        self.scopes = [Scope(Scope(part.home)) for part in parts]
        self.scope = self.scopes[-1]
        self.statements = [
            (statement, scope)
            for part, scope in zip(parts, self.scopes, strict=True)
            for statement in part.node.body.statements
        ]
        self._evaluator = evaluator
        self._context = evaluator.context
        for scope, heir in zip(self.scopes, self.scopes[1:], strict=False):
            scope.heir = heir
        for point in points:
            self.scopes[point.part].declare(point.binding, self._context)
        for node, scope in self.of(ast.Let):
            self._let(node, scope)

    def of(self, kind: type[T]) -> Iterator[tuple[T, Scope]]:
        """Yield the statements of one kind, each with the names that it sees."""
        for statement, scope in self.statements:
            if isinstance(statement, kind):
                yield statement, scope

    def _let(self, node: ast.Let, scope: Scope) -> None:
        made = Binding(
            node.name.text,
            node.name.span,
            "a value",
            lambda: let_value(node, scope, self._evaluator, criteria=True),
        )
        scope.declare(made, self._context)

    @property
    def topology(self) -> tuple[ast.Path | ast.Call, Scope]:
        """Return the topology as it is written, and the names that it sees."""
        return self.test.topology, self.scope

    def add_topology(self, names: dict[str, Binding] | None) -> None:
        """Add the names of the topology; None if they are not known."""
        nodes = self.scope.parent
        assert nodes is not None and nodes.parent is not None  # noqa: PT018, S101 -- made above
        nodes.incomplete = names is None
        for name, binding in (names or {}).items():
            for taken in (nodes.parent.find(name), self.scope.names.get(name)):
                if taken is not None and taken.span != binding.span:
                    self._context.report(clash(taken, binding))
            nodes.names[name] = binding


def sweeps_of(parts: Sequence[Part]) -> list[tuple[int, ast.Sweep]]:
    """Return the sweeps of all parts, each with the index of its part."""
    return [
        (index, statement)
        for index, part in enumerate(parts)
        for statement in part.node.body.statements
        if isinstance(statement, ast.Sweep)
    ]
