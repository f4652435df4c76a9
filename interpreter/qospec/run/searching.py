"""What a search may cost: how many trials, and how much emulated time, at most."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from qospec.model.suite import Case, Goal, Search


class Cost(NamedTuple):
    """At most so many trials, and so much emulated time in all."""

    trials: int
    emulated_ps: int


def cost(case: Case, search: Search) -> Cost:
    """Return what the search of a case may cost in all its repeats, and on its controls.

    A goal without any luck is looked for by itself: at both ends of the range, then by halving on a
    scale of ratios, until the bounds are as near as its width; and each load takes all of `total`.
    A search that has spent this much ends.
    """
    often = len(case.networks) * case.run.repeat
    trials = {goal: loads(search, goal) * trials_of_a_load(goal) for goal in search.goals}
    length_ps = {goal: case.run.warmup_ps + goal.trial_ps for goal in search.goals}
    emulated_ps = sum(count * length_ps[goal] for goal, count in trials.items())
    return Cost(often * sum(trials.values()), often * emulated_ps)


def loads(search: Search, goal: Goal) -> int:
    """Return how many loads a search tries for one goal, at most."""
    span = search.high / search.low  # more than a float holds, it may be
    steps = (math.log(span.numerator) - math.log(span.denominator)) / -math.log1p(
        -float(goal.width)
    )
    return 2 + max(0, math.ceil(math.log2(steps)))


def trials_of_a_load(goal: Goal) -> int:
    """Return how many trials of a load it takes to fill its total length."""
    return -(-goal.total_ps // goal.trial_ps)
