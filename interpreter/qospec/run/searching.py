"""A search as it runs: the trials that its method asks for, one after another, or ahead."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from qospec.judge.phases import SearchResult, SearchTrial
from qospec.run.phase import PhaseRun
from qospec.search.ahead import predict_results
from qospec.search.method import begin, choose_next_trial, find_outcome
from qospec.search.trial import Request, Trial
from qospec.units import format_value

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from qospec.judge.phases import Refusal, TrialResult
    from qospec.model.suite import Search
    from qospec.plan.plan import CasePlan

MOST_ASSUMED = 64
"""How many trials are assumed to end in some way, at most, to find one to run ahead."""


class SearchRun(PhaseRun):
    """A search; its parts are requests of its method."""

    def __init__(self, search: Search, plan: CasePlan, *, keep_going: bool) -> None:
        """Take the search, the plan of its case, and whether that goes on whatever fails."""
        super().__init__(plan, keep_going=keep_going)
        self._search = search
        self._progress = begin(search)
        self._rates: dict[Fraction | None, Fraction] = {}
        self._trials: list[SearchTrial] = []
        self._wanted: Request | None = None
        self._note = ""
        self._follow()

    @property
    def result(self) -> SearchResult:
        """Return what it has come to so far."""
        warmup_ps = self._search.find_warmup_ps(self._plan.case.run)
        emulated_ps = sum(warmup_ps + trial.trial.length_ps for trial in self._trials)
        goals = {
            name: outcome._replace(
                offered=(self._rates.get(outcome.lower), self._rates.get(outcome.upper))
            )
            for name, outcome in find_outcome(self._progress).items()
        }
        trials = tuple(self._trials)
        return SearchResult(
            self._search, trials, goals, emulated_ps, cut=self.invalid, note=self._note
        )

    def estimate_share(self) -> float:
        """Return how much closer the bounds of the goal that is furthest from its end have come."""
        shares = []
        for number, scale in enumerate(self._progress.scales):
            lower, upper = self._progress.find_apparent_bounds(number)
            low = self._search.low if lower is None else lower.load
            high = self._search.high if upper is None else upper.load
            whole = 1 + scale.count_halvings(self._search.low, self._search.high)
            shares.append(1 - (1 + scale.count_halvings(low, high)) / whole)
        return min(shares) if self._trials else 0.0

    def _choose_next(self, *, ahead: bool) -> Request | None:
        candidates = self._list_ahead() if ahead else iter((self._wanted,))
        return next((candidate for candidate in candidates if candidate not in self._given), None)

    def _may_need(self, part: Request) -> bool:
        return part == self._wanted or any(part == request for request in self._list_ahead())

    def _follow(self) -> None:
        while isinstance(asked := choose_next_trial(self._progress), Request):
            self._wanted = asked
            result = self._known.get(asked)
            if result is None:
                return
            if result.refused is not None:
                self._note = self._explain_refusal(asked, result.refused)
                self._end()
                return
            if error := result.error or self._explain_impossible(asked, result):
                self._end(error)
                return
            trial = self._read_trial(asked, result)
            self._trials.append(SearchTrial(trial, result))
            self._rates[asked.load] = result.offered
            self._progress = self._progress.add_trial(trial)
            if self._is_invalidating(result):
                self._end(invalid=True)
                return
        self._end()

    def _explain_refusal(self, part: Request, refused: Refusal) -> str:
        if not refused.at_load:
            return refused.message
        where = format_value(part.load, self._search.dimension)
        return f"no trial of `{self._search.name}` at {where}: {refused.message}"

    def _explain_impossible(self, part: Request, result: TrialResult) -> str:
        """Return why a trial does not count; "" if it does."""
        where = format_value(part.load, self._search.dimension)
        trial = f"a trial of `{self._search.name}` at {where}"
        if not result.sent:
            return f"{trial} sends nothing: make its trials longer"
        if 0 <= result.lost <= result.sent:
            return ""
        return f"{trial} has lost {result.lost:_} items of {result.sent:_}, which cannot be"

    def _list_ahead(self) -> Iterator[Request]:
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
                    progress.add_trial(predict_result)
                    for predict_result in predict_results(progress, asked)
                )
            elif not (result.error or self._explain_impossible(asked, result)):
                waiting.append(progress.add_trial(self._read_trial(asked, result)))

    def _read_trial(self, part: Request, result: TrialResult) -> Trial:
        missed = frozenset(goal.name for goal in self._search.goals if result.misses(goal))
        counted = (result.length_ps, result.sent, result.lost, result.drawn)
        return Trial(part.load, part.number, *counted, missed)
