"""The outcome of a run: the document that `--json` prints, the record keeps and reports show.

Everything in it follows from the specification and the seed: no clock, no machine, no order in
which cases end. Within a schema version, fields are only added. What flows send is summarized over
all cases of a test, and what was discarded over all repeats of a case.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.catalogue.kinds import NESTED, discover, read_declaration
from qospec.catalogue.statistics import describe_cause, name_cause
from qospec.judge.conclusions import conclude, conclude_case, has_measuring_criterion
from qospec.judge.hanging import describe_hangs, explain_hangs, merge_hangs
from qospec.judge.readings import QUANTILES
from qospec.judge.verdict import PROBLEMS, VERDICTS, Verdict, find_worst
from qospec.model.expression import list_found as found_in
from qospec.model.expression import list_measurements
from qospec.model.suite import JUDGED, Search, is_report_only
from qospec.plan.settings import (
    FieldValue,
    list_settings,
    write_alternatives,
    write_range,
    write_setting,
)
from qospec.protocol.streams import describe_items
from qospec.record.histograms import describe_histograms
from qospec.record.networks import describe_kernel, describe_networks, describe_rest, list_links
from qospec.record.parts import read_part
from qospec.record.phases import describe_phase_results, explain_phases
from qospec.record.quantity import HISTOGRAM_ERROR, describe_quantity
from qospec.record.series import describe_series
from qospec.record.statements import (
    count_by_claim,
    count_published,
    count_statements,
    describe_statement,
)
from qospec.units import (
    CELL_RATE,
    FRAME_RATE,
    PACKET_RATE,
    PS_PER_S,
    RATIO,
    TIME,
    format_value,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from fractions import Fraction

    from qospec.catalogue.kinds import Kind
    from qospec.document import Document
    from qospec.judge.conclusions import Conclusion
    from qospec.judge.phases import PhasesResult
    from qospec.judge.readings import Bounded, Readings
    from qospec.judge.result import Judged, Result
    from qospec.model.suite import Case, Flow, Suite, Test
    from qospec.plan.plan import CasePlan
    from qospec.units import Dimension

SCHEMA = 1
NOT_RUN = "not run: the run was interrupted"
STOPPED = "not run: the run was stopped by a case that did not pass"
INTERRUPTED = "interrupted: only trials that had ended are counted"
NOTHING_LOST = "all that was sent arrived; the elements of the specification were not used"
NOTHING_MEASURED = (
    "no criterion that applies to this case measures anything: exclude it by `where` on the sweep"
)
_SKIPPED: Document = {"verdict": "skip", "ran": True, "errors": []}


def describe_case(plan: CasePlan, result: Result) -> Document:
    """Return the document of a case, as of `not_run`."""
    if plan.case.skip:
        return {**describe_not_run(plan), **_SKIPPED, "why": [plan.case.skip]}
    errors = bool(result.errors)
    judged = [result.list_judged(number) for number, _ in enumerate(plan.case.statements)]
    conclusions = [
        conclude(statement, its, plan.case.run.repeat, errors=errors)
        for statement, its in zip(plan.case.statements, judged, strict=True)
    ]
    readings = [repeat.readings for repeat in result.repeats]
    hangs = merge_hangs(hang for trial in readings for hang in trial.list_hangs())
    stuck = explain_hangs(hangs, plan.case.statements)
    verdict = conclude_case(plan.case, conclusions, errors=errors, complete=not stuck)
    return {
        **_describe_run(plan, verdict, conclusions, judged, readings),
        **describe_hangs(hangs, plan.case.statements),
        "bounds": describe_bounds(readings),
        "why": [*stuck, *_explain_losses(plan, readings, erroneous=bool(result.errors))],
        "errors": list(result.errors),
    }


def describe_phases(plan: CasePlan, result: PhasesResult) -> Document:
    """Return the document of a case with phases, as of `not_run`."""
    errors = bool(result.errors)
    judged = [result.judge_statement(statement) for statement in plan.case.statements]
    conclusions = [
        conclude(statement, its, planned, errors=errors)
        for statement, (its, planned) in zip(plan.case.statements, judged, strict=True)
    ]
    readings = result.list_readings()
    hangs = merge_hangs(result.list_hangs())
    stuck = explain_hangs(hangs, plan.case.statements)
    complete = result.complete and not stuck
    verdict = conclude_case(plan.case, conclusions, errors=errors, complete=complete)
    document = _describe_run(plan, verdict, conclusions, [its for its, _ in judged], readings)
    wrong = [
        statement.expression
        for statement, conclusion in zip(plan.case.statements, conclusions, strict=True)
        if conclusion.verdict in PROBLEMS
    ]
    unmet = {leaf.goal for expression in wrong for leaf in found_in(expression)}
    points = {leaf.network for expression in wrong for leaf in list_measurements(expression)}
    why = [*stuck, *_explain_unjudged(plan.case), *explain_phases(result, unmet, points)]
    if verdict in PROBLEMS and not (why or document["losses"] or result.errors):
        why = [_explain_nothing_discarded(plan, ())]
    return {
        **document,
        **describe_hangs(hangs, plan.case.statements),
        "phases": describe_phase_results(result),
        "why": why,
        "errors": list(result.errors),
    }


def _describe_run(
    plan: CasePlan,
    verdict: Verdict,
    conclusions: Sequence[Conclusion],
    judged: Sequence[Sequence[Judged]],
    readings: Sequence[Readings],
) -> Document:
    """Return what all documents of cases that ran have, but for reasons."""
    repeats = [describe_metrics(reading) for reading in readings]
    statements = zip(plan.case.statements, conclusions, judged, strict=True)
    return {
        **describe_not_run(plan),
        "verdict": verdict,
        "ran": True,
        "statements": [
            {
                **describe_statement(statement, conclusion),
                **describe_series(statement, its, plan.case),
            }
            for statement, conclusion, its in statements
        ],
        "metrics": repeats[0] if repeats else {},
        "repeats": repeats,
        "delays": describe_histograms(plan.case.statements, readings),
        "losses": _describe_losses(readings),
        **describe_kernel(readings),
    }


def describe_not_run(plan: CasePlan, command: str = "") -> Document:
    """Return the document of a case that has not ended: nothing is decided.

    The `command` that runs it alone is known where all of the run is.
    """
    run = plan.case.run
    measure_ps = 0 if plan.case.phases else run.measure_ps
    return {
        "name": plan.case.name,
        "test": plan.test,
        "parameters": dict(plan.case.parameters),
        "verdict": "inconclusive",
        "ran": False,
        "links": list_links(plan.case.networks[""]),
        "run": {
            "warmup": describe_quantity(Fraction(run.warmup_ps, PS_PER_S), TIME),
            "measure": describe_quantity(Fraction(measure_ps, PS_PER_S), TIME),
            "repeat": run.repeat,
            **({"common_draws": True} if run.common_draws else {}),
            **({"payload": True} if run.payload else {}),
            **({"promises": True} if run.promises else {}),
        },
        "statements": [],
        "metrics": {},
        "repeats": [],
        "losses": [],
        "why": [],
        "errors": [NOT_RUN],
        "again": command,
    }


def describe_interrupted(document: Document) -> Document:
    """Return the document of a case with phases of which only some trials have ended."""
    errors = [INTERRUPTED, *document["errors"]]
    return {**document, "verdict": "inconclusive", "ran": False, "errors": errors}


def _describe_losses(repeats: Sequence[Readings]) -> list[Document]:
    return [
        {
            "repeat": number,
            "flow": loss.population,
            "element": loss.element,
            "cause": loss.cause,
            "carries": loss.carries,
            "cells": loss.cells,
        }
        for number, readings in enumerate(repeats, 1)
        for loss in readings.list_losses()
    ]


def describe_bounds(repeats: Sequence[Readings]) -> list[Document]:
    """Return what is proved in a case, with the most that was measured in any repeat."""
    measured: dict[str, Fraction] = {}
    found: dict[str, Bounded] = {}
    for readings in repeats:
        for bound in readings.list_bounds():
            found[bound.what] = bound
            if bound.measured is not None:
                measured[bound.what] = max(bound.measured, measured.get(bound.what, bound.measured))
    return [_describe_bound(bound, measured.get(what)) for what, bound in found.items()]


def _describe_bound(of: Bounded, measured: Fraction | None) -> Document:
    share = None if measured is None or not of.most else measured / of.most
    return {
        "what": of.what,
        "most": describe_quantity(of.most, of.dimension),
        "measured": describe_quantity(measured, of.dimension),
        "share": describe_quantity(share, RATIO, digits=3),
        "why": of.why,
    }


def _explain_unjudged(case: Case) -> Iterator[str]:
    """Yield why nothing was judged and what to do about it, if nothing was."""
    if has_measuring_criterion(case.statements) or is_report_only([case]):
        return
    if case.parameters and any(
        statement.kind in JUDGED and statement.idle for statement in case.statements
    ):
        yield NOTHING_MEASURED
    else:
        yield "no criterion measures anything"


def describe_metrics(readings: Readings) -> Document:
    """Return the values of all metrics in one trial, by population."""
    metrics: Document = {}
    for population, metric, value, dimension in readings.list_all():
        shown = describe_quantity(value, dimension)
        if shown is not None and metric.rpartition(".")[2] in QUANTILES:
            shown["error"] = HISTOGRAM_ERROR
        metrics.setdefault(population, {})[metric] = shown
    return metrics


def _explain_losses(plan: CasePlan, repeats: Sequence[Readings], *, erroneous: bool) -> list[str]:
    """Return in sentences which elements discarded items; if none did, which could have.

    After an error they could not show it.
    """
    lines = list(_explain_unjudged(plan.case))
    lines += [words for readings in repeats for words in readings.describe_silent_flows()]
    lines += map(describe_loss, _describe_losses(repeats))
    if not (lines or all(readings.is_modelled for readings in repeats)):
        return [NOTHING_LOST]
    if lines or erroneous or plan.case.chosen is not None:
        return list(dict.fromkeys(lines))
    return [_explain_nothing_discarded(plan, repeats)]


def _explain_nothing_discarded(plan: CasePlan, repeats: Sequence[Readings]) -> str:
    """Return a sentence with the elements that could have discarded items, but did not.

    Invariants count whole trials, so if others than those sent during the measurement were
    discarded, it says where.
    """
    could: dict[str, tuple[str, ...]] = {}
    others: Counter[str] = Counter()
    for network, planned in plan.networks.items():
        for discarders in planned.discarders.values():
            could.update(discarders)
        for path, cause in dict.fromkeys((p, c) for p, causes in could.items() for c in causes):
            others[f"{path} ({{}} {describe_cause(cause)})"] += sum(
                readings.count_discarded(network, path, cause) for readings in repeats
            )
    named = ", ".join(
        f"{path} (0 {' or '.join(dict.fromkeys(map(name_cause, causes)))})"
        for path, causes in could.items()
    )
    flows = [flow for phase in plan.phases for flow in phase.flows] or plan.case.flows
    if not flows:
        return describe_rest(plan.networks.values(), repeats[-1].machines if repeats else {})
    sent = sorted({"cell" if flow.packets is None else "packet" for flow in flows})
    nothing = f"no {' or '.join(sent)} was discarded"
    if others.total():
        some = ", ".join(where.format(f"{count:_}") for where, count in others.items() if count)
        return f"{nothing} that was sent during the measurement; others were: {some}"
    return f"{nothing}: {named}" if named else nothing


def describe_frame(
    suite: Suite, plans: Sequence[CasePlan], seed: str, provenance: Document
) -> Document:
    """Return what is known of the outcome before the run, whose plans are these."""
    in_phases = {
        id(plan.case): [flow for phase in plan.phases for flow in phase.flows]
        for plan in plans
        if plan.phases
    }
    return {
        "schema": SCHEMA,
        "qospec": provenance["qospec"],
        "seed": seed,
        "tests": [_describe_test(test, in_phases) for test in suite.tests],
        "references": [
            {
                "name": reference.name,
                "title": reference.title,
                "place": reference.span.recorded_place,
                "entries": [list(entry) for entry in reference.entries],
                **({"statements": reference.statements} if reference.statements else {}),
            }
            for reference in suite.references
        ],
        "definitions": _describe_definitions(suite),
        "provenance": provenance,
    }


def complete_outcome(
    frame: Document,
    planned: Sequence[Document],
    done: Sequence[Document],
    *,
    stopped: bool = False,
) -> Document:
    """Return the outcome: the cases that have ended, and the others as not run.

    Of a part of a run it has the cases of that part; `planned` are all. If it was `stopped`, that
    is why cases were not run.
    """
    part = read_part(frame)
    planned = planned if part is None else part.choose(planned)
    left_out = {"errors": [STOPPED]} if stopped else {}
    ended = {case["name"]: case for case in done}
    cases = [ended.get(case["name"]) or {**case, **left_out} for case in planned]
    return {**frame, **conclude_outcome(frame, cases, stopped=stopped), "cases": cases}


def conclude_outcome(
    frame: Document, cases: Sequence[Document], *, stopped: bool = False
) -> Document:
    """Return what documents of cases come to together: `state`, `verdict` and `summary`.

    The frame is the outcome, as far as it is known before the run.
    """
    verdicts: list[Verdict] = [case["verdict"] for case in cases]
    seen = [case["verdict"] for case in cases if has_run(case)]
    left = len(cases) - len(seen)
    covered = count_statements(frame["tests"], cases)
    published = count_published(frame, covered)
    cut = "stopped" if stopped else "interrupted"
    return {
        "state": "complete" if all(map(is_finished, cases)) else cut,
        "verdict": find_worst(verdicts),
        "summary": {
            **{verdict: seen.count(verdict) for verdict in VERDICTS},
            **({"not run": left} if left else {}),
            "criteria": count_by_claim(cases),
            "statements": covered,
            **({"published": published} if published else {}),
        },
    }


def list_files(outcome: Document) -> dict[str, str]:
    """Return by the name of each case the file that declares it, as records have it."""
    places = {test["name"]: test["place"] for test in outcome["tests"]}
    return {
        case["name"]: str(case.get("place", places.get(case["test"]))).rsplit(":", 2)[0]
        for case in outcome["cases"]
    }


def has_run(case: Mapping[str, Any]) -> bool:
    """Return whether a case was begun before the run was interrupted or stopped."""
    return not any(error.startswith("not run:") for error in case.get("errors", ()))


def is_finished(case: Mapping[str, Any]) -> bool:
    """Return whether a case has ended, and was not interrupted."""
    return has_run(case) and INTERRUPTED not in case["errors"]


def _describe_test(test: Test, in_phases: Mapping[int, Sequence[Flow]]) -> Document:
    networks = test.cases[0].networks
    return {
        "name": test.name,
        "description": test.doc,
        "covers": list(test.covers),
        "not_reproduced": [{"what": what, "why": why} for what, why in test.not_reproduced],
        "follows": list(test.follows),
        "deviations": [{"what": what, "why": why} for what, why in test.deviations],
        "place": test.span.recorded_place,
        "links": list_links(networks[""]),
        "flows": describe_flows(
            flow for case in test.cases for flow in in_phases.get(id(case), case.flows)
        ),
        "controls": {name: list_links(network) for name, network in networks.items() if name},
        "networks": describe_networks(test.cases),
    }


_ALGORITHMS = ("dropping", "congestion")
"""The domains of fields that name an algorithm, which a test is of as much as of the element."""


def _describe_definitions(suite: Suite) -> list[Document]:
    """Return the kinds that are used, each with its source; metrics are those of statements."""
    cases = [case for test in suite.tests for case in test.cases]
    methods = discover().select_role("method")
    kinds = {
        (kind.role, kind.name): kind
        for case in cases
        for kind in (
            *(instance.kind for network in case.networks.values() for instance in network.elements),
            *(flow.kind for flow in case.flows),
            *(
                read_declaration(type(flow.arrivals))
                for flow in case.flows
                if not (flow.traffic.is_answered or flow.traffic.is_program)
            ),
            *(methods[phase.method] for phase in case.phases if isinstance(phase, Search)),
            *_list_chosen(case),
        )
    }
    named = {
        leaf.metric
        for case in cases
        for statement in case.statements
        for leaf in list_measurements(statement.expression)
    }
    metrics = discover().select_role("metric")
    kinds.update({("metric", name): metrics[name] for name in named})
    return [
        {"name": kind.name, "role": kind.role, "summary": kind.summary, "source": kind.source}
        for _, kind in sorted(kinds.items())
    ]


def _list_chosen(case: Case) -> Iterator[Kind]:
    """Yield the drop policies and congestion controls of a case, named or by default."""
    held = [
        *((i.kind, i.element) for network in case.networks.values() for i in network.elements),
        *((flow.kind, flow.traffic) for flow in case.flows),
    ]
    for kind, made in held:
        for parameter in kind.parameters.values():
            if parameter.domain.name in _ALGORITHMS:
                chosen = getattr(made, parameter.name)
                if chosen is not None:
                    yield read_declaration(type(chosen))
                elif parameter.domain.implied:
                    role = NESTED[parameter.domain.name]
                    yield discover().select_role(role)[parameter.domain.implied]


def describe_loss(loss: Mapping[str, Any]) -> str:
    """Return the sentence of a loss in one repeat."""
    return discard_sentence({**loss, "least": loss["cells"], "most": loss["cells"], "when": ""})


def discard_sentence(discard: Mapping[str, Any]) -> str:
    """Return the sentence of a discard: the `least` and `most` of any repeat, and `when`."""
    ends = dict.fromkeys(f"{discard[end]:_}" for end in ("least", "most"))
    item, flow = describe_items(discard["flow"], discard["carries"])
    items = item + "s" * (discard["most"] != 1)
    when = f" {discard['when']}" if discard["when"] else ""
    lost = f"{' to '.join(ends)} {items} of {flow}{when}"
    return f"{lost}: {discard['element']} ({describe_cause(discard['cause'])})"


def describe_flows(every: Iterable[Flow]) -> list[Document]:
    """Return what flows send, by name; where those of a name differ, from the least to the most.

    Args:
        every: Of all cases of a test: of those with phases at the ends of what each phase may try.
    """
    found: dict[str, list[Flow]] = {}
    for flow in every:
        found.setdefault(flow.name, []).append(flow)
    return [
        {
            "name": name,
            "from": write_alternatives(_describe_hosts(flow.origins) for flow in flows),
            "to": write_alternatives(
                _describe_hosts(flow.targets) + _describe_way(flow.via) for flow in flows
            ),
            "traffic": ", ".join(
                filter(
                    None,
                    [write_alternatives(flow.kind.name for flow in flows), _describe_sent(flows)],
                )
            ),
            "contract": _list_ranges([_describe_contract(flow) for flow in flows]),
            "source": _describe_source(flows),
        }
        for name, flows in found.items()
    ]


def _describe_source(flows: Sequence[Flow]) -> str:
    """Return the arrival processes with their fields: what is emitted, not what is declared."""
    found: dict[str, list[Mapping[str, FieldValue]]] = {}
    for flow in flows:
        if flow.traffic.is_answered:
            found.setdefault("as answers arrive", [])
            continue
        if flow.traffic.is_program:
            found.setdefault("what the program sends", [])
            continue
        kind = read_declaration(type(flow.arrivals))
        fields = list_settings(kind, flow.arrivals, packets=flow.packets is not None)
        found.setdefault(kind.name, []).append(fields)
    return write_alternatives(
        ", ".join([name, *(f"{field} {text}" for field, text in _list_ranges(its))])
        for name, its in found.items()
    )


def _describe_contract(flow: Flow) -> Mapping[str, FieldValue]:
    return list_settings(flow.kind, flow.traffic, packets=flow.packets is not None)


def _list_ranges(cases: Sequence[Mapping[str, FieldValue]]) -> list[list[str]]:
    """Return pairs of a field and its value; where cases differ, the least and the most.

    A field that has its default in all cases is left out.
    """
    names = dict.fromkeys(name for case in cases for name, value in case.items() if not value.usual)
    return [[name, write_setting([case.get(name) for case in cases])] for name in names]


def _describe_sent(flows: Sequence[Flow]) -> str:
    """Return the number of connections, if it is not always one, and the rate of each.

    Endpoints have no rate, and of programs it is not known.
    """
    counts = [flow.connections * len(flow.origins) for flow in flows]
    many = f"{write_range(f'{end(counts):_}' for end in (min, max))} connections"
    rates: dict[Dimension, list[Fraction]] = {}
    for flow in flows:
        if not (flow.traffic.is_answered or flow.traffic.is_program):
            dimension, rate = _find_rate(flow)
            rates.setdefault(dimension, []).append(rate)
    ranges = write_alternatives(
        write_range(format_value(end(of), dimension) for end in (min, max))
        for dimension, of in rates.items()
    )
    return " of ".join([many] * (max(counts) > 1) + [ranges] * bool(ranges))


def _find_rate(flow: Flow) -> tuple[Dimension, Fraction]:
    if flow.traffic.is_framed:
        return FRAME_RATE, flow.traffic.rate
    if flow.packets is None:
        return CELL_RATE, flow.traffic.build_contract().peak_cell_rate
    return PACKET_RATE, flow.packets.contract.peak_cell_rate


def _describe_way(ports: tuple[str, ...]) -> str:
    return f" via {', '.join(ports)}" if ports else ""


def _describe_hosts(paths: tuple[str, ...]) -> str:
    return paths[0] if len(paths) == 1 else f"{paths[0]} .. {paths[-1]}"
