"""Executes planned cases, here or in worker processes, and keeps the record as they end.

Workers change nothing but the time it takes: each case is a function of its plan, and the outcome
lists cases in the order of the plan.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
import time
from contextlib import closing, suppress
from dataclasses import field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Protocol

from qospec.catalogue.kinds import discover
from qospec.dataclass import dataclass
from qospec.engine import kernel
from qospec.judge.result import Result as CaseResult
from qospec.record import outcome
from qospec.record.schema import TIME_FORMAT
from qospec.run import trial
from qospec.run.interruption import Interruption
from qospec.run.workers import Job, Result

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from qospec.document import Document
    from qospec.model.suite import Suite
    from qospec.plan.plan import CasePlan
    from qospec.record.store import Record
    from qospec.run.workers import Lost

    Notices = Mapping[str, Callable[[], None]]


class Listener(Protocol):
    """Whoever wants to hear how a run goes."""

    def progressed(self, case: str, share: float) -> None:
        """Hear the share of a case that is done."""

    def waited(self) -> None:
        """Hear that time passes; only where cases run in other processes."""

    def ended(self, case: Document, seconds: float) -> None:
        """Hear what a case gave, and in what time, without that of compiling kernels."""


@dataclass(frozen=True)
class Assignment:
    """What is to be run.

    Attributes:
        suite: Everything that was checked.
        plans: The selected cases.
        seed: The root of all random draws.
        jobs: How many processes; 1 is this one.
        commands: By case, the command that runs it alone.
        limits: For the provenance.
        version: Of qospec, for the provenance.
        keep_going: Whether repeats go on after a failed `require`.
        notices: What to call, once, when `kernel.notices` would, in this process.
    """

    suite: Suite
    plans: Sequence[CasePlan]
    seed: str
    jobs: int
    commands: dict[str, str]
    limits: dict[str, int]
    version: str
    keep_going: bool = False
    notices: Notices = field(default_factory=dict)


def execute(assignment: Assignment, record: Record, listener: Listener) -> Document:
    """Run all cases, keep the record, and return the outcome; an interrupted one says so."""
    frame = outcome.frame(assignment.suite, assignment.seed, provenance(assignment))
    names = [plan.case.name for plan in assignment.plans]
    planned = [outcome.not_run(p, assignment.commands[p.case.name]) for p in assignment.plans]
    started = datetime.now(UTC)
    record.begin(frame, planned)
    done: dict[str, Document] = {}
    seconds: dict[str, float] = {}
    compiling_s = 0.0
    with Interruption() as interruption:
        results = _results(assignment, listener, interruption)
        with suppress(KeyboardInterrupt), closing(results):
            for result in results:
                name = result.document["name"]
                record.add(names.index(name) + 1, result.document)
                done[name], seconds[name] = result.document, round(result.seconds, 3)
                compiling_s += result.compiling_s
                listener.ended(result.document, result.seconds)
                interruption.check()
        whole = outcome.completed(frame, planned, list(done.values()))
        times = {
            "started": _stamp(started),
            "finished": _stamp(datetime.now(UTC)),
            "cases": seconds,
            "compiling": round(compiling_s, 3),
        }
        record.end(whole, times)
    return whole


def _stamp(moment: datetime) -> str:
    return moment.strftime(TIME_FORMAT)


def _results(
    assignment: Assignment, listener: Listener, interruption: Interruption
) -> Generator[Result]:
    commands = assignment.commands
    jobs = [Job(plan, commands[plan.case.name]) for plan in assignment.plans]
    work = partial(_case, keep_going=assignment.keep_going)
    if assignment.jobs > 1 and len(jobs) > 1:
        from qospec.run import workers

        def waited() -> None:
            interruption.check()
            listener.waited()

        most = min(assignment.jobs, len(jobs))
        heard = workers.run(jobs, most, work, assignment.notices, listener.progressed, waited)
        with closing(heard):
            yield from (_unlost(each) if isinstance(each, workers.Lost) else each for each in heard)
        return
    kernel.notices.update(assignment.notices)
    for job in jobs:

        def hear(share: float, name: str = job.name) -> None:
            interruption.check()
            listener.progressed(name, share)

        yield work(job.plan, job.again, hear)


def _unlost(lost: Lost) -> Result:
    """Return what is to be said of a case whose workers died."""
    why = f"{lost.why} (twice, the second time in a fresh one)"
    result = CaseResult((), (why,))
    return Result(outcome.case_document(lost.job.plan, result, lost.job.again), 0.0, 0.0)


def _case(plan: CasePlan, again: str, hear: Callable[[float], None], *, keep_going: bool) -> Result:
    started_s, compiled_s = time.monotonic(), kernel.compiling_s()
    result = trial.run(plan, discover(), hear, keep_going=keep_going)
    document = outcome.case_document(plan, result, again)
    compiling_s = kernel.compiling_s() - compiled_s
    return Result(document, time.monotonic() - started_s - compiling_s, compiling_s)


def provenance(assignment: Assignment) -> Document:
    """Return what the outcome depends on: versions, seed, and the text of every file."""
    return {
        "qospec": assignment.version,
        "python": platform.python_version(),
        "numpy": importlib.metadata.version("numpy"),
        "numba": importlib.metadata.version("numba"),
        "seed": assignment.seed,
        "limits": assignment.limits,
        "policy": {
            "inconclusive": "exit code 3",
            "a failed require": "goes on" if assignment.keep_going else "ends its case",
        },
        "sources": [
            {
                "name": source.recorded_name,
                "sha256": hashlib.sha256(source.text.encode()).hexdigest(),
                "text": source.text,
            }
            for source in assignment.suite.sources
        ],
    }
