"""The outcome of a run: the document that `--json` prints, the record keeps and reports show.

Everything in it follows from the specification and the seed: no clock, no machine, no order of
finishing. Fields are only added within a schema version. What flows sent and what was discarded
is said over all cases of a test, or all repeats of a case.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.catalogue.kinds import discover
from qospec.judge.readings import QUANTILES
from qospec.judge.verdict import VERDICTS, Verdict, worst
from qospec.model.expression import measurements, observed
from qospec.model.suite import JUDGED
from qospec.plan.settings import Setting, arrivals_kind, settings
from qospec.record.histograms import histogram_documents
from qospec.record.quantity import HISTOGRAM_ERROR, quantity
from qospec.record.series import series_document
from qospec.record.statements import criteria, statement_document
from qospec.units import CELL_RATE, PACKET_RATE, PS_PER_S, TIME, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from fractions import Fraction

    from qospec.document import Document
    from qospec.judge.result import Repeat, Result
    from qospec.model.suite import Case, Flow, Network, Statement, Suite, Test
    from qospec.plan.plan import CasePlan
    from qospec.units import Dimension

SCHEMA = 1
NOT_RUN = "not run: the run was interrupted"
UNASKED = (
    "no criterion that applies to this case measures anything: leave it out by `where` on the sweep"
)
_SKIPPED: Document = {"verdict": "skip", "ran": True, "errors": []}


def case_document(plan: CasePlan, result: Result, again: str) -> Document:
    """Return what a case gave. `again` is the command that runs it alone."""
    if plan.case.skip:
        return {**not_run(plan, again), **_SKIPPED, "why": [plan.case.skip]}
    statements = [
        {
            **statement_document(each, number, result, plan.case.run.repeat),
            **series_document(each, result),
        }
        for number, each in enumerate(plan.case.statements)
    ]
    verdicts: list[Verdict] = [s["verdict"] for s in statements if s["verdict"] in VERDICTS]
    if not _measures(plan.case.statements):
        # that a device keeps its invariants says nothing of how good it is
        verdicts = [verdict for verdict in verdicts if verdict != "pass"]
        verdicts.append("measured" if _only_reports(plan.case.statements) else "inconclusive")
    if result.errors:
        verdicts.append("error")
    repeats = [_metrics(repeat) for repeat in result.repeats]
    return {
        **not_run(plan, again),
        "verdict": worst(verdicts),
        "ran": True,
        "statements": statements,
        "metrics": repeats[0] if repeats else {},
        "repeats": repeats,
        "delays": histogram_documents(
            plan.case.statements, [repeat.readings for repeat in result.repeats]
        ),
        "losses": _losses(result),
        "why": _why(plan, result),
        "errors": list(result.errors),
    }


def not_run(plan: CasePlan, again: str) -> Document:
    """Return what is said of a case that did not come to its end: nothing was decided."""
    run = plan.case.run
    return {
        "name": plan.case.name,
        "test": plan.test,
        "parameters": dict(plan.case.parameters),
        "verdict": "inconclusive",
        "ran": False,
        "links": _links(plan.case.networks[""]),
        "run": {
            "warmup": quantity(Fraction(run.warmup_ps, PS_PER_S), TIME),
            "measure": quantity(Fraction(run.measure_ps, PS_PER_S), TIME),
            "repeat": run.repeat,
            **({"common_draws": True} if run.common_draws else {}),
        },
        "statements": [],
        "metrics": {},
        "repeats": [],
        "losses": [],
        "why": [],
        "errors": [NOT_RUN],
        "again": again,
    }


def _losses(result: Result) -> list[Document]:
    return [
        {
            "repeat": number,
            "flow": loss.population,
            "element": loss.element,
            "cause": loss.cause,
            "carries": loss.carries,
            "cells": loss.cells,
        }
        for number, repeat in enumerate(result.repeats, 1)
        for loss in repeat.readings.losses()
    ]


def _measures(statements: Iterable[Statement]) -> bool:
    """Return whether anything that is measured is judged; constants say nothing of a device."""
    return any(s.judges and observed(s.expression) for s in statements)


def _only_reports(statements: Sequence[Statement]) -> bool:
    """Return whether nothing is asked in any case, and something is shown."""
    return {each.kind for each in statements if each.kind != "invariant"} == {"report"}


def _unjudged(case: Case) -> Iterator[str]:
    """Yield why nothing was judged, if nothing was, and what to do about it."""
    if _measures(case.statements) or _only_reports(case.statements):
        return
    if case.parameters and any(each.kind in JUDGED and each.idle for each in case.statements):
        yield UNASKED
    else:
        yield "no criterion measures anything"


def _metrics(repeat: Repeat) -> Document:
    metrics: Document = {}
    for population, metric, value, dimension in repeat.readings.all():
        shown = quantity(value, dimension)
        if shown is not None and metric.rpartition(".")[2] in QUANTILES:
            shown["error"] = HISTOGRAM_ERROR
        metrics.setdefault(population, {})[metric] = shown
    return metrics


def _why(plan: CasePlan, result: Result) -> list[str]:
    """Return who discarded cells or packets, in words; where nobody did, who could have."""
    lines = list(_unjudged(plan.case))
    seen = [repeat.readings for repeat in result.repeats]
    lines += [words for readings in seen for words in readings.silent()]
    lines += map(single, _losses(result))
    if lines:
        return list(dict.fromkeys(lines))
    could: dict[str, tuple[str, ...]] = {}
    for planned in plan.networks.values():
        for discarders in planned.discarders.values():
            could.update(discarders)
    named = ", ".join(f"{path} (0 {' or '.join(causes)})" for path, causes in could.items())
    sent = sorted({"cell" if flow.stream is None else "packet" for flow in plan.case.flows})
    nothing = f"no {' or '.join(sent or ['cell'])} was discarded"
    return [f"{nothing}: {named}"] if named else [nothing]


def frame(suite: Suite, seed: str, provenance: Document) -> Document:
    """Return what is known of the outcome before anything has run."""
    return {
        "schema": SCHEMA,
        "qospec": provenance["qospec"],
        "seed": seed,
        "tests": [_test(test) for test in suite.tests],
        "references": [
            {
                "name": reference.name,
                "title": reference.title,
                "place": reference.span.recorded_place,
                "entries": [list(entry) for entry in reference.entries],
            }
            for reference in suite.references
        ],
        "definitions": _definitions(suite),
        "provenance": provenance,
    }


def completed(frame: Document, planned: Sequence[Document], done: Sequence[Document]) -> Document:
    """Return the whole outcome: what is done, and of the rest of the plan that it was not run."""
    ended = {case["name"]: case for case in done}
    cases = [ended.get(case["name"], case) for case in planned]
    verdicts: list[Verdict] = [case["verdict"] for case in cases]
    return {
        **frame,
        "state": "complete" if len(ended) == len(planned) else "interrupted",
        "verdict": worst(verdicts),
        "summary": {
            **{verdict: verdicts.count(verdict) for verdict in VERDICTS},
            "criteria": criteria(cases),
        },
        "cases": cases,
    }


def _test(test: Test) -> Document:
    networks = test.cases[0].networks
    return {
        "name": test.name,
        "description": test.doc,
        "covers": list(test.covers),
        "not_reproduced": [{"what": what, "why": why} for what, why in test.not_reproduced],
        "place": test.span.recorded_place,
        "links": _links(networks[""]),
        "flows": flow_documents(test),
        "controls": {name: _links(network) for name, network in networks.items() if name},
    }


def _definitions(suite: Suite) -> list[Document]:
    """Return the kinds that were used, each with its standard; metrics are those of criteria."""
    cases = [case for test in suite.tests for case in test.cases]
    kinds = {
        (kind.role, kind.name): kind
        for case in cases
        for kind in (
            *(instance.kind for network in case.networks.values() for instance in network.elements),
            *(flow.kind for flow in case.flows),
            *(arrivals_kind(flow.arrivals) for flow in case.flows),
        )
    }
    named = {
        leaf.metric
        for case in cases
        for statement in case.statements
        for leaf in measurements(statement.expression)
    }
    metrics = discover().of("metric")
    kinds.update({("metric", name): metrics[name] for name in named})
    return [
        {"name": kind.name, "role": kind.role, "summary": kind.summary, "source": kind.source}
        for _, kind in sorted(kinds.items())
    ]


def _links(network: Network) -> list[list[str]]:
    """Return pairs of the names of linked hosts and devices, each link once."""
    pairs: Iterable[tuple[str, str]] = (
        (a.rpartition(".")[0] or a, b.rpartition(".")[0] or b)
        for instance in network.elements
        if instance.kind.duty == "line"
        for a, _, b in [instance.path.partition(" -> ")]
        if b
    )
    seen: set[frozenset[str]] = set()
    links = []
    for pair in pairs:
        if frozenset(pair) not in seen:
            seen.add(frozenset(pair))
            links.append(list(pair))
    return links


def single(loss: Mapping[str, Any]) -> str:
    """Return the sentence of a loss of the record, of one repeat."""
    return sentence({**loss, "least": loss["cells"], "most": loss["cells"], "when": ""})


def sentence(discard: Mapping[str, Any]) -> str:
    """Return the sentence of what was discarded `least` and `most` in a repeat, and `when`."""
    ends = dict.fromkeys(f"{discard[end]:_}" for end in ("least", "most"))
    items = discard["carries"] + "s" * (discard["most"] != 1)
    when = f" {discard['when']}" if discard["when"] else ""
    lost = f"{' to '.join(ends)} {items} of {discard['flow']}{when}"
    return f"{lost}: {discard['element']} ({discard['cause']})"


MOST_NAMED = 3
"""Of things that differ between cases, how many are named."""


def flow_documents(test: Test) -> list[Document]:
    """Return what is sent, by flow; where the cases differ, from the least to the most."""
    found: dict[str, list[Flow]] = {}
    for case in test.cases:
        for flow in case.flows:
            found.setdefault(flow.name, []).append(flow)
    return [
        {
            "name": name,
            "from": _either(_hosts(flow.origins) for flow in flows),
            "to": _either(_hosts(flow.targets) for flow in flows),
            "traffic": f"{_either(flow.kind.name for flow in flows)}, {_sent(flows)}",
            "contract": _over_cases([_contract(flow) for flow in flows]),
            "source": _source(flows),
        }
        for name, flows in found.items()
    ]


def _source(flows: Sequence[Flow]) -> str:
    """Return the arrival processes with their fields: what is emitted, whatever was declared."""
    found: dict[str, list[Mapping[str, Setting]]] = {}
    for flow in flows:
        kind = arrivals_kind(flow.arrivals)
        fields = settings(kind, flow.arrivals, packets=flow.stream is not None)
        found.setdefault(kind.name, []).append(fields)
    return _either(
        ", ".join([name, *(f"{field} {text}" for field, text in _over_cases(its))])
        for name, its in found.items()
    )


def _contract(flow: Flow) -> Mapping[str, Setting]:
    return settings(flow.kind, flow.traffic, packets=flow.stream is not None)


def _over_cases(cases: Sequence[Mapping[str, Setting]]) -> list[list[str]]:
    """Return pairs of a field and its value; where cases differ, the least and the most."""
    names = dict.fromkeys(name for case in cases for name in case)
    return [[name, _values([case.get(name) for case in cases])] for name in names]


def _values(found: Sequence[Setting | None]) -> str:
    numbers = {
        each.number: each.text for each in found if each is not None and each.number is not None
    }
    if not all(each is not None and each.number is not None for each in found):
        return _either("the default" if each is None else each.text for each in found)
    return _range(numbers[end(numbers)] for end in (min, max))


def _sent(flows: Sequence[Flow]) -> str:
    """Return the connections, if they may be several, and the rate of each."""
    counts = [flow.connections * len(flow.origins) for flow in flows]
    many = f"{_range(f'{end(counts):_}' for end in (min, max))} connections of "
    rates: dict[Dimension, list[Fraction]] = {}
    for flow in flows:
        dimension, rate = _rate(flow)
        rates.setdefault(dimension, []).append(rate)
    each = _either(
        _range(text_of(end(of), dimension) for end in (min, max)) for dimension, of in rates.items()
    )
    return (many if max(counts) > 1 else "") + each


def _rate(flow: Flow) -> tuple[Dimension, Fraction]:
    if flow.stream is None:
        return CELL_RATE, flow.traffic.contract().peak_cell_rate
    return PACKET_RATE, flow.stream.contract.peak_cell_rate


def _range(ends: Iterable[str]) -> str:
    return " to ".join(dict.fromkeys(ends))


def _either(texts: Iterable[str]) -> str:
    """Return texts that may stand for each other, each once and the first few of them."""
    different = list(dict.fromkeys(texts))
    more = len(different) - MOST_NAMED
    return " or ".join(different[:MOST_NAMED] + [f"{more} others"] * (more > 0))


def _hosts(paths: tuple[str, ...]) -> str:
    return paths[0] if len(paths) == 1 else f"{paths[0]} .. {paths[-1]}"
