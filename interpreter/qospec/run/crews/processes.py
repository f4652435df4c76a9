"""Worker processes of this machine.

They are forked from one process, a server that has loaded what all of them need, where there is
`fork`; elsewhere each loads it itself.
"""

from __future__ import annotations

import functools
import importlib
import json
import multiprocessing
import os
import signal
import threading
import time
from contextlib import suppress
from multiprocessing import connection
from typing import TYPE_CHECKING

from qospec.engine import kernel
from qospec.internals import find_internal, replace_internal
from qospec.run.interruption import TERMINAL_SIGNALS, hold_back_terminal_signals
from qospec.run.job import Cancelled, CancelledError, Done, LostJob, Notice, WorkError
from qospec.run.workers import Crew, Worker

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from multiprocessing.connection import Connection
    from pathlib import Path
    from typing import Any

    from qospec.run.job import Job, Message, Workshop

LOADED = "qospec.run.crews.loaded"
"""The module that loads what a worker needs."""
PATHS = "QOS_WORKERS_CHECK"
"""The environment variable with the files to check there and their texts, as JSON."""
LONGEST_VARIABLE = 100_000
"""Linux allows 128 KiB."""
PROGRESS_INTERVAL_S = 0.25
"""A worker reports its progress no more often."""


class _WorkerProcess(Worker):
    """A process that does jobs."""

    def __init__(self, workshop: Workshop, notices: Iterable[str]) -> None:
        super().__init__()
        context = _choose_context()
        self.channel, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(theirs, workshop, tuple(notices)), daemon=True
        )
        with hold_back_terminal_signals():
            self._process.start()
        theirs.close()

    def _begin(self, job: Job) -> None:
        self._send(job.name)

    def _cancel(self) -> None:
        self._send(None)

    def _send(self, message: Any) -> None:
        with suppress(OSError):  # it is dead, which shows when its channel is read
            self.channel.send(message)

    def end(self) -> None:
        self._process.terminate()
        self._process.join()
        self.channel.close()

    def explain_death(self) -> str:
        """Return in words what ended the process."""
        self._process.join()
        code = self._process.exitcode or 0
        if code >= 0:
            return f"its worker process ended with exit code {code}"
        memory = "; perhaps the machine ran out of memory" if code == -signal.SIGKILL else ""
        return f"its worker process was killed by {signal.Signals(-code).name}{memory}"


def load(paths: Iterable[Path], texts: Iterable[tuple[Path, str]] = ()) -> None:
    """Begin to load what workers need, in the background, so that they start at once.

    The files are checked there, once for all workers, with `texts` as of `Order`.
    """
    if _choose_context().get_start_method() == "forkserver":
        from multiprocessing import forkserver

        written = json.dumps([[*map(str, paths)], [(str(path), text) for path, text in texts]])
        if len(written) <= LONGEST_VARIABLE:
            os.environ[PATHS] = written
        with hold_back_terminal_signals():
            forkserver.ensure_running()
        os.environ.pop(PATHS, None)


class ProcessCrew(Crew):
    """Processes of this machine; each new one is fresh."""

    def __init__(self, most: int, workshop: Workshop, notices: Iterable[str] = ()) -> None:
        """Take how many there are at most, what they are sent, and names of their notices."""
        self._most = most
        self._workshop = workshop
        self._notices = tuple(notices)
        self._processes: dict[Any, _WorkerProcess] = {}

    @property
    def has_room(self) -> bool:
        """Return whether a process has no job, or one more may be started."""
        return self._find_idle() is not None or len(self._processes) < self._most

    def choose(self, *, fresh: bool) -> _WorkerProcess:
        """Return a process without a job, which is started if there is none."""
        worker = self._find_idle()
        if worker is not None and fresh:
            self.dismiss(worker)
            worker = None
        if worker is None:
            worker = _WorkerProcess(self._workshop, self._notices)
            self._processes[worker.channel] = worker
        return worker

    def _find_idle(self) -> _WorkerProcess | None:
        idle = (worker for worker in self._processes.values() if worker.job is None)
        return next(idle, None)

    def dismiss(self, worker: Worker) -> None:
        """End a process, whatever it does."""
        assert isinstance(worker, _WorkerProcess)  # noqa: S101 -- it was started here
        self._processes.pop(worker.channel).end()

    def receive(self, busy: Sequence[Worker], longest_s: float) -> Iterable[tuple[Worker, Message]]:
        """Return the next message of each process that has one."""
        channels = [channel for channel, worker in self._processes.items() if worker in busy]
        ready = connection.wait(channels, longest_s)
        return [(self._processes[channel], _receive(self._processes[channel])) for channel in ready]

    def end(self) -> None:
        """End all processes."""
        for worker in list(self._processes.values()):
            self.dismiss(worker)


@functools.cache
def _choose_context() -> Any:
    """Return how processes are started. Never by `fork` of this one, which may have threads."""
    keep_current_folder_out()
    kernel.find_cache_folder()  # here, too: what another process says of it is not for the user
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([LOADED])
    return context


def keep_current_folder_out() -> None:
    """Make Python's servers of processes start with `-P`.

    They start by `-c`, whose path begins at the current folder: a `types.py` in a project of
    somebody else would run. There is no public way but the environment, which `-E` ignores.
    """
    util = importlib.import_module("multiprocessing.util")
    flags = find_internal(util, "_args_from_interpreter_flags")
    replace_internal(util, "_args_from_interpreter_flags", lambda: ["-P", *flags()])


def _receive(worker: _WorkerProcess) -> Message:
    """Return the next message of a worker; if it has died, that its job is lost."""
    try:
        message: Message = worker.channel.recv()
    except (EOFError, OSError):
        return LostJob(worker.explain_death())
    return message


def _serve(channel: Connection, workshop: Workshop, notices: tuple[str, ...]) -> None:
    """Do jobs until the channel closes; signals of the terminal are left to the parent."""
    for number in TERMINAL_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    for name in notices:
        kernel.notices[name] = _NoticeSender(channel, name)
    importlib.import_module(LOADED)
    with suppress(EOFError):
        while True:
            name = channel.recv()
            if name is None:
                continue  # a job was cancelled when it was done
            try:
                channel.send(Done(workshop.do(name, _ProgressSender(channel))))
            except CancelledError:
                channel.send(Cancelled())
            except Exception as error:  # noqa: BLE001 - the parent raises it
                channel.send(WorkError(error))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


class _NoticeSender:
    """Sends a notice to the parent."""

    def __init__(self, channel: Connection, name: str) -> None:
        self._channel, self._name = channel, name

    def __call__(self) -> None:
        self._channel.send(Notice(self._name))


class _ProgressSender:
    """Sends the share that is done to the parent, a few times a second, if the job goes on."""

    def __init__(self, channel: Connection) -> None:
        self._channel = channel
        self._sent_s = time.monotonic()

    def __call__(self, share: float) -> None:
        now_s = time.monotonic()
        if now_s - self._sent_s >= PROGRESS_INTERVAL_S:
            if self._channel.poll():  # while a job is done, nothing but that it is cancelled
                self._channel.recv()
                raise CancelledError
            self._sent_s = now_s
            self._channel.send(share)
