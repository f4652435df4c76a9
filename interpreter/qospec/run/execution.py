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
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing import get_context
from typing import TYPE_CHECKING, Protocol

from qospec.catalogue import discover
from qospec.run import outcome, trial

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    facts = provenance(assignment)
    started = datetime.now(UTC)
    record.write("run.json", {**facts, "cases": [plan.case.name for plan in assignment.plans]})
    done: dict[str, Document] = {}
    seconds: dict[str, float] = {}
    state = "complete"
    try:
        for document, duration in _results(assignment, listener):
            name = document["name"]
            record.write(_file_of(assignment, name), document)
            done[name], seconds[name] = document, duration
            listener.ended(document, duration)
    except KeyboardInterrupt:
        state = "interrupted"
    cases = [done[plan.case.name] for plan in assignment.plans if plan.case.name in done]
    whole = outcome.document(assignment.suite, cases, assignment.seed, state, facts)
    record.write("outcome.json", whole)
    finished = datetime.now(UTC)
    record.write(
        "timing.json",
        {"started": _stamp(started), "finished": _stamp(finished), "cases": {n: round(s, 3) for n, s in seconds.items()}},
    )
    return whole


def _file_of(assignment: Assignment, name: str) -> str:
    number = next(i for i, plan in enumerate(assignment.plans, 1) if plan.case.name == name)
    return f"cases/{number:04}.json"


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _results(assignment: Assignment, listener: Listener) -> Iterator[tuple[Document, float]]:
    if assignment.jobs <= 1 or len(assignment.plans) <= 1:
        for plan in assignment.plans:
            yield _here(plan, assignment.commands[plan.case.name], listener)
        return
    workers = min(assignment.jobs, len(assignment.plans))
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_ignore_interrupts)
    try:
        waiting = [pool.submit(_elsewhere, plan, assignment.commands[plan.case.name]) for plan in assignment.plans]
        for future in as_completed(waiting):
            yield future.result()
    except BaseException:
        for process in list((pool._processes or {}).values()):  # noqa: SLF001 - the pool offers no way to end a task
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the parent, which ends its workers itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _here(plan: CasePlan, again: str, listener: Listener) -> tuple[Document, float]:
    started = time.monotonic()
    result = trial.run(plan, discover(), lambda share: listener.progressed(plan.case.name, share))
    return outcome.case_document(plan, result, again), time.monotonic() - started


def _elsewhere(plan: CasePlan, again: str) -> tuple[Document, float]:
    started = time.monotonic()
    result = trial.run(plan, discover(), lambda _: None)
    return outcome.case_document(plan, result, again), time.monotonic() - started


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
