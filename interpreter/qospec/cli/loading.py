"""From what the user named to a checked suite or a plan; mistakes are told and end the command."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from qospec.cli import exits

if TYPE_CHECKING:
    from qospec.diagnostics import Diagnostic, Problems
    from qospec.model import Suite
    from qospec.run.plan import CasePlan


class Request(NamedTuple):
    """What the user asked for: `PATH`, `PATH::test` or `PATH::case`, and what narrows it."""

    paths: tuple[str, ...]
    match: str
    seed: str
    max_cells: int
    as_json: bool

    def again(self, case: str) -> str:
        """Return the command that runs one case as this request did."""
        files = dict.fromkeys(path.partition("::")[0] for path in self.paths or (".",))
        selections = " ".join(f"{path}::{case}" for path in files)
        return f"qos run {selections} --seed {self.seed}"


def checked(paths: tuple[str, ...], problems: Problems) -> Suite:
    """Return the suite of the files and folders named; of the current folder if none is."""
    from qospec.catalogue import discover
    from qospec.check import check

    files = dict.fromkeys(Path(path.partition("::")[0]) for path in paths or (".",))
    return check(list(files), discover(), problems)


def planned(request: Request) -> tuple[Suite, list[CasePlan]]:
    """Return the selected suite and its plan; ends the command if there is nothing to run."""
    from qospec.diagnostics import Problems
    from qospec.run.plan import Bounds, plan

    problems = Problems()
    suite = _selected(checked(request.paths, problems), request)
    bounds = Bounds(request.max_cells)
    plans = [] if problems.errors else plan(suite, request.seed, bounds, problems)
    tell(problems, as_json=request.as_json)
    if not plans:
        click.echo("nothing selected: no case matches", err=True)
        sys.exit(exits.NOTHING)
    return suite, list(plans)


def _selected(suite: Suite, request: Request) -> Suite:
    names = {name for path in request.paths if (name := path.partition("::")[2])}

    def wanted(test: str, case: str) -> bool:
        return (not names or test in names or case in names) and request.match in case

    tests = (
        replace(test, cases=tuple(case for case in test.cases if wanted(test.name, case.name)))
        for test in suite.tests
    )
    return replace(suite, tests=tuple(test for test in tests if test.cases))


def tell(problems: Problems, *, as_json: bool) -> None:
    """Tell everything that was found, and end the command if there is an error among it."""
    if as_json and problems.errors:
        click.echo(json.dumps(diagnostics_document(problems), indent=1))
    elif problems.all:
        from qospec.rendering import render_all

        click.echo(render_all(problems.all), err=True)
    if problems.errors:
        sys.exit(exits.WRONG)


def diagnostics_document(problems: Problems) -> dict[str, Any]:
    """Return what was found, for programs."""
    return {"schema": 1, "diagnostics": [_diagnostic(problem) for problem in problems.all]}


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


def counted(number: int, thing: str) -> str:
    """Return a number of things in words: `1 case`, `2 cases`."""
    return f"{number} {thing}{'' if number == 1 else 's'}"
