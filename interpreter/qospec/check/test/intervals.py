"""`every 100 ms`: what a report can show by intervals, and how many there may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.machine import BY_INTERVAL, is_known_by_interval
from qospec.check.evaluate.context import make_error
from qospec.check.evaluate.dimensions import describe_dimension
from qospec.check.evaluate.values import Amount, Poison
from qospec.model.expression import Operation, list_counted, list_measurements
from qospec.model.suite import MAX_INTERVALS
from qospec.units import PS_PER_S, TIME, format_value

if TYPE_CHECKING:
    from fractions import Fraction

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.model.expression import Expression
    from qospec.model.suite import Run
    from qospec.source import Span
    from qospec.syntax import ast

EXAMPLE = "write a time such as `every 100 ms`"


def read_interval(
    node: ast.Report,
    expression: Expression | None,
    run: Run | None,
    scope: Scope,
    evaluator: Evaluator,
) -> int | None:
    """Return the length of a report's intervals in ps, None if it has none.

    Raises:
        CheckError: It is not a valid time, or what is reported is not known by intervals.
    """
    if node.every is None:
        return None
    value = evaluator.require_plain(node.every, scope)
    if isinstance(value, Poison):
        return None
    if not isinstance(value, Amount) or value.dimension != TIME:
        what = describe_dimension(value.dimension) if isinstance(value, Amount) else value.what
        message = f"an interval is a time, not {what}"
        raise make_error("E0204", message, node.every.span, help=EXAMPLE)
    if value.value is None:
        return None
    every_ps = _require_whole_ps(value.value, node.every.span)
    if run is not None:
        _require_fitting(every_ps, run.measure_ps, node.every.span)
    if expression is not None:
        _require_series(expression, evaluator, node)
    return every_ps


def _require_whole_ps(seconds: Fraction, span: Span) -> int:
    every_ps = seconds * PS_PER_S
    if every_ps <= 0 or every_ps.denominator != 1:
        found = format_value(seconds, TIME, exact=True)
        bound = "longer than 0 s" if every_ps <= 0 else "a whole number of ps"
        raise make_error("E0205", f"an interval must be {bound}, found {found}", span, help=EXAMPLE)
    return int(every_ps)


def _require_fitting(every_ps: int, measure_ps: int, span: Span) -> None:
    """Refuse an interval longer than the time measured, or one that makes too many parts."""
    if every_ps > measure_ps:
        raise make_error(
            "E0520",
            "this interval is longer than the measurement",
            span,
            help="write a shorter one, or leave `every …` out",
        )
    parts = -(-measure_ps // every_ps)
    if parts > MAX_INTERVALS:
        raise make_error(
            "E0520",
            f"{parts:_} intervals are more than {MAX_INTERVALS:_}",
            span,
            help="write a longer one",
        )


def _require_series(expression: Expression, evaluator: Evaluator, node: ast.Report) -> None:
    """Refuse what is only known for the whole run."""
    metrics = evaluator.context.catalogue.select_role("metric")
    series = {name: kind.build.series for name, kind in metrics.items()}
    if isinstance(expression, Operation) and expression.dimension is None:
        raise make_error(
            "E0520",
            "a condition cannot be shown by intervals",
            node.value.span,
            help="report the value that it compares",
        )
    leaves = list_measurements(expression)
    strange = [
        leaf.text for leaf in leaves if leaf.place or leaf.statistic not in series[leaf.metric]
    ]
    counted = list_counted(expression)
    strange += [leaf.text for leaf in counted if not is_known_by_interval(leaf.observed)]
    if strange:
        known = [
            f"{min((kind.name, *kind.aliases[:1]), key=len)}.{statistic}".removesuffix(".")
            for kind in metrics.values()
            for statistic in kind.build.series
        ]
        raise make_error(
            "E0520",
            f"`{strange[0]}` is known only for the whole run, not for its intervals",
            node.value.span,
            note="what passes a place is counted for the whole run"
            if any(leaf.place for leaf in leaves)
            else f"known for intervals: {' '.join(sorted(known))}; of states of machines:"
            f" {' '.join(BY_INTERVAL)}",
            help="leave `every …` out",
        )
    if not leaves and not counted:
        raise make_error(
            "E0520",
            "nothing is measured here, so all intervals are alike",
            node.value.span,
            help="leave `every …` out",
        )
