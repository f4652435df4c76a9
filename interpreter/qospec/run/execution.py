"""Executes planned cases, here or in worker processes, and keeps the record as they end.

Workers change nothing but the time it takes: each case is a function of its plan, and the outcome
lists cases in the order of the plan.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import multiprocessing
import os
import platform
import signal
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, suppress
from dataclasses import field
from datetime import UTC, datetime
from functools import partial
from multiprocessing import connection
from typing import TYPE_CHECKING, Protocol

from qospec.catalogue import discover
from qospec.dataclass import dataclass
from qospec.engine import kernel
from qospec.run import outcome, trial
from qospec.run.contents import TIME_FORMAT
from qospec.run.interruption import Interruption, ctrl_c_held

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from multiprocessing.sharedctypes import Synchronized

    from qospec.document import Document
    from qospec.model import Suite
    from qospec.run.plan import CasePlan
    from qospec.run.record import Record

    Result = tuple[Document, float]
    Notices = Mapping[str, Callable[[], None]]

KILLED = "its worker process was killed; was memory short?"


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
        keep_going: Whether repeats go on after a failed `require`.
        notices: What to call, once, when `kernel.notices` would; workers must be able to import it.
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
    with Interruption() as interruption:
        results = _results(assignment, listener, interruption)
        with suppress(KeyboardInterrupt), closing(results):
            for document, duration in results:
                name = document["name"]
                record.add(names.index(name) + 1, document)
                done[name], seconds[name] = document, round(duration, 3)
                listener.ended(document, duration)
                interruption.check()
        whole = outcome.completed(frame, planned, list(done.values()))
        times = {
            "started": _stamp(started),
            "finished": _stamp(datetime.now(UTC)),
            "cases": seconds,
        }
        record.end(whole, times)
    return whole


def _stamp(moment: datetime) -> str:
    return moment.strftime(TIME_FORMAT)


def _results(
    assignment: Assignment, listener: Listener, interruption: Interruption
) -> Generator[Result]:
    if assignment.jobs > 1 and len(assignment.plans) > 1:
        yield from _elsewhere(assignment, interruption)
        return
    kernel.notices.update(assignment.notices)
    for plan in assignment.plans:
        name = plan.case.name

        def hear(share: float, name: str = name) -> None:
            interruption.check()
            listener.progressed(name, share)

        yield _case(plan, assignment.commands[name], hear, keep_going=assignment.keep_going)


def _elsewhere(assignment: Assignment, interruption: Interruption) -> Generator[Result]:
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(
        min(assignment.jobs, len(assignment.plans)),
        mp_context=context,
        initializer=_prepare,
        initargs=({name: (context.Value("b"), tell) for name, tell in assignment.notices.items()},),
    )
    commands = assignment.commands
    work = partial(_case, keep_going=assignment.keep_going)
    try:
        with ctrl_c_held():
            plans = {_submit(pool, work, p, commands[p.case.name]): p for p in assignment.plans}
        waiting = set(plans)
        while waiting:
            ended, waiting = wait(waiting, timeout=0.1, return_when=FIRST_COMPLETED)
            interruption.check()
            for future in ended:
                plan = plans[future]
                yield _result(future, plan, commands[plan.case.name])
    except BaseException:
        for process in (pool._processes or {}).values():  # noqa: SLF001 - there is no other way
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _submit(
    pool: ProcessPoolExecutor, work: Callable[..., Result], plan: CasePlan, again: str
) -> Future[Result]:
    try:
        return pool.submit(work, plan, again, _say_nothing)
    except BrokenProcessPool as error:
        broken: Future[Result] = Future()
        broken.set_exception(error)
        return broken


def _result(future: Future[Result], plan: CasePlan, again: str) -> Result:
    try:
        return future.result()
    except BrokenProcessPool:
        return outcome.case_document(plan, trial.Result((), (KILLED,)), again), 0.0


def _prepare(notices: dict[str, tuple[Synchronized[int], Callable[[], None]]]) -> None:
    """Make a worker: Ctrl-C is the parent's, which ends its workers; one of them tells a notice."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    for name, (told, tell) in notices.items():
        kernel.notices[name] = partial(_tell_once, told, tell)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _tell_once(told: Synchronized[int], tell: Callable[[], None]) -> None:
    with told.get_lock():
        if not told.value:
            told.value = 1
            tell()


def _say_nothing(_share: float) -> None:
    """Hear the progress of a case that runs where nobody listens."""


def _case(plan: CasePlan, again: str, hear: Callable[[float], None], *, keep_going: bool) -> Result:
    started_s = time.monotonic()
    result = trial.run(plan, discover(), hear, keep_going=keep_going)
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
