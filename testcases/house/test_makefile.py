"""The Makefile calls commands that exist, on paths that exist, and programs that start."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from qospec import cli

ROOT = Path(__file__).parents[2]
CALL = re.compile(r"^\t.*?\$\(BIN\)/qos ([^|&\n]*)", re.MULTILINE)
CALLS = CALL.findall((ROOT / "Makefile").read_text(encoding="utf-8"))
PROGRAM = re.compile(r"((?:\w+=\w+ )*)\$\(BIN\)/(python [\w/]+\.py)")
PROGRAMS = sorted(set(PROGRAM.findall((ROOT / "Makefile").read_text(encoding="utf-8"))))
"""Variables of the environment, and the program that is called with them."""


def parsed(call: str) -> click.Context:
    """Return a call as click understands it; raises click.UsageError if it does not."""
    group = cli.qos.make_context("qos", shlex.split(call))
    name, command, rest = cli.qos.resolve_command(group, [*group._protected_args, *group.args])
    assert name
    assert command
    return command.make_context(name, rest, parent=group)


def test_the_makefile_calls_the_command() -> None:
    assert CALLS


@pytest.mark.parametrize("call", CALLS)
def test_a_call_is_understood_and_its_paths_are_there(call: str) -> None:
    paths = parsed(call).params.get("paths", ())
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("call", ["run --nothing", "walk", "--nothing run"])
def test_a_call_that_is_wrong_is_found(call: str) -> None:
    with pytest.raises(click.UsageError):
        parsed(call)


@pytest.mark.parametrize(("variables", "program"), PROGRAMS)
def test_a_program_starts_as_it_is_called(variables: str, program: str) -> None:
    python, script = program.split()
    assert python == "python"
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment = {**outside, **dict(setting.split("=") for setting in variables.split())}
    subprocess.run([sys.executable, script, "--help"], cwd=ROOT, env=environment, check=True)


def test_the_makefile_calls_programs() -> None:
    assert len(PROGRAMS) > 5


def test_what_is_more_at_night_is_run_at_night() -> None:
    """Suites are run at ten seeds, and tests with a mark wherever they are: the rest is listed."""
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ntest-nightly:")[2]
    listed = [
        ROOT / path for path in re.findall(r" (testcases/[\w/.]+)", recipe.partition("\n\n")[0])
    ]
    assert "pytest -m nightly --hypothesis-profile nightly" in recipe
    folder = ROOT / "testcases"
    drawing = re.compile(r"^(?:from night import| *@given\b)", re.MULTILINE)
    more = {p for p in folder.glob("*/**/test_*.py") if drawing.search(p.read_text("utf-8"))}
    assert more
    assert [path for path in more if not {path, *path.parents} & {*listed}] == []
