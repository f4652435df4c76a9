"""What is run next: the jobs of all cases, handed out one by one as they become known.

A plain case is one job. A case with phases has a job for each trial, and which ones follow depends
on results. A process that has nothing else to do may look ahead: run a trial before it is known
whether it will be needed. That changes nothing but the time it takes.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Protocol

from qospec.dataclass import NamedTuple
from qospec.run.job import Job, JobResult, LostJob

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from qospec.run.job import Workshop


class CaseRun(Protocol):
    """A case as it runs."""

    @property
    def name(self) -> str:
        """Return its name."""

    @property
    def result(self) -> JobResult | None:
        """Return its result, once it has ended."""

    def hand_out_job(self, place: int, *, ahead: bool) -> Job | None:
        """Return a job that was not handed out before; None if there is none for now.

        If `ahead`, it may be one that turns out not to be needed.
        """

    def compute_progress(self, job: Job, share: float) -> float:
        """Return the share of the case that is done, given that of a job."""

    def take(self, job: Job, result: Any) -> None:
        """Take the result of a job; it may be a `LostJob`."""

    def cut(self) -> JobResult | None:
        """End where it is, and return what has been finished of it; None if nothing has."""

    def drops(self, job: Job) -> bool:
        """Return whether a job that was handed out is not needed.

        If so, its result need not be taken, and it may be handed out again.
        """


class Ended(NamedTuple):
    """A case that has ended, and its place among those that were to be run."""

    place: int
    result: JobResult


class Schedule:
    """The jobs of cases. A case is begun when those before it have no job to hand out."""

    def __init__(
        self,
        runs: Iterable[CaseRun],
        on_progress: Callable[[str, float], None] = lambda _name, _share: None,
    ) -> None:
        """Take the cases, and what is called with a case's name and the share that is done."""
        self._waiting = deque(enumerate(runs))
        self._begun: dict[int, CaseRun] = {}
        self._on_progress = on_progress

    @property
    def is_done(self) -> bool:
        """Return whether all cases have ended."""
        return not self._waiting and not self._begun

    def hand_out_job(self, *, ahead: bool = False) -> Job | None:
        """Return the next job; None if there is none until another has ended.

        If `ahead`, it may be one that turns out not to be needed.
        """
        begun = self._begun
        for place, run in begun.items():
            if (job := run.hand_out_job(place, ahead=ahead)) is not None:
                return job
        while self._waiting and not ahead:
            place, run = self._waiting.popleft()
            begun[place] = run
            if (job := run.hand_out_job(place, ahead=False)) is not None:
                return job
        return None

    def note_progress(self, job: Job, share: float) -> None:
        """Take the share of a job that is done."""
        run = self._begun.get(job.place)
        if run is not None:
            self._on_progress(run.name, run.compute_progress(job, share))

    def take(self, job: Job, result: Any) -> None:
        """Take the result of a job; a case that has ended without it has no use for it."""
        run = self._begun.get(job.place)
        if run is not None:
            run.take(job, result)

    def drops(self, job: Job) -> bool:
        """Return whether a job that was handed out is not needed, so that it may be given up."""
        run = self._begun.get(job.place)
        return run is None or run.drops(job)

    def take_ended(self) -> Iterator[Ended]:
        """Yield each case that has ended, once."""
        for place, run in list(self._begun.items()):
            if (result := run.result) is not None:
                del self._begun[place]
                yield Ended(place, result)

    def cut(self) -> Iterator[Ended]:
        """End the cases that have been begun; yield those of which something has been finished."""
        for place, run in list(self._begun.items()):
            del self._begun[place]
            if (result := run.result or run.cut()) is not None:
                yield Ended(place, result)


class PlainRun:
    """A case that is one job."""

    def __init__(self, name: str, job: Any, lost: Callable[[LostJob], JobResult]) -> None:
        """Take the name of its job, and what gives its result if no worker has finished that."""
        self.name = name
        self.result: JobResult | None = None
        self._job: Any = job
        self._lost = lost

    def hand_out_job(self, place: int, *, ahead: bool) -> Job | None:  # noqa: ARG002
        """Return the job, once."""
        name, self._job = self._job, None
        return None if name is None else Job(place, name)

    def compute_progress(self, job: Job, share: float) -> float:  # noqa: ARG002
        """Return the share of the job."""
        return share

    def take(self, job: Job, result: JobResult | LostJob) -> None:  # noqa: ARG002
        """Take the result of the job."""
        self.result = self._lost(result) if isinstance(result, LostJob) else result

    def cut(self) -> JobResult | None:
        """Return None: a job that is not done has no result."""
        return None

    def drops(self, job: Job) -> bool:  # noqa: ARG002
        """Return False: the job is all of the case."""
        return False


def run_here(
    schedule: Schedule, workshop: Workshop, on_wait: Callable[[], None]
) -> Generator[Ended]:
    """Do all jobs in this process, and yield the cases as they end.

    `on_wait` is called now and then; an exception that it raises ends everything.
    """
    while (job := schedule.hand_out_job()) is not None:

        def on_progress(share: float, job: Job = job) -> None:
            on_wait()
            schedule.note_progress(job, share)

        schedule.take(job, workshop.do(job.name, on_progress))
        yield from schedule.take_ended()
    yield from schedule.take_ended()
