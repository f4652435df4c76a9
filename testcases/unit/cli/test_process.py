"""The command as a process: how it ends when it is interrupted, or when a worker is killed."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from qospec.cli import exits
from qospec.resources import STDLIB
from qospec.version import VERSION

WIRE = """qos 1
import std.media

topology wire {
  a, b = host
  link a -- b via media.stm1
}

traffic steady = cbr { pcr = 10_000 cell/s, cdvt = 1 ms }
"""


def wanted(name: str, measure: str = "10 ms") -> str:
    return f"""
test {name} on wire {{
  flow f = steady from a to b
  run {{ measure = {measure} }}
  expect whole: f.lost == 0
}}
"""


def spec(folder: Path, *tests: str) -> Path:
    path = folder / "a.qos"
    path.write_text(WIRE + "".join(tests), encoding="utf-8")
    return path


def main(*arguments: object, before: str = "") -> subprocess.Popen[str]:
    """Start the command itself; `before` is done first, in the same process."""
    program = f"from qospec import cli\n{before}\nif __name__ == '__main__': cli.main()"
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def ended(process: subprocess.Popen[str], timeout_s: float = 60) -> tuple[str, str]:
    """Return what a process wrote until its end, which this makes sure of."""
    try:
        return process.communicate(timeout=timeout_s)
    finally:
        if process.returncode is None:
            process.kill()
            process.communicate()


@pytest.mark.parametrize(
    ("arguments", "code"), [(["--help"], 0), (["--version"], 0), ([], 2), (["run", "--no"], 2)]
)
def test_what_click_answers_itself_keeps_its_exit_code(arguments: list[str], code: int) -> None:
    process = main(*arguments)
    out, err = ended(process)
    assert (process.returncode, "Traceback" in out + err) == (code, False)
    assert ("Usage" in err) is (code == exits.WRONG)


def test_the_version_is_the_same_from_click_and_without_it() -> None:
    without, by_click = main("--version"), main("--color", "never", "--version")
    said, by_click_said = ended(without), ended(by_click)
    assert said == by_click_said == (f"qos, version {VERSION}\n", "")
    assert (without.returncode, by_click.returncode) == (exits.PASSED, exits.PASSED)


HANG = """
def hang(*_, **__):
    import time
    print("there", flush=True)
    for _ in range(600):  # a signal just before a sleep does not end it
        time.sleep(0.1)
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("command", "where"),
    [
        ("plan", "import qospec.plan.plan as module; module.plan = hang"),
        ("run", "import qospec.report.render as module; module.render = hang"),
        ("run", "from qospec.record.store import Record; Record.end = hang"),
    ],
)
def test_an_interrupt_ends_with_130_wherever_it_comes(
    tmp_path: Path, command: str, where: str, number: signal.Signals
) -> None:
    more = ["--record", tmp_path / "records", "--no-progress"] if command == "run" else []
    process = main(command, spec(tmp_path, wanted("passes")), *more, before=f"{HANG}\n{where}")
    assert process.stdout
    while process.stdout.readline() not in ("there\n", ""):
        pass
    process.send_signal(number)
    if "Record" in where:
        time.sleep(0.2)
        process.send_signal(number)
    _, err = ended(process)
    assert process.returncode == exits.INTERRUPTED, err
    assert "Traceback" not in err


LONG = "100_000 s"


def children_of(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8")
    return [int(child) for child in children.split()]


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    return [
        worker
        for child in children_of(process.pid)
        if b"forkserver" in Path(f"/proc/{child}/cmdline").read_bytes()
        for worker in children_of(child)
    ]


@pytest.fixture
def at_work(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A run in two workers that has one case behind it, and more than it will ever do ahead."""
    tests = [wanted("passes"), wanted("long", LONG), wanted("longer", LONG)]
    process = main("run", spec(tmp_path, *tests), "--record", tmp_path / "records", "-j", "2")
    deadline_s = time.monotonic() + 60
    while not list(tmp_path.glob("records/*/cases/0001.json")) and time.monotonic() < deadline_s:
        time.sleep(0.05)
    yield process
    process.kill()
    ended(process)


def gone(pids: list[int]) -> bool:
    def is_there(pid: int) -> bool:
        state = subprocess.run(
            ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
        )
        return bool(state.stdout.strip()) and not state.stdout.startswith("Z")

    deadline_s = time.monotonic() + 20
    while (left := any(map(is_there, pids))) and time.monotonic() < deadline_s:
        time.sleep(0.05)
    return not left


def outcome_in(folder: Path) -> dict[str, Any]:
    (path,) = folder.glob("records/*/outcome.json")
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_ends_the_workers_and_keeps_what_ended(
    tmp_path: Path, at_work: subprocess.Popen[str], number: signal.Signals
) -> None:
    workers = workers_of(at_work)
    assert len(workers) == 2
    if number != signal.SIGTERM:
        os.killpg(at_work.pid, number)  # as a terminal does
    else:
        at_work.send_signal(number)
    _, err = ended(at_work)
    assert at_work.returncode == exits.INTERRUPTED
    assert "Traceback" not in err
    assert gone(workers)
    outcome = outcome_in(tmp_path)
    (report,) = tmp_path.glob("records/*/report.html")
    assert err.endswith(f"go on: qos run --resume {report.parent}\n")
    assert outcome["state"] == "interrupted"
    assert [(c["name"], c["verdict"]) for c in outcome["cases"]] == [
        ("passes", "pass"),
        ("long", "inconclusive"),
        ("longer", "inconclusive"),
    ]


@pytest.mark.slow
def test_workers_end_with_a_parent_that_is_killed(at_work: subprocess.Popen[str]) -> None:
    workers = workers_of(at_work)
    assert len(workers) == 2
    at_work.kill()
    assert gone(workers)


KILL = """
import os, signal, sys
from qospec.run.crews.processes import _WorkerProcess
give = _WorkerProcess.give

def give_and_kill(worker, job):
    _WorkerProcess.give = give
    os.kill(worker._process.pid, signal.SIGSTOP)  # so that it cannot be done before
    give(worker, job)
    os.kill(worker._process.pid, signal.SIGKILL)
    print("killed", file=sys.stderr)

_WorkerProcess.give = give_and_kill
"""
"""Kills the first worker that gets a job."""


@pytest.mark.slow
def test_a_killed_worker_costs_one_case_a_second_try(tmp_path: Path) -> None:
    path = spec(tmp_path, *(wanted(f"case{n}") for n in range(5)))
    arguments = ("run", path, "--record", tmp_path / "records", "-j", "2")
    process = main(*arguments, before=KILL)
    out, err = ended(process)
    assert (process.returncode, "mistake" in err) == (exits.PASSED, False)
    assert err.count("killed") == 1
    assert out.splitlines()[-1].startswith("report: ")
    outcome = outcome_in(tmp_path)
    assert outcome["state"] == "complete"
    assert [case["verdict"] for case in outcome["cases"]] == ["pass"] * 5


@pytest.mark.nightly
def test_workers_report_once_that_kernels_are_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("QOS_KERNELS", raising=False)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    path = spec(tmp_path, wanted("passes"), wanted("too"))
    process = main("run", path, "--record", tmp_path / "records", "-j", "2")
    _, err = ended(process, timeout_s=200)
    assert process.returncode == exits.PASSED
    assert err.count("compiling kernels") == 1


CHANGE = """
from pathlib import Path
from qospec.run import runner
from qospec.run.crews import processes
execute, processes.load = runner.execute, lambda *_: None

def change_and_execute(request, *rest):
    path = Path(request.paths[0])
    path.write_text(path.read_text().replace("10 ms", "20 ms"))
    return execute(request, *rest)

runner.execute = change_and_execute
"""
"""Changes the file when it has been planned, before workers read it."""


@pytest.mark.slow
def test_workers_do_not_run_other_files_than_were_planned(tmp_path: Path) -> None:
    path = spec(tmp_path, wanted("one"), wanted("two"))
    arguments = ("run", path, "--record", tmp_path / "records", "-j", "2")
    process = main(*arguments, before=CHANGE)
    _, err = ended(process)
    assert process.returncode == exits.ERROR
    assert err == "error: files were changed while the run began: run it again\n"


@pytest.mark.nightly
def test_kernels_that_must_be_compiled_take_no_time_of_a_search(tmp_path: Path) -> None:
    """They take several seconds: more than the search has, which needs one.

    The clock is that of the processor, so that other programs do not take the time of the search.
    By day `fuzz/test_explore.py` and `fuzz/test_rounds.py` show it of what seems to compile.
    """
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    for name in ("QOS_KERNELS", "NUMBA_CACHE_DIR"):
        environment.pop(name, None)
    target = STDLIB / "devices" / "broken" / "queues.qos"
    program = "import time\nfrom qospec import cli\ntime.monotonic = time.process_time\ncli.main()"
    command = [sys.executable, "-c", program, "fuzz", f"{target}::one_too_many"]
    options = ["--time", "3s", "--save", str(tmp_path), "--no-database", "--no-progress"]
    done = subprocess.run(
        [*command, *options],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == exits.FAILED, done.stdout + done.stderr
    last = re.search(
        r"1 finding in [0-9_]+ examples, .* and ([0-9.]+) s of compiling, seed 0", done.stdout
    )
    assert last is not None, done.stdout
    assert float(last[1]) > 3
