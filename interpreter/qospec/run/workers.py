"""Worker processes that run cases, one each at a time.

A worker that is killed costs no other case anything. Its own is tried once more, in a fresh worker
and after all others: what killed it, such as a shortage of memory, may be over by then.
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
from typing import TYPE_CHECKING, NamedTuple, Protocol

from qospec.engine import kernel
from qospec.run.interruption import OF_TERMINALS, signals_held

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping
    from multiprocessing.connection import Connection
    from typing import Any

    from qospec.document import Document
    from qospec.plan.plan import CasePlan

TRIES = 2
LOOK_S = 0.1
"""How long is waited before somebody asks whether the run is interrupted."""
TELL_S = 0.25
"""A worker tells its progress no more often."""


class Lost(NamedTuple):
    """A case whose worker ended before it did, each time."""

    job: Job
    why: str


class _Notice(NamedTuple):
    name: str


class _Broken(NamedTuple):
    error: Exception


class _Worker:
    """A process and the job that it has."""

    def __init__(self, work: Work, notices: Iterable[str], job: Job) -> None:
        context = multiprocessing.get_context("spawn")
        self.channel, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(theirs, work, tuple(notices)), daemon=True
        )
        with signals_held():
            self._process.start()
        theirs.close()
        self.give(job)

    def give(self, job: Job) -> None:
        self.job = job
        with suppress(OSError):  # it is dead, which is noticed where it is listened to
            self.channel.send((job.plan, job.again))

    def end(self) -> None:
        self._process.terminate()
        self._process.join()
        self.channel.close()

    def death(self) -> str:
        """Return what ended it, in words."""
        self._process.join()
        code = self._process.exitcode or 0
        if code >= 0:
            return f"its worker process ended with exit code {code}"
        memory = "; was memory short?" if code == -signal.SIGKILL else ""
        return f"its worker process was killed by {signal.Signals(-code).name}{memory}"


def run(
    jobs: Iterable[Job],
    most: int,
    work: Work,
    notices: Mapping[str, Callable[[], None]],
    progressed: Callable[[str, float], None],
    waited: Callable[[], None],
) -> Generator[Result | Lost]:
    """Yield what each job gave, as they end.

    Args:
        jobs: Whatever their order: what they give does not depend on it.
        most: Processes.
        work: What is done in them; they must be able to import it.
        notices: As `kernel.notices`; each is called here, once.
        progressed: Told a case's name and the share of it that is done.
        waited: Called several times a second. What it raises ends the workers.
    """
    team = _Team(deque(jobs), most, work, notices)
    left = dict(notices)
    try:
        while channels := team.at_work():
            ready = connection.wait(channels, LOOK_S)
            waited()
            for channel in ready:
                worker = team.workers[channel]
                said = _heard(worker)
                if isinstance(said, float):
                    progressed(worker.job.name, said)
                elif isinstance(said, _Notice):
                    left.pop(said.name, _nothing)()
                elif isinstance(said, _Broken):
                    raise said.error
                elif team.settled(worker, said):
                    yield said
    finally:
        team.end()


class _Team:
    """Workers by their channels, and the jobs that nobody has yet."""

    def __init__(self, waiting: deque[Job], most: int, work: Work, notices: Iterable[str]) -> None:
        self.workers: dict[Any, _Worker] = {}
        self._waiting = waiting
        self._most = most
        self._work = work
        self._notices = tuple(notices)

    def at_work(self) -> list[Any]:
        """Return all channels to listen to, after giving as many jobs as can be had at once."""
        while self._waiting and len(self.workers) < self._most:
            worker = _Worker(self._work, self._notices, self._waiting.popleft())
            self.workers[worker.channel] = worker
        return list(self.workers)

    def settled(self, worker: _Worker, gave: Result | Lost) -> bool:
        """Take note that a job has ended; return whether it is not to be tried again."""
        job = worker.job
        if isinstance(gave, Result) and self._waiting:
            worker.give(self._waiting.popleft())
        else:
            self.workers.pop(worker.channel).end()
        if isinstance(gave, Result) or job.tries + 1 >= TRIES:
            return True
        self._waiting.append(job._replace(tries=job.tries + 1))
        return False

    def end(self) -> None:
        for worker in self.workers.values():
            worker.end()


def _heard(worker: _Worker) -> float | _Notice | _Broken | Result | Lost:
    """Return what a worker says, if only by its death."""
    try:
        said: float | _Notice | _Broken | Result = worker.channel.recv()
    except (EOFError, OSError):
        return Lost(worker.job, worker.death())
    return said


def _nothing() -> None:
    """Say what has been said before."""


def _serve(channel: Connection, work: Work, notices: tuple[str, ...]) -> None:
    """Be a worker: signals of the terminal are the parent's, which ends its workers."""
    for number in OF_TERMINALS:
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    for name in notices:
        kernel.notices[name] = _Teller(channel, name)
    with suppress(EOFError):
        while True:
            plan, again = channel.recv()
            try:
                channel.send(work(plan, again, _Reporter(channel)))
            except Exception as error:  # noqa: BLE001 - the parent raises it
                channel.send(_Broken(error))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


class _Teller:
    """Sends a notice."""

    def __init__(self, channel: Connection, name: str) -> None:
        self._channel, self._name = channel, name

    def __call__(self) -> None:
        self._channel.send(_Notice(self._name))


class _Reporter:
    """Sends the share that is done, a few times a second."""

    def __init__(self, channel: Connection) -> None:
        self._channel = channel
        self._told_s = time.monotonic()

    def __call__(self, share: float) -> None:
        now_s = time.monotonic()
        if now_s - self._told_s >= TELL_S:
            self._told_s = now_s
            self._channel.send(share)


class Result(NamedTuple):
    """What a case gave, in how many seconds, and for how many more kernels were compiled."""

    document: Document
    seconds: float
    compiling_s: float


class Job(NamedTuple):
    """A case to run; `again` is the command that runs it alone."""

    plan: CasePlan
    again: str
    tries: int = 0

    @property
    def name(self) -> str:
        """Return the case's name."""
        return self.plan.case.name


class Work(Protocol):
    """What a worker does for a job."""

    def __call__(self, plan: CasePlan, again: str, hear: Callable[[float], None], /) -> Result:
        """Run a case; `hear` is told the share that is done."""
