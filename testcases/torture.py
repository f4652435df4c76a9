"""Runs that are killed, or whose disk is full, at random instants go on to the same bytes.

    python testcases/torture.py [--kills 100] [--failures 20] [--workers 10] [--flips 500]

Each run is ended at a random instant, its record is resumed, which may be ended again, and compared
with that of an undisturbed run. So is that of a run of which a worker elsewhere was killed. A
record of which a random bit is flipped must be refused. Cases of every second run share files.
Prints how much was tried, survived, and differs, and fails if anything differs.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random  # noqa: TID251 -- kills and flips are drawn, not results
from typing import NamedTuple

from narrow import NARROW

from qospec.record.store import Record, RecordError

SPECIFICATION = (
    NARROW
    + """test loads on bench {
  sweep load in 1 Mbit/s @ip .. 12 Mbit/s @ip step 1 Mbit/s @ip
  flow ab = packets { rate = load, size = 500 B @ip, gaps = poisson } from a to b
  run { measure = 500 ms, overload = true }
  expect nothing_lost: ab.loss <= 20 %
}
test most on bench {
  search load in 1 Mbit/s @ip .. 9 Mbit/s @ip { trial = 100 ms, total = 3 s, goal ndr { loss = 0 } }
  flow ab = packets { rate = load, size = 500 B @ip, gaps = poisson } from a to b
}
"""
)
PROGRAM = "from qospec.cli import main; main()"
FAILING = """
import os
left, sync = {number}, os.fsync
def fail(descriptor):
    global left
    left -= 1
    if left < 0:
        raise OSError(28, "No space left on device")
    sync(descriptor)
os.fsync = fail
"""
"""Lets so many files be written, and then none."""
JOINED = """
from qospec.record import ended, store
store.MOST_ALONE, ended.TOGETHER_S = 3, 0.2
"""
"""Lets cases share files, as those of a long run do."""
TIMES = ("timing.json", "report.html", "SHA256SUMS")
"""Files that depend on times."""
LONGEST_S = 600
"""A run that takes longer hangs."""
AGAIN = 0.3
"""How often a run that goes on is ended once more."""


@contextmanager
def start_cluster() -> Iterator[tuple[str, int]]:
    """A context with a cluster of two workers; gives its address, and the process over them."""
    command = [sys.executable, "-c", PROGRAM, "cluster", "-n", "2", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[-1], process.pid
        finally:
            process.kill()  # its workers end with it


def list_workers(watchman: int) -> list[int]:
    """Return the processes of the workers of a cluster, on Linux."""
    tasks = Path(f"/proc/{watchman}/task").glob("*/children")
    children = [child for task in tasks for child in task.read_text().split()]
    lines = {int(child): Path(f"/proc/{child}/cmdline").read_text() for child in children}
    return [child for child, line in lines.items() if "spawn_main" in line]


class Score(NamedTuple):
    """How much was tried of something, and how much of that ended as it should."""

    what: str
    tried: int
    survived: int

    def __str__(self) -> str:
        differing = self.tried - self.survived
        return f"{self.what}: {self.tried} tried, {self.survived} survived, {differing} differing"


def start(folder: Path, *words: str, before: str = "") -> subprocess.Popen[bytes]:
    """Start the command in a folder; `before` is done first, in its process."""
    command = [sys.executable, "-c", before + PROGRAM, "run", *words, "--no-progress"]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=folder, stdout=quiet, stderr=quiet)


def read_all(record: Path) -> dict[str, bytes]:
    """Return all files of a record that do not depend on times."""
    files = (path for path in record.rglob("*") if path.is_file() and path.name not in TIMES)
    return {str(path.relative_to(record)): path.read_bytes() for path in files}


def find_record(folder: Path) -> Path | None:
    """Return the record of a run that had begun."""
    return next((path.parent for path in folder.glob("records/*/run.json")), None)


class Torture:
    """Ends runs of a project, and lets them go on."""

    def __init__(self, root: Path, draw: Random, before: str = "") -> None:
        """Run the project once, undisturbed; `before` is done first in the process of each run."""
        self._root, self._draw, self._before = root, draw, before
        self._root.mkdir()
        self._whole = self._prepare("whole")
        began_s = time.monotonic()
        start(self._whole, "bench.qos", before=before).wait()
        self._longest_s = time.monotonic() - began_s
        record = find_record(self._whole)
        assert record is not None, "the undisturbed run left no record"
        self.record = record

    def _prepare(self, name: str) -> Path:
        folder = self._root / name
        folder.mkdir()
        (folder / "bench.qos").write_text(SPECIFICATION)
        return folder

    def kill(self, number: int) -> bool:
        """Kill a run, and perhaps what goes on with it; return whether the record is the same."""
        folder = self._prepare(f"killed-{number}")
        words = ["bench.qos"]
        while True:
            process = start(folder, *words, before=self._before)
            time.sleep(self._draw.uniform(0, self._longest_s))
            process.kill()
            process.wait()
            if find_record(folder) is not None:  # else it had not begun
                words = ["--resume", "last"]
            if self._draw.random() > AGAIN:
                return self._finish(folder, words)

    def fail(self, number: int) -> bool:
        """Fill the disk of a run; return whether the record is the same once there is room."""
        folder = self._prepare(f"failed-{number}")
        failing = FAILING.format(number=self._draw.randrange(60))
        start(folder, "bench.qos", before=self._before + failing).wait()
        begun = find_record(folder) is not None
        return self._finish(folder, ["--resume", "last"] if begun else ["bench.qos"])

    def _finish(self, folder: Path, words: list[str]) -> bool:
        start(folder, *words, before=self._before).wait()
        record = find_record(folder)
        if record is None or read_all(record) != read_all(self.record):
            return False
        Record(record).verify()
        return True

    def bereave(self, number: int) -> bool:
        """Kill a worker of a cluster in the middle of a run; return whether the record is the same.

        Another one takes its place, as a cluster's own watchman starts it.
        """
        folder = self._prepare(f"bereaved-{number}")
        with start_cluster() as (address, watchman):
            run = start(folder, "bench.qos", "--on", address, before=self._before)
            time.sleep(self._draw.uniform(0, self._longest_s))
            victim = self._draw.choice(list_workers(watchman))
            os.kill(victim, signal.SIGKILL)
            run.wait(timeout=LONGEST_S)
        record = find_record(folder)
        return record is not None and read_all(record) == read_all(self.record)

    def flip(self) -> bool:
        """Flip a bit of the record, and back; return whether it was refused."""
        path = self._draw.choice([path for path in self.record.rglob("*") if path.is_file()])
        data = path.read_bytes()
        at, bit = self._draw.randrange(len(data)), self._draw.randrange(8)
        path.write_bytes(data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])
        try:
            Record(self.record).verify()
        except RecordError:
            return True
        finally:
            path.write_bytes(data)
        return False


def torture(kills: int, failures: int, workers: int, flips: int, seed: int) -> list[Score]:
    """Return how many of so many runs and records ended as they should."""
    with tempfile.TemporaryDirectory() as folder:
        draw, most = Random(seed), max(kills, failures, workers)  # noqa: S311
        plain = Torture(Path(folder) / "plain", draw)
        joined = Torture(Path(folder) / "joined", draw, JOINED) if most > 1 else plain
        killed = sum((plain, joined)[number % 2].kill(number) for number in range(kills))
        failed = sum((plain, joined)[number % 2].fail(number) for number in range(failures))
        bereaved = sum((plain, joined)[number % 2].bereave(number) for number in range(workers))
        flipped = sum((plain, joined)[number % 2].flip() for number in range(flips))
    return [
        Score("kills", kills, killed),
        Score("full disks", failures, failed),
        Score("dead workers", workers, bereaved),
        Score("flipped bits", flips, flipped),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    defaults = {"kills": 100, "failures": 20, "workers": 10, "flips": 500, "seed": 0}
    for name, default in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    scores = torture(**vars(parser.parse_args()))
    print(*scores, sep="\n")
    sys.exit(any(score.tried != score.survived for score in scores))


if __name__ == "__main__":
    main()
