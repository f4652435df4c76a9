"""The tutorial and the README are run: files are checked, commands print what is shown.

A block marked `qos NAME` is the whole file of that name; one marked `wrong`, too, is refused. In a
block marked `console` each line that begins with `$ ` is a command, followed by its output; `…`
stands for what varies, such as times and paths.
"""

import re
import shlex
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from qospec.cli import qos

COMPILING = re.compile(r" and [\d.]+ s of compiling")
"""What a command adds where kernels were compiled for the first time."""
ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "docs" / "tutorial.md"]
BLOCK = re.compile(r"^```(qos|console)\b *([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ qos (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


class Step(NamedTuple):
    """A block of a document: its language, what stands behind that, its text."""

    language: str
    about: str
    text: str


def list_steps(document: Path) -> list[Step]:
    return [Step(*block.groups()) for block in BLOCK.finditer(document.read_text(encoding="utf-8"))]


each_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)


def printed(arguments: str) -> str:
    """Return what a command prints: what it found, or what it complains of."""
    result = CliRunner().invoke(qos, shlex.split(arguments))
    assert result.exit_code in range(6), result.output
    return COMPILING.sub("", result.stdout or result.stderr)


def like(expected: str) -> re.Pattern[str]:
    """Return the pattern of what is expected, `…` being anything on its line."""
    return re.compile("[^\n]*".join(map(re.escape, expected.strip().split("…"))))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@each_document
def test_it_has_files_and_commands(document: Path) -> None:
    steps = list_steps(document)
    assert {step.language for step in steps} == {"qos", "console"}
    assert all(step.about for step in steps if step.language == "qos")
    assert all(COMMAND.search(step.text) for step in steps if step.language == "console")


@each_document
def test_its_files_are_right_and_laid_out(folder: Path, document: Path) -> None:
    for step in list_steps(document):
        if step.language != "qos":
            continue
        name, *marks = step.about.split()
        (folder / name).write_text(step.text, encoding="utf-8")
        result = CliRunner().invoke(qos, ["check", name])
        assert (result.exit_code != 0) == (marks == ["wrong"]), result.output
        assert CliRunner().invoke(qos, ["fmt", "--check", name]).exit_code == 0, name


@each_document
def test_its_commands_print_what_it_says(folder: Path, document: Path) -> None:
    for step in list_steps(document):
        if step.language == "qos":
            (folder / step.about.split()[0]).write_text(step.text, encoding="utf-8")
            continue
        for arguments, expected in COMMAND.findall(step.text):
            told = "\n".join(line.rstrip() for line in printed(arguments).strip().splitlines())
            assert like(expected).fullmatch(told), f"qos {arguments} prints:\n{told}"
