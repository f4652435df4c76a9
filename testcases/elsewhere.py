"""`make test-kernel`: `--on kernel-rt` on a machine whose kernel has all modules and exact timers.

That machine is User-Mode Linux in virtual time. The jobs of `qospec.linux.room` are done there
instead of here; what asks for them is the same. So what this machine's kernel lacks, or cannot do
in time while others work on it, is tried as well: the DiffServ example on the emulation and there,
and drawn cases, packet by packet.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from agreement import BY_SHARE, DRAWN, Dice, compare, plan_text
from click.testing import CliRunner

from qospec import cli
from qospec.linux import machine, room
from qospec.linux.disciplines import MODULES, Manner
from qospec.linux.guest import GuestError
from qospec.linux.kept import find_kernel
from qospec.linux.modules import list_modules
from qospec.linux.parts import compile_program
from qospec.linux.room import Room

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

EXAMPLE = Path(__file__).parents[1] / "docs" / "examples" / "diffserv_edge.qos"
CASES, SEED = 24, 1
MOST_PRECISION_NS = 1_000
INIT = """#!/bin/sh
mount -t proc proc /proc
mount -t tmpfs run /run
mkdir /run/rooms
mount -t hostfs none /run/rooms -o "$ROOMS"
PATH=/usr/sbin:/usr/bin:/sbin:/bin
while :; do
  for asked in /run/rooms/room-*/asked; do
    [ -e "$asked" ] || continue
    folder=${asked%/asked}
    read -r ticks < "$asked"
    rm "$asked"
    "$PROGRAM" now "$folder" $$ "$ticks"
    echo $? > "$folder/ended.part"
    mv "$folder/ended.part" "$folder/ended"
  done
  sleep 0.1
done
"""
"""The first process there: it does the jobs of each folder in which it is asked to."""


class Elsewhere:
    """A kernel in virtual time, which does the jobs of rooms while it is entered."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "rooms").mkdir()
        init = folder / "init"
        init.write_text(INIT, "ascii")
        init.chmod(0o700)
        arguments = [
            *(str(find_kernel()), "mem=512M", "rootfstype=hostfs", "rootflags=/", "ro", "quiet"),
            *(f'init="{init}"', f'ROOMS="{folder / "rooms"}"', f'PROGRAM="{compile_program()}"'),
            *(f"uml_dir={folder}", "con=null", "con0=null,fd:1", "ipv6.disable=1"),
            *("time-travel=inf-cpu", "time-travel-start=1700000000000000000"),
        ]
        self._process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "TMPDIR": str(folder)},
        )
        self._kept = room.find_folder, Room._run

    def __enter__(self) -> Self:
        room.find_folder = lambda: self._folder
        Room._run = lambda its, folder, longest_s, on_wait: self._run(  # type: ignore[method-assign]
            its.manner, folder, longest_s, on_wait
        )
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        room.find_folder, Room._run = self._kept  # type: ignore[method-assign]
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _run(
        self, manner: Manner, folder: Path, longest_s: float, on_wait: Callable[[], None]
    ) -> None:
        part = folder / "asked.part"
        part.write_text(f"{max(1, manner.slack_ns // room.TICK_NS)}\n", "ascii")
        part.rename(folder / "asked")
        os.kill(self._process.pid, signal.SIGCONT)
        until_s = time.monotonic() + 10 * longest_s  # virtual time may take longer
        while not (folder / "ended").exists():
            if self._process.poll() is not None or time.monotonic() > until_s:
                raise GuestError("the other machine has ended, or hangs")
            on_wait()
            time.sleep(room.POLL_S)
        os.kill(self._process.pid, signal.SIGSTOP)
        if (folder / "ended").read_text("ascii").strip() != "0":
            raise GuestError((folder / "said").read_text("utf-8", "replace"))


def run_example(on: str, folder: Path) -> list[tuple[str, str, int]]:
    """Return of each case its name, its verdict, and how many packets were lost."""
    arguments = ["run", "--on", on, str(EXAMPLE), "--again", "--record", str(folder / on)]
    done = CliRunner().invoke(cli.qos, arguments)
    print(f"--on {on}:\n{done.output}")
    (path,) = (folder / on).rglob("outcome.json")
    cases = json.loads(path.read_text("utf-8"))["cases"]
    return [
        (case["name"], case["verdict"], sum(loss["cells"] for loss in case["losses"]))
        for case in cases
    ]


def count_differing(folder: Path) -> int:
    """Return in how many drawn cases a packet has another fate, or another time."""
    there, differing = Room(compile_program(), Manner()), 0
    for number in range(CASES):
        draw, dice = DRAWN[number % len(DRAWN)], Dice(f"{SEED} {number}")
        found = compare(plan_text(draw(dice), folder), there, dice)
        if not found.is_alike(by_share=draw in BY_SHARE):
            print(f"case {number} of seed {SEED}: {found}")
            differing += 1
    return differing


def main() -> int:
    """Print what differs, and return the exit code."""
    with tempfile.TemporaryDirectory(prefix="qospec-elsewhere-") as name:
        folder = Path(name)
        with Elsewhere(folder):
            there, precision = list_modules(), machine.find_precision()
            print(f"{' '.join(sorted(there))}; precise to {precision.slack_ns} ns")
            results = [run_example(on, folder) for on in ("emulate", "kernel-rt")]
            differing = count_differing(folder)
    print(f"{CASES} drawn cases compared: {differing} differ")
    exact = there == {*MODULES} and precision.slack_ns <= MOST_PRECISION_NS
    return 0 if exact and results[0] == results[1] and not differing else 1


if __name__ == "__main__":
    sys.exit(main())
