"""What is said while a run goes on."""

import io
import sys
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace

import pytest

from qospec.cli import progress as module
from qospec.cli.commands.fuzz import FuzzProgress
from qospec.cli.commands.shrink import ShrinkProgress
from qospec.cli.progress import REPORT_S, Progress, Workload

WORK = Workload({"one": (4, 99), "two:n=1": (2, 99), "two:n=2": (2, 99)})


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now_s = [1_000.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now_s[0])
    return now_s


def test_the_line_has_cases_trials_and_the_time_left(clock: list[float]) -> None:
    progress = Progress(WORK, live=False, reports=False)
    assert progress.write_line() == "0/3 cases, 0/8 trials"
    clock[0] += 30
    progress.update("two:n=1", 0.5)
    progress.finish("one")
    assert progress.write_line() == "1/3 cases, 5/8 trials, about 18 s left; now two:n=1"


def test_no_time_is_estimated_before_the_first_case_reports(clock: list[float]) -> None:
    progress = Progress(WORK, live=False, reports=False)
    clock[0] += 30
    progress.update("one", 0.01)
    clock[0] += 10
    progress.update("one", 0.5)
    assert progress.write_line() == "0/3 cases, 2/8 trials, about 30 s left; now one"


def test_before_a_case_has_ended_the_plan_tells_how_long_it_takes(clock: list[float]) -> None:
    """Kernels were compiled for 25 of 30 s, and the run was said to take ten minutes more."""
    progress = Progress(WORK, live=False, reports=False, planned_s=20)
    assert progress.write_line() == "0/3 cases, 0/8 trials, about 20 s left"
    progress.update("one", 0.0)
    clock[0] += 30
    progress.update("one", 0.1)  # 5 % of the whole: 95 % of 30 s, and of 95 % of 20 s
    assert progress.write_line() == "0/3 cases, 0/8 trials, about 47 s left; now one"
    progress.finish("one")
    clock[0] += 10
    assert progress.write_line() == "1/3 cases, 4/8 trials, about 40 s left"


def test_a_message_is_printed_at_times_where_nothing_is_drawn(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    progress = Progress(WORK, live=True, reports=True)
    progress.finish("one")
    for _ in range(2 * REPORT_S):
        clock[0] += 1
        progress.show_if_due()
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "running: 1/3 cases, 4/8 trials, about 30 s left",
        "running: 1/3 cases, 4/8 trials, about 1 min 0 s left",
    ]


@pytest.mark.parametrize("command", ["shrink", "fuzz"])
def test_searches_say_at_times_that_they_go_on(
    clock: list[float], capsys: pytest.CaptureFixture[str], command: str
) -> None:
    """As a run does: where there is no terminal, silence looks like standing still."""
    if command == "shrink":
        progress: Callable[[], None] = ShrinkProgress(wanted=True)
        said = "running the case"
    else:
        progress = partial(FuzzProgress(SimpleNamespace(examples=7_000), wanted=True), "p", 0.5)
        said = "p, 50% of its examples"
    for _ in range(2 * REPORT_S):
        clock[0] += 1
        progress()
    lines = capsys.readouterr().err.splitlines()
    assert [line.startswith("running: ") and line.endswith(said) for line in lines] == [True] * 2
    assert f"{REPORT_S} s; " in lines[0]


def test_what_nobody_wants_to_hear_is_not_said(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    progress = Progress(WORK, live=True, reports=False)
    clock[0] += 1_000
    progress.show_if_due()
    assert capsys.readouterr().err == ""


def test_the_line_fits_the_terminal_and_is_taken_away_again(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    progress = Progress(WORK, live=True, reports=True)
    clock[0] += 1
    progress.update("two:n=1", 0.5)
    assert terminal.getvalue() == "\r  0/3 cases, 1/8 trials, abou"
    progress.finish("two:n=1")
    assert terminal.getvalue().endswith("\r" + " " * 29 + "\r")
    assert "running" not in terminal.getvalue()
