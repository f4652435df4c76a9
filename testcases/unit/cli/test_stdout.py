"""A stdout that cannot be written: told in a sentence, and it costs no run."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from qospec.cli import exits
from qospec.resources import STDLIB

MEDIA = STDLIB / "media.qos"
MAIN = "from qospec.cli import main\nif __name__ == '__main__': main()"


@pytest.mark.parametrize(
    "arguments",
    [["--version"], ["doc", str(MEDIA)], ["convert", str(MEDIA), "--to", "yaml"], ["fmt", "-"]],
    ids=lambda arguments: arguments[0],
)
def test_a_read_only_stdout_is_reported(arguments: list[str]) -> None:
    with MEDIA.open("rb") as stdout, MEDIA.open("rb") as stdin:
        done = subprocess.run(
            [sys.executable, "-c", MAIN, *arguments],
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.stderr == "error: cannot write to stdout: bad file descriptor\n"
    assert done.returncode == exits.ERROR


NOTE = "10⁻"
SPEC = """qos 1
import std.media
topology wire {
  a, b = host
  link a -- b via media.stm1
}
traffic steady = cbr { pcr = 10_000 cell/s, cdvt = 1 ms }
"""


def case(name: str, asks: str, measure: str = "2 s") -> str:
    return f"""
test {name} on wire {{
  flow f = steady from a to b
  run {{ measure = {measure} }}
  expect {asks}
}}
"""


def command(folder: Path, tests: str, *more: str) -> list[str]:
    path = folder / "a.qos"
    path.write_text(SPEC + tests, encoding="utf-8")
    where = ["--record", str(folder / "records")]
    return [sys.executable, "-c", MAIN, "run", str(path), *where, *more]


def record(folder: Path) -> dict[str, object]:
    (path,) = folder.glob("records/*/outcome.json")
    document: dict[str, object] = json.loads(path.read_text(encoding="utf-8"))
    return document


PASSES = case("one", "f.lost == 0") + case("two", "f.lost == 0")
FAILS = case("one", "f.lost == 0") + case("two", "f.lost > 0")


@pytest.mark.slow
@pytest.mark.parametrize(("tests", "code"), [(PASSES, exits.PASSED), (FAILS, exits.FAILED)])
@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_a_closed_pipe_costs_neither_the_record_nor_the_verdict(
    tmp_path: Path, tests: str, code: int, closed: str
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, closed: writer}
    done = subprocess.run(command(tmp_path, tests), **streams, check=False)  # type: ignore[call-overload]
    os.close(writer)
    assert done.returncode == code
    assert record(tmp_path)["state"] == "complete"
    assert list(tmp_path.glob("records/*/report.html"))
    assert b"stdout" not in (done.stderr or b"")


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_run_without_stdout_and_stderr_keeps_its_record(tmp_path: Path, jobs: str) -> None:
    words = shlex.join(command(tmp_path, FAILS, "-j", jobs))
    done = subprocess.run(["sh", "-c", f"exec {words} >&- 2>&-"], check=False)
    assert done.returncode == exits.FAILED
    assert record(tmp_path)["state"] == "complete"


@pytest.mark.slow
def test_a_full_stdout_is_reported_and_costs_neither_the_record_nor_the_verdict(
    tmp_path: Path,
) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command(tmp_path, FAILS), stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == exits.FAILED
    assert record(tmp_path)["state"] == "complete"
    told = "warning: cannot write to stdout: no space left on device"
    assert done.stderr.splitlines()[-1] == told


@pytest.mark.slow
def test_a_document_that_a_full_stdout_cut_off_is_an_error(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command(tmp_path, PASSES, "--json"),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == exits.ERROR
    assert record(tmp_path)["state"] == "complete"
    told = "error: cannot write to stdout: no space left on device"
    assert done.stderr.splitlines()[-1] == told


@pytest.mark.slow
def test_a_character_that_the_terminal_lacks_is_written_as_its_number(tmp_path: Path) -> None:
    done = subprocess.run(
        command(tmp_path, case("one", "f.lost == 0", measure="200 s")),
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == exits.PASSED
    assert NOTE.encode("latin-1", "backslashreplace") in done.stdout
    assert b"error" not in done.stderr


@pytest.mark.slow
def test_a_document_is_utf_8_whatever_the_terminal_is(tmp_path: Path) -> None:
    done = subprocess.run(
        command(tmp_path, case("one", "f.lost == 0", measure="200 s"), "--json"),
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        stdout=subprocess.PIPE,
        check=True,
    )
    assert json.loads(done.stdout) == record(tmp_path)
    assert NOTE in str(json.loads(done.stdout.decode("ascii")))


@pytest.mark.slow
def test_a_terminal_that_is_closed_keeps_what_ended(tmp_path: Path) -> None:
    tests = case("one", "f.lost == 0") + case("two", "f.lost == 0", measure="100_000 s")
    process = subprocess.Popen(
        command(tmp_path, tests), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while not list(tmp_path.glob("records/*/cases/0001.json")) and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGHUP)
    process.communicate()
    assert process.returncode == exits.INTERRUPTED
    assert record(tmp_path)["state"] == "interrupted"


@pytest.mark.slow
def test_what_nohup_started_does_not_hear_that_the_terminal_is_closed(tmp_path: Path) -> None:
    tests = case("one", "f.lost == 0") + case("two", "f.lost == 0", measure="200 s")
    process = subprocess.Popen(
        ["nohup", *command(tmp_path, tests)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    while not list(tmp_path.glob("records/*/cases/0001.json")) and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGHUP)
    process.communicate()
    assert process.returncode == exits.PASSED
