"""What reports call by a label, and what a criterion that means the same names instead."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from qospec.check.evaluate.context import CheckError, flatten_text, make_error, replace_names
from qospec.check.evaluate.scope import FLOWS
from qospec.dataclass import NamedTuple
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.check.evaluate.context import Case
    from qospec.check.evaluate.scope import Scope

_LIST = re.compile(r"(^|\.)(test_)?flows$")
"""A list of flows, of a test or of a point."""


class Labelled(NamedTuple):
    """A report with a label, and the loops around it, the outermost first."""

    report: ast.Report
    loops: tuple[ast.Loop, ...]


def label_as_name(name: ast.Name, scope: Scope, case: Case | None) -> CheckError | None:
    """Return the mistake of naming what only a report calls so; None if no report does.

    The remedy names what the first of them shows; of a loop, that of the first iteration.
    """
    every = _list_labelled(scope.list_statements_around(), ())
    shown = next((statement for statement in every if _find_label(statement) == name.text), None)
    if shown is None:
        return None
    single, of_a_loop = FLOWS
    flows = [binding.name for binding in scope.list_bindings() if binding.what == single]
    flows += [
        f"{binding.name}[0]" for binding in scope.list_bindings() if binding.what == of_a_loop
    ]
    first: dict[str, str] = {}
    for loop in shown.loops:
        first[loop.name.text] = replace_names(_write_first(loop.values, flows), first)
    written = shown.report.value.span
    text = flatten_text(written.text) if case is None else case.find_words_at_use(written)
    return make_error(
        "E0101",
        f"nothing here is named `{name.text}`",
        name.span,
        secondary=(shown.report.span, "only a label of the report"),
        help=f"write what it shows: `{replace_names(text, first)}`",
    )


def _find_label(labelled: Labelled) -> str:
    label = labelled.report.label
    return "" if label is None else label.text


def _list_labelled(
    statements: Sequence[ast.Statement], loops: tuple[ast.Loop, ...]
) -> Iterator[Labelled]:
    for statement in statements:
        if isinstance(statement, ast.Report):
            yield Labelled(statement, loops)
        elif isinstance(statement, ast.Loop):
            yield from _list_labelled(statement.body.statements, (*loops, statement))


def _write_first(values: ast.Expression, flows: Sequence[str]) -> str:
    """Return how the first of the values of a loop is written outside it."""
    if isinstance(values, ast.ListLiteral) and values.items:
        return flatten_text(values.items[0].span.text)
    if isinstance(values, ast.Range):
        return flatten_text(values.first.span.text)
    text = flatten_text(values.span.text)
    if _LIST.search(text):
        return _LIST.sub(rf"\g<1>{flows[0] if flows else 'FLOW'}", text)
    return f"{text}[0]"
