"""A case with phases as it runs: its searches and points, one after another.

The trials that count are those that the phases ask for, in that order, whatever else runs ahead: so
the results do not depend on how many processes there are.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import discover
from qospec.judge.phases import PhasesResult, SearchResult, TrialResult
from qospec.model.suite import Search
from qospec.record import outcome
from qospec.run.job import Job, JobName, JobResult, LostJob, explain_lost
from qospec.run.pointing import PointRun
from qospec.run.searching import SearchRun

if TYPE_CHECKING:
    from qospec.judge.phases import PhaseResult
    from qospec.model.suite import GoalResult
    from qospec.plan.plan import CasePlan
    from qospec.run.phase import PhaseRun
    from qospec.run.workshop import TimedResult


class _Sequence:
    """The phases of a case in one repeat."""

    def __init__(self, plan: CasePlan, repeat: int, *, keep_going: bool) -> None:
        self.results: list[PhaseResult] = []
        self.invalid = False
        self.error = ""
        self._plan = plan
        self._repeat = repeat
        self._keep_going = keep_going
        self._phases = plan.case.phases
        self._found: dict[str, GoalResult] = {}
        self._now: PhaseRun | None = None

    @property
    def ended(self) -> bool:
        return self.invalid or len(self.results) == len(self._phases)

    def hand_out_name(self, *, ahead: bool) -> JobName | None:
        """Return the name of a trial that was not handed out; None if there is none for now."""
        while not self.ended:
            self._now = self._now or self._begin()
            part = self._now.hand_out_part(ahead=ahead)
            if part is not None:
                name, number = self._plan.case.name, len(self.results)
                return JobName(name, self._repeat, number, part, tuple(self._found.items()))
            if not self._now.ended:
                return None
            self._pass_on()
        return None

    def take(self, name: JobName, result: TrialResult) -> None:
        if self.ended or name.phase != len(self.results) or self._now is None:
            return  # it ran ahead, and was not needed
        self._now.take(name.part, result)
        if self._now.ended:
            self._pass_on()

    def drops(self, name: JobName) -> bool:
        if self.ended or name.phase != len(self.results) or self._now is None:
            return True
        return self._now.drops(name.part)

    def cut(self) -> None:
        """End where it is; a phase without a finished trial is none of its results."""
        if self.ended:
            return
        if self._now is not None:
            self._now.cut()
            if self._now.result.trials:
                self.results.append(self._now.result)
            self._now = None
        self.invalid = True

    def estimate_share(self) -> float:
        """Return about which share of the emulated time is over."""
        costs = [phase.cost.emulated_ps for phase in self._plan.phases]
        done = sum(costs[: len(self.results)])
        if self._now is not None and not self.ended:
            done += int(costs[len(self.results)] * self._now.estimate_share())
        return done / sum(costs)

    def _begin(self) -> PhaseRun:
        phase = self._phases[len(self.results)]
        kind = SearchRun if isinstance(phase, Search) else PointRun
        return kind(phase, self._plan, keep_going=self._keep_going)  # type: ignore[arg-type]

    def _pass_on(self) -> None:
        assert self._now is not None  # noqa: S101 -- it has ended
        result = self._now.result
        self.results.append(result)
        self.invalid, self.error = self._now.invalid, self._now.error
        self._now = None
        if isinstance(result, SearchResult):
            self._found.update(result.goals)


class PhasedRun:
    """A case with phases. Its repeats depend on nothing of each other, so they may run ahead."""

    def __init__(self, plan: CasePlan, *, keep_going: bool = False) -> None:
        """Take its plan, and whether it goes on after a failed `require`."""
        self.name = plan.case.name
        self._plan = plan
        self._repeats = [
            _Sequence(plan, repeat, keep_going=keep_going) for repeat in range(plan.case.run.repeat)
        ]
        self._seconds = self._compiling_s = 0.0

    def hand_out_job(self, place: int, *, ahead: bool) -> Job | None:
        """Return a job that was not handed out before; None if there is none for now."""
        for sequence in self._repeats:
            name = sequence.hand_out_name(ahead=ahead)
            if name is not None:
                return Job(place, name)
            if sequence.invalid or not (sequence.ended or ahead):
                return None
        return None

    def compute_progress(self, job: Job, share: float) -> float:  # noqa: ARG002
        """Return the share of the case that is done."""
        return sum(repeat.estimate_share() for repeat in self._repeats) / len(self._repeats)

    def take(self, job: Job, result: TimedResult | LostJob) -> None:
        """Take the result of a job."""
        if isinstance(result, LostJob):
            trial = TrialResult(error=explain_lost(result))
        else:
            trial = result.result
            self._seconds += result.seconds
            self._compiling_s += result.compiling_s
        self._repeats[job.name.repeat].take(job.name, trial)

    def drops(self, job: Job) -> bool:
        """Return whether a job that was handed out is not needed; it may be handed out again."""
        drops: bool = self._repeats[job.name.repeat].drops(job.name)
        return drops

    @property
    def result(self) -> JobResult | None:
        """Return the result of the case, once it has ended."""
        return self._whole if self._has_ended() else None

    def cut(self) -> JobResult | None:
        """End where it is, and return what its finished trials gave; None if there are none."""
        for repeat in self._repeats:
            repeat.cut()
        if not any(sequence.results for sequence in self._list_counted()):
            return None
        document = outcome.describe_interrupted(self._whole.document)
        return self._whole._replace(document=document)

    def _list_counted(self) -> list[_Sequence]:
        """Return the repeats up to the one that ended the case."""
        last = next((n for n, repeat in enumerate(self._repeats) if repeat.invalid), None)
        return self._repeats[: None if last is None else last + 1]

    def _has_ended(self) -> bool:
        for repeat in self._repeats:
            if repeat.invalid or not repeat.ended:
                return repeat.invalid
        return True

    @cached_property
    def _whole(self) -> JobResult:
        counted = self._list_counted()
        results = tuple(tuple(sequence.results) for sequence in counted)
        errors = tuple(sequence.error for sequence in counted if sequence.error)
        found = PhasesResult(discover(), results, len(self._repeats), errors)
        document = outcome.describe_phases(self._plan, found)
        return JobResult(document, self._seconds, self._compiling_s)
