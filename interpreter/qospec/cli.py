"""The command `qos`: the only place that prints and exits.

Nothing heavier than click is imported before a command needs it. stdout is the result, stderr the
conversation.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from qospec.catalogue import Catalogue
    from qospec.diagnostics import Diagnostic, Problems
    from qospec.model import Suite
    from qospec.run.plan import CasePlan

VERSION = "0.1.0"

PASSED, FAILED, WRONG, INCONCLUSIVE, ERROR, NOTHING, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130
"""Exit codes; frozen in a test."""

paths = click.argument("paths", nargs=-1, type=str)
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
seed_option = click.option("--seed", default="0", show_default=True, help="Root of all random draws.")
cells_option = click.option(
    "--max-cells", default=10**9, show_default=True, type=click.IntRange(1), help="Most cells of one trial."
)
match_option = click.option("-k", "match", default="", metavar="TEXT", help="Only cases whose name holds TEXT.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="qos")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True)
@click.pass_context
def qos(context: click.Context, color: str) -> None:
    """Test network quality of service: check, plan and run .qos specifications."""
    context.color = {"always": True, "never": False, "auto": _colour()}[color]


def _colour() -> bool | None:
    """Return the environment's wish about colour; None leaves it to the terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR") or os.environ.get("CLICOLOR_FORCE"):
        return True
    return False if os.environ.get("TERM") == "dumb" else None


@qos.command()
@paths
@as_json
def check(paths: tuple[str, ...], as_json: bool) -> None:  # noqa: FBT001
    """Check names, units, types and wiring; run nothing."""
    from qospec.diagnostics import Problems

    problems = Problems()
    suite = _check(_paths(paths), problems)
    if as_json:
        click.echo(json.dumps(_diagnostics_document(problems), indent=1))
    _stop_on_errors(problems, quiet=as_json)
    if not as_json:
        cases = sum(len(test.cases) for test in suite.tests)
        click.echo(f"{_count(len(suite.tests), 'test')}, {_count(cases, 'case')}: nothing to complain of")


@qos.command()
@paths
@as_json
@match_option
@seed_option
@cells_option
def plan(paths: tuple[str, ...], as_json: bool, match: str, seed: str, max_cells: int) -> None:  # noqa: FBT001
    """Say what a run would do, and how much of it; run nothing."""
    _, plans = _planned(paths, match, seed, max_cells, as_json=as_json)
    rows = [
        {
            "name": p.case.name,
            "trials": p.trials,
            "cells": p.cells,
            "seconds": p.trials * (p.case.run.warmup_ps + p.case.run.measure_ps) / 10**12,
        }
        for p in plans
    ]
    if as_json:
        click.echo(json.dumps({"schema": 1, "seed": seed, "cases": rows}, indent=1))
        return
    for row in rows:
        click.echo(
            f"{row['name']}: {_count(row['trials'], 'trial')}, at most {row['cells']:_} cells each,"
            f" {row['seconds']:g} s emulated in all"
        )
    trials = sum(row["trials"] for row in rows)
    click.echo(f"{_count(len(rows), 'case')}, {_count(trials, 'trial')}, seed {seed}")


@qos.command()
@paths
@as_json
@match_option
@seed_option
@cells_option
@click.option("--record", "root", default="records", show_default=True, help="Where records are kept.")
@click.option("--report", "formats", multiple=True, metavar="FORMAT", help="html (always), markdown, junit, json.")
@click.option("-j", "jobs", default=1, show_default=True, type=click.IntRange(1), help="Processes to run cases in.")
@click.option("--no-progress", is_flag=True, help="No progress line.")
@click.option("--exit-zero", is_flag=True, help="Exit 0 whatever the verdicts (for steps that only collect).")
def run(  # noqa: PLR0913
    paths: tuple[str, ...],
    as_json: bool,  # noqa: FBT001
    match: str,
    seed: str,
    max_cells: int,
    root: str,
    formats: tuple[str, ...],
    jobs: int,
    no_progress: bool,  # noqa: FBT001
    exit_zero: bool,  # noqa: FBT001
) -> None:
    """Run and judge; keep a record; end with the report's path."""
    from qospec.engine.kernel import on_first_compilation
    from qospec.run import execution, record
    from qospec.terminal import Console

    _known_formats(formats)
    suite, plans = _planned(paths, match, seed, max_cells, as_json=as_json)
    console = Console(len(plans), quiet=as_json, progress=not no_progress)
    on_first_compilation.append(console.compiling)
    commands = {p.case.name: _again(paths, p.case.name, seed) for p in plans}
    limits = {"cells per trial": max_cells}
    assignment = execution.Assignment(suite, plans, seed, jobs, commands, limits, VERSION)
    try:
        kept = record.create(Path(root), seed)
        document = execution.execute(assignment, kept, console)
        reports = [_write_report(kept, name, document) for name in dict.fromkeys(("html", *formats))]
    except record.RecordError as error:
        _environment(str(error))
    if as_json:
        click.echo(json.dumps(document, indent=1, ensure_ascii=False))
    else:
        console.summary(document)
        for path in reports:
            click.echo(f"report: {path}")
    sys.exit(PASSED if exit_zero and document["state"] == "complete" else exit_code(document))


@qos.command()
@click.argument("folder", type=str)
@click.option("--format", "name", default="html", show_default=True, help="A format's name or a template's path.")
@click.option("-o", "--output", default="", help="File to write; stdout if absent.")
def report(folder: str, name: str, output: str) -> None:
    """Render a record once more: html, markdown, junit, json or a template of your own."""
    from qospec.report.render import ReportError, render
    from qospec.run import record

    _known_formats((name,))
    try:
        kept = record.Record(Path(folder))
        text = render(kept.outcome(), kept.timing(), name)
        if output:
            record.write_whole(Path(output), text)
    except record.RecordError as error:
        _environment(str(error))
    except ReportError as error:
        _usage(str(error))
    if not output:
        click.echo(text, nl=False)


def exit_code(document: dict[str, Any]) -> int:
    """Return the exit code of an outcome: the worst truth wins."""
    summary = document["summary"]
    if document["state"] == "interrupted":
        return INTERRUPTED
    for verdict, code in (("error", ERROR), ("fail", FAILED), ("inconclusive", INCONCLUSIVE)):
        if summary[verdict]:
            return code
    return PASSED


# ---- what several commands do


def _paths(given: tuple[str, ...]) -> list[Path]:
    """Return the files and folders of `PATH` and `PATH::case`; the current folder if none is given."""
    return list(dict.fromkeys(Path(path.partition("::")[0]) for path in given or (".",)))


def _catalogue() -> Catalogue:
    from qospec.catalogue import discover

    return discover()


def _check(paths: list[Path], problems: Problems) -> Suite:
    from qospec.check import check as check_files

    return check_files(paths, _catalogue(), problems)


def _planned(
    given: tuple[str, ...], match: str, seed: str, max_cells: int, *, as_json: bool
) -> tuple[Suite, list[CasePlan]]:
    from qospec.diagnostics import Problems
    from qospec.run.plan import Bounds
    from qospec.run.plan import plan as plan_cases

    problems = Problems()
    suite = _selected(_check(_paths(given), problems), given, match)
    plans = [] if problems.errors else plan_cases(suite, seed, Bounds(max_cells), problems)
    if problems.errors and as_json:
        click.echo(json.dumps(_diagnostics_document(problems), indent=1))
    _stop_on_errors(problems, quiet=as_json)
    if not plans:
        click.echo("nothing selected: no case matches", err=True)
        sys.exit(NOTHING)
    return suite, list(plans)


def _selected(suite: Suite, given: tuple[str, ...], match: str) -> Suite:
    """Return the suite with the cases of `PATH::test`, `PATH::test:load=65%` and `-k`."""
    from dataclasses import replace

    names = {name for path in given if (name := path.partition("::")[2])}

    def wanted(test: str, case: str) -> bool:
        return (not names or test in names or case in names) and match in case

    tests = (replace(t, cases=tuple(c for c in t.cases if wanted(t.name, c.name))) for t in suite.tests)
    return replace(suite, tests=tuple(t for t in tests if t.cases))


def _again(given: tuple[str, ...], case: str, seed: str) -> str:
    files = dict.fromkeys(path.partition("::")[0] for path in given or (".",))
    selections = " ".join(f"{path}::{case}" for path in files)
    return f"qos run {selections} --seed {seed}"


def _write_report(kept: Any, name: str, document: dict[str, Any]) -> str:
    from qospec.report.render import ReportError, extension, render
    from qospec.run import record

    try:
        text = render(document, kept.timing(), name)
    except ReportError as error:
        _usage(str(error))
    path = kept.folder / f"report.{extension(name)}"
    record.write_whole(path, text)
    return str(path)


def _known_formats(names: tuple[str, ...]) -> None:
    from qospec.report.render import formats

    known = formats()
    for name in names:
        if name not in known and not Path(name).is_file():
            _usage(f"no report format is named `{name}`; there are {', '.join(known)}, or give a template's path")


def _stop_on_errors(problems: Problems, *, quiet: bool) -> None:
    if problems.all and not quiet:
        from qospec.rendering import render_all

        click.echo(render_all(problems.all), err=True)
    if problems.errors:
        sys.exit(WRONG)


def _diagnostics_document(problems: Problems) -> dict[str, Any]:
    return {"schema": 1, "diagnostics": [_diagnostic(d) for d in problems.all]}


def _diagnostic(diagnostic: Diagnostic) -> dict[str, Any]:
    line, column = diagnostic.span.source.position(diagnostic.span.start)
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "file": diagnostic.span.source.name,
        "line": line,
        "column": column,
        "notes": list(diagnostic.notes),
        "help": diagnostic.help,
    }


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _usage(message: str) -> NoReturn:
    click.echo(f"error: {message}", err=True)
    sys.exit(WRONG)


def _environment(message: str) -> NoReturn:
    click.echo(f"error: {message}", err=True)
    sys.exit(ERROR)


def main() -> None:
    """Run the command; a mistake of ours is said in one sentence, never as a traceback."""
    try:
        qos(standalone_mode=True)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as error:  # noqa: BLE001 - the last door: a user never sees a traceback
        if os.environ.get("QOS_TRACEBACK"):
            raise
        click.echo(f"error: this is a mistake in qospec itself: {type(error).__name__}: {error}", err=True)
        click.echo("  = help: set QOS_TRACEBACK=1 to see where, and report it with the file", err=True)
        sys.exit(ERROR)
