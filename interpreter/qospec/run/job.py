"""A job: work that is done as one, in this process or in a worker; its name, what comes of it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Protocol

from qospec.dataclass import NamedTuple
from qospec.engine import kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.document import Document
    from qospec.model.suite import GoalResult
    from qospec.search.trial import Request


USUAL_TRIES = 2
"""How many workers may end before a job is done, until it is lost."""


class JobName(NamedTuple):
    """What is done for a case: plain values, from which it follows with the files and the seed.

    Attributes:
        case: Its name.
        repeat: Of a case with phases: which of its repeats, from 0.
        phase: The number of a phase, from 0; None for a case without phases, which is one job.
        part: Which trial of the phase: what a search asked for, or the number at a point, from 0.
        found: What the goals of earlier phases have found, by name.
    """

    case: str
    repeat: int = 0
    phase: int | None = None
    part: Request | int | None = None
    found: tuple[tuple[str, GoalResult], ...] = ()


class Workshop(Protocol):
    """Where jobs are done. Workers are sent one, which then loads there what it needs."""

    def do(self, name: Any, on_progress: Callable[[float], None], /) -> Any:
        """Do a job; `on_progress` is called with the share that is done."""


class Job(NamedTuple):
    """A job of a case.

    Attributes:
        place: Of the case among those that are run.
        name: What is done, as the workshop calls it.
        tries: How many workers have ended before they had finished it.
    """

    place: int
    name: Any
    tries: int = 0


class LostJob(NamedTuple):
    """The result of a job whose worker ended before it had finished, at each of its `tries`."""

    why: str
    tries: int = USUAL_TRIES


class Done(NamedTuple):
    """What a worker says when its job is done."""

    result: Any


class Cancelled(NamedTuple):
    """A job ended before it was done, since nobody needs it any more."""


class CancelledError(BaseException):
    """Ends a job; what catches the errors of a trial does not catch it."""


class Notice(NamedTuple):
    """A worker gives notice, by its name in `kernel.notices`."""

    name: str


class WorkError(NamedTuple):
    """A job ended by an error of the tester, which ends the run."""

    error: Exception


Message = float | Notice | WorkError | Done | Cancelled | LostJob
"""What a worker says while it has a job; a number is the share of it that is done."""


class JobResult(NamedTuple):
    """The result of a case.

    Attributes:
        document: The case's part of the outcome.
        seconds: The time it took, without compiling kernels.
        compiling_s: The time that kernels were compiled for.
    """

    document: Document
    seconds: float
    compiling_s: float


class Times(NamedTuple):
    """How long work took: without compiling kernels, and compiling them."""

    seconds: float
    compiling_s: float


class Stopwatch:
    """Times work from when it is made."""

    def __init__(self) -> None:
        self._started_s, self._compiled_s = time.monotonic(), kernel.measure_compiling_s()

    def read(self) -> Times:
        """Return how long the work took so far."""
        compiling_s = kernel.measure_compiling_s() - self._compiled_s
        return Times(time.monotonic() - self._started_s - compiling_s, compiling_s)


def explain_lost(lost: LostJob) -> str:
    """Return why a case has an error if workers ended at each try of a job."""
    times = "twice, the second time" if lost.tries == USUAL_TRIES else f"{lost.tries} times, each"
    return f"{lost.why} ({times} in a fresh one)"
