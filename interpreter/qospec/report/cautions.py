"""Criteria of a record that pass but show less than they state, on too few items."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Record = Mapping[str, Any]


def list_cautions(document: Record) -> list[dict[str, Any]]:
    """Return each such criterion once: `label`, `text`, `place`, `why`, and `cases` out of `of`.

    `why` is that of the `first` case, which is its name.
    """
    every = [
        {**statement, "case": case["name"]}
        for case in document["cases"]
        for statement in case["statements"]
    ]
    found: dict[tuple[str, str], list[Record]] = {}
    for statement in every:
        if statement.get("caution"):
            found.setdefault((statement["place"], statement["label"]), []).append(statement)
    return [
        {
            "label": label,
            "text": its[0]["text"],
            "place": place,
            "why": its[0]["caution"],
            "first": its[0]["case"],
            "cases": len(its),
            "of": sum(caution["label"] == label and caution["place"] == place for caution in every),
        }
        for (place, label), its in found.items()
    ]


def describe_caution(caution: Record) -> str:
    """Return why a criterion shows less than it states, and in how many cases."""
    where = f", in {caution['cases']} of {caution['of']} cases" if caution["of"] > 1 else ""
    return f"{caution['why']}{where}"


FUNCTIONS: dict[str, Callable[..., Any]] = {"cautions": list_cautions}
FILTERS: dict[str, Callable[..., Any]] = {"caution_sentence": describe_caution}
