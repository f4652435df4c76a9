"""A kernel in virtual time that does one job after the other: User-Mode Linux, as a process.

It has the machine's files, which it cannot write to, and a private folder, in which each job is a
folder; see `guest.c`. While it has none it is stopped, so that its time stands still.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.linux.disciplines import EXACT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MEMORY = "1G"
SHORTEST_S = 60
"""How long a job may take at least, in s of this machine."""
PACKETS_PER_S = 200
"""Passages of interfaces that a kernel does each second, on a machine that is busy with others."""
BOOT_S = 60
"""How long it may take until it has begun, and until it has ended."""
POLL_S = 0.002
START_NS = 1_700_000_000 * 10**9
"""What time it is when it boots."""
OF_PROGRAMS = ("ended", "out", "err")
"""Files of a job, one of each for each program."""
GUARD = 'read -r told || { kill -s KILL -- "-$1"; rm -rf -- "$2"; }'
"""What a shell does: it waits until it is told that all is over, or that nobody can tell it."""


class GuestError(Exception):
    """A kernel did not do a job; the message is for the user."""


class Job(NamedTuple):
    """What a kernel is to do: batches of `ip` and `tc`, the file of `traffic.write_plan`.

    `programs` is the file of `programs.write_programs`; empty if there are none.
    """

    links: str
    commands: str
    plan: bytes
    programs: bytes = b""


class Answer(NamedTuple):
    """What came of it: the file of `traffic.read_seen`, and counters as `tc` prints them.

    In real time, too, how late each packet was sent; see `room.h`.
    """

    seen: bytes
    counters: str
    late: bytes = b""
    caught: bytes = b""
    """What programs have sent, for `caught.add_caught`."""
    files: Mapping[str, bytes] = {}
    """What came of programs, by name of a file, for `programs.read_runs`."""


class Guest:
    """A kernel at work."""

    manner = EXACT

    def __init__(self, kernel: Path, program: Path) -> None:
        """Boot a kernel, whose first process is a program."""
        self._folder = Path(tempfile.mkdtemp(prefix="qospec-kernel-"))
        self._number = 0
        arguments = [
            *(str(kernel), f"mem={MEMORY}", "rootfstype=hostfs", "rootflags=/", "ro"),
            *(f'init="{program}"', f'QOS_FOLDER="{self._folder}"', f"uml_dir={self._folder}"),
            *("con=null", "con0=null,fd:1", "quiet", "ipv6.disable=1"),
            *("time-travel=inf-cpu", f"time-travel-start={START_NS}"),
        ]
        with (self._folder / "log").open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 -- a kernel that was built here
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, "TMPDIR": str(self._folder)},
            )
        self._guard = _start_guard(self._process.pid, self._folder)

    def execute(
        self, job: Job, longest_s: float, on_wait: Callable[[], None] = lambda: None
    ) -> Answer:
        """Return what came of a job; `on_wait` is called now and then.

        Raises:
            GuestError: It failed, took longer, or the kernel has ended.
        """
        self._number += 1
        folder = self._folder / str(self._number)
        folder.mkdir()
        (folder / "ip").write_text(job.links, "ascii")
        (folder / "tc").write_text(job.commands, "ascii")
        (folder / "plan").write_bytes(job.plan)
        if job.programs:
            (folder / "programs").write_bytes(job.programs)
        (folder / "ready").touch()
        os.kill(self._process.pid, signal.SIGCONT)
        try:
            self._watch(folder / "done", longest_s, on_wait)
            os.kill(self._process.pid, signal.SIGSTOP)
        except GuestError:
            self.end()
            raise
        return self._read(folder)

    def bound_time_s(self, passages: int, stop_ps: int) -> float:  # noqa: ARG002 -- virtual time
        """Return how long a job may take at most: of so many passages of interfaces."""
        return SHORTEST_S + passages / PACKETS_PER_S

    def _watch(self, done: Path, longest_s: float, on_wait: Callable[[], None]) -> None:
        until_s = time.monotonic() + longest_s
        while not done.exists():
            if self._process.poll() is not None:
                raise GuestError(f"the kernel has ended: {self._read_log()}")
            if time.monotonic() > until_s:
                raise GuestError(f"the kernel has not done its job in {longest_s:.0f} s")
            on_wait()
            time.sleep(POLL_S)

    def _read(self, folder: Path) -> Answer:
        said = (folder / "said").read_text("utf-8", "replace").strip()
        if (folder / "done").read_text("ascii").strip() != "0":
            raise GuestError(f"the kernel could not do its job: {said or self._read_log()}")
        files = [path for kind in OF_PROGRAMS for path in folder.glob(f"{kind}.*")]
        caught = folder / "caught"
        answer = Answer(
            (folder / "seen").read_bytes(),
            (folder / "counters").read_text("ascii"),
            caught=caught.read_bytes() if caught.exists() else b"",
            files={path.name: path.read_bytes() for path in files},
        )
        shutil.rmtree(folder)
        return answer

    def _read_log(self) -> str:
        lines = (self._folder / "log").read_text("utf-8", "replace").strip().splitlines()
        return "; ".join(lines[-3:]) or "it said nothing"

    def end(self) -> None:
        """End it, and remove its folder."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(BOOT_S)
        shutil.rmtree(self._folder, ignore_errors=True)
        if self._guard.poll() is None:
            self._guard.communicate(b"over\n")


def _start_guard(process: int, folder: Path) -> subprocess.Popen[bytes]:
    """Return what ends a kernel and removes its folder once this process ends, however it does.

    It reads a pipe that only this process writes to, so that it also ends the kernels of workers
    that are terminated, and what a kernel leaves behind when it is killed alone.
    """
    return subprocess.Popen(  # noqa: S603 -- a fixed command
        ["/bin/sh", "-c", GUARD, "guard", str(process), str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
