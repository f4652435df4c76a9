"""Judges what searches have found over all repeats: an interval of each repeat, not a number.

Each repeat decides a criterion by its own interval, or does not decide it. A criterion passes if it
holds in more than half of all such repeats, and fails if it does not hold in more than half: a sign
test. So it is about the median of what is found. That exists where a bound is missing, and it needs
no spread: on a grid, where all repeats may have found the same, Student's t has none. Source: David
and Nagaraja, Order Statistics (2003), 7.1.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.judge.found import bound_value, decide_value
from qospec.judge.repeats import LIKELY, MoreRepeats, find_first_to_decide
from qospec.judge.statistics import compute_clopper_pearson, find_binomial_critical_value
from qospec.model.bounds import Bounds, find_excess
from qospec.model.suite import MAX_REPEATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.judge.repeats import ConfidenceLevels, RepeatReadings
    from qospec.model.expression import Expression, Operation

HALF = Fraction(1, 2)


class FoundConstraint(NamedTuple):
    """Whether a criterion holds in each repeat.

    Attributes:
        held: In how many repeats it holds.
        failed: In how many it does not; the others do not decide it.
        repeats: How many there are.
        unknown: In how many repeats it is undecided since a bound is missing.
        identical: Whether all repeats have found the same.
    """

    held: int
    failed: int
    repeats: int
    unknown: int
    identical: bool

    @property
    def is_open(self) -> bool:
        """Return whether no number of repeats decides, since bounds that could are missing.

        That is a load that may be anything above the range, or the difference of two such loads.
        """
        return self.unknown > 0 and 2 * max(self.held, self.failed) <= self.repeats

    @property
    def mean(self) -> Fraction:
        """Return what decides whether more repeats are for or against it: above 0, against."""
        return Fraction(self.failed - self.held, self.repeats)

    def holds(self, levels: ConfidenceLevels) -> bool | None:
        """Return whether it holds with the confidence needed; None if that is undecided."""
        if _is_most(self.held, self.repeats, levels.passing):
            return True
        return False if _is_most(self.failed, self.repeats, levels.failing) else None

    def count_more_repeats(self, levels: ConfidenceLevels) -> MoreRepeats:
        """Return how many more repeats like these would decide."""
        bad = self.mean > 0
        confidence = levels.failing if bad else levels.passing
        count = self.failed if bad else self.held
        shares = compute_clopper_pearson(count, self.repeats, 1 - LIKELY)
        most, least = (self._count_more(share, confidence) for share in shares)
        return MoreRepeats(least, None if most > MAX_REPEATS else most)

    def _count_more(self, share: Fraction, confidence: Fraction) -> int:
        """Return how many more decide if such a share of them does; more than may be, if none."""
        return find_first_to_decide(
            lambda repeats: _is_most(math.floor(share * repeats), repeats, confidence), self.repeats
        )


def build_found_constraint(
    expression: Operation, repeats: Sequence[RepeatReadings]
) -> FoundConstraint:
    """Return the constraint of a comparison of loads that were found."""
    verdicts = [decide_value(expression, repeat.read) for repeat in repeats]
    above = [_find_excess(expression, repeat) for repeat in repeats]
    unknown = sum(
        verdict is None and (ends is None or None in ends)
        for verdict, ends in zip(verdicts, above, strict=True)
    )
    return FoundConstraint(
        verdicts.count(True), verdicts.count(False), len(repeats), unknown, len(set(above)) == 1
    )


def _find_excess(comparison: Operation, repeat: RepeatReadings) -> Bounds | None:
    """Return by how much a comparison does not hold; None if a side has no data."""
    sides = [ends for operand in comparison.operands if (ends := bound_value(operand, repeat.read))]
    complete = len(sides) == len(comparison.operands)
    return find_excess(comparison.operator, sides) if complete else None


def bound_median(
    expression: Expression, repeats: Sequence[RepeatReadings], confidence: Fraction
) -> Bounds:
    """Return between what the median of an expression is, with that confidence on each side.

    The lower end is one of the worse ends of what was found, the upper one of the better ends.
    """
    ends = [bound_value(expression, repeat.read) or Bounds() for repeat in repeats]
    place = find_binomial_critical_value(len(repeats), HALF, 1 - confidence)
    low = _get_nth([None if end.least is None else end.least for end in ends], place)
    high = _get_nth([None if end.most is None else -end.most for end in ends], place)
    return Bounds(low, None if high is None else -high)


def _get_nth(values: Sequence[Fraction | None], place: int) -> Fraction | None:
    """Return the value at a place from 0, the least first; None, a missing one, is below all.

    The place is -1, which is none, or in the lower half.
    """
    known = sorted(value for value in values if value is not None)
    place -= len(values) - len(known)
    return known[place] if place >= 0 else None


def _is_most(count: int, repeats: int, confidence: Fraction) -> bool:
    """Return whether more than half of all repeats are like `count` of these, with confidence."""
    return repeats - count <= find_binomial_critical_value(repeats, HALF, 1 - confidence)
