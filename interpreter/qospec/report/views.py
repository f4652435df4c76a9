"""Views of a record: what templates would otherwise have to count, group and sort.

Each takes and returns plain values in the record's own shape, with a few keys added, so that a
template reads a view like the record itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, groupby, islice
from pathlib import PurePosixPath
from typing import Any

from qospec.judge.verdict import NOT_APPLICABLE, PROBLEMS, VERDICTS
from qospec.record.outcome import has_run
from qospec.record.statements import count_by_claim, list_covered
from qospec.report.claims import find_only_claim
from qospec.report.words import describe_confidence, describe_needed, find_subject

Record = Mapping[str, Any]


def find_worst(verdicts: Iterable[str]) -> str:
    """Return the worst verdict; "" if there is none."""
    return max(verdicts, key=VERDICTS.index, default="")


def count_verdicts(cases: Iterable[Record]) -> dict[str, int]:
    """Return the number of cases by verdict, worst first, without zeros; those not run are ""."""
    found = [case["verdict"] if has_run(case) else "" for case in cases]
    return {verdict: found.count(verdict) for verdict in (*VERDICTS[::-1], "") if verdict in found}


def shorten_place(written: str) -> dict[str, Any]:
    """Return the path and line of `path:line:column`."""
    path, line, _ = written.rsplit(":", 2)
    return {"path": path, "line": int(line)}


def list_cases(document: Record) -> list[dict[str, Any]]:
    """Return the cases in order, each with an `id` for links and whether it `ran`."""
    return [
        {**case, "id": f"case-{n}", "ran": has_run(case)}
        for n, case in enumerate(document["cases"], 1)
    ]


def list_tests(document: Record) -> list[dict[str, Any]]:
    """Return the tests, each with `id`, `path`, `line`, `cases`, worst `verdict`, `counts`.

    And `all_covered`: what it and its statements cover.
    """
    by_test: dict[str, list[dict[str, Any]]] = {}
    for case in list_cases(document):
        by_test.setdefault(case["test"], []).append(case)
    return [
        _build_test(
            n, test, [c for c in by_test.get(test["name"], []) if _is_case_of_test(c, test)]
        )
        for n, test in enumerate(document["tests"], 1)
    ]


def _is_case_of_test(case: Record, test: Record) -> bool:
    """Return whether a case is of this test, not of one with its name in another file."""
    return bool(case.get("place", test["place"]) == test["place"])


def _build_test(number: int, test: Record, its: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        **test,
        **shorten_place(test["place"]),
        "id": f"test-{number}",
        "cases": its,
        "all_covered": list(dict.fromkeys(chain(test["covers"], *_list_named(its)))),
        "verdict": find_worst(case["verdict"] for case in its) if any(map(has_run, its)) else "",
        "counts": count_verdicts(its),
    }


def _list_named(cases: Iterable[Record]) -> Iterator[Sequence[str]]:
    """Yield what statements of cases name that they cover."""
    return (statement.get("covers", ()) for case in cases for statement in case["statements"])


def list_files(document: Record) -> list[dict[str, Any]]:
    """Return the files that hold tests, each with `path`, `tests` and the `references` it names.

    `drawn` of a test is the first in the file whose drawing is the same; "" of that one itself.
    """
    texts = {source["name"]: source.get("text", "") for source in document["provenance"]["sources"]}
    found: dict[str, list[dict[str, Any]]] = {}
    for test in list_tests(document):
        its = found.setdefault(test["path"], [])
        alike = (other["name"] for other in its if _is_drawn_alike(other, test))
        its.append({**test, "drawn": next(alike, "")})
    return [
        {
            "path": path,
            "tests": its,
            "references": _list_mentioned(document, path, texts.get(path, "")),
        }
        for path, its in found.items()
    ]


def _is_drawn_alike(test: Record, other: Record) -> bool:
    """Return whether the networks of two tests have the same drawing."""
    names = ("links", "controls")
    lines = [
        {name: network["lines"] for name, network in its.get("networks", {}).items()}
        for its in (test, other)
    ]
    return lines[0] == lines[1] and all(test.get(name) == other.get(name) for name in names)


def _list_mentioned(document: Record, path: str, text: str) -> list[Record]:
    """Return the references that a file declares or names."""
    return [
        reference
        for reference in document["references"]
        if shorten_place(reference["place"])["path"] == path
        or re.search(rf"\b{re.escape(reference['name'])}\b", text)
    ]


def list_own_sources(document: Record) -> list[str]:
    """Return the names of the sources that are the project's, not the library's."""
    names = (source["name"] for source in document["provenance"]["sources"])
    return [name for name in names if not name.startswith("std/")]


def list_unmentioned(document: Record) -> list[Record]:
    """Return the references that no file with tests declares or names."""
    mentioned = [r["name"] for file in list_files(document) for r in file["references"]]
    return [r for r in document["references"] if r["name"] not in mentioned]


def choose_title(document: Record) -> str:
    """Return a name for the whole: the file of the tests, or the folder that contains them all."""
    paths = {PurePosixPath(shorten_place(test["place"])["path"]) for test in document["tests"]}
    if len(paths) == 1:
        return paths.pop().stem
    folders = [path.parent.parts for path in paths]
    common = [set(parts).pop() for parts in zip(*folders, strict=False) if len(set(parts)) == 1]
    return common[-1] if common else "tests"


def list_requirements(document: Record) -> list[dict[str, Any]]:
    """Return what the tests cover, each with `name`, `verdict` and `tests`.

    Its tests have the verdict of those of their criteria that are of it. Each also has the
    `criteria` counted by their claims; `only` are those by which nothing is reproduced, if it makes
    no others. A test that covers nothing is listed under its own name, after the others, with
    `stated` false.
    """
    found: dict[tuple[bool, str], list[dict[str, Any]]] = {}
    for test in list_tests(document):
        for name in test["all_covered"]:
            found.setdefault((True, name), []).append(test)
        if not test["all_covered"]:
            found.setdefault((False, test["name"]), []).append(test)
    return [
        {
            "name": name,
            "stated": stated,
            "tests": (judged := [{**test, "verdict": _judge(test, name)} for test in its]),
            "verdict": find_worst(test["verdict"] for test in judged if test["verdict"]),
            "criteria": (of := count_by_claim(_list_covering(its, name if stated else ""))),
            "only": find_only_claim(of),
        }
        for (stated, name), its in sorted(found.items(), key=lambda item: not item[0][0])
    ]


def _judge(test: Record, name: str) -> str:
    """Return the verdict of a test on what it covers: without those criteria that are of others.

    Where none of its criteria applies it is `skip`.
    """
    if not test["verdict"] or not any(_list_named(test["cases"])):
        return str(test["verdict"])
    return find_worst(
        _judge_case(case, covering["statements"])
        for case, covering in zip(test["cases"], _list_covering([test], name), strict=True)
    )


def _judge_case(case: Record, kept: Sequence[Record]) -> str:
    found = {statement["verdict"] for statement in case["statements"]}
    if case["verdict"] != "pass" and case["verdict"] not in found:
        return str(case["verdict"])  # it is not from a statement
    if not any(one["kind"] == "expect" and one["verdict"] in VERDICTS for one in kept):
        return "skip"
    others = [statement for statement in case["statements"] if statement["kind"] != "expect"]
    return find_worst(one["verdict"] for one in (*kept, *others) if one["verdict"] in VERDICTS)


def _list_covering(tests: Iterable[Record], name: str) -> Iterator[dict[str, Any]]:
    """Yield cases of tests with only those of their statements that cover `name`; "" is all."""
    for test in tests:
        for case in test["cases"]:
            kept = [
                statement
                for statement in case["statements"]
                if not name or name in list_covered(statement, test["covers"])
            ]
            yield {**case, "statements": kept}


def list_attention(document: Record) -> list[dict[str, Any]]:
    """Return the cases that need attention: errors, then fails, then inconclusive ones.

    Cases that were not run are not among them.
    """
    found = [case for case in list_cases(document) if case["ran"] and case["verdict"] in PROBLEMS]
    return sorted(found, key=lambda case: PROBLEMS.index(case["verdict"]))


MOST_DETAILED = 200
"""The most cases whose metrics, losses and delays a page shows."""
MOST_FLOWS = 100
"""The most flows of a case whose metrics a page shows."""
MOST_VALUES = 8_000
"""The most values of metrics on a page; each takes some 120 bytes."""


def choose_detailed(document: Record) -> list[str]:
    """Return the ids of the cases to show in detail, as many as fit: first those in `attention`."""
    ended = [case for case in list_cases(document) if case["ran"]]
    its = {case["id"]: case for case in (*list_attention(document), *ended)}
    room = MOST_VALUES
    found: list[str] = []
    for name, case in list(its.items())[:MOST_DETAILED]:
        room -= sum(map(len, select_first_flows(case["metrics"]).values()))
        if room < 0 and found:
            break
        found.append(name)
    return found


def select_first_flows(metrics: Record) -> dict[str, Any]:
    """Return the metrics of the flows that a page shows."""
    return dict(islice(metrics.items(), MOST_FLOWS))


def group_alike_flows(flows: Iterable[Record]) -> list[list[Record]]:
    """Return the flows of a test, those beside each other that send the same together."""
    return [
        list(its)
        for _, its in groupby(flows, lambda f: (f["traffic"], f.get("contract"), f.get("source")))
    ]


def arrange_columns(
    its: Sequence[Record], kinds: Sequence[str] = ("require", "expect")
) -> list[dict[str, Any]]:
    """Return the statements of a test's cases side by side.

    A statement that joins several terms has a column for each. A column has `kind`, `label`, `text`
    and `subject` (what is measured), both "" if they differ, `statements` (one per case, None if
    the case has none), `bound` (what all of them need, None if that differs) and `verdict`.
    """
    found: dict[tuple[str, str, int, int], list[Record | None]] = {}
    for index, case in enumerate(its):
        seen: dict[tuple[str, str], int] = {}
        for statement in case["statements"]:
            if statement["kind"] in kinds:
                name = (statement["kind"], statement["label"])
                seen[name] = seen.get(name, 0) + 1
                for term, part in enumerate(_split_terms(statement)):
                    place = (*name, seen[name], term)
                    column = found.setdefault(place, [None] * len(its))
                    column[index] = part
    return [_build_column(kind, label, of) for (kind, label, *_), of in found.items()]


def _split_terms(statement: Record) -> list[Record]:
    """Return a statement once for each of its terms, with that term; just itself without terms."""
    limits = ("measured_limits", "bound_limits")  # not all terms have these
    shared = {name: value for name, value in statement.items() if name not in limits}
    return [{**shared, **term} for term in statement.get("terms", ())] or [statement]


def _build_column(kind: str, label: str, statements: list[Record | None]) -> dict[str, Any]:
    there = [
        statement
        for statement in statements
        if statement and statement["verdict"] != NOT_APPLICABLE
    ]
    written = [statement for statement in statements if statement]
    bounds = {describe_needed(statement) for statement in there}
    texts = {statement["text"] + describe_confidence(statement) for statement in written}
    subjects = {find_subject(statement) for statement in there} - {""}
    return {
        "kind": kind,
        "label": label,
        "text": texts.pop() if len(texts) == 1 else "",
        "term": any(statement.get("terms") for statement in written),
        "subject": subjects.pop() if len(subjects) == 1 else "",
        "statements": statements,
        "bound": bounds.pop() if len(bounds) == 1 else None,
        "verdict": find_worst(statement["verdict"] for statement in there if statement["verdict"]),
    }


def build_flow_tables(metrics: Record) -> dict[str, Any]:
    """Return a case's metrics as tables.

    `plain` is a table of the single numbers, `statistics` one for each metric that has several
    (`transfer_delay.p99`), by its name. A table has `columns` and `rows`: pairs of a flow and its
    values by column.
    """
    plain: dict[str, None] = {}
    statistics: dict[str, dict[str, None]] = {}
    for name in (name for values in metrics.values() for name in values):
        metric, _, statistic = name.partition(".")
        if statistic:
            statistics.setdefault(metric, {})[statistic] = None
        else:
            plain[name] = None
    return {
        "plain": _build_table(metrics, list(plain), ""),
        "statistics": {
            name: _build_table(metrics, list(of), f"{name}.") for name, of in statistics.items()
        },
    }


def _build_table(metrics: Record, names: list[str], prefix: str) -> dict[str, Any]:
    rows = [
        (flow, {name: values.get(prefix + name) for name in names})
        for flow, values in metrics.items()
        if any(prefix + name in values for name in names)
    ]
    return {"columns": names, "rows": rows}


def list_differing(repeats: Sequence[Record]) -> list[tuple[str, str, list[Any]]]:
    """Return the metrics that differ between repeats, as flow, metric and its value in each."""
    if not repeats:
        return []
    rows = [
        (flow, metric, [repeat.get(flow, {}).get(metric) for repeat in repeats])
        for flow, of in repeats[0].items()
        for metric in of
    ]
    return [row for row in rows if len({_write_value(value) for value in row[2]}) > 1]


def _write_value(quantity: Record | None) -> tuple[Any, ...]:
    return (quantity["value"], quantity["unit"]) if quantity else ()


MOST_CELLS = 10_000
"""The most cells of tables of cases on a page; each takes some 200 bytes."""
FEWEST_ROWS = 10


def choose_listed(document: Record) -> set[str]:
    """Return the ids of the cases in the tables of tests: all if they fit, else a share of each.

    These are the first of those that need attention, and others at equal distances.
    """
    tests = list_tests(document)
    width = {test["id"]: 1 + _count_columns(test["cases"]) for test in tests}
    cells = sum(width[test["id"]] * len(test["cases"]) for test in tests)
    chosen: set[str] = set()
    for test in tests:
        its = test["cases"]
        room = len(its) if cells <= MOST_CELLS else len(its) * MOST_CELLS // cells
        chosen.update(_choose_rows([*its], max(room, FEWEST_ROWS)))
    return chosen


def _count_columns(its: Sequence[Record]) -> int:
    return max((len(case["statements"]) for case in its), default=0)


def _choose_rows(its: Sequence[Record], most: int) -> list[str]:
    problems = [case["id"] for case in its if case["ran"] and case["verdict"] in PROBLEMS][:most]
    first = set(problems)
    others = [case["id"] for case in its if case["id"] not in first]
    left = most - len(problems)
    if left >= len(others):
        return [*problems, *others]
    return [*problems, *(others[number * len(others) // left] for number in range(left))]


def sum_seconds(its: Iterable[Record], timing: Record) -> float:
    """Return the wall time of cases together in seconds, as far as it is known."""
    known = timing.get("cases", {})
    return float(sum(known.get(case["name"], 0) for case in its))


def compute_elapsed_s(timing: Record) -> float | None:
    """Return the seconds from `started` to `finished`; None if one is missing."""
    if not (timing.get("started") and timing.get("finished")):
        return None
    ends = [datetime.fromisoformat(timing[key]) for key in ("started", "finished")]
    return (ends[1] - ends[0]).total_seconds()


def format_count(count: int, noun: str) -> str:
    """Return `1 case`, `2 cases`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def describe_backend(document: Record) -> str:
    """Return on what a run was carried out: `kernel-vt, kernel 6.1`; "" for the emulation."""
    on = document.get("provenance", {}).get("backend", {})
    kernel = f"kernel {on['kernel']}" if "kernel" in on else ""
    return ", ".join(filter(None, [name_backend(document), kernel]))


def name_backend(document: Record) -> str:
    """Return the name of what a run was carried out on; "" for the emulation."""
    return str(document.get("provenance", {}).get("backend", {}).get("name", ""))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "attention": list_attention,
    "backend": describe_backend,
    "alike_flows": group_alike_flows,
    "by_flow": build_flow_tables,
    "cases": list_cases,
    "columns": arrange_columns,
    "counts": count_verdicts,
    "detailed": choose_detailed,
    "differing": list_differing,
    "elapsed_s": compute_elapsed_s,
    "files": list_files,
    "listed": choose_listed,
    "first_flows": select_first_flows,
    "own_sources": list_own_sources,
    "requirements": list_requirements,
    "seconds_of": sum_seconds,
    "tests": list_tests,
    "title": choose_title,
    "unmentioned": list_unmentioned,
    "verdicts": lambda: VERDICTS,
}

FILTERS: dict[str, Callable[..., Any]] = {
    "place": shorten_place,
    "plural": format_count,
}
