"""Confidence intervals of the mean over repeats, by Student's t or by counts.

Each side of the interval is a one-sided test. Source: NIST/SEMATECH e-Handbook of Statistical
Methods, 7.2.2. Where repeats are short, their means are skewed, because one of them may have met a
long queue: Student's t alone then passes false criteria up to three times too often, so the
interval is widened by the first term of its expansion: Johnson, J. Am. Stat. Assoc. 73 (1978), 536.
A few values hardly show their skewness; what is known is that it grows with their spread over their
distance from a natural limit, and leads away from it: upwards from the least possible, downwards
from what was offered. Each end of the interval is widened by the skewness on its side.
Losses are counted and have the bounds of a proportion instead: see `losses`. What falls with them,
such as a throughput or the score of a call, may be lower by all the losses that these bounds leave
open, however little the repeats differ: see `Unseen`. Of other repeats that do not differ see
`repeats.compute_interval_without_spread`.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeGuard

from qospec.catalogue.kinds import discover
from qospec.dataclass import NamedTuple
from qospec.engine.measure.metric import Metric
from qospec.engine.measure.tally import Delays
from qospec.judge.losses import pool_missing
from qospec.judge.repeats import (
    bound_rare_share,
    compute_interval_without_spread,
    count_repeats_to_decide,
    decide,
)
from qospec.judge.statistics import (
    MAX_SKEWNESS_BELOW,
    MAX_SKEWNESS_BELOW_GREATEST,
    MAX_SKEWNESS_OF_RATIO,
    RESOLUTION,
    SKEWNESS_BELOW_GREATEST,
    Values,
    compute_half_width,
    compute_mean,
    compute_variance,
    estimate_skewness,
    square_root,
)
from qospec.model.bounds import ANYTHING, Bounds
from qospec.model.expression import (
    Counted,
    Measured,
    bound_expression,
    evaluate,
    find_declared_bounds,
    list_observed,
)
from qospec.units import CELLS, PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.judge.losses import Losses
    from qospec.judge.repeats import ConfidenceLevels, MoreRepeats, RepeatReadings
    from qospec.model.expression import Expression, Leaf, Value


class Skewness(NamedTuple):
    """What is assumed of the repeats: how far they are skewed towards less, and towards more."""

    below: Fraction = Fraction(0)
    above: Fraction = Fraction(0)


SYMMETRIC = Skewness()
COUNTS = ("planned", "received")
"""What was offered, and what arrived of it."""
LATE = "late"
"""What arrived, but is as good as lost to a call."""


class Unseen(NamedTuple):
    """By how much losses that the repeats did not show may lower a mean.

    Attributes:
        missing: What the repeats lost.
        fall: By how much the mean falls at most if all is lost in place of nothing; None: unknown.
        shown: By how much it did per share of what these repeats lost, or less.
        room: How far the mean is above the least value, which rare other repeats may have.
        slope: By how much a constraint's value rises if the mean does by 1.
    """

    missing: Losses
    fall: Fraction | None
    shown: Fraction
    room: Fraction
    slope: Fraction

    def compute_margin(self, confidence: Fraction, repeats: int) -> Fraction:
        """Return by how much the constraint's value may change, with its sign.

        Each loss may make it fall by the most; where k independent ones were seen, that counts for
        one in k + 1, and else they are like these. That share is what is expected of the next one
        (Laplace), no bound: by calibration at most 5 of 100 false criteria pass with it.
        """
        most = bound_rare_share(confidence, repeats) * self.room
        if self.fall is not None:
            _, more = self.missing.compute_margins_of_error(confidence, repeats)
            effect = self.missing.compute_design_effect(confidence, repeats)
            independent = self.missing.lost * repeats / (self.missing.repeats * effect)
            most = min(most, (self.shown + (self.fall - self.shown) / (1 + independent)) * more)
        return -self.slope * most


class MeanConstraint(NamedTuple):
    """Values whose mean must be below 0 (or, unless `strict`, at most 0) for a criterion to hold.

    Attributes:
        values: One of each repeat.
        strict: Whether 0 is not good enough.
        losses: What was counted, where losses are judged.
        increasing: Whether the values grow with the losses.
        skewness: What is assumed of the values' distribution.
        possible: What each value can be, whatever is measured.
        unseen: What losses that were not seen may change.
    """

    values: Values
    strict: bool = False
    losses: Losses | None = None
    increasing: bool = True
    skewness: Skewness = SYMMETRIC
    possible: Bounds = ANYTHING
    unseen: tuple[Unseen, ...] = ()

    @property
    def mean(self) -> Fraction:
        """Return the mean over the repeats."""
        return compute_mean(self.values)

    @property
    def variance(self) -> Fraction:
        """Return the sample variance."""
        return compute_variance(self.values)

    @property
    def identical(self) -> bool:
        """Return whether the repeats do not differ in anything that would show their spread."""
        return len(set(self.values)) == 1 if self.losses is None else self.losses.identical

    @property
    def value(self) -> Fraction:
        """Return the mean, as other estimates name it."""
        return self.mean

    def compute_interval(self, confidence: Fraction, repeats: int) -> Bounds:
        """Return the confidence interval of the mean of `repeats` such repeats."""
        middle = self.mean
        if self.losses is not None:
            below, above = self.losses.compute_margins_of_error(confidence, repeats)
            below, above = (below, above) if self.increasing else (above, below)
            return Bounds(middle - below, middle + above)
        changes = [losses.compute_margin(confidence, repeats) for losses in self.unseen]
        lower = middle + sum((change for change in changes if change < 0), Fraction(0))
        higher = middle + sum((change for change in changes if change > 0), Fraction(0))
        if self.identical:
            least, most = compute_interval_without_spread(
                middle, self.possible, confidence, repeats
            )
            return Bounds(lower if lower < middle else least, higher if higher > middle else most)
        below, above = (
            compute_half_width(self.values, skewed, confidence, repeats) for skewed in self.skewness
        )
        return Bounds(min(lower, middle - below), max(higher, middle + above))

    def holds(self, levels: ConfidenceLevels) -> bool | None:
        """Return whether the whole interval is on the good side; None if that is undecided."""
        count = len(self.values)
        return decide(lambda level: self.compute_interval(level, count), levels, strict=self.strict)

    def count_more_repeats(self, levels: ConfidenceLevels) -> MoreRepeats:
        """Return how many more repeats like these would decide."""
        count = len(self.values)
        alike = self.identical if self.losses is None else not self.losses.lost
        effect = self.compute_design_effect(levels.passing, count) > 1
        return count_repeats_to_decide(
            self.compute_interval, self.mean, levels, count, alike=alike, effect=effect
        )

    def compute_design_effect(self, confidence: Fraction, repeats: int) -> Fraction:
        """Return the design effect of losses; 1 of what is not counted."""
        losses = self.losses
        return Fraction(1) if losses is None else losses.compute_design_effect(confidence, repeats)


def round_values(values: Values) -> Values:
    """Return values with as many digits as matter where they differ; else as they are."""
    if len(set(values)) == 1:
        return values
    return [Fraction(round(value * RESOLUTION), RESOLUTION) for value in values]


def estimate_skewness_of_expression(
    expression: Expression, repeats: Sequence[RepeatReadings]
) -> Skewness:
    """Return the skewness to assume for the values of an expression in the repeats."""
    leaves = list(dict.fromkeys(list_observed(expression)))
    found = [estimate_skewness_of_leaf(leaf, repeats) for leaf in leaves]
    ends = bound_expression(expression, lambda _: Bounds(None, Fraction(1)))
    if len(leaves) == 1 and ends.least is None and ends.most is not None:
        return found[0]
    if len(leaves) == 1 and ends.most is None and ends.least is not None:
        return Skewness(found[0].above, found[0].below)
    most = max((end for skewness in found for end in skewness), default=Fraction(0))
    return Skewness(most, most)


def list_unseen(expression: Expression, repeats: Sequence[RepeatReadings]) -> tuple[Unseen, ...]:
    """Return what losses that were not seen may change of an expression, which is linear.

    There is none if what it observes does not fall with losses, or not all of it.
    """
    observed = list(dict.fromkeys(list_observed(expression)))
    leaves = [leaf for leaf in observed if not _is_sent(leaf)]
    falling = [leaf for leaf in leaves if _falls_with_loss(leaf)]
    values = {leaf: _list_values(leaf, repeats) for leaf in observed}
    if len(falling) < len(leaves) or not all(values.values()):
        return ()
    means: dict[Leaf, Value] = {leaf: compute_mean(found) for leaf, found in values.items()}
    known = []
    for leaf in falling:
        middle, missing = compute_mean(values[leaf]), _find_missing(leaf, repeats)
        ends = [evaluate(expression, {**means, leaf: middle + step}.get) for step in (0, 1)]
        numbers = [end for end in ends if isinstance(end, Fraction)]
        if missing is None or len(numbers) < len(ends):
            return ()
        known.append(_build_unseen(leaf, middle, missing, numbers[1] - numbers[0]))
    return tuple(known)


def _is_sent(leaf: Measured | Counted) -> bool:
    return isinstance(leaf, Measured) and leaf.of_source


def _falls_with_loss(leaf: Measured | Counted) -> TypeGuard[Measured]:
    """Return whether a value is that of a flow, and falls with what does not arrive of it."""
    metric = _find_metric(leaf)
    known = metric.delivered or metric.fall_per_loss is not None
    return known and isinstance(leaf, Measured) and bool(leaf.flow) and leaf.least is not None


def _build_unseen(leaf: Measured, middle: Fraction, missing: Losses, slope: Fraction) -> Unseen:
    metric, lost = _find_metric(leaf), missing.value
    fall = metric.fall_per_loss if leaf.statistic in ("", "mean") else None
    if metric.delivered and lost < 1:
        fall = middle / (1 - lost)
    shown = fall or Fraction(0)
    if lost and leaf.most is not None:
        shown = min(shown, (leaf.most - middle) / lost)
    return Unseen(missing, fall, shown, middle - (leaf.least or 0), slope)


def _find_missing(leaf: Measured, repeats: Sequence[RepeatReadings]) -> Losses | None:
    """Return what did not arrive of what was planned, or not in time for a call; None: unknown."""
    names = (*COUNTS, LATE) if _find_metric(leaf).of_calls else COUNTS
    rows = [[_count(leaf, name, repeat) for name in names] for repeat in repeats]
    known = [[count for count in row if count is not None] for row in rows]
    if any(len(row) < len(names) for row in known):
        return None
    delays = [repeat.read_delays(leaf) or Delays() for repeat in repeats]
    gone = [planned - received + sum(late) for planned, received, *late in known]
    return pool_missing([planned for planned, *_ in known], gone, delays)


def _list_values(leaf: Measured | Counted, repeats: Sequence[RepeatReadings]) -> list[Fraction]:
    return [value for repeat in repeats if isinstance(value := repeat.read(leaf), Fraction)]


def estimate_skewness_of_leaf(
    leaf: Measured | Counted, repeats: Sequence[RepeatReadings]
) -> Skewness:
    """Return the skewness to assume for a measured value.

    Above, it is that from the least possible value. Below, it is no less, since values may differ
    downwards as well; where they have a limit above, it is that from there. What passes a place,
    maxima, and scores of calls have limits that nobody knows: the ends of what the repeats gave.
    """
    values = _list_values(leaf, repeats)
    mirrored = [-value for value in values]
    metric = _find_metric(leaf)
    passes = isinstance(leaf, Measured) and leaf.place is not None and not leaf.flow
    above = estimate_skewness(values, min(values) if passes else _find_least(leaf, repeats, values))
    if passes or _is_extreme(leaf) or metric.of_calls:
        below = estimate_skewness(
            mirrored, -max(values), MAX_SKEWNESS_BELOW_GREATEST, SKEWNESS_BELOW_GREATEST
        )
    elif (most := find_declared_bounds(leaf).most) is not None:
        below = estimate_skewness(mirrored, -most, MAX_SKEWNESS_OF_RATIO)
    elif isinstance(leaf, Measured) and metric.delivered:
        below = _compute_skewness(leaf, repeats, values)
    else:
        below = above
    return Skewness(max(above, below), above)


def is_best_possible(below: Expression, repeat: RepeatReadings) -> bool:
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
    if isinstance(leaf, Measured) and leaf.flow and _find_metric(leaf).delivered:
        planned, received = _count_items(leaf, repeat)
        return planned is not None and planned == received
    return (
        find_declared_bounds(leaf).most is not None
        and repeat.read(leaf) == find_declared_bounds(leaf).most
    )


def _count_items(leaf: Measured, repeat: RepeatReadings) -> list[int | None]:
    """Return what was planned of a flow in a repeat, and what arrived."""
    return [_count(leaf, name, repeat) for name in COUNTS]


def _count(leaf: Measured, metric: str, repeat: RepeatReadings) -> int | None:
    """Return a number of items of a flow in a repeat; None without data."""
    of = replace(leaf, metric=metric, statistic="", place=None, dimension=CELLS)
    value = repeat.read(of)
    return int(value) if isinstance(value, Fraction) else None


def _find_metric(leaf: Measured | Counted) -> type[Metric]:
    """Return the facts of a metric; of what is observed in a device, those of any."""
    kind = discover().find("metric", leaf.metric) if isinstance(leaf, Measured) else None
    return Metric if kind is None else kind.build


def _is_extreme(leaf: Measured | Counted) -> bool:
    """Return whether a value is the greatest of many, which cannot be above some end."""
    if isinstance(leaf, Counted):
        return leaf.observed.endswith(".max")
    return leaf.statistic == "max" or "outages" in leaf.needs


def _find_least(
    leaf: Measured | Counted, repeats: Sequence[RepeatReadings], values: Sequence[Fraction]
) -> Fraction:
    """Return the least possible value: of delays the shortest, of all others 0."""
    if not isinstance(leaf, Measured) or leaf.statistic not in ("mean", "max"):
        return Fraction(0)
    found = [repeat.read_delays(leaf) for repeat in repeats]
    shortest = [
        delays.min_ps for delays in found if delays is not None and delays.min_ps is not None
    ]
    least = Fraction(min(shortest, default=0), PS_PER_S)
    return least if least <= min(values) else Fraction(0)


def _compute_skewness(
    leaf: Measured, repeats: Sequence[RepeatReadings], values: Sequence[Fraction]
) -> Fraction:
    """Return how far a value is skewed towards less by what did not arrive of what was planned.

    Skewness is the third power of a deviation: that of deficits counts as far as they make up the
    deviation of the values, which also differ since what is sent is drawn.
    """
    counts = [_count_items(leaf, repeat) for repeat in repeats]
    known = [[count for count in pair if count is not None] for pair in counts]
    arrived = sum(pair[-1] for pair in known if len(pair) == len(COUNTS))
    deviation = square_root(compute_variance(values))
    if not arrived or not deviation or any(len(pair) < len(COUNTS) for pair in known):
        return Fraction(0)
    deficits = [Fraction(planned - received) for planned, received in known]
    scale = compute_mean(values) * len(known) / arrived
    part = min(Fraction(1), square_root(compute_variance(deficits)) * scale / deviation)
    return estimate_skewness(deficits, Fraction(0), MAX_SKEWNESS_BELOW) * part**3
