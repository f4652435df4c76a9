"""How far a search is: its trials so far, by load, and what they say for each goal."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import field, replace
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple, dataclass
from qospec.search.classification import (
    Classification,
    classify,
    is_counted,
    looks_good,
    sum_trials,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from qospec.model.suite import Goal, Search
    from qospec.search.classification import Sums
    from qospec.search.scale import Scale
    from qospec.search.trial import Trial

LOWER, UPPER = Classification.LOWER, Classification.UPPER


@dataclass(frozen=True)
class Tried:
    """A load, its trials that count for a goal, by number, and what they say of it for the goal."""

    load: Fraction
    trials: tuple[Trial, ...]
    sums: Sums
    classification: Classification
    looks_good: bool

    @property
    def loss(self) -> tuple[int, int]:
        """Return how many items were lost in all trials together, and of how many."""
        return sum(trial.lost for trial in self.trials), sum(trial.sent for trial in self.trials)


class Bounds(NamedTuple):
    """Two loads that were tried; None: there is none. The lower one is below the upper one."""

    lower: Tried | None
    upper: Tried | None


@dataclass(frozen=True)
class Progress:
    """A search and the trials that have ended. Their order does not matter.

    Attributes:
        search: What is searched, and its goals.
        scales: Of each goal, the loads that may be tried.
        most_loads: Of each goal, the largest number of loads that are tried for it.
        order: The numbers of the goals, beginning with the strictest, whose load is the lowest.
        tried: Of each goal, the loads with trials that count for it, in ascending order.
        trials: The number of trials.
    """

    search: Search
    scales: tuple[Scale, ...] = field(compare=False, repr=False)
    most_loads: tuple[int, ...]
    order: tuple[int, ...]
    tried: tuple[tuple[Tried, ...], ...]
    trials: int = 0

    def add_trial(self, trial: Trial) -> Progress:
        """Return the progress with one more trial. The same one twice is a ValueError."""
        goals = zip(self.search.goals, self.tried, strict=True)
        tried = tuple(
            _insert_trial(its, goal, trial) if is_counted(goal, trial) else its
            for goal, its in goals
        )
        return replace(self, tried=tried, trials=self.trials + 1)

    def find_load(self, goal: int, load: Fraction) -> Tried | None:
        """Return a load with its trials for a goal, by its number; None if it has none."""
        return _find(self.tried[goal], load)[1]

    def find_bounds(self, goal: int) -> Bounds:
        """Return the relevant bounds of a goal, by its number.

        The upper one is the lowest load that is an upper bound, the lower one the highest load
        below it that is a lower bound. Source: RFC 9971, relevant bounds.
        """
        lower = None
        for trial in self.tried[goal]:
            if trial.classification is UPPER:
                return Bounds(lower, trial)
            if trial.classification is LOWER:
                lower = trial
        return Bounds(lower, None)

    def find_apparent_bounds(self, goal: int) -> Bounds:
        """Return the bounds of a goal if loads that are undecided are as they look.

        A load below a decided lower bound counts as good, and one above a decided upper bound as
        bad: only those between can move the bounds.
        """
        decided = self.find_bounds(goal)
        lower = decided.lower
        tried = self.tried[goal]
        first = 0 if lower is None else tried.index(lower) + 1
        for trial in tried[first:]:
            if trial is decided.upper or not trial.looks_good:
                return Bounds(lower, trial)
            lower = trial
        return Bounds(lower, None)


def _find(tried: Sequence[Tried], load: Fraction) -> tuple[int, Tried | None]:
    """Return where a load is or would be, and what is there; None if it was not tried."""
    place = bisect_left(tried, load, key=lambda trial: trial.load)
    here = tried[place] if place < len(tried) else None
    return place, here if here is not None and here.load == load else None


def _insert_trial(tried: tuple[Tried, ...], goal: Goal, trial: Trial) -> tuple[Tried, ...]:
    """Return loads with one more trial. Sums are not added up again."""
    place, here = _find(tried, trial.load)
    before, sums = ((), sum_trials(goal, ())) if here is None else (here.trials, here.sums)
    split = bisect_left(before, trial.number, key=lambda earlier: earlier.number)
    if split < len(before) and before[split].number == trial.number:
        raise ValueError(f"trial {trial.number} at {trial.load} was run before")
    trials = (*before[:split], trial, *before[split:])
    sums = sums.add(sum_trials(goal, (trial,)))
    made = Tried(trial.load, trials, sums, classify(goal, sums), looks_good(goal, sums))
    return (*tried[:place], made, *tried[place + (here is not None) :])
