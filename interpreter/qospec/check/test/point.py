"""`point name { load = ndr.load, measure = 60 s }`: the flows at fixed values of the variables."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.catalogue.kinds import LONGEST_PS, REQUIRED, Domain, Parameter
from qospec.check.evaluate.loops import explain_misplaced
from qospec.check.records.record import evaluate_fields
from qospec.check.test.changes import (
    describe_changes,
    evaluate_times,
    list_changes,
    verify_variables,
)
from qospec.check.test.run_settings import RUN, RunFields
from qospec.model.suite import Point, Run
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope


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
        "measure": Parameter("measure", Domain("time", 1, LONGEST_PS), REQUIRED),
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
    changes_ps = evaluate_times(placed, given.get("measure", LONGEST_PS), evaluator)
    if evaluator.context.mistakes > before or "measure" not in given or run is None:
        return None
    times = (int(Fraction(given.get("warmup", run.warmup_ps))), int(given["measure"]))
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
    )
    places = {name.text: bind.value.span for bind in binds for name in bind.names}
    return Point(node.name.text, made, node.span, measure_span=places.get("measure"))
