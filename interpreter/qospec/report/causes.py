"""Why a case did not pass: what was discarded where, over all its repeats.

And the joint confidence of all criteria of a record that were judged with one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from fractions import Fraction
from typing import Any

from qospec.catalogue.statistics import describe_cause
from qospec.judge.verdict import PROBLEMS
from qospec.protocol.streams import PARTS
from qospec.record.outcome import describe_loss, discard_sentence
from qospec.report.charts.axis import write_number
from qospec.units import RATIO, format_value

Record = Mapping[str, Any]


def list_discarded(case: Record) -> list[dict[str, Any]]:
    """Return where items were discarded, each flow, place and cause once over all repeats.

    Each has `flow`, `element`, `cause`, its `words`, `carries` ("" if unknown), the `least` and
    `most` lost there in any repeat with losses, and `when`: in how many repeats, "" if there is
    only one.
    """
    found: dict[tuple[str, str, str], list[Record]] = {}
    for loss in case["losses"]:
        found.setdefault((loss["flow"], loss["element"], loss["cause"]), []).append(loss)
    return [
        {
            "flow": flow,
            "element": element,
            "cause": cause,
            "words": describe_cause(cause),
            "carries": losses[0].get("carries", ""),
            "least": min(loss["cells"] for loss in losses),
            "most": max(loss["cells"] for loss in losses),
            "when": _describe_when(len(losses), len(case["repeats"])),
        }
        for (flow, element, cause), losses in found.items()
    ]


def _describe_when(seen: int, repeats: int) -> str:
    if repeats <= 1:
        return ""
    return "per repeat" if seen == repeats else f"per repeat, in {seen} of {repeats}"


def list_reasons(case: Record) -> list[str]:
    """Return why a case did not pass, in the sentences of its record, repeats taken together.

    Of what was discarded, only that of the flows named by unmet criteria is included. If nothing of
    these was discarded, a sentence says so first, and everything else is included. A record whose
    losses do not state what was lost, cells or packets, keeps its own sentences.

    They stand in the order of what they cost the criteria: of delays, where the time went comes
    first; of ratings of calls, what came too late and what was lost, the more of them first.
    """
    if any("carries" not in loss for loss in case["losses"]):
        return list(case["why"])
    known = {describe_loss(loss) for loss in case["losses"]}
    others = dict.fromkeys(line for line in case["why"] if line not in known)
    named, found = _list_named(case), list_concerned(case)
    if found and named and find_flow(found[0]["flow"]) not in named:
        others[
            f"nothing of {' and '.join(named)} was discarded{_describe_errored(case, named)}"
        ] = None
    late, waited = _describe_late(case), _describe_waits(case)
    slow = [sentence for flow, sentence in waited.items() if flow not in late]
    costs = [(discard["most"], [discard_sentence(discard)]) for discard in found]
    costs += [
        (count, [sentence, *filter(None, [waited.get(flow)])])
        for flow, (count, sentence) in late.items()
    ]
    costs.sort(key=lambda cost: -cost[0])
    timed = [*slow, *(sentence for _, sentences in costs for sentence in sentences)]
    return [*others, *timed] if case["losses"] else [*timed, *others]


RATED = frozenset({"late", "mean_opinion_score", "r_factor"})
"""Metrics of calls for which a packet that comes too late is lost."""


def _describe_late(case: Record) -> dict[str, tuple[int, str]]:
    """Return by rated flow how many packets came too late to be played, and a sentence of it."""
    found = {}
    for flow in dict.fromkeys(_list_rated(case)):
        counts = [_count(repeat, flow, "late") for repeat in case["repeats"]]
        seen = [count for count in counts if count]
        if seen:
            sent = _count(case["metrics"], flow, "sent")
            ends = " to ".join(dict.fromkeys(f"{end(seen):_}" for end in (min, max)))
            when = _describe_when(len(seen), len(counts))
            late = f"{ends} of {sent:_} packets of {flow}{' ' if when else ''}{when}"
            found[flow] = max(seen), f"{late}: too late to be played"
    return found


def _list_rated(case: Record) -> Iterator[str]:
    """Yield the flows whose calls unmet criteria rate."""
    for statement in case["statements"]:
        if statement["verdict"] in PROBLEMS:
            for term in (statement, *statement.get("terms", ())):
                if (term.get("measures") or {}).get("metric") in RATED:
                    yield term["measures"]["flow"]


def _count(metrics: Record, flow: str, metric: str) -> int:
    counted = metrics.get(flow, {}).get(metric)
    return 0 if counted is None else int(counted["value"])


def _describe_waits(case: Record) -> dict[str, str]:
    """Return by flow how long its items took in the first trial, and where they waited."""
    found = {}
    for wait in case.get("waits", ()):
        metrics = case["metrics"].get(wait["flow"], {})
        took = [metrics.get(f"transfer_delay.{end}") for end in ("min", "max", "mean")]
        if None in took:
            continue
        least, most, mean = (time["text"] for time in took)
        places = ", ".join(map(_describe_place, wait["places"]))
        where = f"waiting at {places}" if places else "nothing waited on its way"
        of = f"{wait['flow']} took {least} to {most}, on average {mean}"
        found[wait["flow"]] = f"{of}: {where}"
    return found


def _describe_place(place: Record) -> str:
    """Return where items waited, for how long, and the share of all waiting on the way."""
    if "mean_wait" not in place:  # an older record knows how many waited, not for how long
        mean, most, share = place["mean"], place["most"], ""
    else:
        mean, most = place["mean_wait"], place["longest_wait"]
        share = (
            "" if place["share"]["value"] == "1" else f"; {place['share']['text']} of all waiting"
        )
    return f"{place['element']} ({mean['text']} on average, {most['text']} at most{share})"


def _describe_errored(case: Record, flows: Collection[str]) -> str:
    """Return how much of flows arrived with another payload; "" if nothing did, or none was made.

    So does what is still encrypted.
    """
    counts = {flow: case["metrics"].get(flow, {}).get("errored") for flow in flows}
    some = [
        f"{count['text']} of {flow}"
        for flow, count in counts.items()
        if count is not None and count["value"] != "0"
    ]
    return f", but {' and '.join(some)} arrived encrypted or changed" if some else ""


def list_concerned(case: Record) -> list[dict[str, Any]]:
    """Return what was discarded of the flows that unmet criteria name; of all, if nothing was."""
    found, named = list_discarded(case), set(_list_named(case))
    return [failure for failure in found if find_flow(failure["flow"]) in named] or found


def list_unmet(case: Record) -> list[dict[str, Any]]:
    """Return the criteria of a case that did not hold: errors, then fails, then inconclusive ones.

    Each has `apart`: its verdict if that differs from the case's, so that an inconclusive criterion
    is not mistaken for one that failed; otherwise "".
    """
    found = [statement for statement in case["statements"] if statement["verdict"] in PROBLEMS]
    found.sort(key=lambda problem: PROBLEMS.index(problem["verdict"]))
    return [
        {
            **statement,
            "apart": "" if statement["verdict"] == case["verdict"] else statement["verdict"],
        }
        for statement in found
    ]


def _list_named(case: Record) -> list[str]:
    """Return the flows named by unmet criteria; none if one of these names no flow."""
    texts = [
        statement["text"] for statement in case["statements"] if statement["verdict"] in PROBLEMS
    ]
    flows = set(map(find_flow, case["metrics"]))
    by_text = [[name for name in _list_names(text) if name in flows] for text in texts]
    return list(dict.fromkeys(flow for named in by_text for flow in named)) if all(by_text) else []


def _list_names(text: str) -> Iterator[str]:
    """Yield the names in a text, and each prefix of dotted ones: `bare`, `bare.ab`, …."""
    for dotted in re.findall(r"(?<![\w.])\w+(?:\.\w+)*", text):
        parts = dotted.split(".")
        yield from (".".join(parts[: count + 1]) for count in range(len(parts)))


def find_flow(population: str) -> str:
    """Return the flow of a member or a part of one: `bare.ab` of `bare.ab[1].oam`."""
    whole, _, part = population.rpartition(".")
    return (whole if part in PARTS else population).partition("[")[0]


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "discarded": list_discarded,
    "reasons": list_reasons,
    "unmet": list_unmet,
}


TOGETHER = Fraction(95, 100)
"""The joint confidence that all criteria should usually have."""


def count_with_confidence(document: Record) -> dict[str, Any]:
    """Return how many criteria were judged with confidence, as `count` and in a `sentence`.

    The sentence states how many wrong decisions to expect, and the confidence that each would need
    for a joint one. Source: Bonferroni's inequality.
    """
    found = [
        statement["confidence"]
        for case in document["cases"]
        for statement in case["statements"]
        if statement.get("interval") and statement["kind"] != "report"
    ]
    doubt = sum((1 - _write_share(confidence) for confidence in found), Fraction(0))
    were = "1 criterion was" if len(found) == 1 else f"{len(found)} criteria were"
    wrong = write_number(Fraction(math.ceil(doubt * 100), 100))
    sentence = f"{were} judged with confidence; on average at most {wrong} of them"
    sentence += f" {'are' if doubt > 1 else 'is'} decided wrongly by chance."
    if doubt > 1 - TOGETHER:
        level = 1 - (1 - TOGETHER) / len(found)
        sure = format_value(level, RATIO, digits=len(str(len(found))) + 4)
        sentence += (
            f" To be {format_value(TOGETHER, RATIO)} sure of all at once, each would need {sure}."
        )
    return {"count": len(found), "sentence": sentence}


def _write_share(percent: str) -> Fraction:
    return Fraction(percent.rstrip(" %")) / 100
