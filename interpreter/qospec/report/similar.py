"""Cases that fail alike: the same criteria of one test, for the same causes.

A sweep through the limit of a device fails in most of its cases, and each says the same. So the
first is shown in full, with the number of all and the values for which they fail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from qospec.judge.verdict import PROBLEMS
from qospec.report.causes import find_flow, list_concerned, list_reasons, list_unmet
from qospec.report.charts.parameter import find_scale, show_value
from qospec.report.charts.plot import list_varying, point
from qospec.report.charts.sample import read_exact
from qospec.report.searches import list_points
from qospec.report.views import list_attention, list_tests, shorten_place
from qospec.report.words import (
    describe_limits,
    describe_measured,
    describe_needed,
    find_extremes,
)

Record = Mapping[str, Any]

MOST_REASONS = 3
"""The most reasons that one line says."""
MOST_VALUES = 3
"""The most values of a parameter that are listed."""

_NUMBER = re.compile(r"\d[\d_.]*")
_INDEX = re.compile(r"\[\d+\]")
_WORDS = {
    "error": "end in the same error",
    "fail": "fail the same way",
    "inconclusive": "are inconclusive for the same reason",
    "skip": "are skipped for the same reason",
}


def group_similar(its: Iterable[Record]) -> list[list[Record]]:
    """Return groups of cases of one test in which the same criteria failed for the same causes.

    So must be the points that were not run. A cause is why items of a flow were discarded, and in
    which element; members of an array are one. What was measured may differ, and so may the numbers
    in the texts of errors.
    """
    found: dict[tuple[Any, ...], list[Record]] = {}
    for case in its:
        failed = tuple(
            (statement["place"], statement["label"], statement["verdict"])
            for statement in case["statements"]
            if statement["verdict"] in PROBLEMS
        )
        causes = {
            (find_flow(finding["flow"]), _INDEX.sub("", finding["element"]), finding["cause"])
            for finding in list_concerned(case)
        }
        errors = tuple(_NUMBER.sub("#", error) for error in case["errors"])
        skipped = tuple(case["why"]) if case["verdict"] == "skip" else ()
        left_out = tuple(phase["name"] for phase in list_points(case) if not phase["ran"])
        test = case["test"], case.get("place", "")
        key = (test, case["verdict"], failed, frozenset(causes), errors, skipped, left_out)
        found.setdefault(key, []).append(case)
    return list(found.values())


def describe_group(group: Sequence[Record]) -> str:
    """Return how many cases are alike: `55 cases of rfc2544 fail the same way`."""
    first = group[0]
    return f"{len(group)} cases of {first['test']} {_WORDS[first['verdict']]}"


def describe_extent(group: Sequence[Record], cases: Iterable[Record] = ()) -> str:
    """Return the values of the parameters in which the cases of a group, or others, differ.

    Such as `size = 64 B, 128 B; load = 30% to 95% (8 values)`. What `describe_shared` says is left
    out where it is the same value in all cases of the group.

    Args:
        group: Cases that are alike.
        cases: All cases of the run; none to leave out what is the same in the group.
    """
    its = _select_of_test(group, cases)
    passing = [case for case in its if case["verdict"] == "pass"]
    varying = list_varying(group)
    fixed = [
        name
        for name in list_varying(its)
        if len({case["parameters"].get(name) for case in group}) == 1
        and not (passing and _describe_common(group, passing, name))
    ]
    names = [name for name in group[0]["parameters"] if name in (*varying, *fixed)]
    return "; ".join(f"{name} = {_list_values(group, name)}" for name in names)


def _select_of_test(group: Sequence[Record], cases: Iterable[Record]) -> list[Record]:
    """Return which of the cases are of the test of a group."""
    test = group[0]["test"], group[0].get("place", "")
    return [case for case in cases if (case["test"], case.get("place", "")) == test]


def describe_shared(group: Sequence[Record], cases: Iterable[Record]) -> str:
    """Return what all cases of a group have in common that no case of their test that passes has.

    Such as `size = 64 B; load >= 80%`; "" if they have nothing, or if none passes.

    Args:
        group: Cases that are alike.
        cases: All cases of the run.
    """
    passing = [case for case in _select_of_test(group, cases) if case["verdict"] == "pass"]
    if not passing or len(group) == 1:
        return ""
    named = (_describe_common(group, passing, name) for name in group[0]["parameters"])
    return "; ".join(filter(None, named))


def _describe_common(group: Sequence[Record], passing: Sequence[Record], name: str) -> str:
    """Return which values of a parameter only the cases of a group have; "" if others have them."""
    ours, theirs = ({case["parameters"].get(name, "") for case in its} for its in (group, passing))
    if ours & theirs:
        return ""
    if len(ours) == 1:
        return f"{name} = {point(group[0], [name])}"
    scale = find_scale([*group, *passing], name)
    if scale is None:
        return ""
    values = scale.values
    low, high = (end(ours, key=values.__getitem__) for end in (min, max))
    if values[low] > max(map(values.__getitem__, theirs)):
        return f"{name} >= {show_value(low)}"
    return f"{name} <= {show_value(high)}" * (values[high] < min(map(values.__getitem__, theirs)))


def _list_values(group: Sequence[Record], name: str) -> str:
    texts = {case["parameters"].get(name, ""): point(case, [name]) for case in group}
    if len(texts) <= MOST_VALUES:
        return ", ".join(texts.values())
    scale = find_scale(group, name)
    order = list(texts) if scale is None else sorted(texts, key=scale.values.__getitem__)
    first, last = texts[order[0]], texts[order[-1]]
    return f"{first} {'…' if scale is None else 'to'} {last} ({len(texts)} values)"


def describe_least_and_most(statement: Record, group: Sequence[Record]) -> str:
    """Return what a statement measured in the cases of a group, `72 pkt to 741 pkt`.

    "" if it is the same in all, as far as it is shown, or cannot be compared.
    """
    found = [
        find_extremes(other)
        for case in (group if len(group) > 1 else ())
        for other in case["statements"]
        if other["place"] == statement["place"] and other["label"] == statement["label"]
    ]
    known = [ends for ends in found if any(map(read_exact, ends))]
    if len({tuple(end["text"] if end else "" for end in ends) for ends in known}) <= 1:
        return ""
    if len({end["unit"] for ends in known for end in ends if end}) > 1:
        return ""
    lowers, uppers = zip(*known, strict=True)
    return describe_limits({"lower": _end(min, lowers), "upper": _end(max, uppers)})


def _end(choose: Callable[..., Any], ends: Sequence[Record | None]) -> Record | None:
    """Return the least or the greatest of some limits; None if one of them is unknown."""
    return None if None in ends else choose(ends, key=read_exact)


def list_findings(document: Record) -> list[dict[str, Any]]:
    """Return what a build server shows at a line: each criterion that similar cases do not meet.

    Errors without a criterion stand at their test. Each has `verdict`, `path`, `line`, `title`,
    `text` and a `key` that no other has.
    """
    tests = {test["name"]: test["place"] for test in document["tests"]}
    found = []
    for group in group_similar(list_attention(document)):
        case = group[0]
        title = describe_group(group) if len(group) > 1 else case["name"]
        reasons = [*case["errors"], *list_reasons(case)]
        for statement in list_unmet(case):
            needed = describe_needed(statement)
            text = f"{statement['label']}: {describe_measured(statement)} measured"
            text += f", {needed} needed" if needed else ""
            text = "; ".join([text, *filter(None, [statement["note"]]), *reasons[:MOST_REASONS]])
            found.append((case, statement, statement["verdict"], statement["place"], title, text))
        if not list_unmet(case):
            place = case.get("place", tests.get(case["test"], ""))
            text = "; ".join(reasons[:MOST_REASONS]) or case["verdict"]
            found.append((case, {"label": ""}, case["verdict"], place, title, text))
    return [
        {
            "verdict": verdict,
            **shorten_place(place),
            "title": title,
            "text": text,
            "key": f"{case['name']} {statement['label']} {place}",
        }
        for case, statement, verdict, place, title, text in found
    ]


MOST_PRINTED = 40
"""The most cases that are printed with their metrics."""


def choose_printed(document: Record, shown: Sequence[str]) -> list[str]:
    """Return which of the cases that are shown in detail are printed so, by id.

    Of cases that fail alike it is the first; of each file also the one with the fewest flows of
    those that pass, since tables have the statements of all the others.
    """
    chosen = [group[0] for group in group_similar(list_attention(document))]
    passing: dict[str, list[Record]] = {}
    for test in list_tests(document):
        passing.setdefault(test["path"], []).extend(
            case for case in test["cases"] if case["ran"] and case["verdict"] not in PROBLEMS
        )
    chosen += [min(its, key=lambda case: len(case["metrics"])) for its in passing.values() if its]
    return [case["id"] for case in chosen if case["id"] in shown][:MOST_PRINTED]


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "findings": list_findings,
    "extent": describe_extent,
    "least_and_most": describe_least_and_most,
    "printed": choose_printed,
    "similar": group_similar,
    "same_way": describe_group,
    "shared": describe_shared,
}
