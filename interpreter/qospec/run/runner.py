"""Runs planned cases, in this process or in workers, and writes the record as they end.

Workers change nothing but the time it takes: a case is a function of its plan, and the outcome
lists the cases in the order of the plan.
"""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import field
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from qospec.dataclass import dataclass
from qospec.engine import kernel
from qospec.judge.result import Result
from qospec.judge.verdict import PROBLEMS
from qospec.record import outcome
from qospec.record.ended import CaseWriter, remove_leftovers
from qospec.record.schema import TIME_FORMAT
from qospec.record.sharing import SharedValues
from qospec.record.store import BegunRun
from qospec.resources import hash_program
from qospec.run import provenance
from qospec.run.interruption import Interruption
from qospec.run.job import JobName, JobResult, explain_lost
from qospec.run.phased import PhasedRun
from qospec.run.receipt import make_receipt, write_receipt
from qospec.run.schedule import PlainRun, Schedule, run_here
from qospec.run.workshop import Order, Workshop, hash_sources

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
    from pathlib import Path

    from qospec.document import Document
    from qospec.model.suite import Suite
    from qospec.plan.plan import Bounds, CasePlan
    from qospec.record.parts import Part
    from qospec.record.store import Record
    from qospec.run.job import LostJob
    from qospec.run.schedule import CaseRun, Ended
    from qospec.run.workers import Crew

    Notices = Mapping[str, Callable[[], None]]
    Thing = TypeVar("Thing")


class ProgressListener(Protocol):
    """What is called while a run goes on."""

    def note_progress(self, case: str, share: float) -> None:
        """Take note of the share of a case that is done."""

    def note_waiting(self) -> None:
        """Take note that time passes; called only if cases run in other processes."""

    def note_ended(self, case: Document, seconds: float) -> None:
        """Take note that a case has ended; `seconds` is without the time of compiling kernels."""


@dataclass(frozen=True)
class RunRequest:
    """What to run, and how.

    Attributes:
        suite: The whole suite, checked.
        plans: The selected cases.
        part: Which part of them to run; None for all.
        seed: The root of all random streams.
        jobs: How many processes; 1 is this one.
        commands: The command that runs a case alone, by its name.
        bounds: What a trial may cost.
        paths: The files and folders that were named.
        settings: The values that the command line has set, each `name=value`.
        texts: What they have made of files, each with its path.
        keep_going: Whether repeats go on after a failed `require`.
        exit_first: Whether the first case that does not pass ends the run.
        notices: As `kernel.notices`; each is called once, in this process.
        assemble: What gives the workers of a run that is not done on this machine.
        backend: What carries trials out, as of `Backend.describe`; empty for the emulation.
    """

    suite: Suite
    plans: Sequence[CasePlan]
    seed: str
    jobs: int
    commands: dict[str, str]
    bounds: Bounds
    paths: tuple[Path, ...] = ()
    settings: tuple[str, ...] = ()
    texts: tuple[tuple[Path, str], ...] = ()
    keep_going: bool = False
    exit_first: bool = False
    part: Part | None = None
    notices: Notices = field(default_factory=dict)
    assemble: Callable[[RunRequest], Crew] | None = None
    backend: Document = field(default_factory=dict)

    @property
    def order(self) -> Order:
        """Return what all of its jobs have in common."""
        digest = hash_sources(self.suite.sources)
        return Order(
            self.paths,
            digest,
            self.seed,
            self.bounds,
            self.keep_going,
            self.texts,
            explains=True,
            backend=self.backend or None,
        )

    def select_own(self, things: Sequence[Thing]) -> Sequence[Thing]:
        """Return those of its part, of as many things as there are plans."""
        return things if self.part is None else self.part.choose(things)


def execute(
    request: RunRequest,
    record: Record,
    listener: ProgressListener,
    done: Sequence[Document] = (),
    timing: Mapping[str, Any] = MappingProxyType({}),
) -> Document:
    """Run all cases, write the record, and return the outcome, which may be interrupted.

    Those that are `done`, by this very program, are taken as they are but for their commands, with
    what `timing.json` says of them.
    """
    frame = outcome.describe_frame(
        request.suite, request.plans, request.seed, describe_provenance(request)
    )
    if request.part is not None:
        frame = {**frame, "part": request.part.describe()}
    planned = describe_planned(request)
    record.begin(frame, planned)
    places = {case["name"]: number for number, case in enumerate(planned, 1)}
    with record.reserve():
        kept = [{**case, "again": request.commands[case["name"]]} for case in done]
        with CaseWriter(record, len(request.select_own(planned))) as writer:
            for case in kept:
                writer.add(places[case["name"]], case)
        before = {**timing, "program": hash_program()} if kept else {}
        begun = BegunRun(frame, planned, kept, before)
        return _run(request, record, listener, begun)


def describe_planned(request: RunRequest) -> list[Document]:
    """Return all cases of the plan, as not run."""
    return [outcome.describe_not_run(p, request.commands[p.case.name]) for p in request.plans]


def resume(
    request: RunRequest, record: Record, listener: ProgressListener, begun: BegunRun
) -> Document:
    """Run the cases that had not ended, as `execute` does with all.

    Raises:
        RecordError: Another run writes into the record, or it cannot be read or written.
    """
    with record.reserve():
        record.reopen(begun)
        remove_leftovers(record)
        return _run(request, record, listener, begun)


def _run(
    request: RunRequest, record: Record, listener: ProgressListener, begun: BegunRun
) -> Document:
    started, program = _format_moment(datetime.now(UTC)), hash_program()
    is_mixed = begun.done and begun.timing.get("program") != program
    if is_mixed or request.assemble is not None:
        program = ""  # workers elsewhere promise no more than its version
    own = list(_list_left(request, begun))
    done: list[JobResult] = []
    writer = CaseWriter(record, len(own) + len(begun.done))
    shared = SharedValues()
    stopped = False

    def take(ended: Ended) -> None:
        number, plan = own[ended.place]
        document = ended.result.document
        document = shared.share_values({**document, "again": request.commands[document["name"]]})
        writer.add(number, document)
        plan.release()
        done.append(ended.result._replace(document=document))
        listener.note_ended(document, ended.result.seconds)

    with Interruption() as interruption, writer:
        plans = [plan for _, plan in own]
        runs = (_run_of_case(plan, keep_going=request.keep_going) for plan in plans)
        schedule = Schedule(runs, listener.note_progress)

        def note_wait() -> None:
            interruption.check()
            writer.write_due()

        results = _run_jobs(schedule, plans, request, listener, note_wait)
        with suppress(KeyboardInterrupt), closing(results):
            for result in results:
                take(result)
                interruption.check()
                if request.exit_first and result.result.document["verdict"] in PROBLEMS:
                    stopped = True
                    break
        for job in schedule.cut():
            take(job)
        writer.write_held()
        ended = [*begun.done, *(result.document for result in done)]
        whole = outcome.complete_outcome(begun.frame, begun.planned, ended, stopped=stopped)
        record.end(whole, _add_times(begun.timing, done, started, program))
        if program:
            write_receipt(record, make_receipt(begun.frame["provenance"], program))
    return whole


def _list_left(request: RunRequest, begun: BegunRun) -> Iterator[tuple[int, CasePlan]]:
    """Yield the plans of the cases that have not ended, each with its place in the plan."""
    ended = {case["name"] for case in begun.done}
    for number, plan in request.select_own([*enumerate(request.plans, 1)]):
        if plan.case.name not in ended:
            yield number, plan


def _add_times(before: Document, done: Sequence[JobResult], started: str, program: str) -> Document:
    """Return the timing of a run, with that of the cases that had ended before it went on.

    `program` is what made all of its results; "" if that is not known, or was not always the same.
    """
    seconds = {result.document["name"]: round(result.seconds, 3) for result in done}
    compiling_s = sum(result.compiling_s for result in done)
    return {
        "started": before.get("started", started),
        "finished": _format_moment(datetime.now(UTC)),
        "cases": before.get("cases", {}) | seconds,
        "compiling": round(before.get("compiling", 0) + compiling_s, 3),
        **({"program": program} if program else {}),
        **({"kept": before["kept"]} if before.get("kept") else {}),
    }


def _format_moment(moment: datetime) -> str:
    return moment.strftime(TIME_FORMAT)


def _run_jobs(
    schedule: Schedule,
    plans: Sequence[CasePlan],
    request: RunRequest,
    listener: ProgressListener,
    on_wait: Callable[[], None],
) -> Generator[Ended]:
    workshop = Workshop(request.order, plans)
    phased = any(plan.case.phases for plan in plans)
    most = request.jobs if phased else min(request.jobs, len(plans))
    if most > 1 or request.assemble is not None:
        from qospec.run import workers
        from qospec.run.crews.processes import ProcessCrew

        def note_wait() -> None:
            on_wait()
            listener.note_waiting()

        crew = (
            request.assemble(request)
            if request.assemble
            else ProcessCrew(most, workshop, request.notices)
        )
        pool = workers.Pool(crew)
        return workers.run(schedule, pool, request.notices, note_wait)
    kernel.notices.update(request.notices)
    return run_here(schedule, workshop, on_wait)


def _run_of_case(plan: CasePlan, *, keep_going: bool = False) -> CaseRun:
    if plan.case.phases and not plan.case.skip:
        return PhasedRun(plan, keep_going=keep_going)
    name = plan.case.name
    return PlainRun(name, JobName(name), partial(_build_lost_result, plan))


def run_alone(
    plan: CasePlan, bounds: Bounds, on_wait: Callable[[], None], *, explains: bool = False
) -> Document:
    """Run one case in this process, and return its document, which has no command.

    `on_wait` is called now and then; an exception that it raises ends the run. `explains` is as of
    `Order`.
    """
    workshop = Workshop(Order(bounds=bounds, explains=explains), [plan])
    (ended,) = run_here(Schedule([_run_of_case(plan)]), workshop, on_wait)
    return ended.result.document


def _build_lost_result(plan: CasePlan, lost: LostJob) -> JobResult:
    """Return the result of a case whose workers died: an error."""
    result = Result((), (explain_lost(lost),))
    return JobResult(outcome.describe_case(plan, result), 0.0, 0.0)


def describe_provenance(request: RunRequest) -> Document:
    """Return all that the outcome of a request depends on."""
    return provenance.describe_provenance(
        request.suite,
        seed=request.seed,
        most_items=request.bounds.most_items,
        keep_going=request.keep_going,
        settings=request.settings,
        backend=request.backend,
    )
