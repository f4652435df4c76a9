"""`make test-kernel`: programs of the user's own on a kernel, and such as misbehave there.

What each is to come to is written by hand. One sends datagrams of its own and writes down which it
has sent and which have come, beside what is measured.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from click.testing import CliRunner

from qospec import cli

HEAD = """qos 1
import std.media
device narrow {
  port near, far: packet
  q = fifo { limit = 5 pkt }
  near.rx -> q -> far.tx
  far.rx -> near.tx
}
topology path {
  a, b = host
  n = narrow
  link a -- n.near via media.fast_ethernet
  link n.far -- b via media.ethernet { rate = 1 Mbit/s @line }
}
"""
SENDER = """import os, socket
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.bind((os.environ["QOS_ADDRESS"], 0))
for number in range(20):
    out.sendto(number.to_bytes(2, "big") + bytes(998), ("b", 4000))
print("sent 20")
"""
RECEIVER = """import os, socket, sys
into = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
into.bind((os.environ["QOS_ADDRESS"], 4000))
print("here", flush=True)
into.settimeout(4)
try:
    while True:
        print(int.from_bytes(into.recv(2000)[:2], "big"), flush=True)
except TimeoutError:
    print("came")
"""
CALM = "command = [{}]"


class Trial(NamedTuple):
    """A program, given by its fields, and what must be said of it.

    Attributes:
        name: Of its test.
        fields: Of the program at `a`.
        error: What the error says; "" for none.
        holds: What the program's part of the record must say, as a pattern.
    """

    name: str
    fields: str
    error: str
    holds: str = ""


def shell(script: str) -> str:
    """Return the field of a command that a shell carries out."""
    return f"command = {json.dumps(['sh', '-c', script])}"


TRIALS = (
    Trial("ends_well", f"{shell('echo fine')}, stop = itself", "", '"stdout": "fine'),
    Trial("is_stopped", shell("sleep 100"), "", '"ended": "SIGTERM"'),
    Trial("interrupts", f"{shell('sleep 100')}, stop = interrupt", "", '"ended": "SIGINT"'),
    Trial("status", f"{shell('exit 3')}, exit = 3", "", '"ended": "exit 3"'),
    Trial(
        "fails",
        shell("echo bad >&2; exit 3"),
        "ended with exit 3, and `exit = 0` is expected; it said: bad",
    ),
    Trial("absent", 'command = ["no-such-program"]', "could not be started: No such file"),
    Trial(
        "unready",
        f'{shell("echo soon; sleep 100")}, ready = "now", patience = 1 s',
        "was not ready in time; it said: soon",
    ),
    Trial(
        "gone",
        f'{shell("echo over")}, ready = "now"',
        "has ended before it was ready; it said: over",
    ),
    Trial(
        "endless",
        f"{shell('trap true TERM; while true; do sleep 1; done')}, patience = 2 s",
        "has not ended within its `patience` of 2 s, and was killed",
    ),
    Trial(
        "forks",
        f"{shell('(setsid sleep 1000 &) ; echo away')}, stop = itself",
        "",
        '"ended": "exit 0"',
    ),
    Trial(
        "floods", f"{shell('yes')}, stop = itself", "has written more than 16 MiB, and was killed"
    ),
    Trial("cut", f"{shell('yes | head -c 100000')}, stop = itself", "", '"stdout_bytes": 100000'),
    Trial(
        "writes",
        f"{shell('echo >/etc/w; echo >/tmp/w; cd $TMPDIR; echo in >f; cat f')}, stop = itself",
        "",
        '"stdout": "in.*Read-only file system.*Read-only file system',
    ),
    Trial(
        "remounts",
        f"{shell('mount -o remount,rw / 2>&1; id -u')}, stop = itself",
        "",
        "(permission denied|must be superuser|not permitted)",
    ),
    Trial(
        "kills",
        f"{shell('kill -9 1 -1 2>&1; ls /run/jobs 2>&1; echo here')}, exit = 0, stop = itself",
        "",
        "No such file",
    ),
)


def write_specification(folder: Path) -> Path:
    """Return a file with a test for each trial, and one of what is measured."""
    (folder / "sender.py").write_text(SENDER, "utf-8")
    (folder / "receiver.py").write_text(RECEIVER, "utf-8")
    tests = [
        f"test {one.name} on path {{\n  flow f = program {{ {one.fields} }} from a to b\n"
        "  run { measure = 100 ms }\n  report f.sent\n}\n"
        for one in TRIALS
    ]
    counted = (
        "test counted on path {\n"
        '  flow back = program { command = ["python3", "receiver.py"], ready = "here",'
        " stop = itself } from b to a\n"
        '  flow f = program { command = ["python3", "sender.py"], stop = itself } from a to b\n'
        "  run { measure = 500 ms }\n"
        "  report [f.sent, f.received, f.lost, f.delay.max, f.delay.min]\n}\n"
    )
    path = folder / "programs.qos"
    path.write_text(HEAD + "".join(tests) + counted, "utf-8")
    return path


def main() -> int:
    """Run all trials; return 1 if one came to something else."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("output", nargs="?", type=Path, help="where to write what was recorded")
    arguments = parser.parse_args()
    begun_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="qospec-programs-") as name:
        folder = Path(name)
        path = write_specification(folder)
        words = ["run", str(path), "--on", "kernel-vt", "--allow-programs", "--json"]
        done = CliRunner().invoke(cli.qos, [*words, "--record", str(folder), "--no-progress"])
        if not done.stdout.startswith("{"):
            print(done.output)
            return 1
        cases = {case["test"]: case for case in json.loads(done.stdout)["cases"]}
    if arguments.output:
        arguments.output.write_text(json.dumps(cases, indent=1), "utf-8")
    wrong = [line for one in TRIALS for line in _compare(one, cases[one.name])]
    wrong += _compare_counts(cases["counted"])
    print(*wrong, sep="\n")
    seconds = f"{time.monotonic() - begun_s:.0f} s"
    print(f"{len(TRIALS) + 1} programs, {len(wrong)} other than they should be, {seconds}")
    return 1 if wrong else 0


def _compare(one: Trial, case: dict) -> list[str]:
    errors, programs = " ".join(case["errors"]), json.dumps(case.get("programs", []))
    if one.error and (one.error not in errors or "programs.qos:" not in errors):
        return [f"{one.name}: the error is `{errors}`, not `{one.error}`"]
    if not one.error and errors:
        return [f"{one.name}: there is an error: {errors}"]
    if one.holds and not re.search(one.holds, programs):
        return [f"{one.name}: `{one.holds}` is not in {programs}"]
    return []


def _compare_counts(case: dict) -> list[str]:
    """Return what is wrong with counts: 20 datagrams of 1,028 B, of which the queue holds few."""
    programs = {program["flow"]: program for program in case.get("programs", [])}
    if not programs:
        return [f"counted: {case['errors']}"]
    metrics = case["metrics"]["f"]
    came = programs["back"]["stdout"].split()[1:-1]
    received, lost = (int(float(metrics[name]["text"].split()[0])) for name in ("received", "lost"))
    found = {
        "sent": programs["f"]["sent"] == 20,
        "received": received == len(came),
        "lost": received + lost == 20,
        "loses": lost > 0,
    }
    return [
        f"counted: {name} is wrong: {metrics}, {came}" for name, holds in found.items() if not holds
    ]


if __name__ == "__main__":
    sys.exit(main())
