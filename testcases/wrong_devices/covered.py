"""What suites cover of publications that number their statements, as docs/covered.md says.

Run as a program, writes that page anew, which `test_covered` holds to the truth. Each run says the
same of what it runs.
"""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from qospec.model.claims import CLAIMS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qospec.model.suite import Reference, Suite

PAGE = Path(__file__).parents[2] / "docs" / "covered.md"
WIDTH = 120
SAYS = "\n  statements = "
"""How a file says how many statements its publication has."""
BEGINNING = """\
# What suites cover of publications

Of publications whose statements a suite numbers: which are covered, by the strongest claim of a
criterion ([chapter 7](../spec/7-verdicts.md) explains claims), and what is not reproduced, and why.
The suites say what the numbers stand for. `qos run` prints the same below what it runs; `make
nothing` writes this page.
"""


class Covered:
    """What the suites of a folder say of a publication, whose parts count together.

    Attributes:
        references: By title, what it is, or its parts.
        claims: By statement, the claims of its criteria.
        gaps: What is not reproduced, and why.
    """

    def __init__(self) -> None:
        self.references: dict[str, Reference] = {}
        self.claims: dict[str, set[str]] = {}
        self.gaps: dict[str, str] = {}

    def add(self, suite: Suite) -> None:
        """Add what a case says."""
        (test,) = suite.tests
        (case,) = test.cases
        self.references |= {reference.title: reference for reference in suite.references}
        self.gaps |= dict(test.not_reproduced)
        for name in test.covers:
            self.claims.setdefault(name, set())
        for statement in case.statements:
            for name in () if statement.idle else statement.covers or test.covers:
                self.claims.setdefault(name, set()).add(statement.claim)

    def select(self, claim: str) -> list[str]:
        """Return the statements of which a claim is the strongest, in order."""
        stronger = list(CLAIMS)[: list(CLAIMS).index(claim)]
        return [
            name
            for name, its in sorted(self.claims.items(), key=lambda one: _order(one[0]))
            if claim in its and its.isdisjoint(stronger)
        ]

    def write(self) -> str:
        """Return its section of the page."""
        count = sum(reference.statements for reference in self.references.values())
        lines = [f"## {'; '.join(self.references)}", ""]
        by_claim = {claim: self.select(claim) for claim in CLAIMS}
        covered = sum(map(len, by_claim.values()))
        lines += [f"{covered} of {count} statements:", ""]
        for claim, names in by_claim.items():
            if names:
                lines += _wrap(f"- {len(names)} {claim}: {', '.join(names)}")
        if self.gaps:
            lines += ["", "Not reproduced:", ""]
            for what, why in sorted(self.gaps.items(), key=lambda gap: _order(gap[0].split()[0])):
                lines += _wrap(f"- **{what}**: {why}")
        return "\n".join(lines) + "\n"


def _order(name: str) -> tuple[int, str]:
    digits = "".join(filter(str.isdigit, name))
    return int(digits or 0), name


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def list_numbering(suites: Path) -> list[Path]:
    """Return the files of those suites in which a publication says how many statements it has."""
    works = sorted(
        {path.parent for path in suites.glob("*/*.qos") if SAYS in path.read_text("utf-8")}
    )
    return [path for work in works for path in sorted(work.glob("*.qos"))]


def write_page(suites: Iterable[tuple[str, Suite]]) -> str:
    """Return the page: of each publication what cases cover, each with the name of its folder.

    Files of which a publication does not number its statements are left out.
    """
    found: dict[str, Covered] = {}
    for work, suite in suites:
        if suite.references and all(reference.statements for reference in suite.references):
            found.setdefault(work, Covered()).add(suite)
    return "\n".join([BEGINNING, *(covered.write() for covered in found.values())])


def main() -> None:
    """Write the page."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    from conftest import cases_of
    from replacing import SUITES

    files = list_numbering(SUITES)
    text = write_page((path.parent.name, case.suite) for path in files for case in cases_of(path))
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
