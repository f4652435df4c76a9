"""Confidence intervals of quantiles over all repeats, by order statistics.

`delay.p99 < x` states that at most 1 % of all delays reach x. The number of n independent delays
that do has a binomial distribution, so two order statistics bound the quantile: above it too few
delays would lie beyond a larger one, below it too many would reach a smaller one. The delays of a
repeat are not independent; their effective sample size is n divided by the design effect. A
quantile has no upper bound until enough independent delays are counted: 299 for p99 at 95 %.
Source: David and Nagaraja, Order Statistics (2003), 7.1; Heidelberger and Lewis, Operations
Research 32 (1984), 185.

Where a criterion measures more than one quantity, each has its own interval, with its share of the
significance level (Bonferroni's inequality); the rest is interval arithmetic.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from qospec.catalogue.kinds import discover
from qospec.dataclass import NamedTuple
from qospec.engine.measure.metric import Metric
from qospec.judge.distribution import Distribution, allow_for_few
from qospec.judge.repeats import compute_markov_share, count_repeats_to_decide, decide, looks_back
from qospec.judge.statistics import find_binomial_critical_value
from qospec.judge.verdict import MIRRORED
from qospec.model.bounds import Bounds
from qospec.model.expression import (
    Measured,
    Operation,
    bound_expression,
    evaluate,
    list_measurements,
)
from qospec.units import PS_PER_S, format_number, to_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from qospec.engine.measure.tally import Delays
    from qospec.judge.repeats import ConfidenceLevels, MoreRepeats
    from qospec.model.expression import Counted, Expression, Leaf

THRESHOLDS = 2
"""Thresholds beyond which enough items must lie to estimate the design effect."""


class Estimate(Protocol):
    """The estimate of something measured in all repeats: its value and confidence interval."""

    @property
    def value(self) -> Fraction:
        """Return the value over all repeats together."""

    @property
    def identical(self) -> bool:
        """Return whether the repeats do not differ, so that a rare one may lie anywhere."""

    def compute_interval(self, confidence: Fraction, repeats: int) -> Bounds:
        """Return the interval of `repeats` such repeats, with that confidence on each side."""

    def compute_design_effect(self, confidence: Fraction, repeats: int) -> Fraction:
        """Return as how many items an independent one counts; 1 where repeats are not counted."""


class NeededBounds(NamedTuple):
    """Which bounds of a measured value a criterion needs in order to hold."""

    lower: bool
    upper: bool


class Quantile:
    """A quantile of the delays of all repeats, in s."""

    identical = False
    """Of identical repeats each counts as one item, so that more of them do decide."""

    def __init__(self, repeats: Sequence[Delays], share: Fraction) -> None:
        """Take the delays of each repeat, and the share of them that the quantile is not below."""
        self._delays = Distribution(
            repeats, [repeat.count for repeat in repeats], [0] * len(repeats)
        )
        self._of_repeats = repeats
        self._repeats = len(repeats)
        self._beyond = 1 - share

    @property
    def value(self) -> Fraction:
        """Return the sample quantile of all delays together."""
        number = self._delays.count - max(1, math.ceil((1 - self._beyond) * self._delays.count)) + 1
        low, high = self._delays.bound_nth_longest_ps(number) or (0, 0)
        return Fraction(low + high, 2 * PS_PER_S)

    def compute_interval(self, confidence: Fraction, repeats: int) -> Bounds:
        """Return the confidence interval; a bound is None where there are too few delays for it."""
        items = self.count_independent(confidence, repeats)
        counts = self.compute_design_effect(confidence, repeats) * self._repeats / repeats
        few = find_binomial_critical_value(items, self._beyond, 1 - confidence)
        many = items - find_binomial_critical_value(items, 1 - self._beyond, 1 - confidence)
        highest = (
            self._delays.bound_nth_longest_ps(math.floor(few * counts) + 1) if few >= 0 else None
        )
        lowest = (
            self._delays.bound_nth_longest_ps(math.ceil(many * counts)) if many <= items else None
        )
        low_ps, high_ps = lowest and lowest[0], highest and highest[1]
        if repeats == self._repeats:
            high_ps = _choose_known(min, high_ps, self._bound_before_last_ps(confidence))
            if self.compute_design_effect(confidence, repeats) > 1:  # else these bounds are exact
                low_ps = _choose_known(max, low_ps, self._bound_each_repeat_ps(confidence))
        return Bounds(to_seconds(low_ps), to_seconds(high_ps))

    def _bound_each_repeat_ps(self, confidence: Fraction) -> int | None:
        """Return the lower bound that each single repeat shows, as of `compute_markov_share`."""
        share = self._beyond / compute_markov_share(confidence, self._repeats)
        return self._delays.find_reached_in_each_ps(share) if share < 1 else None

    def _bound_before_last_ps(self, confidence: Fraction) -> int | None:
        """Return the upper bound that the repeats before the last show, if none of its is longer.

        That nothing in one more repeat is beyond a bound speaks for it; if its delays differ, the
        design effect may be estimated to be greater all the same.
        """
        if not looks_back(self._repeats):
            return None
        most = self._before_the_last.compute_interval(confidence, self._repeats - 1).most
        return None if most is None else max(int(most * PS_PER_S), self._of_repeats[-1].max_ps or 0)

    @functools.cached_property
    def _before_the_last(self) -> Quantile:
        return Quantile(self._of_repeats[:-1], 1 - self._beyond)

    def count_independent(self, confidence: Fraction, repeats: int) -> int:
        """Return the effective sample size of `repeats` such repeats."""
        delays = Fraction(self._delays.count * repeats, self._repeats)
        return max(1, math.floor(delays / self.compute_design_effect(confidence, repeats)))

    def write_note(self, confidence: Fraction, ends: NeededBounds, items: str) -> str:
        """Return the effective sample size in words, and the one needed if it is too small.

        `items` is what the values are called: see `name_items`.
        """
        count, independent = self._delays.count, self.count_independent(confidence, self._repeats)
        ones = "one" if independent == 1 else "ones"
        words = f"{format_number(Fraction(count))} {items} count as"
        words += f" {format_number(Fraction(independent))} independent {ones}"
        if self._delays.identical:
            words += ", because the repeats do not differ"
        needed, bound = self._find_needed(confidence, ends)
        if independent < needed:
            words += f", and {bound} bound needs {format_number(Fraction(needed))}"
        return words

    def suffices(self, confidence: Fraction, ends: NeededBounds, repeats: int) -> bool:
        """Return whether `repeats` such repeats would have the bounds needed."""
        return self.count_independent(confidence, repeats) >= self._find_needed(confidence, ends)[0]

    def _find_needed(self, confidence: Fraction, ends: NeededBounds) -> tuple[int, str]:
        """Return how many independent items are needed, and for which bound."""
        sizes = (
            [(find_minimum_sample_size(self._beyond, confidence), "an upper")] if ends.upper else []
        )
        sizes += (
            [(find_minimum_sample_size(1 - self._beyond, confidence), "a lower")]
            if ends.lower
            else []
        )
        return max(sizes, default=(0, ""))

    def compute_design_effect(self, confidence: Fraction, repeats: int) -> Fraction:
        """Return the design effect of `repeats` such repeats."""
        if self._delays.identical:
            # what each repeat draws once, such as phases, may decide all of it
            return Fraction(self._delays.count, self._repeats)
        found = self._delays.compute_design_effect(self._beyond, confidence, THRESHOLDS, repeats)
        rarer = min(self._beyond, 1 - self._beyond) * self._delays.count * repeats / self._repeats
        return allow_for_few(found, rarer or Fraction(1))  # `p0` is the least delay alone


def _choose_known(choose: Callable[..., int], *ends: int | None) -> int | None:
    """Return the greater or the smaller of the ends that are known; None without any."""
    return choose((end for end in ends if end is not None), default=None)


class EstimateConstraint(NamedTuple):
    """An expression that must be below 0 (or, unless `strict`, at most 0) for a criterion to hold.

    Attributes:
        expression: Of what is measured.
        strict: Whether 0 is not good enough.
        estimates: Of all that it measures.
        repeats: Their number.
    """

    expression: Expression
    strict: bool
    estimates: Mapping[Measured | Counted, Estimate]
    repeats: int

    @property
    def identical(self) -> bool:
        """Return whether the repeats do not differ in anything measured."""
        return all(estimate.identical for estimate in self.estimates.values())

    @property
    def mean(self) -> Fraction:
        """Return the expression's value with all estimates."""
        value = compute_value(self.expression, self.estimates)
        if value is None:
            raise ValueError("the estimates have no value")
        return value

    def holds(self, levels: ConfidenceLevels) -> bool | None:
        """Return whether it holds with the confidence needed; None if that is undecided."""
        return decide(
            lambda level: self._compute_interval(level, self.repeats), levels, strict=self.strict
        )

    def count_more_repeats(self, levels: ConfidenceLevels) -> MoreRepeats:
        """Return how many more repeats like these would decide."""
        of = levels.passing, self.repeats
        effect = any(
            estimate.compute_design_effect(*of) > 1 for estimate in self.estimates.values()
        )
        return count_repeats_to_decide(
            self._compute_interval,
            self.mean,
            levels,
            self.repeats,
            alike=self.identical,
            effect=effect,
        )

    def _compute_interval(self, confidence: Fraction, repeats: int) -> Bounds:
        return compute_interval(self.expression, self.estimates, confidence, repeats)


def compute_value(
    expression: Expression, estimates: Mapping[Measured | Counted, Estimate]
) -> Fraction | None:
    """Return an expression's value with estimates for what it measures; None if not a number."""
    value = evaluate(expression, lambda leaf: estimates[leaf].value)  # type: ignore[index]
    return value if isinstance(value, Fraction) else None


def compute_bonferroni_level(
    confidence: Fraction, estimates: Collection[Measured | Counted], expression: Expression
) -> Fraction:
    """Return the confidence each bound needs for that of the whole expression.

    The significance level is divided evenly between the estimates (Bonferroni's inequality), and
    once more between both bounds of each, where an `abs` depends on both.
    """
    ends = 2 if _uses_abs(expression) else 1
    return 1 - (1 - confidence) / (len(estimates) * ends)


def _uses_abs(expression: Expression) -> bool:
    """Return whether something measured is within an `abs`."""
    if not isinstance(expression, Operation):
        return False
    dropped = expression.operator == "abs" and bool(list_measurements(expression))
    return dropped or any(map(_uses_abs, expression.operands))


def compute_interval(
    expression: Expression,
    estimates: Mapping[Measured | Counted, Estimate],
    confidence: Fraction,
    repeats: int,
) -> Bounds:
    """Return the interval of an expression's value, with that confidence on each side."""
    level = compute_bonferroni_level(confidence, estimates, expression)
    return bound_expression(
        expression,
        lambda leaf: estimates[leaf].compute_interval(level, repeats),  # type: ignore[index]
    )


def build_constraints(
    expression: Operation, estimates: Mapping[Measured | Counted, Estimate], repeats: int
) -> list[EstimateConstraint]:
    """Return the constraints that must hold for a comparison to hold."""
    operator, operands = expression.operator, expression.operands
    if operator in MIRRORED:
        left, right = operands if operator.startswith("<") else reversed(operands)
        below = Operation("-", (left, right))
        return [EstimateConstraint(below, operator in ("<", ">"), estimates, repeats)]
    value, width, target = operands
    if operator == "within share":
        width = Operation("*", (width, Operation("abs", (target,))))
    return [
        EstimateConstraint(
            Operation("-", (Operation("-", sides), width)),
            strict=False,
            estimates=estimates,
            repeats=repeats,
        )
        for sides in ((value, target), (target, value))
    ]


def find_needed_bounds(comparison: Operation, leaf: Measured | Counted) -> NeededBounds:
    """Return which bounds of a measured value a comparison needs in order to hold."""
    one = Fraction(1)

    def is_needed(of_leaf: Bounds) -> bool:
        def get_known(other: Leaf) -> Bounds:
            return of_leaf if other == leaf else Bounds(one, one)

        return any(
            bound_expression(constraint.expression, get_known).most is None
            for constraint in build_constraints(comparison, {}, 1)
        )

    return NeededBounds(lower=is_needed(Bounds(None, one)), upper=is_needed(Bounds(one, None)))


def name_items(leaf: Measured | Counted) -> str:
    """Return what the values of a metric are called: delays, or just values."""
    kind = discover().find("metric", leaf.metric) if isinstance(leaf, Measured) else None
    noun: str = Metric.noun if kind is None else kind.build.noun
    return noun


def find_minimum_sample_size(beyond: Fraction, confidence: Fraction) -> int:
    """Return how many independent items include one of a share `beyond`, with that confidence."""
    low, high = 0, 1
    while find_binomial_critical_value(high, beyond, 1 - confidence) < 0:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        enough = find_binomial_critical_value(middle, beyond, 1 - confidence) >= 0
        low, high = (low, middle) if enough else (middle, high)
    return high
