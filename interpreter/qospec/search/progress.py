"""How far a search is: its trials so far, by load, and what they say for each goal."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import field, replace
from typing import TYPE_CHECKING, NamedTuple

from qospec.dataclass import dataclass
from qospec.search.classification import Classification, classify, looks_good, sums_of

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
    """A load with its trials, in the order of their numbers, and by goal what they say of it."""

    load: Fraction
    trials: tuple[Trial, ...]
    sums: tuple[Sums, ...]
    classes: tuple[Classification, ...]
    looks_good: tuple[bool, ...]

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
        tried: The loads with trials, in ascending order.
        trials: The number of trials.
    """

    search: Search
    scales: tuple[Scale, ...] = field(compare=False, repr=False)
    most_loads: tuple[int, ...]
    order: tuple[int, ...]
    tried: tuple[Tried, ...] = ()
    trials: int = 0

    def after(self, trial: Trial) -> Progress:
        """Return the progress with one more trial. The same one twice is a ValueError."""
        place = bisect_left(self.tried, trial.load, key=lambda each: each.load)
        here = self.at(trial.load, place)
        before = here.trials if here is not None else ()
        numbers = [each.number for each in before]
        if trial.number in numbers:
            raise ValueError(f"trial {trial.number} at {trial.load} was run before")
        split = bisect_left(numbers, trial.number)
        trials = (*before[:split], trial, *before[split:])
        made = _tried(self.search.goals, trials, trial, here)
        rest = self.tried[place + (here is not None) :]
        return replace(self, tried=(*self.tried[:place], made, *rest), trials=self.trials + 1)

    def at(self, load: Fraction, place: int | None = None) -> Tried | None:
        """Return a load with its trials; None if it was not tried."""
        if place is None:
            place = bisect_left(self.tried, load, key=lambda each: each.load)
        here = self.tried[place] if place < len(self.tried) else None
        return here if here is not None and here.load == load else None

    def bounds(self, goal: int) -> Bounds:
        """Return the relevant bounds of a goal, by its number.

        The upper one is the lowest load that is an upper bound, the lower one the highest load
        below it that is a lower bound. Source: RFC 9971, relevant bounds.
        """
        lower = None
        for each in self.tried:
            if each.classes[goal] is UPPER:
                return Bounds(lower, each)
            if each.classes[goal] is LOWER:
                lower = each
        return Bounds(lower, None)

    def apparent_bounds(self, goal: int) -> Bounds:
        """Return the bounds of a goal if loads that are undecided are as they look.

        A load below a decided lower bound counts as good, and one above a decided upper bound as
        bad: only those between can move the bounds.
        """
        decided = self.bounds(goal)
        lower = decided.lower
        first = 0 if lower is None else self.tried.index(lower) + 1
        for each in self.tried[first:]:
            if each is decided.upper or not each.looks_good[goal]:
                return Bounds(lower, each)
            lower = each
        return Bounds(lower, None)


def _tried(
    goals: Sequence[Goal], trials: tuple[Trial, ...], new: Trial, before: Tried | None
) -> Tried:
    """Return a load with its trials, of which one is new. Sums are not added up again."""
    sums = [sums_of(goal, (new,)) for goal in goals]
    if before is not None:
        sums = [a.plus(b) for a, b in zip(before.sums, sums, strict=True)]
    pairs = list(zip(goals, sums, strict=True))
    return Tried(
        new.load,
        trials,
        tuple(sums),
        tuple(classify(goal, each) for goal, each in pairs),
        tuple(looks_good(goal, each) for goal, each in pairs),
    )
