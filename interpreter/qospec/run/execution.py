"""Executes planned cases, here or in worker processes, and keeps the record as they end.

Workers change nothing but the time it takes: each case is a function of its plan, and the outcome
lists cases in the order of the plan.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
import signal
import time
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing import get_context
from typing import TYPE_CHECKING, Protocol

from qospec.catalogue import discover
from qospec.run import outcome, trial
from qospec.run.interruption import Interruption

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from qospec.model import Suite
    from qospec.run.outcome import Document
    from qospec.run.plan import CasePlan
    from qospec.run.record import Record


class Listener(Protocol):
    """Whoever wants to hear how a run goes."""

    def progressed(self, case: str, share: float) -> None:
        """Hear the share of a case that is done; only of cases that run in this process."""

    def ended(self, case: Document, seconds: float) -> None:
        """Hear what a case gave."""


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
    """

    suite: Suite
    plans: Sequence[CasePlan]
    seed: str
    jobs: int
    commands: dict[str, str]
    limits: dict[str, int]
    version: str


def execute(assignment: Assignment, record: Record, listener: Listener) -> Document:
    """Run all cases, keep the record, and return the outcome; an interrupted one says so."""
    frame = outcome.frame(assignment.suite, assignment.seed, provenance(assignment))
    names = [plan.case.name for plan in assignment.plans]
    started = datetime.now(UTC)
    record.begin(frame, names)
    done: dict[str, Document] = {}
    seconds: dict[str, float] = {}
    state = "complete"
    with Interruption() as interruption:
        try:
            for document, duration in _results(assignment, listener, interruption):
                name = document["name"]
                record.add(names.index(name) + 1, document)
                done[name], seconds[name] = document, round(duration, 3)
                listener.ended(document, duration)
                interruption.check()
        except KeyboardInterrupt:
            state = "interrupted" if len(done) < len(names) else "complete"
        whole = outcome.completed(frame, [done[name] for name in names if name in done], state)
        times = {
            "started": _stamp(started),
            "finished": _stamp(datetime.now(UTC)),
            "cases": seconds,
        }
        record.end(whole, times)
    return whole


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _results(
    assignment: Assignment, listener: Listener, interruption: Interruption
) -> Iterator[tuple[Document, float]]:
    if assignment.jobs > 1 and len(assignment.plans) > 1:
        yield from _elsewhere(assignment, interruption)
        return
    for plan in assignment.plans:
        name = plan.case.name

        def hear(share: float, name: str = name) -> None:
            interruption.check()
            listener.progressed(name, share)

        yield _case(plan, assignment.commands[name], hear)


def _elsewhere(
    assignment: Assignment, interruption: Interruption
) -> Iterator[tuple[Document, float]]:
    workers = min(assignment.jobs, len(assignment.plans))
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_deafen)
    waiting = {
        pool.submit(_case, plan, assignment.commands[plan.case.name], _say_nothing)
        for plan in assignment.plans
    }
    try:
        while waiting:
            interruption.check()
            ended, waiting = wait(waiting, timeout=0.1, return_when=FIRST_COMPLETED)
            for future in ended:
                yield future.result()
    except BaseException:
        for process in (pool._processes or {}).values():  # noqa: SLF001 - there is no other way
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _deafen() -> None:
    """Leave Ctrl-C to the parent, which ends its workers itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _say_nothing(_share: float) -> None:
    """Hear the progress of a case that runs where nobody listens."""


def _case(plan: CasePlan, again: str, hear: Callable[[float], None]) -> tuple[Document, float]:
    started_s = time.monotonic()
    result = trial.run(plan, discover(), hear)
    return outcome.case_document(plan, result, again), time.monotonic() - started_s


def provenance(assignment: Assignment) -> Document:
    """Return what the outcome depends on: versions, seed, and the text of every file."""
    return {
        "qospec": assignment.version,
        "python": platform.python_version(),
        "numpy": importlib.metadata.version("numpy"),
        "numba": importlib.metadata.version("numba"),
        "seed": assignment.seed,
        "limits": assignment.limits,
        "policy": {"inconclusive": "exit code 3"},
        "sources": [
            {"name": s.name, "sha256": hashlib.sha256(s.text.encode()).hexdigest(), "text": s.text}
            for s in assignment.suite.sources
        ],
    }
