"""CPU time and page size of the HTML report on a record of many flows.

Four times the flows should take about four times the time. Every flow has losses and a criterion
that failed, so that the search for causes is measured too.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

from figures import Figure

from qospec.report.render import render

FLOWS = 1_000
TIMES = (1, 2, 4)
REPEATS = 3
TINY = {"FLOWS": 10, "REPEATS": 1}
MOST_S = 5.0
MOST_MB = 5.0
MOST_GROWTH = 1.3
"""How much longer each flow may take in a record of four times as many."""
STATISTICS = ("min", "mean", "p50", "p99", "p99_9", "max")
PLACE = "scale.qos:3:1"


def measure() -> list[Figure]:
    """Return CPU time and size at 1,000, 2,000 and 4,000 flows, and how the time per flow grows."""
    found: list[Figure] = []
    per_flow_s: list[float] = []
    for times in TIMES:
        document = record(times * FLOWS)
        cpu_s, page = zip(*(_rendered(document) for _ in range(REPEATS)), strict=True)
        seconds = statistics.median(cpu_s)
        per_flow_s.append(seconds / times)
        size_mb = len(page[0].encode()) / 1e6
        name = f"report_scale.{times}x"
        found.append(Figure(name, seconds, "s", target=f"<= {MOST_S:g} s"))
        found.append(Figure(f"{name}.size", size_mb, "MB", target=f"<= {MOST_MB:g} MB"))
    growth = per_flow_s[-1] / per_flow_s[0]
    return [
        *found,
        Figure("report_scale.growth", growth, "times a flow", target=f"<= {MOST_GROWTH}"),
    ]


def _rendered(document: dict[str, Any]) -> tuple[float, str]:
    started_s = time.process_time()
    page = render(document, {}, "html")
    return time.process_time() - started_s, page


def record(flows: int) -> dict[str, Any]:
    """Return the record of one case with this many flows, each with losses."""
    names = [f"flow_{n}" for n in range(flows)]
    metrics = {name: _metrics(n) for n, name in enumerate(names, 1)}
    test = {
        "name": "scale",
        "description": "",
        "covers": [],
        "place": PLACE,
        "links": [["a", "b"]],
        "controls": {},
        "flows": [
            {"name": name, "from": "a", "to": "b", "traffic": "cbr, 100 cell/s"} for name in names
        ],
    }
    case = {
        "name": "scale",
        "test": "scale",
        "parameters": {},
        "verdict": "fail",
        "ran": True,
        "run": {"warmup": _time(0), "measure": _time(10**6), "repeat": 1},
        "statements": [_statement(name) for name in names],
        "metrics": metrics,
        "repeats": [metrics],
        "losses": [
            {"flow": name, "element": "out", "cause": "full", "carries": "cell", "cells": 3}
            for name in names
        ],
        "why": [],
        "errors": [],
        "again": "qos run scale.qos::scale",
    }
    return {
        "schema": 1,
        "qospec": "0",
        "seed": "0",
        "state": "complete",
        "verdict": "fail",
        "summary": {"skip": 0, "pass": 0, "inconclusive": 0, "fail": 1, "error": 0},
        "tests": [test],
        "cases": [case],
        "references": [],
        "provenance": {
            "python": "3",
            "numpy": "2",
            "numba": "0",
            "sources": [],
            "limits": {},
            "policy": {},
        },
    }


def _time(microseconds: int) -> dict[str, str]:
    return {"value": f"{microseconds}/1000000", "unit": "s", "text": f"{microseconds} us"}


def _cells(count: int) -> dict[str, str]:
    return {"value": str(count), "unit": "cell", "text": f"{count} cell"}


def _metrics(number: int) -> dict[str, dict[str, str]]:
    plain = {"sent": _cells(1_000), "received": _cells(997), "lost": _cells(3)}
    delays = {
        f"transfer_delay.{name}": _time(number + 7 * place) for place, name in enumerate(STATISTICS)
    }
    return {**plain, **delays}


def _statement(flow: str) -> dict[str, Any]:
    return {
        "label": f"{flow} arrives",
        "kind": "expect",
        "verdict": "fail",
        "text": f"{flow}.lost == 0",
        "place": PLACE,
        "measured": _cells(3),
        "comparison": "==",
        "bound": _cells(0),
        "tolerance": None,
        "note": "",
    }
