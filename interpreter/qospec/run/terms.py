"""The terms of a criterion that joins several: each with what it measured by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from qospec.model.expression import Attribute, Constant, Operation, evaluate, observed
from qospec.run.verdict import WHEN_FALSE, shown_as

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.model.expression import Expression, Reader
    from qospec.model.suite import Statement
    from qospec.run.verdict import Judgement, Verdict

JOINS = ("and", "or")
ARITHMETIC = ("+", "-", "*", "/")
INFIX = (*ARITHMETIC, "==", "!=", "<", "<=", ">", ">=", "in")


class Term(NamedTuple):
    """A term in words, and what was found for it."""

    text: str
    expression: Expression
    judgement: Judgement


def terms(statement: Statement, read: Reader) -> list[Term]:
    """Return what each measured term of an `and` or `or` came to; nothing of other criteria.

    A term of an `or` that does not hold fails nothing, so it has no verdict.
    """
    whole = statement.expression
    if not isinstance(whole, Operation) or whole.operator not in JOINS:
        return []
    return [
        Term(
            text_of(each),
            each,
            shown_as(_verdict(each, statement, read, binding=binding), each, read),
        )
        for each, binding in _joined(whole, binding=True)
    ]


def _joined(expression: Expression, *, binding: bool) -> Iterator[tuple[Expression, bool]]:
    """Yield the terms that measure, each with whether the whole is false where it is."""
    if isinstance(expression, Operation) and expression.operator in JOINS:
        for part in expression.operands:
            yield from _joined(part, binding=binding and expression.operator == "and")
    elif observed(expression):
        yield expression, binding


def _verdict(
    term: Expression, statement: Statement, read: Reader, *, binding: bool
) -> Verdict | None:
    value = evaluate(term, read)
    if value is None:
        return "inconclusive" if binding else None
    return "pass" if value is True else WHEN_FALSE[statement.kind] if binding else None


def text_of(expression: Expression) -> str:
    """Return an expression as an author would write it."""
    if isinstance(expression, Attribute):
        return expression.name
    if not isinstance(expression, Operation):
        known = isinstance(expression, Constant) and not expression.text
        return str(expression.value) if known else expression.text  # type: ignore[union-attr]
    parts = [text_of(part) for part in expression.operands]
    if expression.operator in ARITHMETIC:
        nested = [isinstance(o, Operation) and o.operator in INFIX for o in expression.operands]
        parts = [f"({part})" if inner else part for part, inner in zip(parts, nested, strict=True)]
    if expression.operator in INFIX:
        return f" {expression.operator} ".join(parts)
    if expression.operator in ("within", "within share"):
        value, tolerance, target = parts
        return f"{value} within {tolerance} of {target}"
    if expression.operator == "list":
        return f"[{', '.join(parts)}]"
    sign = {"negate": "-", "not": "not "}.get(expression.operator)
    return f"{expression.operator}({', '.join(parts)})" if sign is None else f"{sign}{parts[0]}"
