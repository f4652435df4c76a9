"""The outcome of a run: the document that `--json` prints, the record keeps and reports show.

Everything in it follows from the specification and the seed: no clock, no machine, no order of
finishing. Fields are only added within a schema version.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.conditions import measurements
from qospec.run.verdict import ORDER, Side, Verdict, worst
from qospec.units import CELL_RATE, TIME, base_unit, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qospec.model import Network, Statement, Suite, Test
    from qospec.run.plan import CasePlan
    from qospec.run.trial import Repeat, Result
    from qospec.run.verdict import Judgement
    from qospec.units import Dimension

SCHEMA = 1
Document = dict[str, Any]


def quantity(value: object, dimension: Dimension | None) -> Document | None:
    """Return a value for a document: exact, its base unit, and as text; None without data."""
    if value is None:
        return None
    if isinstance(value, Fraction | int) and not isinstance(value, bool) and dimension is not None:
        exact = Fraction(value)
        return {
            "value": str(exact),
            "unit": base_unit(dimension),
            "text": text_of(exact, dimension),
        }
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return {"value": text, "unit": "", "text": text}


def case_document(plan: CasePlan, result: Result, again: str) -> Document:
    """Return what a case gave. `again` is the command that runs it alone."""
    case = plan.case
    statements = [_statement(s, number, result) for number, s in enumerate(case.statements)]
    verdicts: list[Verdict] = [s["verdict"] for s in statements if s["verdict"]]
    if not _measures(case.statements):
        verdicts.append("inconclusive")
    if result.errors:
        verdicts.append("error")
    repeats = [_metrics(repeat) for repeat in result.repeats]
    return {
        "name": case.name,
        "test": plan.test,
        "parameters": dict(case.parameters),
        "verdict": worst(verdicts),
        "links": _links(case.networks[""]),
        "run": {
            "warmup": quantity(Fraction(case.run.warmup_ps, 10**12), TIME),
            "measure": quantity(Fraction(case.run.measure_ps, 10**12), TIME),
            "repeat": case.run.repeat,
        },
        "statements": statements,
        "metrics": repeats[0] if repeats else {},
        "repeats": repeats,
        "losses": [
            {
                "repeat": number,
                "flow": loss.population,
                "element": loss.element,
                "cause": loss.cause,
                "cells": loss.cells,
            }
            for number, repeat in enumerate(result.repeats, 1)
            for loss in repeat.readings.losses()
        ],
        "why": _why(plan, result),
        "errors": list(result.errors),
        "again": again,
    }


def _measures(statements: Iterable[Statement]) -> bool:
    """Return whether anything that is measured is judged; constants say nothing of a device."""
    return any(s.kind != "report" and measurements(s.expression) for s in statements)


def _statement(statement: Statement, number: int, result: Result) -> Document:
    """Return a statement with the repeat that decided it: the first with the worst verdict."""
    judgements = [repeat.judgements[number] for repeat in result.repeats]
    verdicts = [j.verdict for j in judgements if j.verdict is not None]
    verdict = worst(verdicts) if statement.kind != "report" else ""
    shown = next((j for j in judgements if j.verdict == (verdict or None)), None)
    return {
        "label": statement.label,
        "kind": statement.kind,
        "verdict": verdict,
        "text": statement.text,
        "place": statement.span.place,
        **_sides(shown),
        "note": "" if shown is not None or result.errors else "not reached",
    }


def _sides(shown: Judgement | None) -> Document:
    if shown is None:
        return {"measured": None, "comparison": "", "bound": None, "tolerance": None}
    return {
        "measured": _side(shown.measured),
        "comparison": shown.comparison,
        "bound": _side(shown.bound),
        "tolerance": _side(shown.tolerance),
    }


def _side(side: Side | None) -> Document | None:
    return None if side is None else quantity(side.value, side.dimension)


def _metrics(repeat: Repeat) -> Document:
    metrics: Document = {}
    for population, metric, value, dimension in repeat.readings.all():
        metrics.setdefault(population, {})[metric] = quantity(value, dimension)
    return metrics


def _why(plan: CasePlan, result: Result) -> list[str]:
    """Return who discarded cells, in words; where nobody did, who could have."""
    lines = [] if _measures(plan.case.statements) else ["no criterion measures anything"]
    lines += [
        f"{loss.cells:_} cells of {loss.population}: {loss.element} ({loss.cause})"
        for repeat in result.repeats
        for loss in repeat.readings.losses()
    ]
    if lines:
        return lines
    could: dict[str, tuple[str, ...]] = {}
    for planned in plan.networks.values():
        for discarders in planned.discarders.values():
            could.update(discarders)
    named = ", ".join(f"{path} (0 {' or '.join(causes)})" for path, causes in could.items())
    return [f"no cell was discarded: {named}"] if named else ["no cell was discarded"]


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
                "place": reference.span.place,
                "entries": [list(entry) for entry in reference.entries],
            }
            for reference in suite.references
        ],
        "definitions": _definitions(suite),
        "provenance": provenance,
    }


def completed(frame: Document, cases: Sequence[Document], state: str) -> Document:
    """Return the whole outcome; `state` is "complete" or "interrupted"."""
    verdicts: list[Verdict] = [case["verdict"] for case in cases]
    return {
        **frame,
        "state": state,
        "verdict": worst(verdicts),
        "summary": {verdict: verdicts.count(verdict) for verdict in ORDER},
        "cases": list(cases),
    }


def _test(test: Test) -> Document:
    networks = test.cases[0].networks
    return {
        "name": test.name,
        "description": test.doc,
        "covers": list(test.covers),
        "place": test.span.place,
        "links": _links(networks[""]),
        "flows": _flows(test),
        "controls": {name: _links(network) for name, network in networks.items() if name},
    }


def _flows(test: Test) -> list[Document]:
    """Return what is sent, as the first case has it."""
    return [
        {
            "name": flow.name,
            "from": _hosts(flow.origins),
            "to": _hosts(flow.targets),
            "traffic": f"{flow.kind.name}, {flow.connections * len(flow.origins):_} connections,"
            f" {text_of(flow.traffic.contract().peak_cell_rate, CELL_RATE)} each",
        }
        for case in test.cases[:1]
        for flow in case.flows
    ]


def _hosts(paths: tuple[str, ...]) -> str:
    return paths[0] if len(paths) == 1 else f"{paths[0]} .. {paths[-1]}"


def _definitions(suite: Suite) -> list[Document]:
    """Return the kinds that were used, each with its standard."""
    cases = [case for test in suite.tests for case in test.cases]
    kinds = {
        (kind.role, kind.name): kind
        for case in cases
        for kind in (
            *(instance.kind for network in case.networks.values() for instance in network.elements),
            *(flow.kind for flow in case.flows),
        )
    }
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
