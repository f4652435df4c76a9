"""Multiple Loss Ratio search."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from qospec.catalogue.kinds import method
from qospec.dataclass import dataclass
from qospec.search.method import Narrowing
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.model.suite import Goal, Search
    from qospec.search.progress import Progress, Tried
    from qospec.search.scale import Scale

FAR = 2
"""Halvings from a wrong guess after which it is no help any more."""
SPARE = 4
"""Loads that may be tried beyond those that bisection needs: guesses that turn out to be wrong."""


@method(source="RFC 9971 (MLRsearch); the choice of loads is our own")
@dataclass(frozen=True)
class Mlrsearch(Narrowing):
    """Guess the load from what an overloaded device forwards, then confirm both bounds.

    The first load is the highest. What is forwarded of it is where the bounds are looked for, in
    steps that double as long as they point the same way, then by halving. A load that is only
    passed on the way has one trial; those that are left as bounds are repeated until they are
    decided. No guess is followed if the search could then take more loads than bisection and 4.

    Not modelled: trials that are shorter at first (the initial trial duration), and trials that
    count for a goal whose own are shorter or longer.
    """

    trial_ps: ClassVar[int] = PS_PER_S
    total_ps: ClassVar[int] = 21 * PS_PER_S
    exceed: ClassVar[Fraction] = Fraction(1, 2)

    def count_most_loads(self, search: Search, scale: Scale) -> int:
        return super().count_most_loads(search, scale) + SPARE

    def choose_between(
        self, progress: Progress, goal: int, lower: Fraction, upper: Fraction
    ) -> Fraction:
        scale = progress.scales[goal]
        if progress.search.goals[goal].meets:  # what is forwarded says nothing of a condition
            return scale.find_middle(lower, upper)
        untried = progress.find_load(goal, lower) is None
        guess = _guess(progress, goal, lower, upper)
        if guess <= lower and untried:
            return lower
        if lower < guess < upper:
            left = _count_loads_left(progress, goal) - untried
            if max(scale.count_halvings(lower, guess), scale.count_halvings(guess, upper)) < left:
                return guess
        return scale.find_middle(lower, upper)


def _guess(progress: Progress, goal: int, lower: Fraction, upper: Fraction) -> Fraction:
    """Return where the bound may be: around the load that may just be forwarded, or a step away.

    Where that load was wrong, a step is as long as the way from there, so steps double.
    """
    scale, aim = progress.scales[goal], progress.search.goals[goal]
    bad = [trial for trial in progress.tried[goal] if not trial.looks_good]
    nearest = next(place for place, trial in enumerate(bad) if trial.load == upper)
    start = scale.center_on(_find_sustained(aim, *bad[nearest : nearest + 2]))
    highest = max(_find_sustained(aim, trial) for trial in bad)
    if upper <= highest:
        return min(start, scale.move_below(upper, scale.count_halvings(upper, highest)))
    if lower < scale.center_on(start) or progress.find_load(goal, lower) is None:
        return start
    step = scale.count_halvings(start, max(start, lower))
    return scale.move_above(lower, step) if step < FAR else scale.find_middle(lower, upper)


def _find_sustained(goal: Goal, upper: Tried, beyond: Tried | None = None) -> Fraction:
    """Return the load of which just as much may be lost as the goal allows.

    That is where the rate that an overloaded device forwards, constant or, with a second load, on a
    straight line, meets the rate that the goal asks for.
    """
    rate = _estimate_forwarded(upper)
    slope = Fraction(0)
    if beyond is not None:
        slope = min(slope, (_estimate_forwarded(beyond) - rate) / (beyond.load - upper.load))
    return (rate - slope * upper.load) / (1 - goal.loss - slope)


def _estimate_forwarded(tried: Tried) -> Fraction:
    lost, sent = tried.loss
    return tried.load * Fraction(sent - lost, sent)


def _count_loads_left(progress: Progress, goal: int) -> int:
    """Return how many more loads the goal may try, with what those before it left."""
    goals, order = progress.search.goals, progress.order
    sharing = [
        other
        for other in order[: order.index(goal) + 1]
        if goals[other].length_ps == goals[goal].length_ps
    ]
    return sum(progress.most_loads[other] for other in sharing) - len(progress.tried[goal])
