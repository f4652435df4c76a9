"""Why a case is not well: who discarded what of whom, over all its repeats at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

Record = Mapping[str, Any]

_CALM = ("pass", "skip", "")
"""Verdicts that nobody asks the reason of; "" is that of what is only reported."""


def discarded(case: Record) -> list[dict[str, Any]]:
    """Return where items of a flow ended, each place and cause once over all repeats.

    Each has `flow`, `element`, `cause`, the `least` and `most` that a repeat lost there, if it did,
    and `when`: in which repeats, "" if there is only one.
    """
    found: dict[tuple[str, str, str], list[int]] = {}
    for loss in case["losses"]:
        found.setdefault((loss["flow"], loss["element"], loss["cause"]), []).append(loss["cells"])
    return [
        {
            "flow": flow,
            "element": element,
            "cause": cause,
            "least": min(cells),
            "most": max(cells),
            "when": _when(len(cells), len(case["repeats"])),
        }
        for (flow, element, cause), cells in found.items()
    ]


def _when(seen: int, repeats: int) -> str:
    if repeats <= 1:
        return ""
    return "per repeat" if seen == repeats else f"per repeat, in {seen} of {repeats}"


def reasons(case: Record) -> list[str]:
    """Return why a case is not well, in sentences: those of its record, repeats taken together.

    Of what was discarded only that is told which concerns the flows that its criteria name, unless
    nothing does; then this is said first.
    """
    places = {_place(each): each for each in discarded(case)}
    said: dict[str, str] = {}
    others: dict[str, None] = {}
    for line in case["why"]:
        place = line.partition(" of ")[2]
        if place in places:
            said.setdefault(place, _sentence(line, places[place]))
        else:
            others[line] = None
    named = _named(case)
    concerned = [line for place, line in said.items() if _root(places[place]["flow"]) in named]
    if said and named and not concerned:
        others[f"nothing of {' and '.join(named)} was discarded"] = None
    return [*others, *(concerned or said.values())]


def _place(discard: Record) -> str:
    return f"{discard['flow']}: {discard['element']} ({discard['cause']})"


def _sentence(line: str, discard: Record) -> str:
    """Return the sentence of all repeats; `line` is that of one of them."""
    if not discard["when"]:
        return line
    item = line.split(maxsplit=2)[1].removesuffix("s")
    cells = " to ".join(dict.fromkeys(f"{discard[end]:_}" for end in ("least", "most")))
    lost = f"{cells} {item}{'s' * (discard['most'] != 1)} of {discard['flow']}"
    return f"{lost} {discard['when']}: {discard['element']} ({discard['cause']})"


def _named(case: Record) -> list[str]:
    """Return the flows that criteria name which did not hold; none if one of them names none."""
    texts = [each["text"] for each in case["statements"] if each["verdict"] not in _CALM]
    flows = dict.fromkeys(map(_root, case["metrics"]))
    by_text = [[flow for flow in flows if _names(text, flow)] for text in texts]
    return list(dict.fromkeys(flow for named in by_text for flow in named)) if all(by_text) else []


def _names(text: str, flow: str) -> bool:
    return bool(re.search(rf"(?<![\w.]){re.escape(flow)}(?!\w)", text))


def _root(population: str) -> str:
    """Return the flow of a member or of OAM cells: `bare.ab` of `bare.ab[1].oam`."""
    return population.removesuffix(".oam").partition("[")[0]


FUNCTIONS: dict[str, Callable[..., Any]] = {"discarded": discarded, "reasons": reasons}
