"""A search as it runs: the trials that its method asks for, one after another, or ahead."""

from __future__ import annotations

from collections import deque
from functools import cache
from typing import TYPE_CHECKING

from qospec.judge.phases import SearchResult, SearchTrial, TrialResult
from qospec.model.suite import sum_offered_rate
from qospec.plan.plan import CasePlan
from qospec.run.job import Shared
from qospec.run.phase import PhaseRun, Refusal
from qospec.search.ahead import predict_results
from qospec.search.method import begin, choose_next_trial, find_outcome
from qospec.search.trial import Request, Trial
from qospec.units import format_value

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping
    from fractions import Fraction

    from qospec.model.suite import GoalResult, Search
    from qospec.run.job import Work
    from qospec.run.phase import Setting

MOST_ASSUMED = 64
"""How many trials are assumed to end in some way, at most, to find one to run ahead."""


class SearchRun(PhaseRun):
    """A search; its parts are requests of its method."""

    def __init__(self, search: Search, setting: Setting, found: Mapping[str, GoalResult]) -> None:
        """Take the search, and what goals of earlier ones have found."""
        super().__init__(setting)
        self._search = search
        self._found = found
        self._progress = begin(search)
        self._planned = cache(self._plan)
        self._lengths_ps: dict[Request, int] = {}
        self._rates: dict[Fraction | None, Fraction] = {}
        self._trials: list[SearchTrial] = []
        self._wanted: Request | None = None
        self._refused: dict[Request, Refusal] = {}
        overload = setting.overload(search, found)
        self._note = "" if overload is None else overload.message
        if overload is None:
            self._follow()
        else:
            self._end()

    @property
    def result(self) -> SearchResult:
        """Return what it has come to so far."""
        warmup_ps = self._search.find_warmup_ps(self._setting.plan.case.run)
        emulated_ps = sum(warmup_ps + each.trial.length_ps for each in self._trials)
        goals = {
            name: each._replace(offered=(self._rates.get(each.lower), self._rates.get(each.upper)))
            for name, each in find_outcome(self._progress).items()
        }
        trials = tuple(self._trials)
        return SearchResult(
            self._search, trials, goals, emulated_ps, cut=self.invalid, note=self._note
        )

    def share(self) -> float:
        """Return how much closer the bounds of the goal that is furthest from its end have come."""
        shares = []
        for number, scale in enumerate(self._progress.scales):
            lower, upper = self._progress.find_apparent_bounds(number)
            low = self._search.low if lower is None else lower.load
            high = self._search.high if upper is None else upper.load
            whole = 1 + scale.count_halvings(self._search.low, self._search.high)
            shares.append(1 - (1 + scale.count_halvings(low, high)) / whole)
        return min(shares) if self._trials else 0.0

    def next_part(self, *, ahead: bool) -> Request | None:
        """Return a trial that was not handed out; None if there is none for now."""
        candidates = self._ahead() if ahead else iter((self._wanted,))
        return next((each for each in candidates if each not in self._given), None)

    def work(self, part: Request) -> Work | None:
        """Return what runs a trial; None if there can be none."""
        planned = self._planned(part.load, part.length_ps)
        if isinstance(planned, Refusal):
            where = format_value(part.load, self._search.dimension)
            refused = planned
            if planned.at_load:
                name = self._search.name
                refused = Refusal(f"no trial of `{name}` at {where}: {planned.message}")
            self._refused[part] = refused
            self._known[part] = TrialResult(error=refused.message)
            return None
        case = planned.value.case
        self._lengths_ps[part] = case.run.measure_ps
        self._rates[part.load] = sum_offered_rate(case.flows)
        names = ("search", self._search.goals[0].name, str(part.load), str(part.number))
        return self._setting.work(planned, *names, keeps=False)

    def _plan(self, load: Fraction, length_ps: int | None) -> Shared[CasePlan] | Refusal:
        """Return the plan of all trials of a load."""
        planned = self._setting.trial(self._search, load, self._found, length_ps)
        return Shared(planned) if isinstance(planned, CasePlan) else planned

    def _may_need(self, part: Hashable) -> bool:
        return part == self._wanted or any(part == each for each in self._ahead())

    def _follow(self) -> None:
        while isinstance(asked := choose_next_trial(self._progress), Request):
            self._wanted = asked
            result = self._known.get(asked)
            if result is None:
                return
            refused = self._refused.get(asked)
            if refused is not None:
                self._note = refused.message
                self._end()
                return
            if error := result.error or self._impossible(asked, result):
                self._end(error)
                return
            trial = self._trial(asked, result)
            self._trials.append(SearchTrial(trial, result))
            self._progress = self._progress.add_trial(trial)
            if self._setting.invalidates(result):
                self._end(invalid=True)
                return
        self._end()

    def _trial(self, part: Request, result: TrialResult) -> Trial:
        length_ps = self._lengths_ps[part]
        return Trial(part.load, part.number, length_ps, result.sent, result.lost, result.drawn)

    def _impossible(self, part: Request, result: TrialResult) -> str:
        """Return why a trial does not count; "" if it does."""
        where = format_value(part.load, self._search.dimension)
        trial = f"a trial of `{self._search.name}` at {where}"
        if not result.sent:
            return f"{trial} sends nothing: make its trials longer"
        if 0 <= result.lost <= result.sent:
            return ""
        return f"{trial} has lost {result.lost:_} items of {result.sent:_}, which cannot be"

    def _ahead(self) -> Iterator[Request]:
        """Yield trials that may be needed, the likeliest first, by assuming results."""
        waiting = deque([self._progress])
        for _ in range(MOST_ASSUMED):
            if not waiting:
                return
            progress = waiting.popleft()
            asked = choose_next_trial(progress)
            if not isinstance(asked, Request):
                continue
            yield asked
            result = self._known.get(asked)
            if result is None:
                waiting.extend(
                    progress.add_trial(each) for each in predict_results(progress, asked)
                )
            elif not (result.error or self._impossible(asked, result)):
                waiting.append(progress.add_trial(self._trial(asked, result)))
