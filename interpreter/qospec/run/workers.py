"""A pool of workers, each of which does one job at a time: processes here, or far away.

What starts workers, gives them jobs and hears of them is a crew. If a worker ends before its job is
done, no other job is affected. Its own is tried again, by a fresh worker and when no other is
waiting: what ended it, such as a shortage of memory, may be over by then.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from typing import TYPE_CHECKING

from qospec.run.job import USUAL_TRIES, Cancelled, Done, LostJob, Notice, WorkError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence

    from qospec.run.job import Job, Message
    from qospec.run.schedule import Ended, Schedule

POLL_INTERVAL_S = 0.1
"""How often a check is made for an interruption of the run."""


class UnreachableError(Exception):
    """Workers elsewhere cannot do the jobs; the message is for the user."""


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

    most_tries = USUAL_TRIES

    @property
    @abstractmethod
    def has_room(self) -> bool:
        """Return whether one more job can be given to a worker."""

    @property
    def is_idle(self) -> bool:
        """Return whether that job would begin at once; only if there is room."""
        return True

    @abstractmethod
    def choose(self, *, fresh: bool) -> Worker:
        """Return a worker for one more job, which has done none before if it is to be `fresh`."""

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
        """Do without all workers, whatever they do."""


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
            yield from schedule.take_ended()
            if schedule.is_done or (not busy and pool.has_room):
                return  # what still runs ran ahead, and is not needed
            on_wait()
            for worker, message in pool.receive(busy):
                if worker.job is None:
                    continue  # it was given up while this was said
                if isinstance(message, float):
                    schedule.note_progress(worker.job, message)
                elif isinstance(message, Notice):
                    left.pop(message.name, _ignore)()
                elif isinstance(message, WorkError):
                    raise message.error
                else:
                    pool.finish(schedule, worker, message)
    finally:
        pool.end()


class Pool:
    """The workers that are busy, and the jobs that are to be tried again."""

    def __init__(self, crew: Crew) -> None:
        """Take where workers come from."""
        self.busy: list[Worker] = []
        self._again: deque[Job] = deque()
        self._crew = crew

    @property
    def has_room(self) -> bool:
        """Return whether one more job could be begun now."""
        return self._crew.has_room

    def occupy(self, schedule: Schedule) -> list[Worker]:
        """Give out jobs as long as a worker can take one; return the workers that have one."""
        while self._crew.has_room:
            job, fresh = schedule.hand_out_job(), False
            if job is None and self._again:
                job, fresh = self._again.popleft(), True
            if job is None and self._crew.is_idle:
                job = schedule.hand_out_job(ahead=True)
            if job is None:
                break
            worker = self._crew.choose(fresh=fresh)
            self.busy.append(worker)
            worker.give(job)
        return list(self.busy)

    def receive(self, busy: Sequence[Worker]) -> Iterable[tuple[Worker, Message]]:
        """Return what busy workers say, after a while at most."""
        return self._crew.receive(busy, POLL_INTERVAL_S)

    def finish(
        self, schedule: Schedule, worker: Worker, message: Done | Cancelled | LostJob
    ) -> None:
        """Pass on the result of a worker's job, unless it is lost and tried again."""
        job, worker.job = worker.job, None
        assert job is not None  # noqa: S101 -- it was busy
        self.busy.remove(worker)
        if isinstance(message, LostJob):
            self._crew.dismiss(worker)
            message = message._replace(tries=job.tries + 1)
            if not worker.is_cancelled and job.tries + 1 < self._crew.most_tries:
                self._again.append(job._replace(tries=job.tries + 1))
                return
        if not (isinstance(message, Cancelled) or worker.is_cancelled):
            schedule.take(job, message.result if isinstance(message, Done) else message)
            self._cancel_obsolete(schedule)

    def _cancel_obsolete(self, schedule: Schedule) -> None:
        """Cancel the jobs that ran ahead and turn out not to be needed."""
        for worker in self.busy:
            if worker.job is not None and not worker.is_cancelled and schedule.drops(worker.job):
                worker.cancel()
        self._again = deque(job for job in self._again if not schedule.drops(job))

    def end(self) -> None:
        """End all workers, whatever they do."""
        self.busy.clear()
        self._crew.end()


def _ignore() -> None:
    """Do nothing: the notice has been given before."""
