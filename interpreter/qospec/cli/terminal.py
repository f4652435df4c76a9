"""A run on a terminal: its progress, a line per finished case, what failed and why."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from qospec.cli.output import LONGEST, say, say_text
from qospec.cli.progress import Progress, Workload
from qospec.judge.verdict import PROBLEMS
from qospec.report.causes import reasons, unmet, with_confidence
from qospec.report.cautions import caution_sentence, cautions
from qospec.report.claims import claims_sentence
from qospec.report.words import confidence, ends
from qospec.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable

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


def report_compiling() -> None:
    """Report that kernels are being compiled, as in any run that uses one for the first time."""
    say(
        "compiling kernels for the first time: later runs reuse them; no case's time includes this",
        err=True,
    )


def warn_uncached() -> None:
    """Warn that the next run will compile everything again."""
    words = "compiled kernels cannot be saved (is the disk full?): every run will compile them"
    say(f"warning: {words}", err=True)


NOTICES = {"compiling": report_compiling, "uncached": warn_uncached}
"""Notices about kernels, each printed once in a run."""


class LocalNames(NamedTuple):
    """Names of files and commands as they are valid in the current folder.

    Attributes:
        names: By a file's name in the record, the path that can be opened from here.
        commands: By case, the command that reruns it from here.
    """

    names: Mapping[str, str] = MappingProxyType({})
    commands: Mapping[str, str] = MappingProxyType({})

    def place(self, recorded: str) -> str:
        """Return `path:line:column` of a record with the path from here."""
        name, line, column = recorded.rsplit(":", 2)
        return f"{self.names.get(name, name)}:{line}:{column}"

    def rerun_command(self, case: Mapping[str, Any]) -> str:
        """Return the command that reruns a case."""
        return self.commands.get(case["name"], case["again"])


class Console:
    """Prints how a run goes."""

    def __init__(
        self, cases: int, *, quiet: bool, progress: Progress | None, here: LocalNames | None = None
    ) -> None:
        """Expect this many cases; `quiet` leaves stdout to a document."""
        self._cases = cases
        self._here = here or LocalNames()
        self._quiet = quiet
        self._progress = progress or Progress(Workload({}), live=False, reports=False)
        unicode = "utf" in (getattr(sys.stdout, "encoding", "") or "").lower()
        self._marks = MARKS if unicode else ASCII

    def notices(self) -> dict[str, Callable[[], None]]:
        """Return the notices about kernels; each clears the progress line first."""

        def printed(say: Callable[[], None]) -> None:
            self._progress.clear()
            say()

        return {name: partial(printed, say) for name, say in NOTICES.items()}

    def progressed(self, case: str, share: float) -> None:
        """Update the progress line."""
        self._progress.update(case, share)

    def waited(self) -> None:
        """Update the progress line."""
        self._progress.tick()

    def ended(self, case: dict[str, Any], seconds: float) -> None:
        """Print the line of a finished case."""
        self._progress.finish(case["name"])
        if self._quiet:
            return
        verdict = case["verdict"]
        mark = click.style(f"{self._marks[verdict]} {verdict}", fg=COLOURS[verdict])
        say_text(f"{mark}  {visible(case['name'], LONGEST)}  {seconds:.1f} s")
        if self._cases == 1:
            _print_notes(case)

    def summary(self, document: dict[str, Any]) -> None:
        """Print what needs attention, and the count of each verdict."""
        for case in document["cases"]:
            if case["ran"] and case["verdict"] == "skip":
                say("", f"SKIP  {case['name']}", f"  why       {case['why'][0]}")
            elif case["ran"] and case["verdict"] in PROBLEMS:
                self._explain(case)
        counts = ", ".join(
            f"{count} {verdict}"
            for verdict, count in document["summary"].items()
            if verdict in MARKS and count
        )
        say(f"{counts}; seed {document['seed']}")
        if criteria := claims_sentence(document):
            say(criteria)
        for each in cautions(document):
            say(f"warning: {self._here.place(each['place'])}: {caution_sentence(each)}")
        together = with_confidence(document)
        if together["count"]:
            say(together["sentence"])
        left = sum(not case["ran"] for case in document["cases"])
        if left:
            of = f"{left} of {len(document['cases'])} cases"
            say(f"interrupted: {of} did not finish", err=True)

    def _explain(self, case: dict[str, Any]) -> None:
        verdict = click.style(case["verdict"].upper(), fg=COLOURS[case["verdict"]], bold=True)
        say_text(f"\n{verdict}  {click.style(visible(case['name'], LONGEST), bold=True)}")
        for statement in unmet(case):
            _explain_statement(statement, self._here.place(statement["place"]))
        for error in case["errors"]:
            say(f"  error     {error}")
        for line in reasons(case):
            say(f"  why       {line}")
        say(f"  rerun     {self._here.rerun_command(case)}", "")


def _print_notes(case: dict[str, Any]) -> None:
    """Print what the criteria that passed prove, such as what ratio a count of zero excludes."""
    for statement in case["statements"]:
        if statement["verdict"] == "pass" and statement["note"]:
            say(f"    {statement['label']}: {statement['note']}")


def _explain_statement(statement: dict[str, Any], place: str) -> None:
    """Print what was measured and what was needed."""
    asks = f"{statement['kind']} {statement['text']}{confidence(statement)}"
    say(f"  {place}: {asks}")
    if statement["apart"]:
        verdict = click.style(statement["apart"], fg=COLOURS[statement["apart"]])
        say_text(f"    verdict   {verdict}")
    measured, bound = statement["measured"], statement["bound"]
    if measured is None and statement["verdict"] == "inconclusive":
        say("    measured  no data")
    if measured is not None:
        found = visible(measured["text"], LONGEST)
        say_text(f"    measured  {click.style(found, fg=COLOURS[statement['verdict']])}")
    if statement["interval"]:
        repeats = statement["interval"]["repeats"]
        say(f"    interval  {ends(statement['interval'])}, over {repeats} repeats")
    if bound is not None:
        tolerance = statement["tolerance"]
        width = f"within {tolerance['text']} of " if tolerance else f"{statement['comparison']} "
        say(f"    needed    {width}{bound['text']}")
    if statement["note"]:
        say(f"    note      {statement['note']}")
