"""How a run looks on a terminal: its progress, a line per ended case, what failed and why."""

from __future__ import annotations

import sys
import time
from typing import Any

import click

from qospec.report.cautions import caution_sentence, cautions
from qospec.report.certainty import with_confidence
from qospec.report.claims import claims_sentence
from qospec.report.reasons import CALM, reasons
from qospec.report.words import confidence, ends

MARKS = {"pass": "✓", "fail": "✗", "inconclusive": "~", "error": "!", "measured": "·", "skip": "-"}
ASCII = {"pass": "+", "fail": "x", "inconclusive": "~", "error": "!", "measured": ".", "skip": "-"}
COLOURS = {
    "pass": "green",
    "fail": "red",
    "inconclusive": "yellow",
    "error": "magenta",
    "measured": "blue",
    "skip": "cyan",
}
REDRAW_S = 0.1


def compiling() -> None:
    """Say that this run is slower than the next."""
    click.echo("compiling kernels: only this first run waits for it", err=True)


def uncached() -> None:
    """Say that the next run will be as slow as this."""
    words = "compiled kernels cannot be kept (is the disk full?): every run will compile them"
    click.echo(f"warning: {words}", err=True)


NOTICES = {"compiling": compiling, "uncached": uncached}
"""What to say of kernels, once in a run; functions that worker processes can import."""


class Console:
    """Hears how a run goes and tells it."""

    def __init__(self, cases: int, *, quiet: bool, progress: bool) -> None:
        """Expect so many cases; `quiet` leaves stdout to a document."""
        self._cases = cases
        self._ended = 0
        self._quiet = quiet
        self._live = progress and sys.stderr.isatty()
        self._drawn_s = 0.0
        self._width = 0
        unicode = "utf" in (getattr(sys.stdout, "encoding", "") or "").lower()
        self._marks = MARKS if unicode else ASCII

    def progressed(self, case: str, share: float) -> None:
        """Redraw the progress line, a few times a second."""
        now_s = time.monotonic()
        if not self._live or now_s - self._drawn_s < REDRAW_S:
            return
        self._drawn_s = now_s
        line = f"  {self._ended}/{self._cases}  {case}  {share:4.0%}"
        self._draw(line)

    def ended(self, case: dict[str, Any], seconds: float) -> None:
        """Print the line of an ended case, and at once what it did not pass."""
        self._ended += 1
        self._draw("")
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
            elif case["ran"] and case["verdict"] not in CALM:
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
        verdict = click.style(case["verdict"].upper(), fg=COLOURS[case["verdict"]], bold=True)
        click.echo(f"\n{verdict}  {click.style(case['name'], bold=True)}")
        for statement in case["statements"]:
            if statement["verdict"] in CALM:
                continue
            _explain_statement(statement)
        for error in case["errors"]:
            click.echo(f"    error     {error}")
        for line in reasons(case):
            click.echo(f"    why       {line}")
        click.echo(f"    again     {case['again']}\n")

    def _draw(self, line: str) -> None:
        if not self._live:
            return
        sys.stderr.write("\r" + line.ljust(self._width) + ("" if line else "\r"))
        sys.stderr.flush()
        self._width = len(line)


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
        click.echo(
            f"    measured  {click.style(measured['text'], fg=COLOURS[statement['verdict']])}"
        )
    if statement["interval"]:
        repeats = statement["interval"]["repeats"]
        click.echo(f"    interval  {ends(statement['interval'])}, over {repeats} repeats")
    if bound is not None:
        tolerance = statement["tolerance"]
        width = f"within {tolerance['text']} of " if tolerance else f"{statement['comparison']} "
        click.echo(f"    needed    {width}{bound['text']}")
    if statement["note"]:
        click.echo(f"    note      {statement['note']}")
