"""A pool of workers, each of which does one job at a time: processes here, or far away.

What starts workers, gives them jobs and hears of them is a crew. If a worker ends before its job is
done, no other job is affected. Its own is tried again, by a fresh worker and when no other is
waiting: what ended it, such as a shortage of memory, may be over by then.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from typing import TYPE_CHECKING

from qospec.run.job import Cancelled, Done, LostJob, Notice, WorkError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence

    from qospec.run.job import Job, Message
    from qospec.run.schedule import Ended, Schedule

POLL_INTERVAL_S = 0.1
"""How often a check is made for an interruption of the run."""


class Worker(ABC):
    """A worker and its current job; None while it has none."""

    def __init__(self) -> None:
        self.job: Job | None = None
        self.is_cancelled = False

    def give(self, job: Job) -> None:
        """Let it begin a job."""
        self.job, self.is_cancelled = job, False
        self._begin(job)

    def cancel(self) -> None:
        """Ask it to end its job, once; it may be done with it by then."""
        if not self.is_cancelled:
            self.is_cancelled = True
            self._cancel()

    @abstractmethod
    def _begin(self, job: Job) -> None:
        """Send it a job."""

    @abstractmethod
    def _cancel(self) -> None:
        """Tell it that its job is not needed."""


class Crew(ABC):
    """Where workers are, and how they are reached.

    Attributes:
        most_tries: How many workers may end before a job is done, until it is lost.
    """

    most_tries = 2

    @property
    @abstractmethod
    def has_room(self) -> bool:
        """Return whether one more worker can be had now."""

    @property
    def is_idle(self) -> bool:
        """Return whether a worker that is had now would begin at once, and not wait for another."""
        return True

    @abstractmethod
    def hire(self) -> Worker:
        """Return one more worker; only if there is room."""

    @abstractmethod
    def dismiss(self, worker: Worker) -> None:
        """Do without a worker from now on, whatever it does."""

    @abstractmethod
    def receive(self, busy: Sequence[Worker], longest_s: float) -> Iterable[tuple[Worker, Message]]:
        """Return what busy workers say, each with what it says.

        Waits for it at most for `longest_s`. A worker that has ended says that its job is lost.
        """

    @abstractmethod
    def end(self) -> None:
        """End what was begun; all workers have been dismissed."""


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
        while True:
            busy = pool.occupy(schedule)
            yield from schedule.ended()
            if schedule.is_done or (not busy and pool.has_room):
                return  # what still runs ran ahead, and is not needed
            on_wait()
            for worker, message in pool.receive(busy):
                if worker.job is None:
                    continue  # it was given up while this was said
                if isinstance(message, float):
                    schedule.progressed(worker.job, message)
                elif isinstance(message, Notice):
                    left.pop(message.name, _ignore)()
                elif isinstance(message, WorkError):
                    raise message.error
                else:
                    pool.finish(schedule, worker, message)
    finally:
        pool.end()


class Pool:
    """The workers that have been hired, and the jobs that are to be tried again."""

    def __init__(self, crew: Crew) -> None:
        """Take where workers come from."""
        self.workers: list[Worker] = []
        self._again: deque[Job] = deque()
        self._crew = crew

    @property
    def has_room(self) -> bool:
        """Return whether one more job could be begun now."""
        return self._idle() is not None or self._crew.has_room

    def occupy(self, schedule: Schedule) -> list[Worker]:
        """Give a job to each worker that has none, and return those that have."""
        while self.has_room:
            job, worker = schedule.next_job(), self._idle()
            if job is None and self._again:
                job = self._again.popleft()
                if worker is not None:
                    self._remove(worker)
                worker = None
            if job is None and (worker is not None or self._crew.is_idle):
                job = schedule.next_job(ahead=True)
            if job is None:
                break
            (worker or self._add()).give(job)
        return [worker for worker in self.workers if worker.job is not None]

    def receive(self, busy: Sequence[Worker]) -> Iterable[tuple[Worker, Message]]:
        """Return what busy workers say, after a while at most."""
        return self._crew.receive(busy, POLL_INTERVAL_S)

    def finish(
        self, schedule: Schedule, worker: Worker, message: Done | Cancelled | LostJob
    ) -> None:
        """Pass on the result of a worker's job, unless it is lost and tried again."""
        job, worker.job = worker.job, None
        assert job is not None  # noqa: S101 -- it was busy
        if isinstance(message, LostJob):
            self._remove(worker)
            if not worker.is_cancelled and job.tries + 1 < self._crew.most_tries:
                self._again.append(job._replace(tries=job.tries + 1))
                return
        if not (isinstance(message, Cancelled) or worker.is_cancelled):
            schedule.take(job, message.result if isinstance(message, Done) else message)
            self._cancel_obsolete(schedule)

    def _cancel_obsolete(self, schedule: Schedule) -> None:
        """Cancel the jobs that ran ahead and turn out not to be needed."""
        for worker in self.workers:
            if worker.job is not None and not worker.is_cancelled and schedule.drops(worker.job):
                worker.cancel()
        self._again = deque(job for job in self._again if not schedule.drops(job))

    def end(self) -> None:
        """End all workers, whatever they do."""
        for worker in list(self.workers):
            self._remove(worker)
        self._crew.end()

    def _add(self) -> Worker:
        worker = self._crew.hire()
        self.workers.append(worker)
        return worker

    def _idle(self) -> Worker | None:
        return next((worker for worker in self.workers if worker.job is None), None)

    def _remove(self, worker: Worker) -> None:
        self.workers.remove(worker)
        self._crew.dismiss(worker)


def _ignore() -> None:
    """Do nothing: the notice has been given before."""
