"""What suites claim, and how much of it a device that does nothing passes, as docs/nothing.md says.

Run as a program, writes that page anew from `nothing`, which `test_nothing` holds to the truth.
"""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from qospec.model.claims import CLAIMS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from qospec.model.suite import Suite

Claims = dict[str, dict[str, str]]
"""By criterion, `test.label`, the claim in each case to which it applies, by name; or what is
`expected`, of a suite that claims nothing."""

Counts = dict[str, tuple[int, int]]
"""By kind of claim, how many criteria there are, and how many of them are passed."""

PAGE = Path(__file__).parents[2] / "docs" / "nothing.md"
WIDTH = 120
EXPECTED = "expected"
"""What a criterion is called that claims nothing, in a suite that follows no publication."""
KINDS = (*CLAIMS, EXPECTED)
BEGINNING = """\
# What a device that does nothing passes

In place of the devices of each suite stands one that forwards at once, loses nothing and knows
nothing. A criterion that it passes in every case says nothing about a device, so none of these is
claimed as reproduced, as `exact`, `range` or `shape` ([chapter 7](../spec/7-verdicts.md) explains
claims). `expected` are the criteria of suites that follow no publication, and so claim nothing. The
tests run such a device in every suite, and fail if it passes more or less than this page says;
`make nothing` writes it.
"""


def collect_claims(cases: Collection[Suite], unclaimed: str) -> Claims:
    """Return what criteria claim; those that claim nothing, if they are called something."""
    found: Claims = {}
    for suite in cases:
        (test,) = suite.tests
        (case,) = test.cases
        for statement in case.statements:
            claim = statement.claim or unclaimed
            if statement.kind == "expect" and not statement.idle and claim:
                found.setdefault(name_criterion(test.name, statement.label), {})[case.name] = claim
    return found


def name_criterion(test: str, label: str) -> str:
    """Return the name of a criterion, in all cases and of all flows."""
    return f"{test}.{label.partition('[')[0]}"


def write_row(name: str, counts: Counts) -> str:
    """Return a row of the table: of criteria of each kind, how many are passed."""
    cells = (f"{counts[kind][1]} of {counts[kind][0]}" if kind in counts else "" for kind in KINDS)
    return f"| {name} | {' | '.join(cells)} |"


def count_claims(claims: Claims, survivors: Collection[str]) -> Counts:
    """Return of each kind how many criteria there are, and how many of them are passed."""
    found: Counts = {}
    for key, its in claims.items():
        for kind in sorted(set(its.values())):
            of_all, passed = found.get(kind, (0, 0))
            found[kind] = of_all + 1, passed + (key in survivors)
    return found


def write_reasons(name: str, survivors: Mapping[str, Sequence[str]]) -> str:
    """Return what a file's criteria survive by, each reason with its criteria."""
    lines = [f"### {name}", ""]
    for reason, its in survivors.items():
        text = f"- {reason}: " + ", ".join(f"`{key}`" for key in its)
        lines += textwrap.wrap(
            text, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
    return "\n".join(lines) + "\n"


def write_page(found: Mapping[str, tuple[Claims, Mapping[str, Sequence[str]]]]) -> str:
    """Return the page: of each file its claims, and what survives of them by reason."""
    counts = {
        name: count_claims(claims, {key for its in survivors.values() for key in its})
        for name, (claims, survivors) in found.items()
    }
    sums: Counts = dict.fromkeys(KINDS, (0, 0))
    for its in counts.values():
        for kind, (of_all, passed) in its.items():
            sums[kind] = sums[kind][0] + of_all, sums[kind][1] + passed
    table = [
        f"| passed | {' | '.join(KINDS)} |",
        "|---" * (len(KINDS) + 1) + "|",
        *(write_row(f"`{name}`", its) for name, its in counts.items() if its),
        write_row("all", sums),
    ]
    reasons = [write_reasons(name, its) for name, (_, its) in found.items() if its]
    return "\n".join([BEGINNING, *table, "", "## Which, and why", "", *reasons])


def main() -> None:
    """Write the page."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    from conftest import cases_of
    from nothing import NOTHING
    from replacing import SUITES

    found = {}
    for nothing in sorted(NOTHING, key=lambda nothing: nothing.work):
        for path in sorted((SUITES / nothing.work).glob("*.qos")):
            cases = [case.suite for case in cases_of(path)]
            claims = collect_claims(cases, nothing.unclaimed)
            survivors = nothing.survivors.get(path.name, {})
            found[f"suites/{nothing.work}/{path.name}"] = claims, survivors
    PAGE.write_text(write_page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
