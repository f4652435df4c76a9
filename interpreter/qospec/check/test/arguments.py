"""What follows from the arguments of a template, so that a remedy can name one that is enough."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.check.evaluate.context import CheckError, LimitReached
from qospec.check.evaluate.scope import Binding
from qospec.check.evaluate.values import Amount
from qospec.check.test.parts import CaseScope, Part
from qospec.dataclass import NamedTuple
from qospec.model.checked import Argument
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from fractions import Fraction

    from qospec.check.evaluate.context import Case
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.test.parts import Parts
    from qospec.check.test.sweeps import Combination
    from qospec.source import Span


class Follower(NamedTuple):
    """What is written somewhere in a template, for other arguments than those of the test.

    Attributes:
        parts: Of the test, that template among them.
        points: The values of its sweeps.
        case: Of the test.
        evaluator: For values.
    """

    parts: Parts
    points: Combination
    case: Case
    evaluator: Evaluator

    def list_arguments(self, place: Span) -> Iterator[Argument]:
        """Yield the numbers given for parameters of a template that an expression names."""
        index = self.case.find_base(place)
        node = None if index is None else _find_expression(self.parts[index].node, place)
        if index is None or node is None:
            return
        paths = [below for below in node.with_all_below() if isinstance(below, ast.Path)]
        paths.sort(key=lambda path: path.span.start)
        first = {path.name.text: path for path in reversed(paths)}
        for name, path in reversed(first.items()):
            binding = self.parts[index].home.names.get(name)
            parameter = self.case.find_parameter_at(path.span)
            value = binding.evaluate(self.evaluator.context) if binding and parameter else None
            if isinstance(value, Amount) and value.value is not None and binding is not None:
                yield Argument(
                    parameter,
                    path.span,
                    value.value,
                    value.dimension,
                    value.layer,
                    self._follow(index, node, binding, value),
                )

    def _follow(
        self, index: int, node: ast.Expression, binding: Binding, given: Amount
    ) -> Callable[[Fraction], Fraction | None]:
        def evaluate(value: Fraction) -> Fraction | None:
            instead = replace(given, value=value, text="")
            home = copy(self.parts[index].home)
            other = Binding(binding.name, binding.span, binding.what, lambda: instead)
            home.names = {**home.names, binding.name: other}
            parts = list(self.parts)
            parts[index] = Part(parts[index].node, home)
            with self.evaluator.context.check_apart() as problems:
                try:
                    scope = CaseScope(tuple(parts), self.points, self.evaluator).scopes[index]
                    found = self.evaluator.require_plain(node, scope)
                except (CheckError, LimitReached):  # it depends on what phases find
                    return None
            return found.value if isinstance(found, Amount) and not problems.errors else None

        return evaluate


def _find_expression(test: ast.Test, place: Span) -> ast.Expression | None:
    """Return what is written at a place of a test."""
    every = (below for statement in test.statements for below in statement.with_all_below())
    return next(
        (below for below in every if isinstance(below, ast.Expression) and below.span == place),
        None,
    )
