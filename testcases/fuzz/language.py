"""Feeds damaged and random files to the language front for a while: python language.py --help.

The inputs are tried in a child process with limited memory, each within a time limit. An input that
raises, hangs or takes too much is kept as a folder in `found/`, or where `--found` says. The same
seed gives the same inputs in the same order, however many are tried.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FOUND = HERE / "found"
LANGUAGE = ROOT / "testcases" / "language"
SUITES = ROOT / "testcases" / "suites" / "eantc"
LIMIT_S = 5
"""Of the processor's time, for one input."""
WALL_S = 30
"""After so long a child that does not hear its limit is ended."""
MEMORY_BYTES = 2 * 1024**3


class TooSlow(Exception):  # noqa: N818 -- it is what is looked for
    """An input took longer than its limit. Caught only in this file."""


def inputs(seed: int) -> Iterator[tuple[str, str, bytes]]:
    """Yield inputs without end: how each was made, its file's name, and its content."""
    from damage import Damage, spoilt_bytes
    from sentences import sentence

    random = Random(seed)
    folders = (ROOT / "stdlib", SUITES, LANGUAGE / "accept", LANGUAGE / "reject")
    files = [sorted(folder.rglob("*.qos")) for folder in folders]
    right, wrong = [*files[0], *files[1] * 2, *files[2]], files[3]
    damage = Damage(random, [path.read_text(encoding="utf-8") for path in (*right, *wrong)])
    while True:
        kind = random.random()
        text = random.choice(right if random.random() < 0.8 else wrong).read_text(encoding="utf-8")
        how, name = [], "main.qos"
        if kind < 0.12:
            text, how = sentence(random), ["sentence"]
        elif kind > 0.75:
            text, how, name = as_yaml(text), ["twin"], "main.yaml"
        ways = random.choices(
            damage.ways(yaml=name.endswith("yaml")), k=random.choice((0, 1, 1, 1, 2, 3))
        )
        for way in ways:
            text = way(text)
        how += [way.__name__ for way in ways]
        data = text.encode("utf-8", errors="surrogatepass")
        if 0.12 < kind < 0.14:
            how, data = ["random"], random.randbytes(random.randint(0, 2_000))
        elif 0.14 < kind < 0.17:
            how, data = [*how, "bytes"], spoilt_bytes(random, data)
        elif 0.17 < kind < 0.18:
            encoding = random.choice(("utf-16", "utf-8-sig", "latin-1"))
            how, data = [*how, encoding], text.encode(encoding, errors="replace")
        yield "+".join(how), name, data


def as_yaml(text: str) -> str:
    """Return a text in YAML, or unchanged if it cannot be parsed."""
    from qospec.diagnostics import Problems
    from qospec.source import Source
    from qospec.yaml_twin.writer import write_yaml

    return write_yaml(Source("main.qos", text), Problems()) or text


def child(seed: int, seconds: float, most: int, folder: Path, found: Path) -> None:
    """Try inputs, keep the harmful ones in `found`, and print the results as a JSON document."""
    from reading import attempt

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    signal.signal(signal.SIGPROF, _too_slow)
    stages: Counter[str] = Counter()
    failures: dict[str, str] = {}
    slowest = (0.0, "")
    begun = time.perf_counter()
    for how, name, data in islice(inputs(seed), most):
        start = time.perf_counter()
        if start - begun > seconds:
            break
        path = folder / name
        path.write_bytes(data)
        faulthandler.dump_traceback_later(WALL_S, exit=True)
        signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
        try:
            stage = attempt(path)
        except Exception as error:  # noqa: BLE001 -- whatever it is, it is what is looked for
            signal.setitimer(signal.ITIMER_PROF, 0)
            stage = "timeout" if isinstance(error, TooSlow) else "traceback"
            what = _words(stage, error)
            failures[what] = failures.get(what) or _kept(folder, found, stage, error)
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()
        path.unlink()
        stages[stage] += 1
        slowest = max(slowest, (time.perf_counter() - start, how))
    print(json.dumps({"stages": stages, "failures": failures, "slowest": slowest}))


def _too_slow(_signal: int, _frame: object) -> NoReturn:
    raise TooSlow


def _words(stage: str, error: BaseException) -> str:
    """Return the result of an input, the same for all that end at the same place."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f"{Path(f.filename).name}:{f.lineno}" for f in frames if "qospec" in f.filename]
    return f"{stage} {type(error).__name__} {error} at {ours[-1:]}"


def _kept(folder: Path, found: Path, stage: str, error: BaseException | None) -> str:
    """Keep a harmful input; return its path."""
    number = 1
    while (kept := found / f"{stage}-{number}").exists():
        number += 1
    shutil.copytree(folder, kept)
    with (kept / "traceback.txt").open("w", encoding="utf-8") as file:
        traceback.print_exception(error, file=file)
    return str(kept)


def run(seed: int, seconds: float, most: int, found: Path) -> int:
    """Try inputs in child processes until the time is over; return 1 if one was harmful."""
    tried: Counter[str] = Counter()
    failures: dict[str, str] = {}
    slowest = (0.0, "")
    end = time.perf_counter() + seconds
    while (left := end - time.perf_counter()) > 0 and tried.total() < most:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(shutil.copytree(SUITES, Path(temporary) / "project"))
            words = ["--child", str(folder), "--seed", str(seed), "--seconds", str(left)]
            words += ["--found", str(found)]
            command = [sys.executable, __file__, *words, "--inputs", str(most - tried.total())]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                result = json.loads(done.stdout)
                tried.update(result["stages"])
                failures = result["failures"] | failures
                slowest = max(slowest, tuple(result["slowest"]))
            else:
                tried["killed"] += 1
                failures["ended from outside"] = _kept(folder, found, "killed", None)
                print(done.stderr[-2_000:], file=sys.stderr)
        seed += 1
    for what, kept in failures.items():
        print(f"{what}: {kept}")
    stages = ", ".join(f"{many} {stage}" for stage, many in sorted(tried.items()))
    print(f"{tried.total()} inputs ({stages}), slowest {slowest[0]:.1f} s ({slowest[1]})")
    timeouts = tried["timeout"] + tried["killed"]
    print(f"{tried['traceback']} tracebacks, {timeouts} timeouts")
    return 1 if failures else 0


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Feed spoilt files to the language front.")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--inputs", type=int, default=10**9, help="try at most so many")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    parser.add_argument("--found", type=Path, default=FOUND, help="keep what is found there")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        child(asked.seed, asked.seconds, asked.inputs, asked.child, asked.found)
        return 0
    print(f"seed {asked.seed}", flush=True)
    return run(asked.seed, asked.seconds, asked.inputs, asked.found)


if __name__ == "__main__":
    sys.exit(main())
