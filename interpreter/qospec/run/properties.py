"""Runs the cases of properties: nothing travels, so their conditions are evaluated at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import discover
from qospec.diagnostics import Diagnostic
from qospec.judge.readings import Readings
from qospec.judge.result import Repeat, Result
from qospec.judge.verdict import judge
from qospec.record import outcome
from qospec.run.functions import FUNCTIONS
from qospec.run.job import JobResult, Stopwatch

if TYPE_CHECKING:
    from qospec.model.drawn import Examined
    from qospec.plan.plan import CasePlan
    from qospec.run.job import Job, LostJob


class PropertyRun:
    """A case of a property as a `run.schedule.CaseRun`. It has no jobs: it takes less than one."""

    def __init__(self, plan: CasePlan, command: str) -> None:
        """Take the plan of the case, and the command that runs it alone."""
        self.name = plan.case.name
        self.result: JobResult | None = None
        self._plan = plan
        self._command = command

    def next_job(self, place: int, *, ahead: bool) -> Job | None:  # noqa: ARG002
        """Evaluate the case; there is nothing to hand out."""
        if self.result is None:
            stopwatch = Stopwatch()
            result = _examined(self._plan)
            document = outcome.case_document(self._plan, result, self._command)
            self.result = JobResult(document, *stopwatch.read())
        return None

    def progress(self, job: Job, share: float) -> float:  # noqa: ARG002
        """Return the share that is done."""
        return share

    def take(self, job: Job, result: JobResult | LostJob) -> None:
        """Take nothing: there are no jobs."""

    def cut(self) -> JobResult | None:
        """Return the result."""
        return self.result

    def drops(self, job: Job) -> bool:  # noqa: ARG002
        """Return False: there are no jobs."""
        return False


def _examined(plan: CasePlan) -> Result:
    examine = plan.case.examine
    assert examine is not None  # noqa: S101 -- a property has it, in the process that checked it
    found = examine(FUNCTIONS)
    if isinstance(found, Diagnostic):
        return Result((), (found.message,))
    return Result((_judged(plan, found),))


def _judged(plan: CasePlan, found: Examined) -> Repeat:
    readings = Readings(discover(), {})
    statements = zip(plan.case.statements, found.asserted, strict=True)
    return Repeat(
        readings,
        tuple(
            judge(replace(statement, expression=asserted.condition), readings.read)
            for statement, asserted in statements
        ),
    )
