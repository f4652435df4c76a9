"""How many criteria of some cases claim what of a publication, and how many did not apply."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from qospec.model.suite import CLAIMS, JUDGED
from qospec.run.verdict import NOT_APPLICABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

UNCLAIMED = "none"
"""Of criteria that claim nothing of a publication."""


def criteria(cases: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return how many criteria of documents of cases applied by what they claim.

    The kinds of claims come first, then `none`, and last how many were `not applicable`.
    """
    found = Counter(
        _sort(statement)
        for case in cases
        for statement in case["statements"]
        if statement["kind"] in JUDGED
    )
    return {sort: found[sort] for sort in (*CLAIMS, UNCLAIMED, NOT_APPLICABLE)}


def _sort(statement: Mapping[str, Any]) -> str:
    if statement["verdict"] == NOT_APPLICABLE:
        return NOT_APPLICABLE
    return statement.get("claim") or UNCLAIMED
