"""Criteria that do not apply in some cases: the sweep's values decide them, or their `when`.

`size != 64 B or user.lost == 0` tests one size only, and looks as if it tested all. It means the
same, and says where it applies, as `user.lost == 0 when size == 64 B`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.check.evaluate.clauses import DECIDED
from qospec.check.evaluate.context import make_error
from qospec.diagnostics import Edit
from qospec.model.claims import CLAIMS
from qospec.model.expression import Operation, is_constant
from qospec.source import Span
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from qospec.check.evaluate.context import CheckError
    from qospec.model.expression import Expression
    from qospec.model.suite import Case, Statement

OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
"""Each comparison and its negation."""


def group_by_place(cases: Iterable[Case]) -> list[list[Statement]]:
    """Return the statements of all cases, grouped by their place."""
    found: dict[tuple[str, int], list[Statement]] = {}
    for case in cases:
        for statement in case.statements:
            found.setdefault((statement.span.source.name, statement.span.start), []).append(
                statement
            )
    return list(found.values())


def is_unmet(statement: Statement) -> bool:
    """Return whether a statement's own `when` excludes it."""
    return statement.idle not in ("", DECIDED)


def warn_of_applicability(test: ast.Test, cases: Sequence[Case]) -> Iterator[CheckError]:
    """Yield a warning for each statement of a test that tests less than it seems to."""
    written = {node.condition.span.start: node for node in _select_criteria(test.statements)}
    for statements in group_by_place(cases):
        node = written.get(statements[0].span.start)
        asked = [statement for statement in statements if not is_unmet(statement)]
        if node is None or not asked:
            continue
        settled = sum(statement.idle == DECIDED for statement in asked)
        if 0 < settled < len(asked):
            yield _warn_of_decided(
                node, asked, settled, "cases" if len(asked) <= len(cases) else "iterations"
            )
        if settled < len(asked) and node.kind == "expect" and node.claim is None:
            yield from _warn_of_unclaimed(node, asked)
    yield from _warn_of_never(test.statements, cases)


def _select_criteria(statements: Iterable[ast.Statement]) -> Iterator[ast.Criterion]:
    for node in statements:
        if isinstance(node, ast.Criterion):
            yield node
        elif isinstance(node, ast.Loop):
            yield from _select_criteria(node.body.statements)


# ---- what says too little


def _warn_of_unclaimed(
    node: ast.Criterion, statements: Sequence[Statement]
) -> Iterator[CheckError]:
    if any(statement.published for statement in statements):
        *others, last = (f"`as {claim}`" for claim in CLAIMS)
        yield make_error(
            "W0610",
            "this compares with a published number, and does not say what it claims",
            node.condition.span,
            help=f"add {', '.join(others)} or {last}",
        )


def _warn_of_never(own: Iterable[ast.Statement], cases: Sequence[Case]) -> Iterator[CheckError]:
    """Yield a warning for each statement whose `when` is always false."""
    met = {
        (statement.span.start, is_unmet(statement))
        for statements in group_by_place(cases)
        for statement in statements
    }
    for node in _select_conditional(own):
        first = node.condition if isinstance(node, ast.Criterion) else _find_first(node.value)
        start = first.span.start
        if (start, True) in met and (start, False) not in met and node.when is not None:
            yield make_error(
                "W0609",
                "this never applies: its `when` is false in every case",
                node.when.span,
                help="leave the statement out, or give it a `when` that some case meets",
            )


def _select_conditional(own: Iterable[ast.Statement]) -> Iterator[ast.Criterion | ast.Report]:
    for node in own:
        if isinstance(node, ast.Criterion | ast.Report) and node.when is not None:
            yield node
        elif isinstance(node, ast.Loop):
            yield from _select_conditional(node.body.statements)


def _find_first(value: ast.Expression) -> ast.Expression:
    return value.items[0] if isinstance(value, ast.ListLiteral) and value.items else value


# ---- what is decided beforehand


def _warn_of_decided(
    node: ast.Criterion, statements: Sequence[Statement], settled: int, what: str
) -> CheckError:
    whose = "the sweep's" if what == "cases" else "the loop's"
    made = _rewrite(node, [statement.expression for statement in statements])
    help_text = "say with `when` where it applies, in a statement of its own for each part"
    if made:
        help_text = f"write `{made[0]}`"
    elif all(is_constant(statement.expression) for statement in statements):
        help_text = "test something measured, or leave cases out by `where` on the sweep"
    return make_error(
        "W0608",
        f"decided by {whose} values alone in {settled:_} of {len(statements):_} {what}",
        node.condition.span,
        note="it is not applicable there, and does not count as a pass",
        help=help_text,
        fix=made[1] if made else (),
    )


def _rewrite(
    node: ast.Criterion, expressions: Sequence[Expression]
) -> tuple[str, tuple[Edit, ...]] | None:
    """Return `B when not A` for `A or B` with the edits that make it; None if that is not sure."""
    operands = _list_alternatives(node.condition, expressions)
    known = [all(map(is_constant, of)) for _, of in operands]
    kept = [operand for (operand, _), settled in zip(operands, known, strict=True) if not settled]
    if not kept:
        return None
    first = known.index(False)
    leading = known == [True] * first + [False] * len(kept)
    if node.when is not None or len(kept) == len(known) or not (leading or not any(known[:first])):
        return None
    if not leading and known != [False] * len(kept) + [True] * (len(known) - len(kept)):
        return None
    source = node.span.source
    start, end = _find_outer(operands[0][0], node), _find_outer(operands[-1][0], node)
    inner, last = _find_outer(kept[0], node), _find_outer(kept[-1], node)
    cut = Span(source, start.start, inner.start) if leading else Span(source, last.end, end.end)
    conditions = [
        _negate(operand, node) for (operand, _), k in zip(operands, known, strict=True) if k
    ]
    when = " and ".join(
        f"({text})" if loose and len(conditions) > 1 else text for text, loose in conditions
    )
    if "#" in cut.text or cut.text.count("(") != cut.text.count(")"):
        return None
    left = " ".join(source.text[inner.start : last.end].split())
    behind = Span(source, node.span.end, node.span.end)
    return f"{left} when {when}", (Edit(cut, ""), Edit(behind, f" when {when}"))


def _list_alternatives(
    node: ast.Expression, expressions: Sequence[Expression]
) -> list[tuple[ast.Expression, list[Expression]]]:
    """Return the operands of `or`, each with its value in each case."""
    if not isinstance(node, ast.Binary) or node.operator != "or":
        return [(node, list(expressions))]
    sides: list[list[Expression]] = [[], []]
    for expression in expressions:
        assert isinstance(expression, Operation)  # noqa: S101 -- it is made of this node
        for side, operand in zip(sides, expression.operands, strict=True):
            side.append(operand)
    return _list_alternatives(node.left, sides[0]) + _list_alternatives(node.right, sides[1])


def _find_outer(node: ast.Expression, within: ast.Criterion) -> Span:
    """Return the place of an operand with the parentheses around it."""
    text, start, end = node.span.source.text, node.span.start, node.span.end
    while True:
        before, behind = text[:start].rstrip(), text[end:].lstrip()
        left, right = len(before) - 1, len(text) - len(behind)
        if not (before.endswith("(") and behind.startswith(")") and within.span.start <= left):
            return Span(node.span.source, start, end)
        start, end = left, right + 1


def _negate(node: ast.Expression, within: ast.Criterion) -> tuple[str, bool]:
    """Return the negation of a condition, and whether it is an `or`."""
    if isinstance(node, ast.Compare):
        text, span = node.span.source.text, node.span
        sign = text[node.left.span.end : node.right.span.start]
        turned = sign.replace(node.operator, OPPOSITE[node.operator])
        left, right = text[span.start : node.left.span.end], text[node.right.span.start : span.end]
        return " ".join(f"{left}{turned}{right}".split()), False
    if isinstance(node, ast.Unary):
        return " ".join(_find_outer(node.operand, within).text.split()), False
    if isinstance(node, ast.Binary):
        sides = [_negate(value, within) for value in (node.left, node.right)]
        if node.operator == "and":
            return " or ".join(text for text, _ in sides), True
        return " and ".join(f"({text})" if loose else text for text, loose in sides), False
    text = " ".join(node.span.text.split())
    return f"not {text}" if isinstance(node, ast.Path) else f"not ({text})", False
