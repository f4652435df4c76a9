"""Namespaces of this machine: what is said if there are none, and what is left of a killed run."""

import fcntl
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from qospec.backend import BackendError
from qospec.engine import kernel
from qospec.linux import kept, room
from qospec.linux.disciplines import Manner
from qospec.linux.guest import Answer, GuestError, Job
from qospec.linux.modules import PAIR, list_modules
from qospec.linux.parts import compile_program
from qospec.linux.room import Room

NO_DEVICE = "qdisc add dev none clsact\n"
JOB = Job("link add\n", "qdisc add\n", b"plan")
ANSWERS = 'cp "$2/plan" "$2/seen"; echo "[]" > "$2/counters"; echo "$4" > "$2/late"'
FORBIDDEN = 'echo "Operation not permitted" > "$2/said"; exit 3'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "find_private_folder", lambda _name: tmp_path)
    return tmp_path


def make_room(folder: Path, script: str, slack_ns: int = 0) -> Room:
    """Return a room with a program that is called as ours is: `now`, a folder, and more."""
    program = folder / "program"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o700)
    return Room(program, Manner(slack_ns=slack_ns))


def test_a_job_is_answered_and_its_folder_goes(folder):
    """Buckets are as large as timers are late, in ticks of 64 ns."""
    its = make_room(folder, ANSWERS, slack_ns=640)
    assert its.execute(JOB, 20) == Answer(b"plan", "[]\n", b"10\n")
    assert not list((folder / "rooms").iterdir())


@pytest.mark.parametrize(
    ("script", "longest_s", "message"),
    [
        (FORBIDDEN, 20, r"no namespaces can be made here \(Operation not permitted\): allow them"),
        ('echo "tc: no memory" > "$2/said"; exit 1', 20, "could not do the job: tc: no memory"),
        ("exit 1", 20, "could not do the job: it said nothing"),
        ("exit 0", 20, "did not say what was seen: .*seen: No such file or directory"),
        ("sleep 60", 0.1, "has not done the job in 0 s: its kernel or a program hangs"),
    ],
)
def test_a_job_that_is_not_done_is_explained_and_leaves_nothing(folder, script, longest_s, message):
    with pytest.raises(GuestError, match=message):
        make_room(folder, script).execute(JOB, longest_s)
    assert not list((folder / "rooms").iterdir())


def test_a_trial_may_take_as_long_as_it_lasts_and_a_margin(folder):
    bound_s = make_room(folder, ANSWERS).bound_time_s(40_000, 5 * 10**12)
    assert bound_s == room.MARGIN_S + 5 + 2


def test_a_trial_of_which_too_much_is_to_be_seen_is_refused(folder):
    its = make_room(folder, ANSWERS)
    assert its.bound_time_s(room.MOST_PASSAGES, 0) > room.MARGIN_S
    with pytest.raises(GuestError, match=r"4,000,001 passages .* shorten `measure`, or use"):
        its.bound_time_s(room.MOST_PASSAGES + 1, 0)


def test_what_a_killed_run_has_left_goes_with_the_next_job(folder):
    left = folder / "rooms" / "room-left"
    left.mkdir(parents=True)
    (left / "plan").touch()
    make_room(folder, ANSWERS).execute(JOB, 20)
    assert not left.exists()


def test_a_cache_may_have_a_long_path(tmp_path, monkeypatch):
    """Of more than 256 characters; without namespaces it is said that there are none."""
    long = tmp_path / ("a" * 200) / ("b" * 100)
    long.mkdir(parents=True)
    try:
        program = compile_program()
        list_modules()
    except BackendError as error:
        assert re.search("no namespaces can be made here|is needed", str(error))  # noqa: PT017
        return
    monkeypatch.setattr(kept, "find_private_folder", lambda _name: long)
    assert "Command failed" in Room(program, Manner()).probe(PAIR, NO_DEVICE)


class WaitsError(Exception):
    """It waits, as is meant."""


def test_one_job_at_a_time_is_done_on_a_machine(folder):
    def wait() -> None:
        raise WaitsError

    (folder / "rooms").mkdir()
    holding = os.open(folder / "rooms", os.O_RDONLY)
    fcntl.flock(holding, fcntl.LOCK_EX)
    with pytest.raises(WaitsError):
        make_room(folder, ANSWERS).execute(JOB, 20, wait)
    os.close(holding)
    assert make_room(folder, ANSWERS).execute(JOB, 20).seen == b"plan"


@pytest.mark.parametrize(("untold_s", "expected"), [(-1, ["waiting"]), (100, [])])
def test_who_waits_for_another_trial_for_long_is_told_so_once(
    folder, monkeypatch, untold_s, expected
):
    told, waits = [], []

    def wait() -> None:
        waits.append(list(told))
        if len(waits) == 3:
            raise WaitsError

    monkeypatch.setattr(room, "UNTOLD_S", untold_s)
    monkeypatch.setitem(kernel.notices, "waiting", lambda: told.append("waiting"))
    (folder / "rooms").mkdir()
    holding = os.open(folder / "rooms", os.O_RDONLY)
    fcntl.flock(holding, fcntl.LOCK_EX)
    with pytest.raises(WaitsError):
        make_room(folder, ANSWERS).execute(JOB, 20, wait)
    os.close(holding)
    assert waits == [expected] * 3


SENDS = """import sys
from pathlib import Path
from qospec.engine.arrays import np
from qospec.linux import kept
from qospec.linux.disciplines import Manner
from qospec.linux.guest import Job
from qospec.linux.modules import PAIR
from qospec.linux.room import Room
from qospec.linux.traffic import HEAD, NAME_BYTES, PACKET
packets = np.zeros(1, PACKET)
packets["size"], packets["at_ns"] = 200, 60 * 10**9
names = b"".join(name.ljust(NAME_BYTES, b"\\0") for name in (b"n0", b"f0"))
plan = np.array((1, 10**9, 1, 1), HEAD).tobytes() + names + packets.tobytes()
kept.find_private_folder = lambda _name: Path(sys.argv[1])
Room(Path(sys.argv[2]), Manner()).execute(Job(PAIR, "", plan), 100)
"""


def find_processes(text: str) -> list[int]:
    """Return the processes that were called with a text."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        if text in words.split("\0") and entry.parent.name != str(os.getpid()):
            found.append(int(entry.parent.name))
    return found


def wait_for(holds, seconds: float = 20) -> bool:
    until_s = time.monotonic() + seconds
    while not holds() and time.monotonic() < until_s:
        time.sleep(0.01)
    return bool(holds())


def test_nothing_but_a_folder_is_left_of_a_run_that_was_killed(tmp_path, monkeypatch):
    """Namespaces end with their processes, and these with the run; the folder goes with the next.

    Where none can be made, that is said.
    """
    try:
        list_modules()
    except BackendError as error:
        assert re.search("no namespaces can be made here|is needed", str(error))  # noqa: PT017
        return
    program = compile_program()
    running = subprocess.Popen([sys.executable, "-c", SENDS, str(tmp_path), str(program)])
    rooms = tmp_path / "rooms"
    assert wait_for(lambda: [*rooms.glob("room-*/seen")])
    (left,) = rooms.glob("room-*")
    assert len(find_processes(str(left))) == 2
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert wait_for(lambda: not find_processes(str(left)))
    assert left.exists()
    monkeypatch.setattr(kept, "find_private_folder", lambda _name: tmp_path)
    make_room(tmp_path, ANSWERS).execute(JOB, 20)
    assert not left.exists()
