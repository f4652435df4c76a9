"""The headline of a report: one sentence on how the run went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qospec.judge.verdict import PROBLEMS
from qospec.record.outcome import has_run
from qospec.report.causes import list_reasons as reasons_of
from qospec.report.similar import describe_group, group_similar
from qospec.report.text import split_enumeration
from qospec.report.views import (
    Record,
    count_verdicts,
    find_worst,
    format_count,
    list_attention,
)
from qospec.report.words import describe_measured, describe_needed


def write_headline(document: Record) -> str:
    """Return one sentence on how the run went; before it, which part of one it was."""
    part = document.get("part")
    return (f"Part {part['number']} of {part['of']} of a run. " if part else "") + _write_sentence(
        document
    )


def _write_sentence(document: Record) -> str:
    ended = [case for case in document["cases"] if has_run(case)]
    finished = sum(case.get("ran", True) for case in ended)
    of = count_verdicts(ended)
    whole = document["state"] == "complete"
    total = format_count(len(document["cases"]), "case")
    start = "" if whole else f"{finished} of {total} ended; the run was {document['state']}. "
    if not ended:
        return start + "No case was run."
    if find_worst(of) not in PROBLEMS:
        return (
            _describe_all_well(document, of)
            if whole
            else f"{start}Of these, {_describe_interrupted(of)}."
        )
    groups = [_group(verdict, count) for verdict, count in of.items() if verdict in _ENDINGS]
    passed = f"; {_describe_passing(of['pass'])}" if "pass" in of else ""
    problems = f"Of {format_count(len(ended), 'case')}, {_join_words(groups)}{passed}."
    return f"{start}{problems} {_describe_first_problem(document)}"


_ENDINGS = {
    "error": ("ends in an error of the tester", "end in errors of the tester"),
    "fail": ("fails", "fail"),
    "inconclusive": ("is inconclusive", "are inconclusive"),
}


def _group(verdict: str, count: int) -> str:
    return f"{count} {_ENDINGS[verdict][count > 1]}"


def _describe_passing(count: int) -> str:
    return f"{count} {'pass' if count > 1 else 'passes'}"


def _join_words(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _describe_all_well(document: Record, of: Mapping[str, int]) -> str:
    besides = _describe_not_judged(of)
    if "pass" not in of:
        return f"Nothing was judged: {_join_words(besides)}."
    statements = [statement for case in document["cases"] for statement in case["statements"]]
    held = sum(
        statement["kind"] == "expect" and statement["verdict"] == "pass" for statement in statements
    )
    tested = len({case["test"] for case in document["cases"]})
    every = f"All {of['pass']} cases" if of["pass"] > 1 else "The one case"
    ran = f"{every} of {format_count(tested, 'test')} {'pass' if of['pass'] > 1 else 'passes'}"
    return f"{'; '.join([ran + _describe_expectations(held), *besides])}."


def _describe_expectations(count: int) -> str:
    if count == 1:
        return ": the one expectation holds"
    return f": all {count} expectations hold" if count else ""


def _describe_interrupted(of: Mapping[str, int]) -> str:
    """Return how many cases pass or were skipped in an incomplete run without problems."""
    passed = [_describe_passing(of["pass"])] if "pass" in of else []
    return _join_words([*passed, *_describe_not_judged(of)])


def _describe_not_judged(of: Mapping[str, int]) -> list[str]:
    """Return how many cases were only measured, and how many were skipped."""
    words = {"measured": "only measured", "skip": "skipped"}
    return [
        f"{format_count(of[verdict], 'case')} {'was' if of[verdict] == 1 else 'were'} {said}"
        for verdict, said in words.items()
        if verdict in of
    ]


def _describe_first_problem(document: Record) -> str:
    """Return what is wrong in the first of the worst cases."""
    group = group_similar(list_attention(document))[0]
    case = group[0]
    reasons = [*case["errors"], *map(_shorten, reasons_of(case))]
    others = f"{describe_group(group)}. " if len(group) > 1 else ""
    start = f"{others}Look first at {case['name']}"
    for statement in case["statements"]:
        if statement["verdict"] == case["verdict"] and statement["measured"]:
            got = f"{describe_measured(statement)} measured, {describe_needed(statement)} needed"
            reasons = [f"{statement['label']}, {got}", *reasons]
            break
    return f"{start} ({'; '.join(reasons[:2])})." if reasons else f"{start}."


def _shorten(reason: str) -> str:
    """Return a reason with at most three of the items that it lists."""
    head, items = split_enumeration(reason)
    more = len(items) - 3
    return f"{head} {', '.join(items[:3])} and {more} more" if more > 0 else reason
