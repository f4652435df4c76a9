"""Sweeps of a test: one case per combination of values, with a name that is safe in any shell."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.evaluate.scope import Binding, bind_known, find_given_items
from qospec.check.evaluate.values import (
    POISON,
    List,
    Poison,
    Symbol,
    Value,
    write_plain_value,
)
from qospec.dataclass import NamedTuple
from qospec.secret import WITHHELD
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope

UNSAFE = re.compile(r"[^A-Za-z0-9._=,:%+-]")


class Point(NamedTuple):
    """One value of a sweep's variable: its binding, its text as written, and its part of a test."""

    binding: Binding
    text: str
    named: bool
    part: int = 0


Combination = tuple[Point, ...]


def enumerate_combinations(
    sweeps: Sequence[tuple[int, ast.Sweep]],
    scopes_of: Callable[[Combination], Sequence[Scope]],
    evaluator: Evaluator,
) -> Iterator[Combination]:
    """Yield all combinations, in source order; a later sweep may depend on an earlier one.

    A sweep comes with the index of its part of the test; `scopes_of` has the names of each.
    """
    yield from _iterate_product(sweeps, (), scopes_of, evaluator)


def _iterate_product(
    sweeps: Sequence[tuple[int, ast.Sweep]],
    sofar: Combination,
    scopes_of: Callable[[Combination], Sequence[Scope]],
    evaluator: Evaluator,
) -> Iterator[Combination]:
    if not sweeps:
        yield sofar
        return
    (part, first), *rest = sweeps
    try:
        rows = _list_rows(first, scopes_of(sofar)[part], evaluator)
    except CheckError as mistake:
        evaluator.context.report(mistake)
        rows = [_make_unknown_row(first)]
    for row in rows:
        evaluator.context.count_iteration(first.span)
        points = (*sofar, *(point._replace(part=part) for point in row))
        where, before = first.where, evaluator.context.mistakes
        if where is None or evaluator.require_truth(where, scopes_of(points)[part]) is not False:
            if evaluator.context.mistakes > before:  # which of the rows are meant is not known
                points = (
                    *sofar,
                    *(point._replace(part=part) for point in _make_unknown_row(first)),
                )
            yield from _iterate_product(rest, points, scopes_of, evaluator)


def make_unknown(sweeps: Sequence[tuple[int, ast.Sweep]]) -> Combination:
    """Return a combination of which no value is known, for what does not depend on one."""
    return tuple(
        point._replace(part=part) for part, sweep in sweeps for point in _make_unknown_row(sweep)
    )


def _make_unknown_row(sweep: ast.Sweep) -> Combination:
    return tuple(_point(name, POISON, "", named=True) for name in sweep.names)


def _list_rows(sweep: ast.Sweep, scope: Scope, evaluator: Evaluator) -> list[Combination]:
    if len(sweep.names) == 1:
        name = sweep.names[0]
        points = [
            _point(name, value, text, named=True)
            for value, text in _evaluate_values(sweep.values, scope, evaluator)
        ]
        items, around = find_given_items(sweep.values, scope)
        for point, item in zip(points, items, strict=False):
            point.binding.argument = item, around
        return [(point,) for point in points]
    return _zip(sweep, scope, evaluator)


def _point(name: ast.Name, value: Value, text: str, *, named: bool) -> Point:
    return Point(bind_known(name, "a sweep's variable", value), escape_for_shell(text), named)


def _evaluate_values(
    node: ast.Expression, scope: Scope, evaluator: Evaluator
) -> list[tuple[Value, str]]:
    if isinstance(node, ast.ListLiteral):
        for row in node.items:
            if isinstance(row, ast.TupleLiteral):
                names = ", ".join(f"x_{place + 1}" for place in range(len(row.items)))
                raise make_error(
                    "E0506",
                    f"a row of {len(row.items)} values needs as many names",
                    row.span,
                    help=f"write `sweep ({names}) in …`",
                )
        values = [(_evaluate_item(item, scope, evaluator), item.span.text) for item in node.items]
    else:
        series = evaluator.require_plain(node, scope)
        if isinstance(series, Poison):  # all else in the case may be right or wrong
            return [(series, "")]
        if not isinstance(series, List):
            raise make_error(
                "E0506",
                f"expected a list or a range to sweep over, found {series.what}",
                node.span,
                help="write `in [first, second]` or `in … .. … step …`",
            )
        values = [(item, write_plain_value(item)) for item in series.items]
    if not values:
        raise make_error("E0506", "this sweep has no values", node.span, help="add a value")
    return [(value, _without_key(text, place)) for place, (value, text) in enumerate(values, 1)]


def _without_key(text: str, place: int) -> str:
    """Return the text of a value, of a key its place: it has no other name that may be shown."""
    stars = text.strip("\"'")
    return f"key{place}" if stars and not stars.strip(WITHHELD) else text


def _evaluate_item(node: ast.Expression, scope: Scope, evaluator: Evaluator) -> Value:
    if isinstance(node, ast.Path) and not node.trail and scope.find(node.name.text) is None:
        return replace(Symbol(node.name.text, node.span), resolved=False)
    return evaluator.require_plain(node, scope)


def _zip(sweep: ast.Sweep, scope: Scope, evaluator: Evaluator) -> list[Combination]:
    if not isinstance(sweep.values, ast.ListLiteral):
        raise make_error(
            "E0506",
            "several names need a list of rows",
            sweep.values.span,
            help="write `in [(1, 2), (3, 4)]`",
        )
    rows: list[list[tuple[Value, str]]] = []
    for place, row in enumerate(sweep.values.items, 1):
        if not isinstance(row, ast.TupleLiteral | ast.ListLiteral) or len(row.items) != len(
            sweep.names
        ):
            raise make_error(
                "E0506",
                f"expected a row of {len(sweep.names)} values",
                row.span,
                secondary=(
                    sweep.names[0].span.extend_to(sweep.names[-1].span),
                    "a value for each of these",
                ),
                help="write it as `(" + ", ".join(name.text for name in sweep.names) + ")`",
            )
        texts = [_without_key(item.span.text, place) for item in row.items]
        values = [_evaluate_item(item, scope, evaluator) for item in row.items]
        rows.append(list(zip(values, texts, strict=True)))
    if not rows:
        raise make_error("E0506", "this sweep has no values", sweep.values.span)
    distinct = len({escape_for_shell(row[0][1]) for row in rows}) == len(rows)
    return [
        tuple(
            _point(name, value, text, named=place == 0 or not distinct)
            for place, (name, (value, text)) in enumerate(zip(sweep.names, row, strict=True))
        )
        for row in rows
    ]


def escape_for_shell(text: str) -> str:
    """Return a value as written, without characters that a shell would interpret."""
    words = (
        text.replace(" ", "")
        .replace("/", "_per_")
        .replace("@", "-")
        .replace("µ", "u")
        .replace("μ", "u")
    )
    return UNSAFE.sub("", words)


def name_case(test: str, points: Combination) -> str:
    """Return `test:x=1,y=5us`."""
    named = ",".join(f"{point.binding.name}={point.text}" for point in points if point.named)
    return f"{test}:{named}" if named else test
