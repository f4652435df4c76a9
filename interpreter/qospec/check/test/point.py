"""`point name { load = ndr.load, measure = 60 s }`: the flows at fixed values of the variables."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.catalogue.kinds import LONGEST_PS
from qospec.check.evaluate.context import make_error
from qospec.check.evaluate.dimensions import write_example
from qospec.check.evaluate.loops import explain_misplaced
from qospec.check.evaluate.values import Amount
from qospec.check.records.record import evaluate_fields
from qospec.check.test.changes import (
    describe_changes,
    evaluate_times,
    list_changes,
    verify_variables,
)
from qospec.check.test.run_settings import RUN, RunFields, measure_items
from qospec.model.suite import ItemCount, Point, Run, list_tested
from qospec.syntax import ast
from qospec.units import TIME

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from qospec.check.evaluate.context import CheckError
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.model.suite import Flow
    from qospec.source import Span


class PointFields(RunFields):
    """The fields of a point.

    Other names in its body give values to variables.

    ```qos
    point half { load = 50 Mbit/s @line, measure = 1 s, repeat = 5 }
    ```

    Criteria ask for what is measured there: `half.user.delay.p99` of a flow, `half.flows` of all.
    """


POINT = replace(
    RUN,
    name="point",
    summary="How an operating point is run.",
    build=PointFields,
    parameters={
        "warmup": RUN.parameters["warmup"],
        "measure": RUN.parameters["measure"],
        **{name: RUN.parameters[name] for name in ("repeat", "payload")},
    },
)
"""It is run as a case is."""


def build_point(
    node: ast.Point,
    binds: Sequence[ast.Bind],
    variables: Collection[str],
    run: Run | None,
    scope: Scope,
    evaluator: Evaluator,
) -> Point | None:
    """Return an operating point; None after a mistake, which is reported.

    Args:
        node: As it is written.
        binds: Those of its bindings that are fields.
        variables: The names that its other bindings give values.
        run: How the whole case is run, for the default of `warmup`; None after a mistake.
        scope: The names that it sees.
        evaluator: For its values.
    """
    before = evaluator.context.mistakes
    for statement in node.body.statements:
        if not isinstance(statement, ast.Bind | ast.At):
            evaluator.context.report(explain_misplaced(statement, "a point"))
    given: dict[str, Any] = evaluate_fields(POINT, binds, node.body, scope, evaluator)
    changes = list_changes(node)
    verify_variables(changes, node, variables, evaluator)
    placed = [(change, scope) for change in changes]
    measure, span = given.get("measure", LONGEST_PS), _find_measure(node, binds)
    counted = isinstance(measure, Amount)
    if counted and placed:
        evaluator.context.report(_explain_changing(placed[0][0], span))
    changes_ps = evaluate_times(placed, LONGEST_PS if counted else measure, evaluator)
    if evaluator.context.mistakes > before or "measure" not in given or run is None:
        return None
    warmup_ps = int(Fraction(given.get("warmup", run.warmup_ps)))
    times = (warmup_ps, LONGEST_PS if counted else int(measure))
    draws = run.common_draws
    made = Run(
        *times,
        given.get("repeat", 1),
        overload=True,
        common_draws=draws,
        payload=given.get("payload", run.payload),
        promises=run.promises,
        changes_ps=changes_ps,
        changes=describe_changes(changes, evaluator),
        drains=counted and not warmup_ps,
    )
    items = ItemCount(measure.value or Fraction(0), measure.dimension) if counted else None
    return Point(node.name.text, made, node.span, measure_span=span, measure_items=items)


def size_point(point: Point, flows: Sequence[Flow]) -> Point:
    """Return a point that is as long as what it asks for takes to be sent by what it tests.

    Raises CheckError if flows send others, or have no rate.
    """
    if point.measure_items is None:
        return point
    span = point.measure_span or point.span
    length_ps = measure_items(point.measure_items, list_tested(flows), span)
    return replace(point, run=replace(point.run, measure_ps=length_ps))


def explain_found(point: Point) -> CheckError:
    """Return the mistake of a count at a load that is found: how long it takes is not known."""
    return make_error(
        "E0514",
        f"`measure` is a number of items, and the load of `{point.name}` is found by a search",
        point.measure_span or point.span,
        note="how long flows take to send so many is not known before",
        help=write_example(TIME),
    )


def _explain_changing(change: ast.At, span: Span) -> CheckError:
    return make_error(
        "E0514",
        "`measure` is a number of items, and what flows send changes",
        span,
        secondary=(change.span, "changed here"),
        note="how long flows take to send so many follows from their rates",
        help=write_example(TIME),
    )


def _find_measure(node: ast.Point, binds: Sequence[ast.Bind]) -> Span:
    """Return where it is written how long a point is measured."""
    places = {name.text: bind.value.span for bind in binds for name in bind.names}
    return places.get("measure", node.span)
