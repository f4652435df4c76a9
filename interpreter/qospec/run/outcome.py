"""The outcome of a run: the document that `--json` prints, the record keeps and reports show.

Everything in it follows from the specification and the seed: no clock, no machine, no order of
finishing. Fields are only added within a schema version.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import discover
from qospec.model.expression import measurements, observed
from qospec.model.suite import JUDGED
from qospec.run import discards
from qospec.run.claimed import criteria
from qospec.run.histograms import histogram_documents
from qospec.run.measure import QUANTILES
from qospec.run.quantity import HISTOGRAM_ERROR, quantity
from qospec.run.sending import flow_documents
from qospec.run.series import series_document
from qospec.run.settings import arrivals_kind
from qospec.run.statements import statement_document
from qospec.run.verdict import ORDER, Verdict, worst
from qospec.units import PS_PER_S, TIME

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from qospec.document import Document
    from qospec.model.suite import Case, Network, Statement, Suite, Test
    from qospec.run.plan import CasePlan
    from qospec.run.result import Repeat, Result

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
    verdicts: list[Verdict] = [s["verdict"] for s in statements if s["verdict"] in ORDER]
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
    lines += map(discards.single, _losses(result))
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
            **{verdict: verdicts.count(verdict) for verdict in ORDER},
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
