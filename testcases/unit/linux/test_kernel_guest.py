"""A kernel that ends, hangs or cannot do its job: what is said, and that nothing is left."""

import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from qospec.backend import BackendError
from qospec.linux import parts
from qospec.linux.guest import Answer, Guest, GuestError, Job

JOB = Job("link add\n", "qdisc add\n", b"plan")
ENDS = "echo no such processor >&2; exit 1"
HANGS = "sleep 60"
FAILS = """f=$QOS_FOLDER/1; while [ ! -e $f/ready ]; do sleep 0.01; done
echo 'Illegal rate' > $f/said; echo 256 > $f/done; sleep 60"""
ANSWERS = """n=1; while true; do f=$QOS_FOLDER/$n; while [ ! -e $f/ready ]; do sleep 0.01; done
cat $f/plan > $f/seen; echo '[][]' > $f/counters; : > $f/said; echo 0 > $f/done.part
mv $f/done.part $f/done; n=$((n + 1)); done"""


def make_kernel(tmp_path: Path, script: str) -> Path:
    """Return a program that is called as a kernel is; it finds its folder in an argument.

    The arguments of a kernel become one text, so there are quotes around what may have spaces.
    """
    kernel = tmp_path / "linux"
    find = 'for a in "$@"; do case $a in QOS_FOLDER=*) eval "$a";; esac; done'
    enter = 'cd "$QOS_FOLDER"; QOS_FOLDER=.'
    kernel.write_text(f"#!/bin/sh\n{find}\n{enter}\n{script}\n", encoding="utf-8")
    kernel.chmod(0o700)
    return kernel


def boot(tmp_path: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> Guest:
    folder = tmp_path / "of jobs"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return Guest(make_kernel(tmp_path, script), Path(sys.executable))


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (ENDS, "the kernel has ended: no such processor"),
        (HANGS, "the kernel has not done its job in 0 s"),
        (FAILS, "the kernel could not do its job: Illegal rate"),
    ],
)
def test_a_kernel_that_does_no_job_is_explained_and_leaves_nothing(
    tmp_path: Path, script: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    guest = boot(tmp_path, script, monkeypatch)
    with pytest.raises(GuestError, match=message):
        guest.execute(JOB, 20 if script != HANGS else 0.2)
    guest.end()
    assert not list((tmp_path / "of jobs").iterdir())


def test_one_kernel_does_one_job_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guest = boot(tmp_path, ANSWERS, monkeypatch)
    for plan in (b"one", b"two"):
        assert guest.execute(JOB._replace(plan=plan), 20) == Answer(plan, "[][]\n")
    guest.end()
    assert not list((tmp_path / "of jobs").iterdir())


BOOTS = """import os, sys, tempfile
from pathlib import Path
from qospec.linux.guest import Guest
tempfile.tempdir = sys.argv[1]
guest = Guest(Path(sys.argv[2]), Path(sys.executable))
while not (begun := Path(sys.argv[3])).exists():
    pass
os.kill(os.getpid(), 9)
"""


def is_running(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text(encoding="utf-8").split()[2]
    except FileNotFoundError:
        return False


def test_nothing_is_left_of_a_kernel_whose_run_was_killed(tmp_path: Path) -> None:
    """Nor of what the kernel itself has started, which would live on if only that were killed."""
    folder, begun = tmp_path / "of jobs", tmp_path / "begun"
    folder.mkdir()
    script = (
        f"sleep 60 & echo $$ $! > {shlex.quote(str(begun))}.part; mv {begun}.part {begun}; wait"
    )
    arguments = [str(folder), str(make_kernel(tmp_path, script)), str(begun)]
    done = subprocess.run([sys.executable, "-c", BOOTS, *arguments], check=False)
    assert done.returncode == -signal.SIGKILL
    processes = [int(word) for word in begun.read_text(encoding="utf-8").split()]
    until_s = time.monotonic() + 10
    while time.monotonic() < until_s and ([*folder.iterdir()] or any(map(is_running, processes))):
        time.sleep(0.01)
    assert not list(folder.iterdir())
    assert not any(map(is_running, processes))


def test_a_trial_is_tried_again_once_on_a_fresh_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    booted = tmp_path / "booted"
    kernel = make_kernel(tmp_path, f"echo >> {shlex.quote(str(booted))}; {ENDS}")
    monkeypatch.setattr(parts, "find_kernel", lambda: kernel)
    monkeypatch.setattr(parts, "compile_program", lambda: Path(sys.executable))
    monkeypatch.setattr(
        parts, "carry_out", lambda _experiment, guest, on_wait: guest.execute(JOB, 20, on_wait)
    )
    with pytest.raises(BackendError, match=r"no such processor \(in each of 2 kernels\)"):
        parts.Laboratory().run_trial(None, lambda: None)
    assert booted.read_text(encoding="utf-8") == "\n\n"
