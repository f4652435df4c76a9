"""How a trial that still runs may end, to see which trials may follow."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.search.classification import is_good
from qospec.search.trial import Trial

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.search.progress import Progress
    from qospec.search.trial import Request

SENT = 10**9
"""How many items an assumed trial sends, so that its loss may be any ratio."""


def likely(progress: Progress, request: Request) -> list[Trial]:
    """Return results that a trial may have, the likeliest first: one for each way it can decide.

    They differ in the goals for which the trial is good.
    """
    drawn = any(trial.drawn for each in progress.tried for trial in each.trials)
    found: dict[tuple[bool, ...], Trial] = {}
    for loss in _losses(progress, request.load):
        lost = min(SENT, int(loss * SENT))
        trial = Trial(request.load, request.number, request.length_ps or 1, SENT, lost, drawn)
        good = tuple(is_good(goal, trial) for goal in progress.search.goals)
        found.setdefault(good, trial)
    return list(found.values())


def _losses(progress: Progress, load: Fraction) -> Iterator[Fraction]:
    """Yield loss ratios: what is expected, the most that each goal allows, and more than that."""
    yield _expected(progress, load)
    allowed = sorted({Fraction(0), *(goal.loss for goal in progress.search.goals)})
    yield from allowed
    yield allowed[-1] + Fraction(2, SENT)


def _expected(progress: Progress, load: Fraction) -> Fraction:
    """Return the loss of the last trial there, or that if no more is forwarded than of more."""
    here = progress.at(load)
    if here is not None:
        last = here.trials[-1]
        return Fraction(last.lost, last.sent)
    above = next((each for each in progress.tried if each.load > load), None)
    if above is None:
        return Fraction(0)
    lost, sent = above.loss
    return max(Fraction(0), 1 - above.load * Fraction(sent - lost, sent) / load)
