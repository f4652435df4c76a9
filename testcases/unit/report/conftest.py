"""A record as a run leaves it, with one of everything that a report has to show."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from qospec.units import format_number

DATA_PLANE = "testcases/suites/eantc/data_plane.qos"
TRAFFIC = "testcases/suites/eantc/traffic_management.qos"

FRAME = Path(__file__).with_name("frame.json")
"""What a run knows before its cases: tests, references, provenance."""
PHASES = Path(__file__).with_name("phases.json")
"""Two cases with searches and operating points."""


def quantity(value, unit, text):
    return {"value": str(Fraction(value)), "unit": unit, "text": text}


def cells(count):
    return quantity(count, "cell", f"{format_number(count)} cell")


def time(microseconds):
    return quantity(Fraction(str(microseconds)) / 10**6, "s", f"{microseconds:g} us")


def ratio(value):
    return quantity(value, "1", f"{float(100 * Fraction(value)):.4g} %")


def statement(label, kind, verdict, measured, comparison, bound, **more):
    line = 8 + len(label) % 2
    text = f"{label}({comparison})"
    return {
        "label": label,
        "kind": kind,
        "verdict": verdict,
        "text": more.pop("text", text),
        "place": more.pop("place", f"{DATA_PLANE}:{line}:3"),
        "measured": measured,
        "comparison": comparison,
        "bound": bound,
        "tolerance": None,
        "note": "",
        **more,
    }


def flow_metrics(sent, lost, mean):
    return {
        "sent": cells(sent),
        "received": cells(sent - lost),
        "lost": cells(lost),
        "cell_loss_ratio": ratio(Fraction(lost, sent)) if sent else None,
        "throughput": quantity(sent / 60, "cell/s", f"{format_number(sent // 60)} cell/s"),
        "transfer_delay.min": time(mean - 2) if sent else None,
        "transfer_delay.mean": time(mean) if sent else None,
        "transfer_delay.p50": time(mean) if sent else None,
        "transfer_delay.p99": time(mean + 4) if sent else None,
        "transfer_delay.p99_9": time(mean + 5) if sent else None,
        "transfer_delay.max": time(mean + 9) if sent else None,
    }


def case(test, parameters, verdict, statements, **more):
    name = test + "".join(
        f"{':' if n == 0 else ','}{key}={value.replace(' ', '')}"
        for n, (key, value) in enumerate(parameters.items())
    )
    metrics = more.pop(
        "metrics",
        {
            "ab": flow_metrics(21_163_200, 0, 61.7),
            "ba": flow_metrics(21_163_200, 0, 61.9),
            "ab.oam": flow_metrics(8_000, 0, 60.2),
            "bare.ab": flow_metrics(21_163_200, 0, 21.3),
        },
    )
    return {
        "name": name,
        "test": test,
        "parameters": parameters,
        "verdict": verdict,
        "run": {
            "warmup": quantity(0, "s", "0 s"),
            "measure": quantity(60, "s", "60 s"),
            "repeat": more.pop("repeat", 1),
        },
        "statements": statements,
        "metrics": metrics,
        "repeats": more.pop("repeats", [metrics]),
        "losses": [],
        "why": ["no cell was discarded"],
        "errors": [],
        "again": f"qos run {DATA_PLANE}::{name} --seed 0",
        **more,
    }


def data_plane_case(scenario, pvcs, ab, ba, published):
    def delay(label, measured, comparison, bound):
        return statement(label, "expect", "pass", time(measured), comparison, time(bound))

    return case(
        "data_plane",
        {"scenario": str(scenario), "pvcs": f"{pvcs:_}"},
        "pass",
        [
            statement(
                "offered",
                "require",
                "pass",
                cells(21_163_200),
                "within",
                cells(21_163_200),
                tolerance=quantity(Fraction(1, 100_000), "1", "0.001 %"),
            ),
            statement("no_loss_ab", "expect", "pass", cells(0), "==", cells(0)),
            statement(
                "all_up",
                "expect",
                "pass",
                quantity(pvcs, "1", str(pvcs)),
                "==",
                quantity(pvcs, "1", str(pvcs)),
            ),
            delay("delay_ab_least", ab, ">=", 16.3),
            delay("delay_ab_most", ab, "<=", 27.6),
            delay("delay_ba_most", ba, "<=", 27.6),
            statement("difference_ab", "report", "", time(round(ab - published, 2)), "", None),
        ],
    )


def policed_case(tolerance, lost):
    fails = lost > 0
    bound = cells(0)
    return case(
        "cdvt",
        {"tolerance": f"{tolerance} us", "switch": "switches.forerunner_le155"},
        "fail" if fails else "pass",
        [
            statement(
                "no_loss",
                "expect",
                "fail" if fails else "pass",
                cells(lost),
                "==",
                bound,
                place=f"{TRAFFIC}:3:3",
                text="ab.lost == 0",
            ),
            statement(
                "closed_form",
                "expect",
                "pass",
                cells(lost),
                "within",
                cells(lost + 3),
                tolerance=cells(100),
                place=f"{TRAFFIC}:4:3",
            ),
        ],
        metrics={"ab": flow_metrics(180_000, lost, 43.1), "ab.oam": flow_metrics(4_000, 0, 41.0)},
        losses=[{"flow": "ab", "element": "le155.upc[0]", "cause": "policed", "cells": lost}]
        if fails
        else [],
        why=[f"{format_number(lost)} cells of ab: le155.upc[0] (policed)"]
        if fails
        else ["no cell was discarded"],
    )


def other_cases():
    repeats = [{"ab": flow_metrics(9_000, 0, 40 + n)} for n in range(3)]
    return [
        case(
            "repeated",
            {},
            "inconclusive",
            [
                statement(
                    "enough_sent", "require", "inconclusive", cells(9_000), ">=", cells(10_000)
                ),
                statement(
                    "tail", "expect", "inconclusive", None, "<", time(80), note="not reached"
                ),
            ],
            metrics=repeats[0],
            repeats=repeats,
            repeat=3,
        ),
        case(
            "crashes",
            {},
            "error",
            [statement("x < y && <b>", "expect", "error", None, "<", None, text="x < y && <b>")],
            metrics={},
            repeats=[],
            errors=[
                "the engine lost track: 3 sent, 2 received \x1b[31m\x00 ✂ naïve ]]> & <script>"
            ],
            why=[],
        ),
        case(
            "skipped",
            {},
            "skip",
            [],
            metrics={},
            repeats=[],
            why=["no such switch: `LE155|B` @team"],
        ),
    ]


def all_cases():
    return [
        data_plane_case(1, 4_000, 20.2, 20.2, 20.2),
        data_plane_case(2, 4_000, 20.3, 20.4, 20.6),
        data_plane_case(3, 4_000, 20.1, 20.1, 27.6),
        data_plane_case(4, 2_000, 19.9, 19.8, 19.5),
        policed_case(4, 1_320),
        policed_case(5, 936),
        policed_case(6, 0),
        *other_cases(),
    ]


def made_document():
    cases = all_cases()
    verdicts = [c["verdict"] for c in cases]
    summary = {v: verdicts.count(v) for v in ("skip", "pass", "inconclusive", "fail", "error")}
    return {**json.loads(FRAME.read_text(encoding="utf-8")), "summary": summary, "cases": cases}


def phased_document():
    """Return a record of a test with searches and points: two sizes, the second irregular."""
    first, second = json.loads(PHASES.read_text(encoding="utf-8"))
    ndr, pdr = second["phases"][0]["goals"]
    ndr |= {"upper": None, "regular": False, "notes": ["no load was bad, up to 100 Mbit/s"]}
    pdr |= {"complete": False, "defaults": ["trial", "total"]}
    pdr["notes"] = [*pdr["notes"], "the search reached its budget"]
    document = made_document()
    test = {
        **document["tests"][0],
        "name": "router",
        "place": "router.qos:12:1",
        "covers": [],
        "links": first["links"],
        "controls": {},
        "follows": ["RFC 2544, 26.1"],
        "deviations": [{"what": "trials begin in an idle device", "why": "it is emulated"}],
    }
    counts = dict.fromkeys(("skip", "pass", "inconclusive", "fail", "error"), 0)
    return {
        **document,
        "tests": [test],
        "cases": [first, second],
        "references": [],
        "summary": {**counts, "inconclusive": 2},
        "verdict": "inconclusive",
    }


def made_timing(document):
    return {
        "started": "2026-11-21T10:11:12Z",
        "finished": "2026-11-21T10:11:32Z",
        "cases": {c["name"]: 0.5 for c in document["cases"]},
    }


@pytest.fixture
def document():
    return made_document()


@pytest.fixture
def phased():
    return phased_document()


@pytest.fixture
def timing(document):
    return made_timing(document)


@pytest.fixture
def large():
    """Return a record of 1,000 cases, every second of which failed."""
    document = made_document()
    document["cases"] = [
        {**policed_case(n % 7, 900 * (n % 2)), "name": f"cdvt:n={n}", "parameters": {"n": str(n)}}
        for n in range(1_000)
    ]
    document["summary"] = {"skip": 0, "pass": 500, "inconclusive": 0, "fail": 500, "error": 0}
    return {**document, "verdict": "fail"}


@pytest.fixture
def interrupted(document):
    """Return a record of four cases that passed and three that were not run."""
    waiting = [
        {
            "name": f"cdvt:tolerance={n}us",
            "test": "cdvt",
            "parameters": {"tolerance": f"{n} us"},
            "verdict": "inconclusive",
            "run": {"repeat": 1},
            "statements": [],
            "metrics": {},
            "repeats": [],
            "losses": [],
            "why": [],
            "errors": ["not run: the run was interrupted"],
            "again": f"qos run {TRAFFIC}::cdvt:tolerance={n}us --seed 0",
        }
        for n in range(3)
    ]
    document["summary"] = {"skip": 0, "pass": 4, "inconclusive": 3, "fail": 0, "error": 0}
    document["cases"] = [*document["cases"][:4], *waiting]
    return {**document, "state": "interrupted", "verdict": "inconclusive"}
