"""Namespaces of the machine's own kernel, in which a job is done in real time; see `room.h`.

They are of the process that does the job, and end with it. That ends with the process that asked
for it, so nothing but a folder can be left behind; the next job removes those that nobody holds.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from qospec.linux.disciplines import Manner
from qospec.linux.guest import POLL_S, Answer, GuestError, Job
from qospec.linux.kept import find_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PREFIX = "room-"
NO_NAMESPACES = 3
"""How the program ends that could make none; see `room.h`."""
ALLOW = (
    "allow them: `sysctl user.max_user_namespaces`, `kernel.unprivileged_userns_clone` of Debian"
    " and `kernel.apparmor_restrict_unprivileged_userns` of Ubuntu; in a container,"
    " `--security-opt seccomp=unconfined`"
)
MARGIN_S = 20
"""How much longer than what it sends a job may take, to set up and to read what was seen."""
PASSAGES_PER_S = 20_000
MOST_PASSAGES = 4_000_000
"""Of 128 bytes each, which the kernel keeps: half a GB."""
TICK_NS = 64
PS_PER_S = 10**12
UNTOLD_S = 2
"""How long a job waits for another one before that is told."""
DIED_S = 5
"""How long a process that was killed may take to end, if the kernel hangs."""


class Room:
    """Namespaces for one job after the other, in which timers may be late by the slack."""

    def __init__(self, program: Path, manner: Manner) -> None:
        """Take the program that does jobs, and how this machine keeps time."""
        self._program = program
        self.manner = manner

    def bound_time_s(self, passages: int, stop_ps: int) -> float:
        """Return how long a job may take at most: of so many passages of interfaces, up to then.

        Raises:
            GuestError: What is seen would take too much memory: it stays there until all is sent.
        """
        if passages > MOST_PASSAGES:
            raise GuestError(
                f"{passages:,} passages of interfaces are to be seen in a trial, and at most"
                f" {MOST_PASSAGES:,} are kept: shorten `measure`, or use `--on kernel-vt`"
            )
        return MARGIN_S + stop_ps / PS_PER_S + passages / PASSAGES_PER_S

    def execute(
        self, job: Job, longest_s: float, on_wait: Callable[[], None] = lambda: None
    ) -> Answer:
        """Return what came of a job; `on_wait` is called now and then.

        Raises:
            GuestError: It failed, or took longer.
        """
        files: dict[str, str | bytes] = {"ip": job.links, "tc": job.commands, "plan": job.plan}
        if " police " in job.commands:
            files["policers"] = ""
        with self._do_job(files, longest_s, on_wait) as folder:
            try:
                read = {name: (folder / name).read_bytes() for name in ("seen", "counters", "late")}
            except OSError as error:
                said = _read_said(folder) or f"{error.filename}: {error.strerror}"
                raise GuestError(f"this machine did not say what was seen: {said}") from None
        return Answer(read["seen"], read["counters"].decode("ascii"), read["late"])

    def probe(self, links: str, commands: str, longest_s: float = MARGIN_S) -> str:
        """Return what `tc` says of commands each of which is tried, whatever became of others."""
        with self._do_job({"ip": links, "probe": commands}, longest_s) as folder:
            return _read_said(folder)

    @contextlib.contextmanager
    def _do_job(
        self,
        files: dict[str, str | bytes],
        longest_s: float,
        on_wait: Callable[[], None] = lambda: None,
    ) -> Iterator[Path]:
        """Yield the folder of a job that was done, which then goes."""
        with _hold_machine(on_wait) as rooms, _make_folder(rooms) as folder:
            for name, text in files.items():
                (folder / name).write_bytes(text.encode("ascii") if isinstance(text, str) else text)
            self._run(folder, longest_s, on_wait)
            yield folder

    def _run(self, folder: Path, longest_s: float, on_wait: Callable[[], None]) -> None:
        ticks = max(1, self.manner.slack_ns // TICK_NS)
        process = subprocess.Popen(  # noqa: S603 -- a program of ours
            [self._program, "now", str(folder), str(os.getpid()), str(ticks)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            _watch(process, longest_s, on_wait)
        finally:
            _end(process)
        if process.returncode == NO_NAMESPACES:
            raise GuestError(f"no namespaces can be made here ({_read_said(folder)}): {ALLOW}")
        if process.returncode:
            said = _read_said(folder) or "it said nothing"
            raise GuestError(f"this machine could not do the job: {said}")


def _watch(process: subprocess.Popen[bytes], longest_s: float, on_wait: Callable[[], None]) -> None:
    until_s = time.monotonic() + longest_s
    while process.poll() is None:
        if time.monotonic() > until_s:
            raise GuestError(
                f"this machine has not done the job in {longest_s:.0f} s: its kernel or a program"
                " hangs; try again, or use `--on kernel-vt`"
            )
        on_wait()
        time.sleep(POLL_S)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and what it has started; what the kernel does not end is left to it."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(DIED_S)


def _read_said(folder: Path) -> str:
    try:
        return (folder / "said").read_text("utf-8", "replace").strip()
    except OSError:
        return ""


@contextlib.contextmanager
def _hold_machine(on_wait: Callable[[], None]) -> Iterator[Path]:
    """Yield the folder of rooms, held by this process: of two trials, each would disturb the other.

    Before that, what killed runs have left there is removed: folders that nobody holds.
    """
    rooms = find_folder() / "rooms"
    rooms.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(rooms, os.O_RDONLY)
    told_s = time.monotonic() + UNTOLD_S
    try:
        while not _try_to_hold(descriptor):
            if time.monotonic() > told_s:
                _tell_of_waiting()
            on_wait()
            time.sleep(POLL_S)
        # Whoever made one has ended, or would hold the machine.
        for left in rooms.glob(f"{PREFIX}*"):
            shutil.rmtree(left, ignore_errors=True)
        yield rooms
    finally:
        os.close(descriptor)


def _tell_of_waiting() -> None:
    """Tell that another trial is under way, unless that was told."""
    from qospec.engine.kernel import notices

    if (notice := notices.pop("waiting", None)) is not None:
        notice()


def _try_to_hold(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
def _make_folder(rooms: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=rooms))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
