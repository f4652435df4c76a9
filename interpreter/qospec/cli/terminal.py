"""A run on a terminal: its progress, a line or a table of finished cases, what failed and why."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from qospec.cli.output import LONGEST, find_width, say, say_text
from qospec.cli.progress import Progress, Workload
from qospec.dataclass import NamedTuple
from qospec.judge.verdict import PROBLEMS
from qospec.model.suite import is_report_only
from qospec.report.causes import count_with_confidence, list_reasons, list_unmet
from qospec.report.cautions import describe_caution, list_cautions
from qospec.report.claims import describe_claims, list_not_reproduced
from qospec.report.grid import GAP, align_column, build_grids
from qospec.report.searches import describe_efforts, list_point_notes, list_search_notes
from qospec.report.similar import (
    describe_extent,
    describe_group,
    describe_least_and_most,
    describe_shared,
    group_similar,
)
from qospec.report.views import count_verdicts, find_worst, format_count, name_backend
from qospec.report.views import shorten_place as path_and_line
from qospec.report.words import (
    describe_confidence,
    describe_ends,
    describe_limits,
    describe_proved_bounds,
    list_index,
    name_statement,
)
from qospec.visible import make_visible

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence

    from qospec.cli import loading
    from qospec.model.suite import Case, Suite
    from qospec.report.grid import Column, Grid

MOST_ITEMS = 8
"""How many flows, or reasons, of a case that failed are listed."""
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


def report_waiting() -> None:
    """Report that a trial in real time waits until another one has ended."""
    say("waiting for another trial: one at a time is carried out on a machine", err=True)


NOTICES = {"compiling": report_compiling, "uncached": warn_uncached, "waiting": report_waiting}
"""Notices of what a run waits for, each printed once in it."""


MOST_LINES = 12
"""A test with more cases has a table of them instead of a line for each."""
MOST_ROWS = 40
"""The most rows of a table, unless everything is to be shown."""
MOST_GAPS = 12
"""The most of what is not reproduced that is listed, unless everything is to be shown."""
INDENT = 4
"""The empty room before a table."""


def list_cases_in_tables(tests: Iterable[tuple[str, Case]]) -> dict[str, tuple[str, ...]]:
    """Return the names of the cases of each test that gets a table, by the name of each case.

    These are tests with very many cases, sweeps with reports, since what they report is read down
    a column, a case with reports that runs alone, one with nothing else, and tests with searches.
    """
    by_test: dict[str, list[Case]] = {}
    for test, case in tests:
        by_test.setdefault(test, []).append(case)
    alone = sum(map(len, by_test.values())) == 1
    tables = (
        tuple(dict.fromkeys(case.name for case in its))
        for its in by_test.values()
        if len(its) > MOST_LINES
        or ((alone or len(its) > 1 or is_report_only(its)) and any(map(_has_reports, its)))
        or any(case.phases for case in its)
    )
    return {name: table for table in tables for name in table}


def _has_reports(case: Case) -> bool:
    return any(statement.kind == "report" for statement in case.statements)


class LocalNames(NamedTuple):
    """Names of files and commands as they are valid in the current folder.

    Attributes:
        names: By a file's name in the record, the path that can be opened from here.
        commands: By case, the command that reruns it from here.
        tests: By case, where its test is, as recorded.
    """

    names: Mapping[str, str] = MappingProxyType({})
    commands: Mapping[str, str] = MappingProxyType({})
    tests: Mapping[str, str] = MappingProxyType({})

    def find_place(self, recorded: str) -> str:
        """Return `path:line:column` of a record with the path from here."""
        name, line, column = recorded.rsplit(":", 2)
        return f"{self.names.get(name, name)}:{line}:{column}"

    def find_test(self, case: str, recorded: str) -> str:
        """Return where the test of a case is if the place is in another file; otherwise ""."""
        test = self.tests.get(case, recorded)
        own = path_and_line(test)["path"] == path_and_line(recorded)["path"]
        return "" if own else self.find_place(test)

    def write_rerun_command(self, case: Mapping[str, Any]) -> str:
        """Return the command that reruns a case."""
        return self.commands.get(case["name"], case["again"])


def make_local_names(request: loading.Request, suite: Suite) -> LocalNames:
    """Return the names of files and commands as they are valid here."""
    return LocalNames(
        {source.recorded_name: source.name for source in suite.sources},
        {
            case.name: request.write_rerun_command(test.span.source.name, case.name)
            for test in suite.tests
            for case in test.cases
        },
        {case.name: test.span.recorded_place for test in suite.tests for case in test.cases},
    )


class Console:
    """Prints how a run goes."""

    def __init__(  # noqa: PLR0913 -- what the options of a command say, by name
        self,
        cases: int,
        *,
        quiet: bool,
        progress: Progress | None,
        here: LocalNames | None = None,
        tables: Mapping[str, tuple[str, ...]] | None = None,
        verbose: bool = False,
        brief: bool = False,
    ) -> None:
        """Expect this many cases.

        Args:
            cases: Their number.
            quiet: Whether stdout is left to a document.
            progress: What shows how far the run is.
            here: Names of files and commands as they are valid here.
            tables: Of `list_cases_in_tables`.
            verbose: Whether to print a line for each case, whole tables and each failure in full.
            brief: Whether to print only what needs attention.
        """
        self._cases = cases
        self._here = here or LocalNames()
        self._quiet = quiet
        self._progress = progress or Progress(Workload({}), live=False, reports=False)
        self._tables = tables or {}
        self._verbose = verbose
        self._brief = brief
        self._waiting: dict[str, dict[str, tuple[dict[str, Any], float | None]]] = {}
        """By the first name of a table, its cases that have ended, by their names."""
        unicode = "utf" in (getattr(sys.stdout, "encoding", "") or "").lower()
        self._marks = MARKS if unicode else ASCII

    def make_notices(self) -> dict[str, Callable[[], None]]:
        """Return the notices of what a run waits for; each clears the progress line first."""

        def clear_and_say(say: Callable[[], None]) -> None:
            self._progress.clear()
            say()

        return {name: partial(clear_and_say, say) for name, say in NOTICES.items()}

    def note_progress(self, case: str, share: float) -> None:
        """Update the progress line."""
        self._progress.update(case, share)

    def note_waiting(self) -> None:
        """Update the progress line."""
        self._progress.show_if_due()

    def note_ended(self, case: dict[str, Any], seconds: float) -> None:
        """Print the line of a finished case, or the table of its test if that has ended."""
        self._progress.finish(case["name"])
        self._print_ended(case, seconds)

    def note_kept(self, case: dict[str, Any]) -> None:
        """Print what `note_ended` does of a case that an earlier run has made."""
        self._print_ended(case, None)

    def _print_ended(self, case: dict[str, Any], seconds: float | None) -> None:
        if self._quiet or self._brief:
            return
        its = self._tables.get(case["name"], ())
        bounds = [f"    bound  {line}" for line in describe_proved_bounds(case) if self._verbose]
        if not its or (self._verbose and len(its) > 1):  # the table of a single case has its line
            self._print_line(case["verdict"], case["name"], seconds)
            if not its:
                say(*(f"    note  {note}" for note in list_point_notes(case)))
            say(*bounds)
        if its:
            waiting = self._waiting.setdefault(its[0], {})
            waiting[case["name"]] = (case, seconds)
            if len(waiting) == len(its):
                self._print_table(its)
            if len(its) == 1:
                say(*bounds)
        if self._cases == 1:
            _print_notes(case)

    def _print_line(self, verdict: str, name: str, seconds: float | None, more: str = "") -> None:
        mark = click.style(f"{self._marks[verdict]} {verdict}", fg=COLOURS[verdict])
        took = "unchanged" if seconds is None else f"{seconds:.1f} s"
        say_text(f"{mark}  {make_visible(name, LONGEST)}{more}  {took}")

    def _print_table(self, names: Sequence[str]) -> None:
        """Print the results of the cases of a test that have ended."""
        waiting = self._waiting.pop(names[0])
        ended = [waiting[name] for name in names if name in waiting]
        cases = [{**case, "ran": True} for case, _ in ended]
        of = count_verdicts(cases)
        found = ", ".join(f"{count} {verdict}" for verdict, count in of.items())
        more = f"  {format_count(len(cases), 'case')}" + (f": {found}" if len(of) > 1 else "")
        took = [seconds for _, seconds in ended if seconds is not None]
        self._print_line(find_worst(of), cases[0]["test"], sum(took) if took else None, more)
        rows = sys.maxsize if self._verbose else MOST_ROWS
        titled = False
        for number, grid in enumerate(build_grids(cases, find_width() - INDENT, rows)):
            if grid.title and number and not titled:
                say("")
            titled = bool(grid.title)
            wide = {verdict: f"{mark} {verdict}" for verdict, mark in self._marks.items()}
            marks = self._marks if titled else wide
            say_text("\n".join([*_render_table(grid, marks), *[""] * titled]))
            shown = len(grid.columns[0].cells)
            if grid.rows > shown:
                say(f"    {shown} of {grid.rows} rows are shown; `-v` prints all")
        say(*(f"    note  {note}" for note in list_search_notes(cases, explained=True)))
        say(*(f"    {line}" for line in describe_efforts(cases)))

    def print_summary(
        self, document: dict[str, Any], foreseen: Container[tuple[str, str]] = ()
    ) -> None:
        """Print what needs attention, and the count of each verdict.

        Of the criteria that are `foreseen`, by place and label, it was said before the run that
        they show less than they state.
        """
        self._print_unfinished()
        cases = document["cases"]
        shown = [case for case in cases if case["ran"] and _needs_words(case)]
        groups = [[case] for case in shown] if self._verbose else group_similar(shown)
        for group in groups:
            if group[0]["verdict"] == "skip":
                say("", f"SKIP  {_write_title(group)}", *_describe_cases(group, cases))
                say(f"  why       {group[0]['why'][0]}")
            else:
                say_text("\n".join(["", *explain(group, self._here, cases)]))
        if groups and groups[-1][0]["verdict"] != "skip":
            say("")
        if any(len(group) > 1 for group in groups):
            say("of similar cases only the first is shown in full; `-v` prints each", "")
        found = ", ".join(
            f"{count} {verdict}"
            for verdict, count in document["summary"].items()
            if (verdict in MARKS or verdict == "not run") and count
        )
        on = name_backend(document)
        say(f"{found or 'no case'}; seed {document['seed']}{on and f'; on {on}'}")
        if criteria := describe_claims(document):
            say(criteria)
        self._print_gaps(list_not_reproduced(document))
        self._print_cautions(document, foreseen)
        together = count_with_confidence(document)
        if together["count"]:
            say(together["sentence"])
        left = sum(not case["ran"] for case in document["cases"])
        if left:
            of = f"{left} of {len(document['cases'])} cases"
            say(f"{document['state']}: {of} did not finish", err=True)

    def _print_gaps(self, gaps: Sequence[Mapping[str, Any]]) -> None:
        """Print what is not reproduced of publications, and why."""
        if gaps:
            say(f"not reproduced: {len(gaps)}")
        shown = gaps if self._verbose else gaps[:MOST_GAPS]
        say(*(f"    {gap['what']}: {gap['why']}" for gap in shown))
        if len(gaps) > len(shown):
            say(f"    {len(shown)} of {len(gaps)} are shown; `-v` prints all")

    def _print_cautions(
        self, document: Mapping[str, Any], foreseen: Container[tuple[str, str]]
    ) -> None:
        """Print what shows less than it states; of a template's criteria that are alike, one."""
        said = set()
        for caution in list_cautions(document):
            if (caution["place"], caution["label"]) in foreseen:
                continue
            test = self._here.find_test(caution["first"], caution["place"])
            alike = (test, caution["text"]) if test else (caution["place"], caution["label"])
            if alike not in said:
                place = test or self._here.find_place(caution["place"])
                say(f"warning: {place}: {describe_caution(caution)}")
            said.add(alike)

    def _print_unfinished(self) -> None:
        """Print the tables of tests of which some cases have not ended."""
        while self._waiting:
            self._print_table(self._tables[next(iter(self._waiting))])


def explain(
    group: Sequence[Mapping[str, Any]],
    here: LocalNames,
    cases: Sequence[Mapping[str, Any]] = (),
) -> Iterator[str]:
    """Yield lines on why cases that are alike did not pass; control characters are visible.

    What they have in common is told by all `cases` of the run.
    """
    case = group[0]
    verdict = click.style(case["verdict"].upper(), fg=COLOURS[case["verdict"]], bold=True)
    yield f"{verdict}  {click.style(_show(_write_title(group)), bold=True)}"
    yield from map(_show, _describe_cases(group, cases))
    shared = describe_shared(group, cases)
    yield from [_show(f"  all have  {shared}; no case that passes has")] * bool(shared)
    test = ""
    for its in _group_by_criterion(list_unmet(case)):
        before, test = test, here.find_test(case["name"], its[0]["place"]) or test
        yield from map(_show, _describe_asked(its[0], case, here, before))
        for found, where in _describe_finding(its, group).items():
            yield from [_show(f"    at        {where}")] * bool(where)
            yield from found
    for error in case["errors"]:
        yield _show(f"  error     {error}")
    for line in _shorten_list(list_reasons(case)):
        yield _show(f"  why       {line}")
    yield _show(f"  rerun     {here.write_rerun_command(case)}")


def _show(line: str) -> str:
    return make_visible(line, LONGEST)


def _describe_asked(
    statement: Mapping[str, Any], case: Mapping[str, Any], here: LocalNames, before: str
) -> Iterator[str]:
    """Yield a criterion and its place; one of another file with its name, after its test.

    That is not said again if it is where the test of the criterion `before` is.
    """
    asks = f"{statement['text']}{describe_confidence(statement)}"
    if test := here.find_test(case["name"], statement["place"]):
        if test != before:
            yield f"  {test}: test {case['test']}"
        name, _ = name_statement(statement)
        asks = asks if name == statement["text"] else f"{name}: {asks}"
    yield f"  {here.find_place(statement['place'])}: {statement['kind']} {asks}"


def _render_table(grid: Grid, marks: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of a table, the verdicts in their colours.

    Args:
        grid: What to show; it fits the terminal.
        marks: By verdict, what stands for it: a sign, or a sign and the word.
    """
    deepest = max(len(column.heads) for column in grid.columns)
    drawn = [_render_column(column, deepest, marks) for column in grid.columns]
    lines = list(zip(*drawn, strict=True))
    if grid.title:
        yield " " * INDENT + click.style(make_visible(grid.title), bold=True)
    for number, cells in enumerate(lines):
        if number != deepest or any(map(str.strip, cells)):  # without units, no line for them
            yield (" " * INDENT + (" " * GAP).join(cells)).rstrip()


def _render_column(column: Column, deepest: int, marks: Mapping[str, str]) -> list[str]:
    """Return a column line by line, each as wide as the column: its head, unit, cells."""
    heads = [""] * (deepest - len(column.heads)) + column.heads
    if column.kind == "verdict":
        width = max(len(column.head), *(len(marks.get(cell, "")) for cell in column.cells))
        cells = [
            click.style(marks[cell], fg=COLOURS[cell]) + " " * (width - len(marks[cell]))
            if cell
            else " " * width
            for cell in column.cells
        ]
        return [*(head.ljust(width) for head in heads), " " * width, *cells]
    texts = map(make_visible, (*heads, column.unit, *align_column(column)))
    width = column.width
    return [text.ljust(width) if column.align == "left" else text.rjust(width) for text in texts]


def _needs_words(case: Mapping[str, Any]) -> bool:
    return case["verdict"] == "skip" or case["verdict"] in PROBLEMS


def _write_title(group: Sequence[Mapping[str, Any]]) -> str:
    return describe_group(group) if len(group) > 1 else str(group[0]["name"])


def _describe_cases(
    group: Sequence[Mapping[str, Any]], cases: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return which cases are alike; nothing of a single one."""
    if len(group) == 1:
        return []
    return [f"  cases     {describe_extent(group, cases)}", f"  first     {group[0]['name']}"]


def _print_notes(case: dict[str, Any]) -> None:
    """Print what the criteria that passed prove, such as what ratio a count of zero excludes."""
    for statement in case["statements"]:
        if statement["verdict"] == "pass" and statement["note"]:
            say(f"    {statement['label']}: {statement['note']}")


def _describe_side(statement: Mapping[str, Any], name: str) -> str:
    """Return what was `measured`, or the `bound`, or between what it is; "" without data."""
    if limits := statement.get(f"{name}_limits"):
        return describe_limits(limits)
    return statement[name]["text"] if statement[name] else ""


def _group_by_criterion(statements: Iterable[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Return statements by where they are written: a loop makes several of one."""
    found: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for statement in statements:
        name, _ = name_statement(statement)
        key = (statement["place"], statement["kind"], statement["text"], name, statement["apart"])
        found.setdefault(key, []).append(statement)
    return list(found.values())


def _describe_finding(
    its: Iterable[Mapping[str, Any]], group: Sequence[Mapping[str, Any]]
) -> dict[tuple[str, ...], str]:
    """Return lines on what was found of one criterion, and where a loop asks it; "" if none does.

    `group` are the cases that are alike.
    """
    found: dict[tuple[str, ...], list[str]] = {}
    for statement in its:
        _, index = name_statement(statement)
        lines = tuple(_list_findings(statement, describe_least_and_most(statement, group)))
        found.setdefault(lines, []).append(list_index(index))
    return {
        lines: ("; " if any("," in index for index in where) else ", ").join(
            _shorten_list([*filter(None, where)])
        )
        for lines, where in found.items()
    }


def _shorten_list(items: Sequence[str]) -> list[str]:
    """Return the first of many items, and how many more there are, which the report shows."""
    more = len(items) - MOST_ITEMS
    return [*items[:MOST_ITEMS], f"and {more:_} more"] if more > 1 else [*items]


def _list_findings(statement: Mapping[str, Any], others: str) -> Iterator[str]:
    """Yield lines on what was measured and needed; `others` is what all similar cases measured."""
    if statement["apart"]:
        verdict = click.style(statement["apart"], fg=COLOURS[statement["apart"]])
        yield f"    verdict   {verdict}"
    measured = _describe_side(statement, "measured")
    if not measured and statement["verdict"] == "inconclusive":
        yield "    measured  no data"
    if measured:
        found = make_visible(measured, LONGEST)
        more = f"; in all {others}" if others else ""
        yield f"    measured  {click.style(found, fg=COLOURS[statement['verdict']])}{more}"
    if statement["interval"] and any(statement["interval"][end] for end in ("lower", "upper")):
        repeats = statement["interval"]["repeats"]
        interval = f"{describe_ends(statement['interval'])}, over {repeats} repeats"
        yield f"    interval  {make_visible(interval, LONGEST)}"
    if statement["bound"] is not None:
        tolerance = statement["tolerance"]
        width = f"within {tolerance['text']} of " if tolerance else f"{statement['comparison']} "
        yield f"    needed    {make_visible(width + _describe_side(statement, 'bound'), LONGEST)}"
    if statement["note"]:
        yield f"    note      {make_visible(statement['note'], LONGEST)}"
