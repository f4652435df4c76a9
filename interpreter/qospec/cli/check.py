"""`qos check`: names, units, types and wiring; runs nothing."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from qospec.cli import exits, loading, options

if TYPE_CHECKING:
    from qospec.diagnostics import Problems
    from qospec.repair import Repaired


@click.command()
@options.paths
@options.as_json
@click.option("--fix", is_flag=True, help="Apply the fixes that cannot be wrong, and check again.")
def check(paths: tuple[str, ...], *, as_json: bool, fix: bool) -> None:
    """Check names, units, types and wiring; run nothing."""
    from qospec.diagnostics import Problems

    problems = Problems()
    repaired = _repaired(paths) if fix else None
    suite = loading.checked(paths, problems)
    document = loading.diagnostics_document(problems)
    if repaired is not None:
        document |= {"fixed": repaired.fixed, "files": list(repaired.files)}
        if repaired.fixed:
            mistakes = loading.counted(repaired.fixed, "mistake")
            click.echo(f"fixed {mistakes} in {', '.join(repaired.files)}", err=True)
    if as_json:
        click.echo(json.dumps(document, indent=1))
        if problems.errors:
            sys.exit(exits.WRONG)
        return
    loading.tell(problems, as_json=False, hint="" if fix else _hint(problems, paths))
    cases = sum(len(test.cases) for test in suite.tests)
    tests = loading.counted(len(suite.tests), "test")
    click.echo(f"{tests}, {loading.counted(cases, 'case')}: nothing to complain of")


def _repaired(paths: tuple[str, ...]) -> Repaired:
    from qospec.diagnostics import Problems
    from qospec.repair import RepairError, repair

    def once() -> Problems:
        problems = Problems()
        loading.checked(paths, problems)
        return problems

    try:
        return repair(once, _named(paths))
    except RepairError as error:
        exits.environment(str(error))


def _hint(problems: Problems, paths: tuple[str, ...]) -> str:
    if not any(problem.fix for problem in problems.all):
        return ""
    from qospec.repair import fixable

    count = fixable(problems, _named(paths))
    return f"{count} of them can be fixed by `qos check --fix`" if count else ""


def _named(paths: tuple[str, ...]) -> list[Path]:
    return [Path(path.partition("::")[0]) for path in paths]
