"""Nothing is printed raw: whatever a name holds, it forges no line and moves no cursor."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

import qospec.cli
from qospec.cli import qos
from qospec.cli.output import say, say_json, say_text, show_file, show_usage_error

EVIL = "a\r\x1b[2K✓ pass\u202e\u2028\n✓ pass"
SHOWN = "a \ufffd[2K✓ pass\ufffd\ufffd ✓ pass"
CLI = Path(qospec.cli.__file__).parent
TEXT = """qos 1
import std.media
topology t {
  a, b = host
  link a -- b via media.stm1
}
test x on t {
  flow f = cbr { pcr = 100 cell/s, cdvt = 1 ms } from a to b
  run { measure = 1 s }
  expect lossy: f.lost > 0
}
"""


def test_what_is_said_stays_on_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    say("", EVIL)
    say(EVIL, err=True)
    assert capsys.readouterr() == (f"\n{SHOWN}\n", f"{SHOWN}\n")


def test_a_line_is_not_endless(capsys: pytest.CaptureFixture[str]) -> None:
    say(f"name {'x' * 400_000} end")
    said = capsys.readouterr().out
    assert len(said) < 6_000
    assert said.startswith("name x")
    assert said.endswith("x end\n")


def test_a_text_keeps_its_lines_and_our_colours(capsys: pytest.CaptureFixture[str]) -> None:
    say_text("\x1b[1;31merror\x1b[0m\n\tb\x1b[8m\r", end="")
    assert capsys.readouterr().out == "error\n\tb\ufffd[8m\ufffd"  # colours: not on a terminal


def test_a_document_is_the_same_and_is_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    say_json([EVIL])
    said = capsys.readouterr().out
    assert said.isascii()
    assert json.loads(said) == [EVIL]


def test_a_file_is_shown_with_its_own_ends_of_lines(capfdbinary: pytest.CaptureFixture[bytes]):
    show_file("µ\r\nb\u2028\n")
    assert capfdbinary.readouterr().out == "µ\r\nb\ufffd\n".encode()


@pytest.mark.parametrize("path", sorted(CLI.rglob("*.py")), ids=lambda path: path.name)
def test_nothing_else_prints(path: Path) -> None:
    """All that the commands say goes through one module."""
    if path.name == "output.py":
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    ways = {"print", "click.echo", "click.secho", "sys.stdout.write", "sys.stderr.write"}
    assert not ways & {*calls}


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    path = tmp_path / f"{EVIL}.qos"
    path.write_text(TEXT, encoding="utf-8")
    return path


def said_by(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", "from qospec.cli import main; main()", *arguments],
        cwd=folder,
        env={**os.environ, "FORCE_COLOR": "1"},
        capture_output=True,
        check=False,
    )
    return (done.stdout + done.stderr).decode()


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "{}", "--record", "re\rcords"],
        ["run", "{}", "--json"],
        ["check", "{}", "--fix"],
        ["check", "miss\x1b[2King.qos"],
        ["plan", "{}::\r✓ pass"],
        ["fmt", "{}", "--check"],
        ["fmt", "{}", "--diff"],
        ["explain", "{}::x"],
        ["explain", "\r✓ pass"],
        ["doc", "{}", "--format", "markdown"],
        ["--\x1b[2Kno-such-option"],
    ],
    ids=" ".join,
)
def test_no_command_prints_a_name_raw(evil: Path, arguments: list[str]) -> None:
    evil.write_text(TEXT.replace("  run", "   run"), encoding="utf-8")
    said = said_by(evil.parent, *(argument.format(evil.name) for argument in arguments))
    assert said.strip()
    assert not {"\r", "\u2028", "\u202e"} & {*said}
    assert "\x1b[2K" not in said
    assert not [line for line in said.splitlines() if line.startswith("✓ pass")]


@pytest.mark.parametrize(
    ("words", "hints"), [(("run", "a.qos"), 1), (("merge", "a"), 1), (("fmt",), 0)]
)
def test_o_of_a_command_that_makes_a_record_is_pointed_to_record(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], hints: int
) -> None:
    """Elsewhere `-o` names the file that is written; a record is a folder, made in another."""
    with pytest.raises(click.NoSuchOption) as refused:
        qos.main([*words, "-o", "here"], standalone_mode=False)
    show_usage_error(refused.value)
    assert capsys.readouterr().err.count("`--record` names the folder") == hints
