"""`with 95% confidence`: which criteria can have it, and how many repeats it needs."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.check.evaluate.context import make_error
from qospec.check.evaluate.dimensions import describe_dimension
from qospec.check.evaluate.values import Amount, Poison
from qospec.model.expression import Operation, is_measured
from qospec.model.suite import MIN_REPEATS
from qospec.source import Span
from qospec.syntax import ast

if TYPE_CHECKING:
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.check.evaluate.values import Value
    from qospec.model.expression import Expression
    from qospec.model.suite import Run

MIN_CONFIDENCE, MAX_CONFIDENCE = Fraction(1, 2), Fraction(99_999, 100_000)

LAST_WORD = "confidence"
"""The last word of the clause."""

ORDERED = ("<", "<=", ">", ">=", "within", "within share")


def read_confidence(
    node: ast.Criterion,
    expression: Expression | None,
    scope: Scope,
    evaluator: Evaluator,
) -> Fraction | None:
    """Return the confidence of a criterion, None if it has none; raises CheckError."""
    if node.confidence is None:
        return None
    value = evaluator.require_plain(node.confidence, scope)
    if isinstance(value, Poison):
        return None
    confidence = _require_ratio(value, node.confidence)
    if expression is not None:
        _verify_operator(node, expression)
    return confidence


def _require_ratio(value: Value, node: ast.Expression) -> Fraction:
    if not isinstance(value, Amount) or not value.dimension.is_ratio:
        what = describe_dimension(value.dimension) if isinstance(value, Amount) else value.what
        raise make_error(
            "E0204",
            f"a confidence is a percentage, not {what}",
            node.span,
            help="write `with 95% confidence`",
        )
    if value.value is None or not MIN_CONFIDENCE < value.value <= MAX_CONFIDENCE:
        raise make_error(
            "E0205",
            "a confidence is more than 50% and at most 99.999%",
            node.span,
            help="write `with 95% confidence`",
        )
    return value.value


def _verify_operator(node: ast.Criterion, expression: Expression) -> None:
    """Refuse conditions for which repeats cannot be judged together."""
    clause = find_clause(node)
    if not is_measured(expression):
        raise make_error(
            "E0512",
            "a confidence needs something measured, and nothing is measured here",
            clause,
            help="leave `with … confidence` out",
        )
    if isinstance(expression, Operation) and expression.operator in ORDERED:
        return
    subject = f"`{expression.operator}`" if isinstance(expression, Operation) else "this condition"
    joined = isinstance(expression, Operation) and expression.operator in ("and", "or", "not")
    raise make_error(
        "E0512",
        f"{subject} takes no confidence: repeats are judged together by `<`, `>` or `within`",
        clause,
        secondary=(node.condition.span, "this is judged"),
        note="without a confidence, `expect` holds in every repeat",
        help="write a statement of its own for each part"
        if joined
        else "compare by `<`, `<=`, `>`, `>=` or `within`, or leave the confidence out",
    )


def verify_repeats(
    node: ast.Criterion,
    statement: ast.Run | ast.Point | None,
    run: Run | None,
    test: ast.Test,
    *,
    shared: str = "",
) -> None:
    """Refuse a confidence in a test that is not repeated often enough, by its `run` or point.

    `shared` names the goal, or the point that uses one, for which only repeats of the test count.
    """
    if run is None or run.repeat >= MIN_REPEATS:
        return
    given = None
    for bind in statement.body.statements if statement is not None else ():
        if isinstance(bind, ast.Bind) and bind.names[0].text == "repeat":
            given = bind
    place = test.name.span
    if given is not None:
        place = given.span
    elif statement is not None:
        place = Span(statement.span.source, statement.span.end - 1, statement.span.end)
    enough = f"repeat = {MIN_REPEATS}"
    raise make_error(
        "E0507",
        f"a confidence of {_read_text(node)} needs at least {MIN_REPEATS} repeats",
        find_clause(node),
        secondary=(place, f"`repeat` is {run.repeat} here"),
        note=f"`{shared}` depends on what a search finds, which is drawn once per repeat of the"
        " test: trials of a point share it"
        if shared
        else "",
        help=f"add `run {{ {enough} }}`"
        if statement is None and shared
        else f"write `{enough}`"
        if given is not None
        else f"add `{enough}` to `{'point' if isinstance(statement, ast.Point) else 'run'}`",
    )


def _read_text(node: ast.Criterion) -> str:
    return node.confidence.span.text if node.confidence is not None else ""


def find_clause(node: ast.Criterion) -> Span:
    """Return the place of `with 95% confidence`."""
    assert node.confidence is not None  # noqa: S101
    source, behind = node.span.source, node.confidence.span
    start = source.text.rfind("with", node.condition.span.end, behind.start)
    end = source.text.find(LAST_WORD, behind.end, node.span.end)
    return Span(source, start, end + len(LAST_WORD)) if start >= 0 and end >= 0 else behind
