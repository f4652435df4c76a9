"""Tests with `forall`: drawn, planned, run and judged; what fails is saved as a test without."""

import pytest
from click.testing import CliRunner

from qospec.cli import qos

TEST = """qos 1

import std.media

topology wire {
  a, b = host
  link a -- b via media.stm1
}

test arrives on wire {
  forall rate: CellRate in 1_000 cell/s .. 300_000 cell/s WHERE
  forall length in [1 ms, 2 ms]
  flow user = ubr { pcr = rate } from a to b
  run { measure = length }
  EXPECT
}
"""
FEW = ("--examples", "20", "--no-progress", "--no-database")


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Return a function that runs a command on a text."""
    monkeypatch.chdir(tmp_path)

    def ran(name: str, text: str, *options: str):
        (tmp_path / "a.qos").write_text(text, encoding="utf-8")
        return CliRunner().invoke(qos, [name, "a.qos", *options])

    return ran


def written(expect: str, where: str = "") -> str:
    return TEST.replace("EXPECT", expect).replace(" WHERE", where and f" where {where}")


@pytest.mark.slow
def test_the_smallest_values_are_saved_as_a_test_that_fails(command, tmp_path) -> None:
    result = command("fuzz", written("expect few: user.received <= 50 cell"), *FEW)
    assert result.exit_code == 1, result.output
    saved = tmp_path / "fuzz_arrives_few.qos"
    lines = saved.read_text().splitlines()
    assert "test arrives_found on wire {" in lines
    assert [line for line in lines if "forall" in line] == []
    assert any(line.startswith("  let rate: CellRate = ") for line in lines)
    assert any(line.startswith("  let length = ") for line in lines)
    again = CliRunner().invoke(qos, ["run", str(saved)])
    assert again.exit_code == 1
    assert "needed    <= 50 cell" in again.stdout


@pytest.mark.slow
def test_what_holds_for_all_values_is_no_finding(command) -> None:
    result = command("fuzz", written("expect user.lost == 0 cell", "rate > 2_000 cell/s"), *FEW)
    assert result.exit_code == 0, result.output
    assert "test arrives: holds for " in result.stdout


@pytest.mark.slow
def test_an_example_that_its_test_calls_invalid_is_none(command) -> None:
    text = written("require user.sent > 1_000_000 cell\n  expect user.lost == 0 cell")
    result = command("fuzz", text, *FEW)
    assert result.exit_code == 3, result.output
    assert "test arrives: not examined: nothing that was drawn could be run" in result.stdout
    assert "note: none of " in result.stdout
    assert "require user.sent > 1_000_000 cell" in result.stdout


def test_a_run_says_what_examines_such_a_test(command) -> None:
    result = command("run", written("expect user.lost == 0 cell"))
    assert result.exit_code == 5
    assert "examine it with `qos fuzz a.qos::arrives`" in result.output
    assert (
        "1 test, 0 cases: no problems found"
        in command("check", written("expect user.lost == 0 cell")).output
    )


def test_of_lists_alone_it_is_a_sweep(command) -> None:
    text = written("expect user.lost == 0 cell").replace(
        "1_000 cell/s .. 300_000 cell/s", "[1_000 cell/s, 2_000 cell/s]"
    )
    assert "arrives:rate=2_000cell_per_s,length=1ms: 1 trial" in command("plan", text).output
