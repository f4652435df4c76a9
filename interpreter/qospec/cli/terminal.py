"""How a run looks on a terminal: its progress, a line per ended case, what failed and why."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from qospec.cli.progress import Progress, Work
from qospec.report.cautions import caution_sentence, cautions
from qospec.report.certainty import with_confidence
from qospec.report.claims import claims_sentence
from qospec.report.reasons import CALM, reasons
from qospec.report.words import confidence, ends

if TYPE_CHECKING:
    from collections.abc import Callable

MARKS = {"pass": "✓", "fail": "✗", "inconclusive": "~", "error": "!", "skip": "-"}
ASCII = {"pass": "+", "fail": "x", "inconclusive": "~", "error": "!", "skip": "-"}
COLOURS = {
    "pass": "green",
    "fail": "red",
    "inconclusive": "yellow",
    "error": "magenta",
    "skip": "cyan",
}


def compiling() -> None:
    """Say what is waited for; it may be said in any run that uses something for the first time."""
    words = "compiling kernels that no run has used yet: kept for later runs, and in no case's time"
    click.echo(words, err=True)


def uncached() -> None:
    """Say that the next run will be as slow as this."""
    words = "compiled kernels cannot be kept (is the disk full?): every run will compile them"
    click.echo(f"warning: {words}", err=True)


NOTICES = {"compiling": compiling, "uncached": uncached}
"""What to say of kernels, once in a run."""


class Console:
    """Hears how a run goes and tells it."""

    def __init__(self, cases: int, *, quiet: bool, progress: Progress | None) -> None:
        """Expect so many cases; `quiet` leaves stdout to a document."""
        self._cases = cases
        self._quiet = quiet
        self._progress = progress or Progress(Work({}), live=False, beats=False)
        unicode = "utf" in (getattr(sys.stdout, "encoding", "") or "").lower()
        self._marks = MARKS if unicode else ASCII

    def notices(self) -> dict[str, Callable[[], None]]:
        """Return what to say of kernels, where no line is in the way."""

        def said(say: Callable[[], None]) -> None:
            self._progress.clear()
            say()

        return {name: partial(said, say) for name, say in NOTICES.items()}

    def progressed(self, case: str, share: float) -> None:
        """Say how far the run is, now and then."""
        self._progress.heard(case, share)

    def waited(self) -> None:
        """Say how far the run is, now and then."""
        self._progress.waited()

    def ended(self, case: dict[str, Any], seconds: float) -> None:
        """Print the line of an ended case, and at once what it did not pass."""
        self._progress.ended(case["name"])
        if self._quiet:
            return
        verdict = case["verdict"]
        mark = click.style(f"{self._marks[verdict]} {verdict}", fg=COLOURS[verdict])
        click.echo(f"{mark}  {case['name']}  {seconds:.1f} s")
        if self._cases == 1:
            _tell_notes(case)

    def summary(self, document: dict[str, Any]) -> None:
        """Print what needs a look, and the count of each verdict."""
        for case in document["cases"]:
            if case["ran"] and case["verdict"] == "skip":
                click.echo(f"\nSKIP  {case['name']}\n    why       {case['why'][0]}")
            elif case["ran"] and case["verdict"] != "pass":
                self._explain(case)
        counts = ", ".join(
            f"{count} {verdict}"
            for verdict, count in document["summary"].items()
            if verdict in MARKS and count
        )
        click.echo(f"{counts}; seed {document['seed']}")
        if criteria := claims_sentence(document):
            click.echo(criteria)
        for each in cautions(document):
            click.echo(f"warning: {each['place']}: {caution_sentence(each)}")
        together = with_confidence(document)
        if together["count"]:
            click.echo(together["sentence"])
        left = sum(not case["ran"] for case in document["cases"])
        if left:
            of = f"{left} of {len(document['cases'])} cases"
            click.echo(f"interrupted: {of} did not come to their end", err=True)

    def _explain(self, case: dict[str, Any]) -> None:
        click.echo(f"\n{case['verdict'].upper()}  {case['name']}")
        for statement in case["statements"]:
            if statement["verdict"] in CALM:
                continue
            _explain_statement(statement)
        for error in case["errors"]:
            click.echo(f"    error     {error}")
        for line in reasons(case):
            click.echo(f"    why       {line}")
        click.echo(f"    again     {case['again']}\n")


def _tell_notes(case: dict[str, Any]) -> None:
    """Print what the criteria that passed prove, such as what ratio a count of zero excludes."""
    for statement in case["statements"]:
        if statement["verdict"] == "pass" and statement["note"]:
            click.echo(f"    {statement['label']}: {statement['note']}")


def _explain_statement(statement: dict[str, Any]) -> None:
    """Print what was measured and what was needed."""
    asks = f"{statement['kind']} {statement['text']}{confidence(statement)}"
    click.echo(f"  {statement['place']}: {asks}")
    measured, bound = statement["measured"], statement["bound"]
    if measured is None and statement["verdict"] == "inconclusive":
        click.echo("    measured  no data")
    if measured is not None:
        click.echo(f"    measured  {measured['text']}")
    if statement["interval"]:
        repeats = statement["interval"]["repeats"]
        click.echo(f"    interval  {ends(statement['interval'])}, over {repeats} repeats")
    if bound is not None:
        tolerance = statement["tolerance"]
        width = f"within {tolerance['text']} of " if tolerance else f"{statement['comparison']} "
        click.echo(f"    needed    {width}{bound['text']}")
    if statement["note"]:
        click.echo(f"    note      {statement['note']}")
