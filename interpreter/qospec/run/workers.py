"""A pool of worker processes, each of which runs one case at a time.

If a worker is killed, no other case is affected. Its own is tried once more, in a fresh worker and
after all others: what killed it, such as a shortage of memory, may be over by then.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from contextlib import suppress
from multiprocessing import connection
from typing import TYPE_CHECKING, NamedTuple

from qospec.engine import kernel
from qospec.run.interruption import TERMINAL_SIGNALS, terminal_signals_blocked
from qospec.run.job import JobResult, LostJob

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping
    from multiprocessing.connection import Connection
    from typing import Any

    from qospec.run.job import Job, Work

MAX_TRIES = 2
POLL_INTERVAL_S = 0.1
"""How often a check is made for an interruption of the run."""
PROGRESS_INTERVAL_S = 0.25
"""A worker reports its progress no more often."""


class _Notice(NamedTuple):
    name: str


class _WorkError(NamedTuple):
    error: Exception


class _Worker:
    """A worker process and its current job."""

    def __init__(self, work: Work, notices: Iterable[str], job: Job) -> None:
        context = multiprocessing.get_context("spawn")
        self.channel, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(theirs, work, tuple(notices)), daemon=True
        )
        with terminal_signals_blocked():
            self._process.start()
        theirs.close()
        self.give(job)

    def give(self, job: Job) -> None:
        self.job = job
        with suppress(OSError):  # it is dead, which shows when its channel is read
            self.channel.send((job.plan, job.command))

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


def run(
    jobs: Iterable[Job],
    processes: int,
    work: Work,
    notices: Mapping[str, Callable[[], None]],
    on_progress: Callable[[str, float], None],
    on_wait: Callable[[], None],
) -> Generator[JobResult | LostJob]:
    """Yield the result of each job as it ends.

    Args:
        jobs: In any order: their results do not depend on it.
        processes: The number of workers, at most.
        work: What is done for each job; the workers must be able to import it.
        notices: As `kernel.notices`; each is called here, once.
        on_progress: Called with a case's name and the share of it that is done.
        on_wait: Called several times a second; an exception it raises ends the workers.
    """
    pool = _Pool(deque(jobs), processes, work, notices)
    left = dict(notices)
    try:
        while channels := pool.busy_channels():
            ready = connection.wait(channels, POLL_INTERVAL_S)
            on_wait()
            for channel in ready:
                worker = pool.workers[channel]
                message = _receive(worker)
                if isinstance(message, float):
                    on_progress(worker.job.name, message)
                elif isinstance(message, _Notice):
                    left.pop(message.name, _ignore)()
                elif isinstance(message, _WorkError):
                    raise message.error
                elif pool.finish(worker, message):
                    yield message
    finally:
        pool.end()


class _Pool:
    """Workers by their channels, and the jobs that are still waiting."""

    def __init__(
        self, waiting: deque[Job], processes: int, work: Work, notices: Iterable[str]
    ) -> None:
        self.workers: dict[Any, _Worker] = {}
        self._waiting = waiting
        self._processes = processes
        self._work = work
        self._notices = tuple(notices)

    def busy_channels(self) -> list[Any]:
        """Return the channels of all workers, after starting as many as there are jobs for."""
        while self._waiting and len(self.workers) < self._processes:
            worker = _Worker(self._work, self._notices, self._waiting.popleft())
            self.workers[worker.channel] = worker
        return list(self.workers)

    def finish(self, worker: _Worker, result: JobResult | LostJob) -> bool:
        """Note that a job has ended; return whether that is final, or it will be tried again."""
        job = worker.job
        if isinstance(result, JobResult) and self._waiting:
            worker.give(self._waiting.popleft())
        else:
            self.workers.pop(worker.channel).end()
        if isinstance(result, JobResult) or job.tries + 1 >= MAX_TRIES:
            return True
        self._waiting.append(job._replace(tries=job.tries + 1))
        return False

    def end(self) -> None:
        for worker in self.workers.values():
            worker.end()


def _receive(worker: _Worker) -> float | _Notice | _WorkError | JobResult | LostJob:
    """Return the next message of a worker; if it has died, that its job is lost."""
    try:
        message: float | _Notice | _WorkError | JobResult = worker.channel.recv()
    except (EOFError, OSError):
        return LostJob(worker.job, worker.cause_of_death())
    return message


def _ignore() -> None:
    """Do nothing: the notice has been given before."""


def _serve(channel: Connection, work: Work, notices: tuple[str, ...]) -> None:
    """Do jobs until the channel closes; signals of the terminal are left to the parent."""
    for number in TERMINAL_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    for name in notices:
        kernel.notices[name] = _NoticeSender(channel, name)
    with suppress(EOFError):
        while True:
            plan, command = channel.recv()
            try:
                channel.send(work(plan, command, _ProgressSender(channel)))
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
    """Sends the share that is done to the parent, a few times a second."""

    def __init__(self, channel: Connection) -> None:
        self._channel = channel
        self._sent_s = time.monotonic()

    def __call__(self, share: float) -> None:
        now_s = time.monotonic()
        if now_s - self._sent_s >= PROGRESS_INTERVAL_S:
            self._sent_s = now_s
            self._channel.send(share)
