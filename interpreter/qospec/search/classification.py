"""What the trials at one load say of it.

Source: RFC 9971 (MLRsearch), load classification and conditional throughput.
"""

from __future__ import annotations

from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

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
    """How long the trials at a load lasted, in ps; a short one is shorter than the goal's trials.

    A trial is good if it lost no larger share than the goal allows.
    """

    good_ps: int
    bad_ps: int
    short_good_ps: int
    short_bad_ps: int

    def plus(self, other: Sums) -> Sums:
        """Return the sums of the trials of both."""
        return Sums(*(a + b for a, b in zip(self, other, strict=True)))


def is_good(goal: Goal, trial: Trial) -> bool:
    """Return whether a trial lost no larger share than the goal allows."""
    return trial.lost * goal.loss.denominator <= trial.sent * goal.loss.numerator


def is_short(goal: Goal, trial: Trial) -> bool:
    """Return whether a trial is shorter than the goal's."""
    return not goal.varies and trial.length_ps < goal.trial_ps


def sums_of(goal: Goal, trials: Iterable[Trial]) -> Sums:
    """Return the sums of the trials at a load.

    A trial in which nothing was drawn counts as all trials that the goal asks for.
    """
    sums = [0, 0, 0, 0]
    for trial in trials:
        short = is_short(goal, trial)
        weight_ps = trial.length_ps
        if not (trial.drawn or short or goal.varies):
            weight_ps = max(weight_ps, goal.total_ps)
        sums[2 * short + (not is_good(goal, trial))] += weight_ps
    return Sums(*sums)


def classify(goal: Goal, sums: Sums) -> Classification:
    """Classify a load for a goal by the sums of its trials.

    It is a lower bound if it meets the goal even if all that is left of the goal's `total` is bad,
    an upper bound if it does not even if all of that is good.
    """
    good, bad, total, exceed, subceed = _weighted(goal, sums)
    if not any(sums):
        return Classification.UNDECIDED
    whole = max(good + bad, total)
    if (whole - good) * (exceed + subceed) <= whole * exceed:
        return Classification.LOWER
    if bad * (exceed + subceed) > whole * exceed:
        return Classification.UPPER
    return Classification.UNDECIDED


def looks_good(goal: Goal, sums: Sums) -> bool:
    """Return whether a load meets the goal if its trials so far are all."""
    good, bad, _, exceed, subceed = _weighted(goal, sums)
    return bad * (exceed + subceed) <= (good + bad) * exceed


def _weighted(goal: Goal, sums: Sums) -> tuple[int, int, int, int, int]:
    """Return the good, bad and total lengths, multiplied by `subceed`, and the exceed ratio.

    The ratio is `exceed` to `exceed + subceed`. Short good trials make up for short bad ones, no
    more: they prove nothing of trials as long as the goal's.
    """
    exceed = goal.exceed.numerator
    subceed = goal.exceed.denominator - exceed
    excess = max(0, sums.short_bad_ps * subceed - sums.short_good_ps * exceed)
    total = 0 if goal.varies else goal.total_ps * subceed
    return sums.good_ps * subceed, sums.bad_ps * subceed + excess, total, exceed, subceed


def conditional_throughput(goal: Goal, load: Fraction, trials: Sequence[Trial]) -> Fraction | None:
    """Return the load less the loss of the worst trial that must not exceed the goal's.

    Of the goal's `total`, the share `1 - exceed` counts, beginning with the smallest loss. None if
    there are too few trials.
    """
    full = [trial for trial in trials if not is_short(goal, trial)]
    full.sort(key=lambda trial: Fraction(trial.lost, trial.sent))
    total_ps = 0 if goal.varies else goal.total_ps
    weights = [t.length_ps if t.drawn else max(t.length_ps, total_ps) for t in full]
    left_ps = max(total_ps, sum(weights)) * (1 - goal.exceed)
    for trial, weight_ps in zip(full, weights, strict=True):
        left_ps -= weight_ps
        if left_ps <= 0:
            return load * (1 - Fraction(trial.lost, trial.sent))
    return None
