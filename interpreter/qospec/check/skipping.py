"""`skip unless condition "why"`: cases that are left out, with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.check.context import Refused, wrong
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.check.expressions import Evaluator
    from qospec.check.scope import Scope


def skipped(statements: Sequence[ast.Statement], scope: Scope, evaluator: Evaluator) -> str:
    """Return why a case is left out: the first reason whose condition is false; "" if none is.

    The condition is of values that are known before the run; a mistake in it is reported.
    """
    reasons = [
        node.reason.text.strip()
        for node in statements
        if isinstance(node, ast.Skip) and not _goes_on(node, scope, evaluator)
    ]
    return reasons[0] if reasons else ""


def _goes_on(node: ast.Skip, scope: Scope, evaluator: Evaluator) -> bool:
    if not node.reason.text.strip():
        evaluator.context.tell(_no_reason(node))
    return evaluator.truth(node.condition, scope) is not False


def _no_reason(node: ast.Skip) -> Refused:
    return wrong(
        "E0513",
        "a case that is left out needs a reason",
        node.reason.span,
        remedy="say why: the report shows it",
    )
