"""What a record claims about publications: its criteria by kind, the procedures it follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from qospec.judge.verdict import NOT_APPLICABLE
from qospec.model.suite import CLAIMS
from qospec.record.statements import UNCLAIMED, count_by_claim

Record = Mapping[str, Any]

_WORDS = {
    "exact": "exact",
    "calibrated": "calibrated (not counted as reproduced)",
    "range": "in range",
    "shape": "shape",
    UNCLAIMED: "without a claim",
}


def is_calibrated_only(counts: Mapping[str, int]) -> bool:
    """Return whether all claims are of calibrated values, so that nothing is reproduced."""
    claimed = [claim for claim in CLAIMS if counts[claim]]
    return claimed == ["calibrated"]


def claimed(counts: Mapping[str, int]) -> str:
    """Return counts in words: `3 exact, 1 shape; 2 not applicable`; "" without any of these."""
    idle = counts[NOT_APPLICABLE]
    if not idle and not any(counts[claim] for claim in CLAIMS):
        return ""
    applied = ", ".join(
        f"{counts[claim]} {said}" for claim, said in _WORDS.items() if counts[claim]
    )
    return "; ".join(filter(None, [applied, f"{idle} {NOT_APPLICABLE}" if idle else ""]))


def claims_sentence(document: Record) -> str:
    """Return the claims of all criteria in one line; "" without claims, if all criteria apply."""
    words = claimed(count_by_claim(document["cases"]))
    return f"criteria: {words}" if words else ""


def not_reproduced(document: Record) -> list[dict[str, Any]]:
    """Return what is not reproduced of publications: `what`, `why`, and the `tests` stating it."""
    found: dict[tuple[str, str], list[str]] = {}
    for test in document["tests"]:
        for each in test.get("not_reproduced", ()):
            found.setdefault((each["what"], each["why"]), []).append(test["name"])
    return [{"what": what, "why": why, "tests": its} for (what, why), its in found.items()]


def procedures(document: Record) -> list[dict[str, Any]]:
    """Return the procedures that tests follow: `follows`, `deviations`, and the `tests` that do."""
    found: dict[str, dict[str, Any]] = {}
    for test in document["tests"]:
        follows, deviations = test.get("follows", []), test.get("deviations", [])
        if follows or deviations:
            own = found.setdefault(repr((follows, deviations)), {"tests": []})
            own |= {"follows": follows, "deviations": deviations}
            own["tests"].append(test["name"])
    return list(found.values())


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "claims_sentence": claims_sentence,
    "criteria": count_by_claim,
    "not_reproduced": not_reproduced,
    "procedures": procedures,
}

FILTERS: dict[str, Callable[..., Any]] = {"claimed": claimed}
