"""Cases that fail alike: the same criteria of one test, for the same causes.

A sweep through the limit of a device fails in most of its cases, and each says the same. So the
first is shown in full, with the number of all and the values for which they fail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from qospec.judge.verdict import PROBLEMS
from qospec.report.causes import find_flow, list_concerned
from qospec.report.charts.parameter import find_scale
from qospec.report.charts.plot import list_varying, point
from qospec.report.charts.sample import read_exact
from qospec.report.searches import list_points
from qospec.report.words import describe_limits, find_extremes

Record = Mapping[str, Any]

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
            (find_flow(each["flow"]), _INDEX.sub("", each["element"]), each["cause"])
            for each in list_concerned(case)
        }
        errors = tuple(_NUMBER.sub("#", error) for error in case["errors"])
        skipped = tuple(case["why"]) if case["verdict"] == "skip" else ()
        left_out = tuple(each["name"] for each in list_points(case) if not each["ran"])
        test = case["test"], case.get("place", "")
        key = (test, case["verdict"], failed, frozenset(causes), errors, skipped, left_out)
        found.setdefault(key, []).append(case)
    return list(found.values())


def describe_group(group: Sequence[Record]) -> str:
    """Return how many cases are alike: `55 cases of rfc2544 fail the same way`."""
    first = group[0]
    return f"{len(group)} cases of {first['test']} {_WORDS[first['verdict']]}"


def describe_extent(group: Sequence[Record]) -> str:
    """Return the values of the parameters in which the cases of a group differ.

    Such as `size = 64 B, 128 B; load = 30% to 95% (8 values)`.
    """
    return "; ".join(f"{name} = {_list_values(group, name)}" for name in list_varying(group))


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

    "" if it is the same in all, or cannot be compared.
    """
    found = [
        find_extremes(each)
        for case in (group if len(group) > 1 else ())
        for each in case["statements"]
        if each["place"] == statement["place"] and each["label"] == statement["label"]
    ]
    known = [ends for ends in found if any(map(read_exact, ends))]
    if len({tuple(map(read_exact, ends)) for ends in known}) <= 1:
        return ""
    if len({end["unit"] for ends in known for end in ends if end}) > 1:
        return ""
    lowers, uppers = zip(*known, strict=True)
    return describe_limits({"lower": _end(min, lowers), "upper": _end(max, uppers)})


def _end(choose: Callable[..., Any], ends: Sequence[Record | None]) -> Record | None:
    """Return the least or the greatest of some limits; None if one of them is unknown."""
    return None if None in ends else choose(ends, key=read_exact)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "extent": describe_extent,
    "least_and_most": describe_least_and_most,
    "similar": group_similar,
    "same_way": describe_group,
}
