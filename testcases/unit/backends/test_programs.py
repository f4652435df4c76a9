"""Programs of the user's own without a kernel: where they are refused, and what allows them."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from qospec import cli
from qospec.cli import exits
from qospec.linux import kept, modules, parts
from qospec.linux.disciplines import MODULES

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "programs" / "web.qos"


def run_qos(*arguments: str) -> Result:
    return CliRunner().invoke(cli.qos, list(arguments))


@pytest.mark.parametrize(("words", "name"), [((), "emulate"), (("--on", "kernel-rt"), "kernel-rt")])
def test_what_runs_none_refuses_them_with_a_place_and_what_runs_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], name: str
) -> None:
    monkeypatch.setattr(modules, "list_modules", lambda: frozenset(MODULES))
    done = run_qos("run", str(EXAMPLE), *words, "--record", str(tmp_path), "--allow-programs")
    assert done.exit_code == exits.WRONG
    assert f"E0702]: `requests` is what a program sends, and `{name}` runs none: `" in done.stderr
    assert f"{EXAMPLE.name}:22:" in done.stderr
    assert "= help: `qos run --on kernel-vt --allow-programs` runs it in" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_check_for_the_emulation_refuses_them_too() -> None:
    done = run_qos("check", "--on", "emulate", str(EXAMPLE))
    assert done.exit_code == exits.WRONG
    assert done.stderr.count("`emulate` runs none") == 2


def test_without_leave_it_is_shown_what_would_be_run(tmp_path: Path) -> None:
    done = run_qos("run", str(EXAMPLE), "--on", "kernel-vt", "--record", str(tmp_path))
    assert done.exit_code == exits.WRONG
    shown = done.stderr
    assert "`answers` would run a program of this file: `python3 -u -m http.server 8000`" in shown
    assert "`requests` would run a program of this file: `python3 fetch.py`" in shown
    assert "= help: if it may run, add `--allow-programs` to the command" in shown
    assert not list(tmp_path.iterdir())


def test_no_project_can_allow_them(tmp_path: Path) -> None:
    (tmp_path / "qos.toml").write_text("allow_programs = true\nallow-programs = true\n", "utf-8")
    (tmp_path / "a.qos").write_text(EXAMPLE.read_text("utf-8"), "utf-8")
    done = run_qos("run", str(tmp_path / "a.qos"), "--on", "kernel-vt")
    assert done.exit_code != exits.PASSED
    assert "there is no kernel" not in done.stderr


@pytest.mark.parametrize("words", [("check",), ("check", "--on", "kernel-vt"), ("plan",)])
def test_what_runs_nothing_needs_no_leave(words: tuple[str, ...]) -> None:
    done = run_qos(*words, str(EXAMPLE))
    assert done.exit_code == exits.PASSED, done.output


def test_with_leave_a_kernel_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "find_private_folder", lambda _name: tmp_path)
    parts.describe_parts.cache_clear()
    done = run_qos("run", str(EXAMPLE), "--on", "kernel-vt", "--allow-programs")
    assert done.exit_code == exits.ERROR
    assert "there is no kernel in virtual time here" in done.stderr


def test_a_record_does_not_remember_that_they_were_allowed() -> None:
    from qospec.cli.resuming import RECORDED, read_values

    frame = {
        "seed": "0",
        "provenance": {
            "backend": {"name": "kernel-vt"},
            "limits": {"cells per trial": 1},
            "policy": {},
        },
    }
    values = read_values(frame, {"again": "qos run a.qos::t --on kernel-vt --allow-programs"})
    assert not {name for name in (*values, *RECORDED) if "program" in name}
