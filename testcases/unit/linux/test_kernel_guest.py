"""A kernel that ends, hangs or cannot do its job: what is said, and that nothing is left."""

import shlex
import sys
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
