"""A case as work to be done, here or in another process, and what it gave."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.document import Document
    from qospec.run.plan import CasePlan


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
