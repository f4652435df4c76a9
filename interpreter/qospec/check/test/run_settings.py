"""`run { warmup = 0 s, measure = 60 s, repeat = 1, … }`, and `skip unless condition "why"`."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.catalogue.kinds import LONGEST_PS, REQUIRED, Domain, Kind, Parameter
from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.evaluate.dimensions import describe_dimension, write_example
from qospec.check.evaluate.values import Amount
from qospec.check.records.record import Record
from qospec.model.suite import MAX_REPEATS, ItemCount, Run, sum_offered_rate
from qospec.syntax import ast
from qospec.units import CELLS, PACKETS, PS_PER_S, TIME, format_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.check.test.parts import CaseScope
    from qospec.model.suite import Flow
    from qospec.source import Span


class RunFields:
    """The fields of `run`.

    ```qos
    run { warmup = 100 ms, measure = 10 s, repeat = 5 }
    ```
    """

    warmup: int
    """How long flows send before anything is measured."""
    measure: int
    """How long is measured, or how many items flows send together."""
    repeat: int
    """How many trials there are, each with draws of its own."""
    overload: bool
    """Whether flows may ask for more than a line carries."""
    common_draws: bool
    """Whether all cases of the test draw the same random numbers."""
    payload: bool
    """Whether the bytes of items are made, encrypted, decrypted and compared."""
    promises: bool
    """Whether a trial is held to what all devices promise."""


RUN = Kind(
    name="run",
    role="element",
    duty="element",
    summary="How a case is run.",
    source="spec/6-procedures.md",
    parameters={
        "warmup": Parameter("warmup", Domain("time", 0, LONGEST_PS), 0),
        "measure": Parameter("measure", Domain("trial", 1, LONGEST_PS), REQUIRED),
        "repeat": Parameter("repeat", Domain("integer", 1, MAX_REPEATS), 1),
        "overload": Parameter("overload", Domain("truth"), default=False),
        "common_draws": Parameter("common_draws", Domain("truth"), default=False),
        "payload": Parameter("payload", Domain("truth"), default=False),
        "promises": Parameter("promises", Domain("truth"), default=False),
    },
    build=RunFields,
)
"""`run` has fields like any kind, and is checked like one."""


PHASED = replace(
    RUN,
    parameters={name: RUN.parameters[name] for name in ("warmup", "repeat", "payload", "promises")},
)
"""Of a test with searches or points: these have the rest."""


SET_BY_PHASES = {
    "measure": (
        "each phase says how long its trials measure",
        "write `trial = …` in a search, and `measure = …` in a point",
    ),
    "overload": ("phases may offer more than a line inside the network carries", "remove it"),
}
"""Fields of `run` that phases determine: why, and what to write instead."""


def build_run(
    names: CaseScope, evaluator: Evaluator, flows: Sequence[Flow] | None = None
) -> Run | None:
    """Return how a test is run, or None after a mistake or for a count of unknown `flows`.

    Phases have the length of their trials themselves, and may offer more than a line inside the
    network carries.
    """
    phased = has_phases(names)
    found = list(names.select_statements(ast.Run))
    if not found and phased:
        return _is_phased({})
    if not found:
        if names.topology is not None and not names.scope.may_hold("run"):
            message = f"`{names.test.name.text}` does not say how long to measure"
            help_text = "add `run { measure = 10 s }`"
            evaluator.context.report(
                make_error("E0505", message, names.test.name.span, help=help_text)
            )
        return None
    if len(found) > 1:
        message, first = "`run` is already declared", (found[0][0].span, "first declared here")
        evaluator.context.report(
            make_error("E0102", message, found[1][0].span, secondary=first, help="keep one of them")
        )
    node, scope = found[0]
    body = _without_fields_of_phases(node.body, names, evaluator) if phased else node.body
    kind = PHASED if phased else RUN
    record = Record(kind, {}, node.span, evaluator).copy(body, scope, evaluator)
    arguments, complete = record.evaluate_arguments(evaluator)
    if not complete or "repeat" in record.excused - record.given.keys():
        return None
    if phased:
        return _is_phased(arguments)
    given: dict[str, Any] = {"warmup": 0, "repeat": 1, **arguments}
    warmup_ps, measure = int(Fraction(given["warmup"])), given["measure"]
    if counted := isinstance(measure, Amount):
        measure = _measure_items(measure, flows, record.given["measure"].value.span, evaluator)
    if measure is None:
        return None
    return Run(
        warmup_ps,
        measure,
        given["repeat"],
        given.get("overload", False),
        given.get("common_draws", False),
        given.get("payload", False),
        given.get("promises", False),
        drains=counted and not warmup_ps,  # of a window cut at both ends, what is late evens out
    )


def _measure_items(
    items: Amount, flows: Sequence[Flow] | None, span: Span, evaluator: Evaluator
) -> int | None:
    """Return how long flows take to send so many items; None, which is reported, if not known."""
    if flows is None or items.value is None:
        return None
    try:
        return measure_items(ItemCount(items.value, items.dimension), flows, span)
    except CheckError as mistake:
        evaluator.context.report(mistake)
        return None


def measure_items(items: ItemCount, flows: Sequence[Flow], span: Span) -> int:
    """Return how long flows take to send so many items.

    Raises CheckError if they send others, or have no rate that stays the same.
    """
    for flow in flows:
        _verify_counted(flow, items, span)
    return find_length_ps(items.value, flows, "measure", span)


def _verify_counted(flow: Flow, items: ItemCount, span: Span) -> None:
    """Refuse to count the items of a flow that sends others, or at no single rate."""
    unit = CELLS if flow.packets is None else PACKETS
    if items.dimension != unit and CELLS in (unit, items.dimension):
        sent = describe_dimension(unit).removeprefix("a number of ")
        counted = describe_dimension(items.dimension)
        raise make_error(
            "E0202",
            f"`{flow.name}` sends {sent}, and `measure` is {counted}",
            span,
            secondary=(flow.span, "sent here"),
            help=f"write `{format_value(items.value, unit)}`",
        )
    rates = flow.traffic.begin(flow.arrivals).list_rates(flow.connections)
    if len(rates) > 1 or not flow.item_rate or flow.traffic.is_answered:
        steady = "rate that stays the same from its beginning on"
        lacks = steady if flow.item_rate else "rate"
        raise make_error(
            "E0514",
            f"`measure` is a number of items, and `{flow.name}` has no {lacks}",
            span,
            secondary=(flow.span, "sent here"),
            note="how long flows take to send so many follows from their rates",
            help=write_example(TIME),
        )


def find_length_ps(items: Fraction, flows: Sequence[Flow], field: str, span: Span) -> int:
    """Return how long the tested flows together take to be offered so many items.

    Of items at regular distances it ends where the next one would be sent; of random ones there
    are so many on average. Raises CheckError if the flows have no rate.
    """
    rate = sum_offered_rate(flows)
    if rate and 1 <= items * PS_PER_S / rate <= LONGEST_PS:
        return int(items * PS_PER_S / rate)
    length = f"the flows take {format_value(items / rate, TIME)} to send them" if rate else ""
    raise make_error(
        "E0514",
        f"`{field}` is a number of items, and {length or 'no flow has a rate'}",
        span,
        help=write_example(TIME),
    )


def has_phases(names: CaseScope) -> bool:
    """Return whether a test has searches or points."""
    return any(names.select_statements(ast.Search)) or any(names.select_statements(ast.Point))


def _without_fields_of_phases(body: ast.Body, names: CaseScope, evaluator: Evaluator) -> ast.Body:
    """Report the fields of `run` that phases determine, and leave them out."""
    kept = []
    for node in body.statements:
        if not isinstance(node, ast.Bind) or node.names[0].text not in SET_BY_PHASES:
            kept.append(node)
            continue
        name = node.names[0]
        why, way_out = SET_BY_PHASES[name.text]
        phase = "search" if any(names.select_statements(ast.Search)) else "point"
        message = f"`run` has no field `{name.text}` in a test with a {phase}"
        evaluator.context.report(make_error("E0104", message, name.span, note=why, help=way_out))
    return replace(body, statements=tuple(kept))


def _is_phased(given: dict[str, Any]) -> Run:
    return Run(
        int(given.get("warmup", 0)),
        0,
        given.get("repeat", 1),
        overload=True,
        payload=given.get("payload", False),
        promises=given.get("promises", False),
    )


def skip_reason(names: CaseScope, evaluator: Evaluator) -> str:
    """Return why a case is left out: the first reason whose condition is false; "" if none is.

    The condition must be known before the run; a mistake in it is reported.
    """
    reasons = [
        node.reason.text.strip()
        for node, scope in names.select_statements(ast.Skip)
        if not _is_met(node, scope, evaluator)
    ]
    return reasons[0] if reasons else ""


def _is_met(node: ast.Skip, scope: Scope, evaluator: Evaluator) -> bool:
    if not node.reason.text.strip():
        evaluator.context.report(_explain_no_reason(node))
    return evaluator.require_truth(node.condition, scope) is not False


def _explain_no_reason(node: ast.Skip) -> CheckError:
    return make_error(
        "E0513",
        "a skipped case needs a reason",
        node.reason.span,
        help="say why: the report shows it",
    )
