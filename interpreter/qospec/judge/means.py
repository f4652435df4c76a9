"""Confidence intervals of the mean over repeats, by Student's t or by counts.

Each side of the interval is a one-sided test. Source: NIST/SEMATECH e-Handbook of Statistical
Methods, 7.2.2. Where repeats are short, their means are skewed, because one of them may have met a
long queue: Student's t alone then passes false criteria up to three times too often, so the
interval is widened by the first term of its expansion: Johnson, J. Am. Stat. Assoc. 73 (1978), 536.
A few values hardly show their skewness; what is known is that it grows with their spread over their
distance from a natural limit, and leads away from it: upwards from the least possible, downwards
from what was offered. Each end of the interval is widened by the skewness on its side.
Losses are counted and have the bounds of a proportion instead: see `losses`. Repeats that do not
differ show no spread: see `repeats.interval_without_spread`.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import discover
from qospec.dataclass import NamedTuple
from qospec.engine.measure.metric import Metric
from qospec.judge.repeats import decide, interval_without_spread, repeats_to_decide
from qospec.judge.statistics import (
    MAX_SKEWNESS_BELOW,
    MAX_SKEWNESS_OF_RATIO,
    RESOLUTION,
    Values,
    assumed_skewness,
    half_width,
    mean,
    square_root,
    variance,
)
from qospec.model.bounds import ANYTHING, Bounds
from qospec.model.expression import (
    Counted,
    Measured,
    bound_expression,
    find_declared_bounds,
    list_observed,
)
from qospec.units import CELLS, PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.judge.losses import Losses
    from qospec.judge.repeats import ConfidenceLevels, MoreRepeats, RepeatReadings
    from qospec.model.expression import Expression, Value


class Skewness(NamedTuple):
    """What is assumed of the repeats: how far they are skewed towards less, and towards more."""

    below: Fraction = Fraction(0)
    above: Fraction = Fraction(0)


SYMMETRIC = Skewness()
COUNTS = ("planned", "received")
"""What was offered, and what arrived of it."""


class MeanConstraint(NamedTuple):
    """Values whose mean must be below 0 (or, unless `strict`, at most 0) for a criterion to hold.

    Attributes:
        values: One of each repeat.
        strict: Whether 0 is not good enough.
        losses: What was counted, where losses are judged.
        increasing: Whether the values grow with the losses.
        skewness: What is assumed of the values' distribution.
        possible: What each value can be, whatever is measured.
    """

    values: Values
    strict: bool
    losses: Losses | None = None
    increasing: bool = True
    skewness: Skewness = SYMMETRIC
    possible: Bounds = ANYTHING

    @classmethod
    def of(
        cls,
        values: Values,
        *,
        strict: bool,
        losses: Losses | None = None,
        increasing: bool = True,
        skewness: Skewness = SYMMETRIC,
        possible: Bounds = ANYTHING,
    ) -> MeanConstraint:
        """Return the constraint, with its values rounded where they differ."""
        if len(set(values)) > 1:
            values = [Fraction(round(value * RESOLUTION), RESOLUTION) for value in values]
        return cls(values, strict, losses, increasing, skewness, possible)

    @property
    def mean(self) -> Fraction:
        """Return the mean over the repeats."""
        return mean(self.values)

    @property
    def variance(self) -> Fraction:
        """Return the sample variance."""
        return variance(self.values)

    @property
    def identical(self) -> bool:
        """Return whether the repeats do not differ in anything that would show their spread."""
        return len(set(self.values)) == 1 if self.losses is None else self.losses.identical

    @property
    def value(self) -> Fraction:
        """Return the mean, as other estimates name it."""
        return self.mean

    def interval(self, confidence: Fraction, repeats: int) -> Bounds:
        """Return the confidence interval of the mean of `repeats` such repeats."""
        middle = self.mean
        if self.losses is not None:
            below, above = self.losses.margins_of_error(confidence, repeats)
            below, above = (below, above) if self.increasing else (above, below)
            return Bounds(middle - below, middle + above)
        if self.identical:
            return interval_without_spread(middle, self.possible, confidence, repeats)
        skewed = self.skewness
        below, above = (half_width(self.values, each, confidence, repeats) for each in skewed)
        return Bounds(middle - below, middle + above)

    def holds(self, levels: ConfidenceLevels) -> bool | None:
        """Return whether the whole interval is on the good side; None if that is undecided."""
        count = len(self.values)
        return decide(lambda each: self.interval(each, count), levels, strict=self.strict)

    def more_repeats(self, levels: ConfidenceLevels) -> MoreRepeats:
        """Return how many more repeats like these would decide."""
        count = len(self.values)
        alike = self.identical if self.losses is None else not self.losses.lost
        effect = self.design_effect(levels.passing, count) > 1
        return repeats_to_decide(
            self.interval, self.mean, levels, count, alike=alike, effect=effect
        )

    def design_effect(self, confidence: Fraction, repeats: int) -> Fraction:
        """Return the design effect of losses; 1 of what is not counted."""
        losses = self.losses
        return Fraction(1) if losses is None else losses.design_effect(confidence, repeats)


def skewness(expression: Expression, repeats: Sequence[RepeatReadings]) -> Skewness:
    """Return the skewness to assume for the values of an expression in the repeats."""
    leaves = list(dict.fromkeys(list_observed(expression)))
    found = [skewness_of(leaf, repeats) for leaf in leaves]
    ends = bound_expression(expression, lambda _: Bounds(None, Fraction(1)))
    if len(leaves) == 1 and ends.least is None and ends.most is not None:
        return found[0]
    if len(leaves) == 1 and ends.most is None and ends.least is not None:
        return Skewness(found[0].above, found[0].below)
    most = max((end for each in found for end in each), default=Fraction(0))
    return Skewness(most, most)


def skewness_of(leaf: Measured | Counted, repeats: Sequence[RepeatReadings]) -> Skewness:
    """Return the skewness to assume for a measured value.

    Above, it is that from the least possible value. Below, it is no less, since values may differ
    downwards as well; where they have a limit above, it is that from there. What passes a place,
    maxima, and scores of calls have limits that nobody knows: the ends of what the repeats gave.
    """
    values = [value for repeat in repeats if isinstance(value := repeat.read(leaf), Fraction)]
    mirrored = [-value for value in values]
    metric = _metric(leaf)
    passes = isinstance(leaf, Measured) and leaf.place is not None and not leaf.flow
    above = assumed_skewness(values, min(values) if passes else _least(leaf, repeats, values))
    if passes or _is_extreme(leaf) or metric.of_calls:
        below = assumed_skewness(mirrored, -max(values), MAX_SKEWNESS_BELOW)
    elif (most := find_declared_bounds(leaf).most) is not None:
        below = assumed_skewness(mirrored, -most, MAX_SKEWNESS_OF_RATIO)
    elif isinstance(leaf, Measured) and metric.delivered:
        below = _skewness_by_deficits(leaf, repeats, values)
    else:
        below = above
    return Skewness(max(above, below), above)


def could_not_be_better(below: Expression, repeat: RepeatReadings) -> bool:
    """Return whether what must be below 0 is as far below it in a repeat as it can be.

    All that was planned has arrived, or the value is the best that the metric can have.
    """
    leaves = dict.fromkeys(list_observed(below))
    ends = bound_expression(below, lambda _: Bounds(None, Fraction(1)))
    if len(leaves) != 1 or (ends.least is None) == (ends.most is None):
        return False
    (leaf,) = leaves
    if ends.most is not None:  # the more is measured, the more it is
        return (
            find_declared_bounds(leaf).least is not None
            and repeat.read(leaf) == find_declared_bounds(leaf).least
        )
    if isinstance(leaf, Measured) and leaf.flow and _metric(leaf).delivered:
        planned, received = _counts(leaf, repeat)
        return planned is not None and planned == received
    return (
        find_declared_bounds(leaf).most is not None
        and repeat.read(leaf) == find_declared_bounds(leaf).most
    )


def _counts(leaf: Measured, repeat: RepeatReadings) -> list[Value]:
    """Return what was planned of a flow in a repeat, and what arrived."""
    of = replace(leaf, statistic="", place=None, dimension=CELLS)
    return [repeat.read(replace(of, metric=name)) for name in COUNTS]


def _metric(leaf: Measured | Counted) -> type[Metric]:
    """Return the facts of a metric; of what is observed in a device, those of any."""
    kind = discover().find("metric", leaf.metric) if isinstance(leaf, Measured) else None
    return Metric if kind is None else kind.build


def _is_extreme(leaf: Measured | Counted) -> bool:
    """Return whether a value is the greatest of many, which cannot be above some end."""
    if isinstance(leaf, Counted):
        return leaf.observed.endswith(".max")
    return leaf.statistic == "max" or "outages" in leaf.needs


def _least(
    leaf: Measured | Counted, repeats: Sequence[RepeatReadings], values: Sequence[Fraction]
) -> Fraction:
    """Return the least possible value: of delays the shortest, of all others 0."""
    if not isinstance(leaf, Measured) or leaf.statistic not in ("mean", "max"):
        return Fraction(0)
    found = [repeat.delays(leaf) for repeat in repeats]
    shortest = [each.min_ps for each in found if each is not None and each.min_ps is not None]
    least = Fraction(min(shortest, default=0), PS_PER_S)
    return least if least <= min(values) else Fraction(0)


def _skewness_by_deficits(
    leaf: Measured, repeats: Sequence[RepeatReadings], values: Sequence[Fraction]
) -> Fraction:
    """Return how far a value is skewed towards less by what did not arrive of what was planned.

    Skewness is the third power of a deviation: that of deficits counts as far as they make up the
    deviation of the values, which also differ since what is sent is drawn.
    """
    counts = [_counts(leaf, repeat) for repeat in repeats]
    known = [[count for count in pair if isinstance(count, Fraction)] for pair in counts]
    arrived = sum((pair[-1] for pair in known if len(pair) == len(COUNTS)), Fraction(0))
    deviation = square_root(variance(values))
    if not arrived or not deviation or any(len(pair) < len(COUNTS) for pair in known):
        return Fraction(0)
    deficits = [planned - received for planned, received in known]
    scale = mean(values) * len(known) / arrived
    part = min(Fraction(1), square_root(variance(deficits)) * scale / deviation)
    return assumed_skewness(deficits, Fraction(0), MAX_SKEWNESS_BELOW) * part**3
