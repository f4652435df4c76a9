"""Clauses of a statement: `as range`, what it claims, and `when`, where it applies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.check.evaluate.confidence import find_clause
from qospec.check.evaluate.context import join_mistakes, make_error
from qospec.check.evaluate.criteria import build_condition
from qospec.check.evaluate.values import List, Poison, Text
from qospec.dataclass import NamedTuple
from qospec.diagnostics import correct_spelling, suggest_name
from qospec.model.claims import CLAIMS
from qospec.model.expression import (
    Constant,
    evaluate_without_readings,
    is_constant,
    is_published,
    list_found,
    list_observed,
)
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.check.evaluate.context import CheckError
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.model.expression import Expression
    from qospec.source import Span

DECIDED = "nothing that is measured decides it here"
"""Why a criterion does not apply that is already decided before the run."""


def read_claim(node: ast.Criterion) -> str:
    """Return what kind of claim a criterion makes, "" if none; raises CheckError."""
    if node.claim is None:
        return ""
    word, span = node.claim.text, node.claim.span
    if word not in CLAIMS:
        near = suggest_name(word, CLAIMS)
        raise make_error(
            "E0517",
            f"`{word}` is not a kind of claim",
            span,
            label=f"did you mean `{near}`?" if near else "",
            note="claims: " + " ".join(CLAIMS),
            help=f"write `as {near}`" if near else "write one of them",
            fix=correct_spelling(span, word, CLAIMS),
        )
    if node.kind != "expect":
        raise make_error(
            "E0518",
            f"`{node.kind}` makes no claim: it asks whether the test is valid",
            span,
            help=f"leave `as {word}` out, or write `expect`",
        )
    return word


def read_texts(
    node: ast.Expression, shown: str, scope: Scope, evaluator: Evaluator
) -> list[tuple[str, Span]]:
    """Return a text, or the texts of a list, each with its place; mistakes are reported."""
    known: dict[str, Span] = {}
    value = evaluator.require_plain(node, scope)
    items = value.items if isinstance(value, List) else (value,)
    places = node.items if isinstance(node, ast.ListLiteral) else (node,) * len(items)
    for item, place in zip(items, places, strict=True):
        if isinstance(item, Text) and item.text in known:
            message = f"`{item.text}` is listed twice in {shown}"
            first = (known[item.text], "first listed here") if place is not node else None
            mistake = make_error(
                "E0102", message, place.span, secondary=first, help="leave one of them out"
            )
            evaluator.context.report(mistake)
        elif isinstance(item, Text) and item.text.strip():
            known[item.text] = place.span
        elif isinstance(item, Text):
            message = f"{shown} is a list of texts, and this text is empty"
            help_text = "write what the publication calls it, or leave it out"
            evaluator.context.report(make_error("E0204", message, place.span, help=help_text))
        elif not isinstance(item, Poison):
            message = f"{shown} is a list of texts, not {item.what}"
            help_text = "write a text" if isinstance(item, List) else "write it in quotes"
            evaluator.context.report(make_error("E0204", message, place.span, help=help_text))
    return list(known.items())


def read_claimed(node: ast.Criterion, scope: Scope, evaluator: Evaluator) -> tuple[str, ...]:
    """Return the published statements that a criterion names behind its claim."""
    if node.covers is None:
        return ()
    shown = "what a criterion claims something of"
    found = read_texts(node.covers, shown, scope, evaluator)
    if isinstance(node.covers, ast.ListLiteral) and not node.covers.items:
        raise make_error(
            "E0204",
            f"{shown} is a list of texts, and this one is empty",
            node.covers.span,
            help="leave `of []` out: then it is of all that its test covers",
        )
    return tuple(text for text, _ in found)


class When(NamedTuple):
    """The value of a statement's `when` in a case.

    Attributes:
        met: Whether the statement applies; None where its `when` is in error.
        idle: Why it does not apply; "" where it does.
        published: Whether a published number decides that.
    """

    met: bool | None
    idle: str = ""
    published: bool = False

    @property
    def stand_in(self) -> Expression | None:
        """Return the stand-in for the condition of a statement that does not apply."""
        return Constant(value=True, dimension=None) if self.met is False else None


def evaluate_when(node: ast.Criterion | ast.Report, scope: Scope, evaluator: Evaluator) -> When:
    """Return whether a statement applies in a case.

    Raises:
        CheckError: If that depends on what is only known after the run.
    """
    if node.when is None:
        return When(met=True)
    expression = build_condition(node.when, scope, evaluator)
    if expression is None:
        return When(met=None)
    if not is_constant(expression):
        leaf = (*list_observed(expression), *list_found(expression))[0]
        raise make_error(
            "E0207",
            f"`when` is decided before the run, and `{leaf.text}` is known only after it",
            node.when.span,
            help="move it into the condition; `when` takes only what is swept, given or published",
        )
    met = evaluate_without_readings(expression) is True
    idle = "" if met else f"it applies when {' '.join(node.when.span.text.split())}"
    return When(met, idle, is_published(expression))


def refuse_clauses(node: ast.Criterion, what: str, why: str) -> None:
    """Refuse clauses that only statements of a test can have; raises CheckError.

    Args:
        node: Of a device or a property.
        what: What it is, "an invariant".
        why: Why it has none of them, "holds in every run".
    """
    mistakes = list(_explain_strange(node, what, why))
    if mistakes:
        raise join_mistakes(mistakes)


def _explain_strange(node: ast.Criterion, what: str, why: str) -> Iterator[CheckError]:
    if node.confidence is not None:
        yield make_error(
            "E0512",
            f"{what} {why}: it takes no confidence",
            find_clause(node),
            help="leave `with … confidence` out",
        )
    if node.claim is not None:
        help_text = f"leave `as {node.claim.text}` out"
        yield make_error("E0518", f"{what} makes no claim", node.claim.span, help=help_text)
    if node.when is not None:
        yield make_error(
            "E0518",
            f"{what} {why}: it takes no `when`",
            node.when.span,
            help="leave `when …` out; join what it depends on to the condition by `or`",
        )
