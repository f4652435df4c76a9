"""`qos convert`: both ways, from files and from stdin, and how it ends."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from qospec import cli

TEXT = "qos 1\n\n## How long.\nlet a = 1 s  # kept\n"
YAML = 'qos: "1"\n\nlet:\n  ## How long.\n  a: 1 s  # kept\n'


def convert(*arguments: object, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(cli.qos, ["convert", *map(str, arguments)], input=stdin)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that is the current one: `a.qos` and `b.yaml`, which say the same."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.qos").write_text(TEXT.replace(" = ", "="), encoding="utf-8")
    (tmp_path / "b.yaml").write_text(YAML.replace('"', ""), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("file", ["a.qos", "b.yaml"])
@pytest.mark.parametrize(("form", "expected"), [("yaml", YAML), ("qos", TEXT)])
@pytest.mark.usefixtures("here")
def test_any_form_becomes_either(file: str, form: str, expected: str) -> None:
    done = convert(file, "--to", form)
    assert (done.exit_code, done.stdout, done.stderr) == (0, expected, "")


def test_stdin_is_in_the_other_form() -> None:
    assert convert("-", "--to", "yaml", stdin=TEXT).stdout == YAML
    assert convert("-", "--to", "qos", stdin=YAML).stdout == TEXT


def test_it_writes_a_file_if_one_is_named(here: Path) -> None:
    done = convert("a.qos", "--to", "yaml", "--output", "c.yaml")
    assert (done.exit_code, done.stdout) == (0, "")
    assert (here / "c.yaml").read_text(encoding="utf-8") == YAML


def test_a_file_that_cannot_be_written_is_reported(here: Path) -> None:
    done = convert("a.qos", "--to", "yaml", "--output", here / "none" / "c.yaml")
    assert done.exit_code == 4
    assert ": no such file or directory" in done.stderr


@pytest.mark.parametrize(
    ("stdin", "form", "expected"),
    [
        ("qos 1\nlet a = = 1\n", "yaml", "stdin.qos:2:9"),
        ('qos: "1"\nlet:\n  a: "(1 s"\n', "qos", "stdin.yaml:3:7"),
        (b"qos: \xff", "qos", "stdin.yaml is not UTF-8"),
        (b"x" * 3_000_000, "qos", "more than 500_000 characters"),
    ],
)
def test_a_file_with_mistakes_is_not_converted(
    stdin: str | bytes, form: str, expected: str
) -> None:
    done = convert("-", "--to", form, stdin=stdin)
    assert (done.exit_code, done.stdout) == (2, "")
    assert expected in done.stderr


def test_a_missing_file_is_reported(here: Path) -> None:
    done = convert(here / "none.qos", "--to", "yaml")
    assert done.exit_code == 2
    assert "E0106" in done.stderr


@pytest.mark.parametrize(("form", "name"), [("yaml", "a.qos"), ("qos", "b.yaml"), ("qos", "c.yml")])
def test_a_form_is_not_written_under_a_name_of_the_other(here: Path, form: str, name: str) -> None:
    before = {path.name: path.read_bytes() for path in here.iterdir()}
    done = convert("a.qos", "--to", form, "-o", name)
    assert done.exit_code == 2
    assert f"`{name}` does not fit `--to" in done.stderr
    assert {path.name: path.read_bytes() for path in here.iterdir()} == before


def test_a_write_that_fails_leaves_what_was_there(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    done = convert("a.qos", "--to", "yaml", "-o", "b.yaml")
    assert done.exit_code == 4
    assert "cannot write `b.yaml`: no space left on device" in done.stderr
    assert (here / "b.yaml").read_text(encoding="utf-8") == YAML.replace('"', "")
