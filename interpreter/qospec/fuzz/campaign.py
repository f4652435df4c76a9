"""A search over several targets: their examples in blocks, here or in workers.

What is found follows from the seed and the number of examples, not from the number of workers: the
blocks of a target are independent of each other, and the first one with a finding ends its target.
Where the time is limited, targets take turns; see `fuzz.rounds`.
"""

from __future__ import annotations

import gc
import stat
import time
from collections import Counter
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
from hypothesis.database import DirectoryBasedExampleDatabase

from qospec.catalogue.kinds import discover
from qospec.check import Checked
from qospec.dataclass import NamedTuple, dataclass
from qospec.engine import kernel
from qospec.fuzz.aims import select_closest
from qospec.fuzz.explore import Block, Explored, explore
from qospec.fuzz.rounds import Rounds, count_examples
from qospec.fuzz.targets import list_targets
from qospec.run import workers
from qospec.run.crews.processes import ProcessCrew
from qospec.run.interruption import Interruption
from qospec.run.job import Job, JobResult, LostJob
from qospec.run.schedule import Schedule, run_here

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from qospec.fuzz.aims import Aim
    from qospec.fuzz.finding import Finding
    from qospec.fuzz.target import Target

EXPECTED_S = 0.03
"""How long an example takes, about, where none has been run."""
FEW_OBJECTS = (3_000, 20, 50)
"""How many objects are created, and not freed, between two runs of the garbage collector for the
youngest, and how many runs there are of each generation before one of the next."""
RARELY = 0.1
"""A condition that fewer examples meet is reported."""


@dataclass(frozen=True)
class CampaignRequest:
    """What is asked for.

    Attributes:
        paths: The files.
        targets: The targets, as (recorded name of the file, name).
        examples: How many examples of each target are drawn; None: as many as there is time for.
        time_s: How long all of it may take, without compiling kernels; None: as long as it takes.
        seed: Of all draws.
        jobs: How many processes work.
        database: The folder of examples that failed before; None for none.
    """

    paths: tuple[str, ...]
    targets: tuple[tuple[str, str], ...]
    examples: int | None
    time_s: float | None
    seed: str
    jobs: int = 1
    database: Path | None = None


class TargetReport(NamedTuple):
    """What was found out about a target; as of `Explored`, over all blocks.

    `coverage` says of all that may happen in how many examples it did. `hindrance` and `note` are
    as of `Target`.
    """

    name: str
    noun: str
    examples: int
    refused: Counter[str]
    coverage: dict[str, int]
    findings: tuple[Finding, ...]
    errors: tuple[str, ...] = ()
    hopeless: tuple[str, ...] = ()
    unjudged: Mapping[str, int] = {}
    closest: tuple[tuple[str, Aim], ...] = ()
    hindrance: str = ""
    note: str = ""

    @property
    def examined(self) -> int:
        """Return how many examples were run: those that met all conditions."""
        return self.examples - self.refused.total()

    @property
    def never_judged(self) -> tuple[str, ...]:
        """Return the promises that were judged in no example, so that nothing is known of them."""
        return tuple(promise for promise, count in self.unjudged.items() if count >= self.examined)

    @property
    def unreached(self) -> tuple[str, ...]:
        """Return what happened in no example."""
        return tuple(event for event, count in self.coverage.items() if not count)

    @property
    def met_rarely(self) -> tuple[tuple[str, int], ...]:
        """Return the conditions to blame if hardly any example met all, and how many met each."""
        if self.examined >= RARELY * self.examples:
            return ()
        blamed = self.refused.items()
        least = RARELY * self.examples
        return tuple(
            (promise, self.examples - count) for promise, count in blamed if count >= least
        )


def make_key(target: Target) -> tuple[str, str]:
    """Return what tells a target from all others."""
    return target.span.source.recorded_name, target.name


@lru_cache(maxsize=4)
def _read_targets(paths: tuple[str, ...]) -> dict[tuple[str, str], Target]:
    checked = Checked([Path(path) for path in paths], discover())
    return {make_key(target): target for target in list_targets(checked)}


@contextmanager
def _collect_garbage_often() -> Iterator[None]:
    """Look for garbage often, and only in what is new.

    An example leaves thousands of objects that refer to each other. To look for them while they
    are in the processor's cache takes a third of the time that it takes for a million of them.
    """
    gc.freeze()
    usual = gc.get_threshold()
    gc.set_threshold(*FEW_OBJECTS)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.collect()  # or it would be kept with all that is frozen next


class _Done(NamedTuple):
    """What a block found, how long it took without compiling, and how long that took."""

    explored: Explored
    seconds: float = 0.0
    compiling_s: float = 0.0


class Deadline:
    """When a search ends: time that its processes spend on compiling is not counted.

    Attributes:
        compiling_s: How long that was, on average of the processes: so much longer it takes.
    """

    def __init__(self, request: CampaignRequest) -> None:
        self.compiling_s = 0.0
        self._jobs = request.jobs
        self._end_s = None if request.time_s is None else time.monotonic() + request.time_s

    def measure_left_s(self) -> float | None:
        """Return how much time is left; None: there is no limit."""
        if self._end_s is None:
            return None
        return self._end_s + self.compiling_s - time.monotonic()

    def extend(self, compiling_s: float) -> None:
        """Take how long one of the processes compiled, while the others did not wait for it."""
        self.compiling_s += compiling_s / self._jobs


class BlockName(NamedTuple):
    """A block of a target, by its key, with the folder of examples that failed; "" for none."""

    target: tuple[str, str]
    block: Block
    database: str


class TargetWorkshop(NamedTuple):
    """Runs blocks of the targets of files: a `run.job.Workshop`."""

    paths: tuple[str, ...]

    def do(self, name: BlockName, on_progress: Callable[[float], None], /) -> _Done:
        """Run a block, in whatever process."""
        kept = DirectoryBasedExampleDatabase(name.database) if name.database else None
        began_s, compiled_s = kernel.read_working_s(), kernel.measure_compiling_s()
        done = 0

        def on_example() -> None:
            nonlocal done
            on_progress(min(1.0, done / name.block.examples))
            done += 1

        subject = _read_targets(self.paths)[name.target]
        with _collect_garbage_often():
            explored = explore(subject, name.block, kept, on_example)
        return _Done(
            explored, kernel.read_working_s() - began_s, kernel.measure_compiling_s() - compiled_s
        )


class _TargetRun:
    """A target as a `fuzz.rounds.TimedRun`: its jobs are blocks."""

    def __init__(self, request: CampaignRequest, target: Target, deadline: Deadline) -> None:
        self.name = target.name
        self.result: JobResult | None = None
        self.examples = 0
        self._request = request
        self._target = target
        self._deadline = deadline
        self._blocks: list[int] = []
        self._done: dict[int, _Done] = {}
        self._errors: list[str] = []

    @property
    def spent_s(self) -> float:
        """Return how long its blocks took, and how long those that run will probably take."""
        done_s = sum(block.seconds for block in self._done.values())
        each_s = done_s / self.examples if self.examples else EXPECTED_S
        return done_s + each_s * sum(
            examples for number, examples in enumerate(self._blocks) if number not in self._done
        )

    @property
    def _is_over(self) -> bool:
        """Return whether there is no time for another block, or no example is left for one."""
        most = self._request.examples
        if self._target.hindrance:
            return True
        left_s = self._deadline.measure_left_s()
        over = left_s is not None and left_s <= 0
        return over or (most is not None and sum(self._blocks) >= most)

    def hand_out_job(self, place: int, *, ahead: bool) -> Job | None:  # noqa: ARG002
        """Return the next block, unless the target has ended."""
        if self._is_over or self._find_first() is not None:
            self._end_if_done()
            return None
        number, most = len(self._blocks), self._request.examples
        examples = count_examples(number)
        if most is not None:
            examples = min(examples, most - sum(self._blocks))
        block = Block(number, examples, self._request.seed, self._deadline.measure_left_s())
        # Only one block tries old examples: they need not be tried twice.
        kept = self._request.database if number == 0 else None
        name = BlockName(make_key(self._target), block, "" if kept is None else str(kept))
        self._blocks.append(examples)
        return Job(place, name)

    def compute_progress(self, job: Job, share: float) -> float:
        """Return the share of the target that is done."""
        most = self._request.examples
        if most is None:
            return 0.0
        running: float = self._blocks[job.name.block.number] * share
        return min(1.0, (sum(self._blocks[number] for number in self._done) + running) / most)

    def take(self, job: Job, result: _Done | LostJob) -> None:
        """Take what a block found."""
        if isinstance(result, LostJob):
            self._errors.append(result.why)
            result = _Done(Explored(0, Counter(), Counter(), ()))
        self._done[job.name.block.number] = result
        self._deadline.extend(result.compiling_s)
        self.examples = sum(block.explored.examples for block in self._done.values())
        self._end_if_done()

    def cut(self) -> JobResult | None:
        """End where it is."""
        return self._build_result()

    def drops(self, job: Job) -> bool:
        """Return whether a block comes after one with a finding."""
        first = self._find_first()
        return first is not None and job.name.block.number > first

    def _find_first(self) -> int | None:
        """Return the number of the first block with a finding, of those that are done."""
        return min((n for n, block in self._done.items() if block.explored.findings), default=None)

    def _end_if_done(self) -> None:
        first = self._find_first()
        if first is not None:
            ended = all(number in self._done for number in range(first))
        else:
            ended = self._is_over and len(self._done) == len(self._blocks)
        if ended:
            self.result = self._build_result()

    def _build_result(self) -> JobResult:
        first = self._find_first()
        last = len(self._blocks) if first is None else first + 1
        blocks = [block.explored for number, block in sorted(self._done.items()) if number < last]
        reached = sum((block.reached for block in blocks), Counter[str]())
        report = TargetReport(
            self.name,
            self._target.noun,
            sum(block.examples for block in blocks),
            sum((block.refused for block in blocks), Counter[str]()),
            {event: reached[event] for event in sorted(self._target.reachable)},
            tuple(finding for block in blocks for finding in block.findings),
            tuple(dict.fromkeys(self._errors)),
            tuple(dict.fromkeys(path for block in blocks for path in block.hopeless)),
            dict(sum((block.unjudged for block in blocks), Counter[str]())),
            tuple(sorted(select_closest(aim for block in blocks for aim in block.closest).items())),
            self._target.hindrance,
            self._target.note,
        )
        return JobResult({"report": report}, 0.0, 0.0)


class Campaign:
    """Carries out a request."""

    def __init__(self, request: CampaignRequest) -> None:
        """Take the request, whose files have no mistakes."""
        _read_targets.cache_clear()  # files may have changed
        known = _read_targets(request.paths)
        self._request = request
        self._deadline = Deadline(request)
        self._runs = [_TargetRun(request, known[key], self._deadline) for key in request.targets]
        self.interrupted = False

    @property
    def examples(self) -> int:
        """Return how many examples have been run, those of unfinished blocks not included."""
        return sum(run.examples for run in self._runs)

    @property
    def compiling_s(self) -> float:
        """Return how long kernels were compiled, on average of the processes."""
        return self._deadline.compiling_s

    def run(self, on_wait: Callable[[str, float], None]) -> list[TargetReport]:
        """Return a report of each target, in order; those not begun when interrupted have none.

        Args:
            on_wait: Called often, with the name of a target that is examined and its share done.
        """
        reports: dict[int, TargetReport] = {}
        doing = ("", 0.0)

        def note_progress(name: str, share: float) -> None:
            nonlocal doing
            doing = (name, share)
            on_wait(name, share)

        def take(ended: Any) -> None:
            reports[ended.place] = ended.result.document["report"]

        with Interruption() as interruption:

            def note_wait() -> None:
                interruption.check()
                on_wait(*doing)

            kind = Schedule if self._request.time_s is None else Rounds
            schedule = kind(self._runs, note_progress)
            workshop = TargetWorkshop(self._request.paths)
            if self._request.jobs == 1:
                results = run_here(schedule, workshop, interruption.check)
            else:
                pool = workers.Pool(ProcessCrew(self._request.jobs, workshop))
                results = workers.run(schedule, pool, {}, note_wait)
            try:
                with closing(results):
                    for result in results:
                        take(result)
                interruption.check()
            except KeyboardInterrupt:
                self.interrupted = True
        for job in schedule.cut():
            take(job)
        return [reports[place] for place in sorted(reports)]


def find_database_folder(whole: Path) -> tuple[Path | None, str]:
    """Return the part of a folder for failing examples, and a note on those of other versions.

    Examples are what Hypothesis drew, which another release of it may not understand. None, with a
    note, if a link or a device is in the way: what it leads to is not the project's to read or
    change.
    """
    here = whole / f"hypothesis-{hypothesis.__version__}"
    if (strange := _find_strange_entry(whole)) is not None:
        return None, (
            f"`{strange}` is neither a file nor a folder, and is not followed: "
            "no examples that failed before are tried, and none are kept"
        )
    others: list[str] = []
    with suppress(OSError):
        others = sorted(path.name for path in whole.iterdir() if path.name != here.name)
    if others and not here.exists():
        return here, f"`{whole}` has examples of {', '.join(others)}, which are ignored"
    return here, ""


def _find_strange_entry(whole: Path) -> Path | None:
    """Return the first that is neither a file nor a folder, but perhaps a link to one."""
    with suppress(OSError):
        for path in chain([whole], whole.rglob("*")):  # which enters no link
            kind = path.lstat().st_mode
            if not (stat.S_ISDIR(kind) or stat.S_ISREG(kind)):
                return path
    return None
