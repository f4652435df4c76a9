"""`qos check`: names, units, types, wiring, paths and loads; runs nothing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from qospec.backend import EMULATION
from qospec.cli import exits, loading, options, output

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.diagnostics import Problems
    from qospec.model.suite import Suite
    from qospec.repair import Repaired


@click.command()
@options.paths
@options.as_json
@options.max_cells
@click.option(
    "--fix", is_flag=True, help="Apply the fixes that are certain to be right, then check again."
)
@click.option(
    "--on",
    "backend",
    metavar="BACKEND",
    default=EMULATION,
    show_default=True,
    callback=lambda _context, _option, name: options.parse_backend(name),
    shell_complete=options.complete_kind("backend"),
    help="Report what this back end of `qos run` cannot carry out, too.",
)
def check(
    paths: tuple[str, ...], *, as_json: bool, max_cells: int, fix: bool, backend: str
) -> None:
    """Check names, units, types, wiring, paths and loads. Nothing is run."""
    from qospec.diagnostics import Problems

    problems = Problems()
    repaired = _repair_files(paths) if fix else None
    checked = loading.check_paths(paths, problems)
    if not problems.errors:
        from qospec.judge.evidence import examine

        examine(checked, problems, max_cells)
        source = click.get_current_context().get_parameter_source("backend")
        allows = True if source is ParameterSource.COMMANDLINE else None
        loading.verify_backend(backend, checked.suite, problems, allows=allows)
    document = loading.describe_problems(problems)
    if repaired is not None:
        done = {"fixed": repaired.fixed, "files": repaired.files, "failed": repaired.failed}
        document |= done
        if repaired.fixed:
            count = loading.count_things(repaired.fixed, "problem")
            output.say(f"fixed {count} in {', '.join(repaired.files)}", err=True)
        for failed in repaired.failed:
            output.say(f"error: {failed}", err=True)
    if as_json:
        output.say_json(document)
    if repaired is not None and repaired.failed:
        sys.exit(exits.ERROR)
    if as_json:
        if problems.errors:
            sys.exit(exits.WRONG)
        return
    loading.report(problems, as_json=False, hint="" if fix else _suggest_fix(problems, paths))
    found = "no errors" if problems.all else "no problems found"
    output.say(f"{', '.join(_count_checked(checked.suite))}: {found}")


def _count_checked(suite: Suite) -> Iterator[str]:
    """Yield how much of each was checked."""
    places = {stated.span for stated in suite.properties}
    tests = len(suite.drawn) + sum(test.span not in places for test in suite.tests)
    yield loading.count_things(tests, "test")
    yield loading.count_things(sum(len(test.cases) for test in suite.tests), "case")
    if suite.templates:
        yield loading.count_things(len(suite.templates), "template")
    if suite.properties:
        yield loading.count_things(len(suite.properties), "property", "properties")


def _repair_files(paths: tuple[str, ...]) -> Repaired:
    from qospec.diagnostics import Problems
    from qospec.repair import repair

    def check_once() -> Problems:
        problems = Problems()
        loading.check_paths(paths, problems)
        return problems

    return repair(check_once, _drop_cases(paths))


def _suggest_fix(problems: Problems, paths: tuple[str, ...]) -> str:
    if not any(problem.fix for problem in problems.all):
        return ""
    from qospec.repair import count_fixable

    count = count_fixable(problems, _drop_cases(paths))
    which = "it" if len(problems.all) == 1 else f"{count} of them"
    return f"{which} can be fixed with `qos check --fix`" if count else ""


def _drop_cases(paths: tuple[str, ...]) -> list[Path]:
    return [Path(path.partition("::")[0]) for path in paths]
