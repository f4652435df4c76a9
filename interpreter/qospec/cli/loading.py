"""From what the user named to a checked suite or a plan; mistakes are told and end the command."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from qospec.cli import exits, options

if TYPE_CHECKING:
    from qospec.diagnostics import Diagnostic, Problems
    from qospec.model import Suite, Test
    from qospec.run.plan import CasePlan


class Request(NamedTuple):
    """What the user asked for: `PATH`, `PATH::test` or `PATH::case`, and what narrows it."""

    paths: tuple[str, ...]
    match: str
    seed: str
    max_cells: int
    as_json: bool

    def again(self, test: Test, case: str) -> str:
        """Return the command that runs one case as this request did."""
        file = test.span.source.name
        selection = f"{'./' if file.startswith('-') else ''}{file}::{case}"
        words = ["qos", "run", selection, "--seed", self.seed]
        if self.max_cells != options.MAX_CELLS:
            words += ["--max-cells", str(self.max_cells)]
        return shlex.join(words)


class _Selection(NamedTuple):
    """A `PATH` or `PATH::name`. Without a name it selects all that the path holds."""

    path: str
    name: str

    @classmethod
    def of(cls, written: str) -> _Selection:
        path, _, name = written.partition("::")
        return cls(path, name)

    def holds(self, test: Test) -> bool:
        return Path(test.span.source.name).resolve().is_relative_to(Path(self.path).resolve())

    def selects(self, test: Test, case: str) -> bool:
        return self.name in ("", test.name, case) and self.holds(test)


def checked(paths: tuple[str, ...], problems: Problems) -> Suite:
    """Return the suite of the files and folders named; of the current folder if none is."""
    from qospec.catalogue import discover
    from qospec.check import check

    files = dict.fromkeys(Path(_Selection.of(path).path) for path in paths or (".",))
    return check(list(files), discover(), problems)


def planned(request: Request) -> tuple[Suite, list[CasePlan]]:
    """Return the selected suite and its plan; ends the command if there is nothing to run."""
    from qospec.diagnostics import Problems
    from qospec.run.plan import Bounds, plan

    problems = Problems()
    suite = checked(request.paths, problems)
    if problems.errors:
        tell(problems, as_json=request.as_json)
    suite = _selected(suite, request)
    plans = plan(suite, request.seed, Bounds(request.max_cells), problems)
    tell(problems, as_json=request.as_json)
    if not plans:
        click.echo("nothing selected: no case matches", err=True)
        sys.exit(exits.NOTHING)
    return suite, list(plans)


def _selected(suite: Suite, request: Request) -> Suite:
    selections = [_Selection.of(path) for path in request.paths or (".",)]
    cases = [(test, case.name) for test in suite.tests for case in test.cases]
    missed = [s for s in selections if s.name and not any(s.selects(*each) for each in cases)]
    for selection in missed:
        words = f"no test or case of {selection.path} is named `{selection.name}`"
        click.echo(f"nothing selected: {words}", err=True)
    if missed:
        sys.exit(exits.NOTHING)

    def wanted(test: Test, case: str) -> bool:
        return request.match in case and any(s.selects(test, case) for s in selections)

    tests = (
        replace(test, cases=tuple(case for case in test.cases if wanted(test, case.name)))
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
