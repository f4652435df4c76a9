"""How sure all criteria of a record are together that were judged with confidence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from qospec.report.axis import number
from qospec.units import RATIO, text_of

Record = Mapping[str, Any]

TOGETHER = Fraction(95, 100)
"""How sure one mostly wants to be of all criteria at once."""


def with_confidence(document: Record) -> dict[str, Any]:
    """Return how many criteria were judged with confidence: `count`, and a `sentence` of it.

    Many of them together are wrong more often than one; how often is said, and how sure each would
    have to be for all to be sure. Source: Bonferroni's inequality.
    """
    found = [
        statement["confidence"]
        for case in document["cases"]
        for statement in case["statements"]
        if statement.get("interval") and statement["kind"] != "report"
    ]
    doubt = sum((1 - _share(confidence) for confidence in found), Fraction(0))
    were = "1 criterion was" if len(found) == 1 else f"{len(found)} criteria were"
    wrong = number(Fraction(math.ceil(doubt * 100), 100))
    sentence = f"{were} judged with confidence; on average at most {wrong} of them"
    sentence += f" {'are' if doubt > 1 else 'is'} decided wrongly by chance."
    if doubt > 1 - TOGETHER:
        each = 1 - (1 - TOGETHER) / len(found)
        sure = text_of(each, RATIO, digits=len(str(len(found))) + 4)
        sentence += (
            f" To be {text_of(TOGETHER, RATIO)} sure of all at once, each would need {sure}."
        )
    return {"count": len(found), "sentence": sentence}


def _share(percent: str) -> Fraction:
    return Fraction(percent.rstrip(" %")) / 100
