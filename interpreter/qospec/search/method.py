"""The contract of a search method, and how a search goes on by one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from qospec.model.suite import GoalResult
from qospec.search.classification import Classification, find_conditional_throughput
from qospec.search.progress import Progress
from qospec.search.scale import make_scale
from qospec.search.trial import Request
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.model.suite import Goal, Search
    from qospec.search.progress import Bounds
    from qospec.search.scale import Scale

Outcome = dict[str, GoalResult]
"""What a search has found, by the names of its goals."""

MINUTE_PS = 60 * PS_PER_S


class Method(ABC):
    """A way to choose loads. A frozen dataclass of its parameters.

    A method decides which load is tried next, and nothing else: what a load is worth follows from
    its trials, by the rules of `search.classification`.
    """

    trial_ps: ClassVar[int] = MINUTE_PS
    """How long a trial lasts if the author does not say. Source: RFC 2544, 24."""
    total_ps: ClassVar[int] = MINUTE_PS
    """How long the trials at one load last together by default; at least as long as one trial."""
    exceed: ClassVar[Fraction] = Fraction(0)
    """The greatest share of that time that may be bad trials at a good load, by default."""
    needs_step: ClassVar[bool] = False
    """Whether the range must have a step: its loads are tried, and no others."""

    @abstractmethod
    def count_most_loads(self, search: Search, scale: Scale) -> int:
        """Return the largest number of loads that are tried for one goal.

        It is never exceeded if each load is decided as it first looks, and no greater load loses a
        smaller share. In any other case it limits the search: it is the budget.
        """

    @abstractmethod
    def choose_next_load(self, progress: Progress, goal: int) -> Fraction | None:
        """Return the load of the next trial for a goal, by its number; None if it needs none."""


class Narrowing(Method):
    """A method that narrows the interval between a good and a bad load until they are near.

    It begins at the highest load. The lowest is tried last, if no other was good.
    """

    @abstractmethod
    def choose_between(
        self, progress: Progress, goal: int, lower: Fraction, upper: Fraction
    ) -> Fraction:
        """Return a load between two that are not near; the lower may be an untried end."""

    def count_most_loads(self, search: Search, scale: Scale) -> int:  # noqa: ARG002
        """Return the number of both ends and of the halvings between them."""
        return 2 + scale.count_halvings(scale.low, scale.high)

    def choose_next_load(self, progress: Progress, goal: int) -> Fraction | None:
        """Return an end, a load between the bounds or, when they are near, an undecided bound."""
        scale = progress.scales[goal]
        bounds = progress.find_apparent_bounds(goal)
        lower, upper = bounds
        if upper is None:
            if lower is None or lower.load < scale.high:
                return scale.high
            return find_undecided(bounds)
        if lower is None and upper.load == scale.low:
            return find_undecided(bounds)
        lowest = scale.low if lower is None else lower.load
        if not scale.is_near(lowest, upper.load):
            return self.choose_between(progress, goal, lowest, upper.load)
        return scale.low if lower is None else find_undecided(bounds)


def find_undecided(bounds: Bounds) -> Fraction | None:
    """Return that of two bounds that is undecided; of both, the one with fewer trials."""
    found = [
        bound for bound in bounds if bound and bound.classification is Classification.UNDECIDED
    ]
    return min(found, key=lambda trial: len(trial.trials)).load if found else None


def begin(search: Search) -> Progress:
    """Return the progress of a search without trials."""
    goals = search.goals
    scales = tuple(make_scale(search, goal) for goal in goals)
    most_loads = tuple(search.chooser.count_most_loads(search, scale) for scale in scales)
    order = sorted(range(len(goals)), key=lambda number: (goals[number].loss, goals[number].exceed))
    return Progress(search, scales, most_loads, tuple(order), ((),) * len(goals))


def choose_next_trial(progress: Progress) -> Request | Outcome:
    """Return the trial that a search needs next or, if it needs none, what it has found.

    The goals are pursued one after the other, beginning with the strictest, and each profits from
    the trials of those before that are as long as its own. A search that has spent its budget ends
    as it is.
    """
    if progress.trials < count_most_trials(progress):
        for number in progress.order:
            load = progress.search.chooser.choose_next_load(progress, number)
            if load is not None:
                here = progress.find_load(number, load)
                done = here.trials[-1].number if here is not None else 0
                return Request(load, done + 1, progress.search.goals[number].length_ps)
    return find_outcome(progress)


def find_outcome(progress: Progress) -> Outcome:
    """Return what a search has found so far."""
    return {goal.name: _find_result(progress, n) for n, goal in enumerate(progress.search.goals)}


def count_most_trials(progress: Progress) -> int:
    """Return the largest number of trials that a search runs, whatever they show: its budget."""
    goals = zip(progress.search.goals, progress.most_loads, strict=True)
    return sum(loads * count_trials_of_load(goal) for goal, loads in goals)


def count_trials_of_load(goal: Goal) -> int:
    """Return the number of trials that decide a load, at most."""
    return 1 if goal.varies else -(-goal.total_ps // goal.trial_ps)


def _find_result(progress: Progress, number: int) -> GoalResult:
    goal = progress.search.goals[number]
    lower, upper = progress.find_bounds(number)
    return GoalResult(
        None if lower is None else lower.load,
        None if upper is None else upper.load,
        progress.search.chooser.choose_next_load(progress, number) is None,
        not (lower and upper) or progress.scales[number].is_near(lower.load, upper.load),
        None
        if lower is None or goal.meets
        else find_conditional_throughput(goal, lower.load, lower.trials),
        _find_inversion(progress, number),
    )


def _find_inversion(progress: Progress, goal: int) -> tuple[Fraction, Fraction] | None:
    """Return the lowest load that is bad and the highest one above it that is good, if any."""
    upper = progress.find_bounds(goal).upper
    good = [trial for trial in progress.tried[goal] if trial.classification is Classification.LOWER]
    if upper is None or not good or good[-1].load < upper.load:
        return None
    return upper.load, good[-1].load
