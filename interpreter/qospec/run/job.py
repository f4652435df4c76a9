"""A job: one case to run, in this process or in a worker, and what comes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.document import Document
    from qospec.plan.plan import CasePlan


class Job(NamedTuple):
    """A case to run.

    Attributes:
        plan: The case.
        command: The command that runs it alone.
        tries: How many workers have ended before they had finished it.
    """

    plan: CasePlan
    command: str
    tries: int = 0

    @property
    def name(self) -> str:
        """Return the name of the case."""
        return self.plan.case.name


class JobResult(NamedTuple):
    """The result of a job.

    Attributes:
        document: The case's part of the outcome.
        seconds: The time it took, without compiling kernels.
        compiling_s: The time that kernels were compiled for.
    """

    document: Document
    seconds: float
    compiling_s: float


class LostJob(NamedTuple):
    """A job whose worker ended before it had finished, at each try."""

    job: Job
    why: str


class Work(Protocol):
    """What is done for a job; worker processes must be able to import it."""

    def __call__(
        self, plan: CasePlan, command: str, on_progress: Callable[[float], None], /
    ) -> JobResult:
        """Run a case; `on_progress` is called with the share that is done."""
