"""A phase of a case as it runs: which trials it needs, and what came of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from qospec.judge.verdict import invalidates
from qospec.model.suite import Case
from qospec.plan.first_links import grows, overloads
from qospec.plan.phases import too_much
from qospec.plan.plan import CasePlan, plan_trial
from qospec.run import trial
from qospec.run.job import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping
    from fractions import Fraction

    from qospec.diagnostics import Diagnostic
    from qospec.judge.phases import PhaseResult, TrialResult
    from qospec.model.suite import GoalResult, Phase, Search
    from qospec.plan.plan import Bounds
    from qospec.run.job import Shared, Work


class TimedResult(NamedTuple):
    """The result of a trial, and the time it took, as of `JobResult`."""

    result: TrialResult
    seconds: float
    compiling_s: float


NOT_FOUND = "E0515"
"""The code of a phase that depends on a load that was not found."""


class Refusal(NamedTuple):
    """Why a trial cannot be run: by what searches have found, or by what is wrong `at_load`."""

    message: str
    at_load: bool = False

    @classmethod
    def of(cls, mistake: Diagnostic) -> Refusal:
        """Return what a mistake at that load says, with its code and its place."""
        if mistake.code == NOT_FOUND:
            return cls(mistake.message)
        place = mistake.span.recorded_place
        return cls(f"{mistake.message} ({mistake.code}, {place})", at_load=True)


class Setting(NamedTuple):
    """What the trials of a case have in common.

    Attributes:
        plan: Of the whole case.
        bounds: What a trial may cost.
        repeat: The number of the repeat of the case, from 0.
        keep_going: Whether the case goes on after a failed `require`.
    """

    plan: CasePlan
    bounds: Bounds
    repeat: int = 0
    keep_going: bool = False

    def trial(
        self,
        phase: Phase,
        load: Fraction | None,
        found: Mapping[str, GoalResult],
        length_ps: int | None = None,
    ) -> CasePlan | Refusal:
        """Return the plan of one trial, or why there can be none."""
        assert self.plan.case.at is not None  # noqa: S101 -- a case with phases has it
        made = self.plan.case.at(phase, load, found, length_ps)
        if not isinstance(made, Case):
            return Refusal.of(made)
        if load is None and (refusal := _overload(phase, made)) is not None:
            return refusal
        planned = plan_trial(self.plan, phase, made, self.bounds)
        return planned if isinstance(planned, CasePlan) else Refusal.of(planned[0])

    def overload(self, search: Search, found: Mapping[str, GoalResult]) -> Refusal | None:
        """Return why a search cannot go up to its highest load, by what earlier ones have found.

        None if it can, or if there is no trial at that load for another reason.
        """
        assert self.plan.case.at is not None  # noqa: S101 -- a case with phases has it
        if not found:
            return None  # then it was known before the run
        low, high = (self.plan.case.at(search, each, found) for each in (search.low, search.high))
        if not isinstance(low, Case) or not isinstance(high, Case):
            return None
        return _overload(search, high, low)

    def work(self, planned: Shared[CasePlan], *names: str, keeps: bool) -> Work:
        """Return what runs a trial; its draws depend on the `names` and on the repeat."""
        return partial(_run_timed, planned, (f"repeat {self.repeat}", *names), keeps=keeps)

    def invalidates(self, result: TrialResult) -> bool:
        """Return whether a trial ends the case: something that is required of it failed."""
        judged = (
            (each, result.judgements[each.label])
            for each in self.plan.case.statements
            if each.label in result.judgements
        )
        return not self.keep_going and invalidates(judged)


def _overload(phase: Phase, case: Case, lowest: Case | None = None) -> Refusal | None:
    """Return that what a trial offers is more than a first link carries; None if it is not."""
    overload = next(overloads(case), None)
    if overload is None:
        return None
    depends = lowest is None or grows(lowest, case, overload)
    carries = f"{overload.offered}; {overload.carried}"
    return Refusal(f"{too_much(phase, overload, depends=depends)} ({carries})")


class PhaseRun(ABC):
    """A phase as it runs. What it needs is called a part: what tells one trial from another.

    Attributes:
        ended: Whether it needs nothing more.
        invalid: Whether it ended the whole case.
        error: Of the tester; "" if there was none.
    """

    def __init__(self, setting: Setting) -> None:
        """Take what all trials of the case have in common."""
        self.ended = False
        self.invalid = False
        self.error = ""
        self._setting = setting
        self._known: dict[Any, TrialResult] = {}
        self._given: set[Any] = set()

    @property
    @abstractmethod
    def result(self) -> PhaseResult:
        """Return what it has come to so far."""

    @abstractmethod
    def share(self) -> float:
        """Return about which share of it is done."""

    @abstractmethod
    def next_part(self, *, ahead: bool) -> Hashable | None:
        """Return a part that was not handed out; None if there is none for now."""

    @abstractmethod
    def work(self, part: Any) -> Work | None:
        """Return what does a part; None if it cannot be done, which is then known of it."""

    @abstractmethod
    def _follow(self) -> None:
        """Go on as far as the results reach."""

    def next_work(self, *, ahead: bool) -> tuple[Hashable, Work] | None:
        """Return a part with what does it; None if there is none for now."""
        while not self.ended and (part := self.next_part(ahead=ahead)) is not None:
            self._given.add(part)
            if (work := self.work(part)) is not None:
                return part, work
            self._follow()
        return None

    def cut(self) -> None:
        """End it where it is, with the whole case."""
        if not self.ended:
            self._end(invalid=True)

    def take(self, part: Hashable, result: TrialResult) -> None:
        """Take the result of a part."""
        self._known[part] = result
        if not self.ended:
            self._follow()

    def drops(self, part: Hashable) -> bool:
        """Return whether a part that was handed out is not needed; it may be handed out again."""
        if not self.ended and self._may_need(part):
            return False
        self._given.discard(part)
        return True

    def _may_need(self, part: Hashable) -> bool:  # noqa: ARG002
        """Return whether a part may be needed, as far as is known."""
        return True

    def _end(self, error: str = "", *, invalid: bool = False) -> None:
        self.ended, self.invalid, self.error = True, invalid or bool(error), error


def _run_timed(
    planned: Shared[CasePlan],
    names: tuple[str, ...],
    on_progress: Callable[[float], None],
    *,
    keeps: bool,
) -> TimedResult:
    stopwatch = Stopwatch()
    result = trial.run_one(planned.value, names, on_progress, keeps=keeps)
    return TimedResult(result, *stopwatch.read())
