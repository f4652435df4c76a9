"""Where the jobs of cases are done by their names, whichever process it is in.

A process that has not planned the cases itself checks the files once, and plans what it is asked
for. So what a job needs is its name and the files: nothing of the process that handed it out.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from qospec.backend import BackendError, find_backend, is_same_backend
from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.dataclass import NamedTuple
from qospec.diagnostics import Problems
from qospec.engine.kernel import spare_compiler
from qospec.judge.phases import Refusal, TrialResult
from qospec.judge.verdict import PROBLEMS
from qospec.model.suite import Case, Search
from qospec.plan.first_links import is_growing, list_overloads
from qospec.plan.phases import explain_too_much
from qospec.plan.plan import Bounds, CasePlan, outline_plan, plan, plan_trial
from qospec.record import outcome
from qospec.run import trial
from qospec.run.estimate import count_steps
from qospec.run.job import JobResult, Stopwatch
from qospec.run.properties import evaluate_property
from qospec.run.waiting import explain_delays
from qospec.search.trial import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from fractions import Fraction
    from pathlib import Path

    from qospec.backend import Backend
    from qospec.diagnostics import Diagnostic
    from qospec.document import Document
    from qospec.model.checked import CheckedSuite
    from qospec.model.suite import GoalResult, Phase, Test
    from qospec.run.job import JobName
    from qospec.source import Source

    Found = tuple[tuple[str, GoalResult], ...]

PLANS_KEPT = 16
"""How many plans are kept: that of a load is needed for each of its trials."""
NOT_FOUND = "E0515"
"""The code of a phase that depends on a load that was not found."""


class StaleError(Exception):
    """Files, or what carries trials out, are not what they were when the run was planned."""


class Order(NamedTuple):
    """What all jobs of a run have in common.

    Attributes:
        paths: The files and folders that were named.
        digest: Of all files that were read, as of `hash_sources`.
        seed: The root of all random streams.
        bounds: What a trial may cost.
        keep_going: Whether repeats go on after a failed `require`.
        texts: What is read in place of what files hold, each with its path.
        explains: Whether the document of a case that fails says where its flows waited.
        backend: What carries trials out, as of `Backend.describe`; None for the emulation.
    """

    paths: tuple[Path, ...] = ()
    digest: str = ""
    seed: str = ""
    bounds: Bounds = Bounds()
    keep_going: bool = False
    texts: tuple[tuple[Path, str], ...] = ()
    explains: bool = False
    backend: Document | None = None


class TimedResult(NamedTuple):
    """The result of a trial, and the time it took, as of `JobResult`."""

    result: TrialResult
    seconds: float
    compiling_s: float


class Workshop:
    """Does the jobs of cases: a `run.job.Workshop`."""

    def __init__(self, order: Order, plans: Iterable[CasePlan] = ()) -> None:
        """Take what the jobs have in common, and the plans that are known in this process."""
        self._order = order
        self._known = {plan.case.name: plan for plan in plans}
        self._plan = lru_cache(PLANS_KEPT)(self._plan_case)
        self._plan_at = lru_cache(PLANS_KEPT)(self._plan_load)

    def __reduce__(self) -> tuple[type[Workshop], tuple[Order]]:
        return type(self), (self._order,)

    def do(self, name: JobName, on_progress: Callable[[float], None], /) -> JobResult | TimedResult:
        """Run a case without phases, or a trial of a phase.

        Raises:
            StaleError: The files are not what they were.
        """
        stopwatch = Stopwatch()
        planned = self.plan(name)
        if name.phase is None:
            assert isinstance(planned, CasePlan)  # noqa: S101 -- only a trial is refused
            with spare_compiler(count_steps(planned)):
                document = self._run_case(planned, on_progress)
            return JobResult(document, *stopwatch.read())
        if isinstance(planned, Refusal):
            result = TrialResult(error=planned.message, refused=planned)
        else:
            keeps = isinstance(name.part, int)  # a point is measured, a search only counts
            names, backend = self._list_draw_names(name), self._backend
            with spare_compiler(count_steps(planned)):
                result = trial.run_one(planned, names, on_progress, keeps=keeps, backend=backend)
        return TimedResult(result, *stopwatch.read())

    def plan(self, name: JobName) -> CasePlan | Refusal:
        """Return the plan of what is done for a job, or why a trial can have none."""
        if name.phase is None:
            return self._plan(name.case)
        load, length_ps = None, None
        if isinstance(name.part, Request):
            load, _, length_ps = name.part
        return self._plan_at(name.case, name.phase, load, length_ps, name.found)

    def check(self) -> None:
        """Check the files now, which is done for the first job otherwise, and the back end.

        Raises:
            StaleError: The files are not what they were, or trials are carried out by something
                else in this process.
        """
        self._checked  # noqa: B018 -- it is kept
        if self._backend is None:
            return
        try:
            described = self._backend.describe()
        except BackendError as error:
            raise StaleError(f"a worker cannot carry trials out: {error}") from None
        if not is_same_backend(described, self._order.backend):
            raise StaleError("a worker has another kernel than this machine: give both the same")

    def _plan_case(self, case: str) -> CasePlan:
        if (known := self._known.get(case)) is not None:
            return known
        test, found = self._cases[case]
        if found.phases:
            return outline_plan(self._checked, test, found, self._order.seed)
        chosen = self._checked.select([replace(test, cases=(found,))])
        (planned,) = plan(chosen, self._order.seed, self._order.bounds, Problems())
        return planned

    @cached_property
    def _checked(self) -> CheckedSuite:
        checked = check_once(self._order.paths, self._order.texts)
        if hash_sources(checked.suite.sources) != self._order.digest:
            raise StaleError("files were changed while the run began: run it again")
        return checked

    @cached_property
    def _backend(self) -> Backend | None:
        if self._order.backend is None:
            return None
        return find_backend(self._order.backend["name"])

    @cached_property
    def _cases(self) -> Mapping[str, tuple[Test, Case]]:
        tests = self._checked.suite.tests
        return {case.name: (test, case) for test in tests for case in test.cases}

    def _plan_load(
        self, case: str, phase: int, load: Fraction | None, length_ps: int | None, found: Found
    ) -> CasePlan | Refusal:
        whole, bounds = self._plan(case), self._order.bounds
        its = whole.case.phases[phase]
        if isinstance(its, Search) and (refusal := _refuse_range(whole, its, dict(found))):
            return refusal
        return plan_at_load(whole, its, load, dict(found), bounds, length_ps)

    def _list_draw_names(self, name: JobName) -> tuple[str, ...]:
        """Return what the random draws of a trial depend on, besides its case."""
        assert name.phase is not None  # noqa: S101 -- it is a trial of one
        phase = self._plan(name.case).case.phases[name.phase]
        if isinstance(name.part, Request):
            return trial.name_draws(name.repeat, phase, name.part.number, name.part.load)
        return trial.name_draws(name.repeat, phase, name.part or 0)

    def _run_case(self, planned: CasePlan, on_progress: Callable[[float], None]) -> Document:
        if planned.examiner is not None:
            return outcome.describe_case(planned, evaluate_property(planned, planned.examiner))
        keep_going, backend = self._order.keep_going, self._backend
        result = trial.run(planned, discover(), on_progress, keep_going=keep_going, backend=backend)
        document = outcome.describe_case(planned, result)
        explains = self._order.explains and backend is None
        if explains and document["verdict"] in PROBLEMS and not document["errors"]:
            waits = explain_delays(planned, document["statements"], discover(), on_progress)
            document |= {"waits": waits.documents} if waits.documents else {}
            document["why"] = [*document["why"], *waits.unknown]
        return document


@lru_cache(1)
def check_once(paths: tuple[Path, ...], texts: tuple[tuple[Path, str], ...] = ()) -> CheckedSuite:
    """Return the suite of files that were found to be correct, checked once in each process."""
    return check(paths, discover(), Problems(), texts=dict(texts))


def hash_sources(sources: Sequence[Source]) -> str:
    """Return the SHA-256 of the names of files and of what they hold, in hexadecimal digits."""
    held = [(source.recorded_name, source.text, source.digest) for source in sources]
    return hashlib.sha256(repr(held).encode()).hexdigest()


# ---- trials of phases


def plan_at_load(
    whole: CasePlan,
    phase: Phase,
    load: Fraction | None,
    found: Mapping[str, GoalResult],
    bounds: Bounds,
    length_ps: int | None = None,
) -> CasePlan | Refusal:
    """Return the plan of a trial of a phase, or why there can be none; see `CaseMaker`."""
    assert whole.maker is not None  # noqa: S101 -- a case with phases has it
    made = whole.maker(phase, load, found, length_ps)
    if not isinstance(made, Case):
        return _refuse(made)
    if load is None and (refusal := _refuse_overload(phase, made)) is not None:
        return refusal
    planned = plan_trial(whole, phase, made, bounds)
    return planned if isinstance(planned, CasePlan) else _refuse(planned[0])


def _refuse_range(
    whole: CasePlan, search: Search, found: Mapping[str, GoalResult]
) -> Refusal | None:
    """Return why a search cannot go up to its highest load, by what earlier ones have found.

    None if it can, or if there is no trial at that load for another reason.
    """
    assert whole.maker is not None  # noqa: S101 -- a case with phases has it
    if not found:
        return None  # then it was known before the run
    low, high = (whole.maker(search, load, found) for load in (search.low, search.high))
    if not isinstance(low, Case) or not isinstance(high, Case):
        return None
    return _refuse_overload(search, high, low)


def _refuse_overload(phase: Phase, case: Case, lowest: Case | None = None) -> Refusal | None:
    """Return that what a trial offers is more than a first link carries; None if it is not."""
    overload = next(list_overloads(case), None)
    if overload is None:
        return None
    depends = lowest is None or is_growing(lowest, case, overload)
    carries = f"{overload.offered}; {overload.carried}"
    return Refusal(f"{explain_too_much(phase, overload, depends=depends)} ({carries})")


def _refuse(mistake: Diagnostic) -> Refusal:
    """Return what a mistake at a load says, with its code and its place."""
    if mistake.code == NOT_FOUND:
        return Refusal(mistake.message)
    place = mistake.span.recorded_place
    return Refusal(f"{mistake.message} ({mistake.code}, {place})", at_load=True)
