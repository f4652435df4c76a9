"""How a trial that still runs may end, to see which trials may follow."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

from qospec.search.classification import is_good
from qospec.search.trial import Trial

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.model.suite import Goal
    from qospec.search.progress import Progress
    from qospec.search.trial import Request

SENT = 10**9
"""How many items an assumed trial sends, so that its loss may be any ratio."""


def predict_results(progress: Progress, request: Request) -> list[Trial]:
    """Return results that a trial may have, the likeliest first: one for each way it can decide.

    They differ in the goals for which the trial is good.
    """
    drawn = any(trial.drawn for its in progress.tried for trials in its for trial in trials.trials)
    goals = progress.search.goals
    of = [number for number, goal in enumerate(goals) if goal.length_ps == request.length_ps]
    found: dict[tuple[bool, ...], Trial] = {}
    conditions = frozenset(goals[number].name for number in of if goals[number].meets)
    losses = [
        _expect_loss(progress, of[0], request.load),
        *_list_losses([goals[number] for number in of]),
    ]
    for missed, loss in product(dict.fromkeys([frozenset[str](), conditions]), losses):
        lost, length_ps = min(SENT, int(loss * SENT)), request.length_ps or 1
        trial = Trial(request.load, request.number, length_ps, SENT, lost, drawn, missed)
        good = tuple(is_good(goals[number], trial) for number in of)
        found.setdefault(good, trial)
    return list(found.values())


def _list_losses(goals: Sequence[Goal]) -> Iterator[Fraction]:
    """Yield loss ratios: the most that each goal allows, and more than that."""
    allowed = sorted({Fraction(0), *(goal.loss for goal in goals)})
    yield from allowed
    yield allowed[-1] + Fraction(2, SENT)


def _expect_loss(progress: Progress, goal: int, load: Fraction) -> Fraction:
    """Return the loss of the last trial there, or that if no more is forwarded than of more."""
    here = progress.find_load(goal, load)
    if here is not None:
        last = here.trials[-1]
        return Fraction(last.lost, last.sent)
    above = next((trial for trial in progress.tried[goal] if trial.load > load), None)
    if above is None:
        return Fraction(0)
    lost, sent = above.loss
    return max(Fraction(0), 1 - above.load * Fraction(sent - lost, sent) / load)
