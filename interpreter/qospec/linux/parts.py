"""What a trial on a kernel needs of this machine: the kernel, and the program that runs on it.

The kernel is built once, by `make kernel`, and the program at need; both are kept in the user's
cache. A kernel is booted for the first trial, and does all that follow.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from qospec.backend import BackendError
from qospec.linux.guest import Guest, GuestError
from qospec.linux.kept import ABOUT, find_folder, find_kernel
from qospec.linux.trial import carry_out

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.document import Document
    from qospec.engine.experiment import Experiment
    from qospec.engine.measure.observation import Observation

SOURCE = Path(__file__).with_name("guest.c")
INCLUDED = tuple(SOURCE.with_name(name) for name in ("programs.c", "room.h"))
"""What that includes."""
PROGRAMS = ("ip", "tc")
COMPILER = ("gcc", "-O2", "-static")
USUAL_TRIES = 2
"""How many kernels may fail at a trial."""


def compile_program() -> Path:
    """Return the program that sends and receives, compiled now unless it is known.

    Raises:
        BackendError: It cannot be compiled.
    """
    source = b"".join(path.read_bytes() for path in (SOURCE, *INCLUDED))
    name = f"guest-{hashlib.sha256(repr(COMPILER).encode() + source).hexdigest()[:16]}"
    program = find_folder() / name
    if program.is_file():
        return program
    if shutil.which(COMPILER[0]) is None:
        raise BackendError(f"`{COMPILER[0]}` is needed to compile what runs on the kernel")
    written = program.with_suffix(f".{os.getpid()}")
    command = [*COMPILER, "-o", str(written), str(SOURCE)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 -- a fixed command
    if done.returncode:
        raise BackendError(f"what runs on the kernel cannot be compiled: {done.stderr.strip()}")
    written.replace(program)
    return program


@functools.cache
def describe_parts() -> Document:
    """Return the kernel and the program, with their SHA-256; raises BackendError."""
    kernel = find_kernel()
    program = describe_program()
    about = json.loads(kernel.with_name(ABOUT).read_text("utf-8"))
    return {"kernel": about["release"], "kernel sha256": _hash(kernel), **program}


@functools.cache
def describe_program() -> Document:
    """Return the program, with its SHA-256; raises BackendError, also without `ip` or `tc`."""
    program = compile_program()
    lacking = [name for name in PROGRAMS if _find_program(name) is None]
    if lacking:
        named = " and ".join(f"`{name}`" for name in lacking)
        raise BackendError(f"{named} of the package iproute2 is needed to set a kernel up")
    return {"program sha256": _hash(program)}


def _find_program(name: str) -> str | None:
    return shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Laboratory:
    """A kernel that is booted for the first trial."""

    def __init__(self) -> None:
        self._guest: Guest | None = None

    def run_trial(self, experiment: Experiment, on_wait: Callable[[], None]) -> Observation:
        """Return what a trial observes; one that a kernel fails at is tried on a fresh one.

        Raises:
            BackendError: Each kernel has failed.
        """
        for tries in range(1, USUAL_TRIES + 1):
            if self._guest is None:
                self._guest = Guest(find_kernel(), compile_program())
            try:
                return carry_out(experiment, self._guest, on_wait)
            except GuestError as error:
                self.end()
                if tries == USUAL_TRIES:
                    raise BackendError(f"{error} (in each of {tries} kernels)") from None
            except BaseException:
                self.end()  # it may be at work on what nobody waits for
                raise
        raise AssertionError  # it has returned or raised

    def end(self) -> None:
        """End the kernel, if there is one."""
        if self._guest is not None:
            self._guest.end()
            self._guest = None


@functools.cache
def open_laboratory() -> Laboratory:
    """Return the laboratory of this process, which ends with it."""
    laboratory = Laboratory()
    atexit.register(laboratory.end)
    return laboratory
