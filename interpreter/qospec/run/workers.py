"""A pool of worker processes, each of which does one job at a time.

They are forked from one process, a server that has loaded what all of them need, where there is
`fork`; elsewhere each loads it itself.

If a worker is killed, no other job is affected. Its own is tried once more, in a fresh worker and
when no other is waiting: what killed it, such as a shortage of memory, may be over by then.
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
from collections import deque
from contextlib import suppress
from multiprocessing import connection
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine import kernel
from qospec.internals import find_internal, replace_internal
from qospec.run.interruption import TERMINAL_SIGNALS, terminal_signals_blocked
from qospec.run.job import LostJob

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping
    from multiprocessing.connection import Connection
    from pathlib import Path
    from typing import Any

    from qospec.run.job import Job, Workshop
    from qospec.run.schedule import Ended, Schedule

LOADED = "qospec.run.loaded"
"""The module that loads what a worker needs."""
PATHS = "QOS_WORKERS_CHECK"
"""The environment variable with the files to check there and their texts, as JSON."""
LONGEST_VARIABLE = 100_000
"""Linux allows 128 KiB."""
MAX_TRIES = 2
POLL_INTERVAL_S = 0.1
"""How often a check is made for an interruption of the run."""
PROGRESS_INTERVAL_S = 0.25
"""A worker reports its progress no more often."""


class _Notice(NamedTuple):
    name: str


class _WorkError(NamedTuple):
    error: Exception


class _Done(NamedTuple):
    result: Any


class _Cancelled(NamedTuple):
    """A job ended before it was done, since nobody needs it any more."""


class _CancelledError(BaseException):
    """Ends a job; what catches the errors of a trial does not catch it."""


class _Worker:
    """A worker process and its current job; None while it has none."""

    def __init__(self, workshop: Workshop, notices: Iterable[str]) -> None:
        context = _context()
        self.channel, theirs = context.Pipe()
        self.job: Job | None = None
        self.is_cancelled = False
        self._process = context.Process(
            target=_serve, args=(theirs, workshop, tuple(notices)), daemon=True
        )
        with terminal_signals_blocked():
            self._process.start()
        theirs.close()

    def give(self, job: Job) -> None:
        self.job, self.is_cancelled = job, False
        self._send(job.name)

    def cancel(self) -> None:
        """Ask it to end its job, once; it may be done with it by then."""
        if not self.is_cancelled:
            self.is_cancelled = True
            self._send(None)

    def _send(self, message: Any) -> None:
        with suppress(OSError):  # it is dead, which shows when its channel is read
            self.channel.send(message)

    def end(self) -> None:
        self._process.terminate()
        self._process.join()
        self.channel.close()

    def cause_of_death(self) -> str:
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
    if _context().get_start_method() == "forkserver":
        from multiprocessing import forkserver

        written = json.dumps([[*map(str, paths)], [(str(path), text) for path, text in texts]])
        if len(written) <= LONGEST_VARIABLE:
            os.environ[PATHS] = written
        with terminal_signals_blocked():
            forkserver.ensure_running()
        os.environ.pop(PATHS, None)


def run(
    schedule: Schedule,
    pool: Pool,
    notices: Mapping[str, Callable[[], None]],
    on_wait: Callable[[], None],
) -> Generator[Ended]:
    """Do all jobs in workers, and yield the cases as they end.

    Args:
        schedule: The jobs.
        pool: The workers, which end with the jobs.
        notices: As `kernel.notices`; each is called here, once.
        on_wait: Called several times a second; an exception it raises ends the workers.
    """
    left = dict(notices)
    try:
        while channels := pool.busy_channels(schedule):
            yield from schedule.ended()
            if schedule.is_done:
                return  # what still runs ran ahead, and is not needed
            ready = connection.wait(channels, POLL_INTERVAL_S)
            on_wait()
            for channel in ready:
                worker = pool.workers[channel]
                assert worker.job is not None  # noqa: S101 -- it is busy
                message = _receive(worker)
                if isinstance(message, float):
                    schedule.progressed(worker.job, message)
                elif isinstance(message, _Notice):
                    left.pop(message.name, _ignore)()
                elif isinstance(message, _WorkError):
                    raise message.error
                else:
                    pool.finish(schedule, worker, message)
        yield from schedule.ended()
    finally:
        pool.end()


class Pool:
    """Workers by their channels, and the jobs that are to be tried again."""

    def __init__(self, processes: int, workshop: Workshop, notices: Iterable[str] = ()) -> None:
        """Take the number of workers, at most, what they are sent, and names of their notices."""
        self.workers: dict[Any, _Worker] = {}
        self._again: deque[Job] = deque()
        self._processes = processes
        self._workshop = workshop
        self._notices = tuple(notices)

    def busy_channels(self, schedule: Schedule) -> list[Any]:
        """Give a job to each worker that has none, and return the channels of those that have."""
        while (worker := self._idle()) is not None or len(self.workers) < self._processes:
            job = schedule.next_job()
            if job is None and self._again:
                job = self._again.popleft()
                if worker is not None:
                    self._remove(worker)
                worker = None
            job = job or schedule.next_job(ahead=True)
            if job is None:
                break
            (worker or self._add()).give(job)
        return [worker.channel for worker in self.workers.values() if worker.job is not None]

    def finish(
        self, schedule: Schedule, worker: _Worker, message: _Done | _Cancelled | LostJob
    ) -> None:
        """Pass on the result of a worker's job, unless it is lost for the first time."""
        job, worker.job = worker.job, None
        assert job is not None  # noqa: S101 -- it was busy
        if isinstance(message, LostJob):
            self._remove(worker)
            if not worker.is_cancelled and job.tries + 1 < MAX_TRIES:
                self._again.append(job._replace(tries=job.tries + 1))
                return
        if not (isinstance(message, _Cancelled) or worker.is_cancelled):
            schedule.take(job, message.result if isinstance(message, _Done) else message)
            self._cancel_obsolete(schedule)

    def _cancel_obsolete(self, schedule: Schedule) -> None:
        """Cancel the jobs that ran ahead and turn out not to be needed."""
        for worker in self.workers.values():
            if worker.job is not None and not worker.is_cancelled and schedule.drops(worker.job):
                worker.cancel()
        self._again = deque(job for job in self._again if not schedule.drops(job))

    def end(self) -> None:
        """End all workers, whatever they do."""
        for worker in list(self.workers.values()):
            self._remove(worker)

    def _add(self) -> _Worker:
        worker = _Worker(self._workshop, self._notices)
        self.workers[worker.channel] = worker
        return worker

    def _idle(self) -> _Worker | None:
        return next((worker for worker in self.workers.values() if worker.job is None), None)

    def _remove(self, worker: _Worker) -> None:
        self.workers.pop(worker.channel).end()


@functools.cache
def _context() -> Any:
    """Return how processes are started. Never by `fork` of this one, which may have threads."""
    _keep_current_folder_out()
    kernel.find_cache_folder()  # here, too: what another process says of it is not for the user
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([LOADED])
    return context


def _keep_current_folder_out() -> None:
    """Make Python's servers of processes start with `-P`.

    They start by `-c`, whose path begins at the current folder: a `types.py` in a project of
    somebody else would run. There is no public way but the environment, which `-E` ignores.
    """
    util = importlib.import_module("multiprocessing.util")
    flags = find_internal(util, "_args_from_interpreter_flags")
    replace_internal(util, "_args_from_interpreter_flags", lambda: ["-P", *flags()])


def _receive(worker: _Worker) -> float | _Notice | _WorkError | _Done | _Cancelled | LostJob:
    """Return the next message of a worker; if it has died, that its job is lost."""
    try:
        message: float | _Notice | _WorkError | _Done | _Cancelled = worker.channel.recv()
    except (EOFError, OSError):
        return LostJob(worker.cause_of_death())
    return message


def _ignore() -> None:
    """Do nothing: the notice has been given before."""


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
                channel.send(_Done(workshop.do(name, _ProgressSender(channel))))
            except _CancelledError:
                channel.send(_Cancelled())
            except Exception as error:  # noqa: BLE001 - the parent raises it
                channel.send(_WorkError(error))


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
        self._channel.send(_Notice(self._name))


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
                raise _CancelledError
            self._sent_s = now_s
            self._channel.send(share)
