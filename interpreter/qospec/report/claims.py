"""What a record claims about publications: its criteria by kind, the procedures it follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from qospec.judge.verdict import NOT_APPLICABLE
from qospec.model.claims import CLAIMS
from qospec.record.statements import UNCLAIMED, count_by_claim, count_published, count_statements

Record = Mapping[str, Any]

NOT_REPRODUCED = " (not counted as reproduced)"
_WORDS = {
    **{name: f"{name}{'' if of.reproduces else NOT_REPRODUCED}" for name, of in CLAIMS.items()},
    UNCLAIMED: "without a claim",
}


def find_only_claim(counts: Mapping[str, int]) -> str:
    """Return the claims by which nothing is reproduced, if there are no others: `calibrated`."""
    claimed = [claim for claim in CLAIMS if counts.get(claim)]
    return "" if any(CLAIMS[claim].reproduces for claim in claimed) else " and ".join(claimed)


def describe_counts(counts: Mapping[str, int]) -> str:
    """Return counts in words: `3 exact, 1 shape; 2 not applicable`; "" without any of these.

    Criteria without a claim are counted beside others: a test of no publication makes none.
    """
    idle = counts.get(NOT_APPLICABLE)
    claims = any(counts.get(claim) for claim in CLAIMS)
    applied = ", ".join(
        f"{count} {said}" for name, said in _WORDS.items() if claims and (count := counts.get(name))
    )
    return "; ".join(filter(None, [applied, f"{idle} {NOT_APPLICABLE}" if idle else ""]))


def count_covered(document: Record) -> dict[str, int]:
    """Return how many published statements the tests cover, by their strongest claim."""
    return count_statements(document["tests"], document["cases"])


def describe_claims(document: Record) -> str:
    """Return the claims of statements and criteria in one line.

    It is "" without claims, if all criteria apply.
    """
    criteria = describe_counts(count_by_claim(document["cases"]))
    covered = count_covered(document)
    published = count_published(document, covered)
    of_all = f" {published['covered']} of {published['statements']}" if published else ""
    said = {f"statements covered{of_all}": describe_counts(covered), "criteria": criteria}
    return "; ".join(f"{what}: {words}" for what, words in said.items() if words)


def list_not_reproduced(document: Record) -> list[dict[str, Any]]:
    """Return what is not reproduced of publications: `what`, `why`, and the `tests` stating it."""
    found: dict[tuple[str, str], list[str]] = {}
    for test in document["tests"]:
        for gap in test.get("not_reproduced", ()):
            found.setdefault((gap["what"], gap["why"]), []).append(test["name"])
    return [{"what": what, "why": why, "tests": its} for (what, why), its in found.items()]


def list_procedures(document: Record) -> list[dict[str, Any]]:
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
    "claims_sentence": describe_claims,
    "criteria": count_by_claim,
    "not_reproduced": list_not_reproduced,
    "procedures": list_procedures,
    "statements": count_covered,
}

FILTERS: dict[str, Callable[..., Any]] = {"claimed": describe_counts}
