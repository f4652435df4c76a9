"""What the trials at one load say of it.

Source: RFC 9971 (MLRsearch), load classification and conditional throughput. Ours is that a trial
says nothing for a goal whose trials are of another length.
"""

from __future__ import annotations

from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qospec.model.suite import Goal
    from qospec.search.trial import Trial


class Classification(Enum):
    """Whether a load meets a goal, whatever further trials within the goal's `total` would show."""

    LOWER = "lower bound"
    UPPER = "upper bound"
    UNDECIDED = "undecided"


class Sums(NamedTuple):
    """How long the good and the bad trials at a load lasted, in ps."""

    good_ps: int
    bad_ps: int

    def add(self, other: Sums) -> Sums:
        """Return the sums of the trials of both."""
        return Sums(*(a + b for a, b in zip(self, other, strict=True)))


def is_good(goal: Goal, trial: Trial) -> bool:
    """Return whether a trial meets the goal's condition, or lost no larger share than it allows."""
    if goal.meets:
        return goal.name not in trial.missed
    return trial.lost * goal.loss.denominator <= trial.sent * goal.loss.numerator


def is_counted(goal: Goal, trial: Trial) -> bool:
    """Return whether a trial is as long as the goal's, so that it says something for the goal.

    In a longer one the same load may overflow a queue that a shorter one only begins to fill.
    """
    return goal.length_ps in (None, trial.length_ps)


def sum_trials(goal: Goal, trials: Iterable[Trial]) -> Sums:
    """Return the sums of the trials at a load, all of which count for the goal.

    A trial in which nothing was drawn counts as all trials that the goal asks for.
    """
    sums = [0, 0]
    for trial in trials:
        weight_ps = trial.length_ps
        if not (trial.drawn or goal.varies):
            weight_ps = max(weight_ps, goal.total_ps)
        sums[not is_good(goal, trial)] += weight_ps
    return Sums(*sums)


def classify(goal: Goal, sums: Sums) -> Classification:
    """Classify a load for a goal by the sums of its trials.

    It is a lower bound if it meets the goal even if all that is left of the goal's `total` is bad,
    an upper bound if it does not even if all of that is good.
    """
    if not any(sums):
        return Classification.UNDECIDED
    whole_ps = max(sum(sums), 0 if goal.varies else goal.total_ps)
    allowed_ps = whole_ps * goal.exceed
    if whole_ps - sums.good_ps <= allowed_ps:
        return Classification.LOWER
    return Classification.UPPER if sums.bad_ps > allowed_ps else Classification.UNDECIDED


def looks_good(goal: Goal, sums: Sums) -> bool:
    """Return whether a load meets the goal if its trials so far are all."""
    return sums.bad_ps <= sum(sums) * goal.exceed


def find_conditional_throughput(
    goal: Goal, load: Fraction, trials: Sequence[Trial]
) -> Fraction | None:
    """Return the load less the loss of the worst trial that must not exceed the goal's.

    All trials count for the goal. Of its `total`, the share `1 - exceed` counts, beginning with the
    smallest loss. None if there are too few trials.
    """
    ordered = sorted(trials, key=lambda trial: Fraction(trial.lost, trial.sent))
    total_ps = 0 if goal.varies else goal.total_ps
    weights = [t.length_ps if t.drawn else max(t.length_ps, total_ps) for t in ordered]
    left_ps = max(total_ps, sum(weights)) * (1 - goal.exceed)
    for trial, weight_ps in zip(ordered, weights, strict=True):
        left_ps -= weight_ps
        if left_ps <= 0:
            return load * (1 - Fraction(trial.lost, trial.sent))
    return None
