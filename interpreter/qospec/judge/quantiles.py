"""Judges a criterion about quantiles over all repeats at once, by order statistics.

`delay.p99 < x` says that at most 1 % of all delays reach x. How many of n independent delays do has
the binomial distribution, so two of the delays themselves bound the quantile: the one that too few
are beyond if the quantile were larger, and the one that too many reach if it were smaller. Delays
of a repeat are not independent; n of them count as n divided by the design effect. A quantile has
no upper bound before enough independent delays lie beyond it: 299 for p99 and 95 %.
Source: David and Nagaraja, Order Statistics (2003), 7.1; Heidelberger and Lewis, Operations
Research 32 (1984), 185.

Where a criterion measures more than one quantile, each of what it measures has its own bounds, and
its share of the doubt (Bonferroni's inequality); the rest is interval arithmetic.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, Protocol

from qospec.judge.distribution import Distribution
from qospec.judge.repeats import holds, more_to_decide
from qospec.judge.statistics import most_unlikely
from qospec.judge.verdict import MIRRORED
from qospec.model.bounds import Bounds, bounds
from qospec.model.expression import Operation, evaluate, measurements
from qospec.units import PS_PER_S, number_text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from qospec.engine.measure.tally import Delays
    from qospec.judge.repeats import Sureness
    from qospec.model.expression import Counted, Expression, Leaf, Measured

DELAYS = frozenset({"transfer_delay", "latency"})
"""Metrics whose values are delays; those of all others are only called values."""
LEVELS = 2
"""At so many bounds enough items must lie beyond to know how repeats differ."""

FEW = 5
"""The design effect of k independent delays beyond a quantile is taken FEW / k larger.

Few of them make repeats look alike just when they are too few by chance. Found by calibration, see
docs/design.md: without it 8 of 100 false criteria passed where 5 may.
"""


class Estimate(Protocol):
    """Something measured in all repeats: its value, and between what it lies."""

    @property
    def value(self) -> Fraction:
        """Return what all repeats together come to."""

    @property
    def alike(self) -> bool:
        """Return whether the repeats do not differ, so that a rare one may be anywhere."""

    def between(self, confidence: Fraction, repeats: int) -> Bounds:
        """Return its bounds, each with that confidence, after so many repeats like these."""


class Ends(NamedTuple):
    """Which ends of what is measured a criterion needs to know if it is to hold."""

    lower: bool
    upper: bool


class Quantile:
    """A quantile of the delays of all repeats, in s."""

    alike = False
    """Of equal repeats each counts as an item, so more of them do decide, see `said`."""

    def __init__(self, repeats: Sequence[Delays], share: Fraction) -> None:
        """Take the delays of each repeat, and the share that does not exceed the quantile."""
        self._delays = Distribution(repeats, [each.count for each in repeats], [0] * len(repeats))
        self._repeats = len(repeats)
        self._beyond = 1 - share
        self._effects: dict[Fraction, Fraction] = {}

    @property
    def value(self) -> Fraction:
        """Return the quantile of all delays together."""
        number = self._delays.count - max(1, math.ceil((1 - self._beyond) * self._delays.count)) + 1
        low, high = self._delays.nth_longest_ps(number) or (0, 0)
        return Fraction(low + high, 2 * PS_PER_S)

    def between(self, confidence: Fraction, repeats: int) -> Bounds:
        """Return its bounds; none above where too few independent delays lie beyond it."""
        items = self.independent(confidence, repeats)
        counts = self._design_effect(confidence) * self._repeats / repeats
        few = most_unlikely(items, self._beyond, 1 - confidence)
        many = items - most_unlikely(items, 1 - self._beyond, 1 - confidence)
        highest = self._delays.nth_longest_ps(math.floor(few * counts) + 1) if few >= 0 else None
        lowest = self._delays.nth_longest_ps(math.ceil(many * counts)) if many <= items else None
        return Bounds(
            None if lowest is None else Fraction(lowest[0], PS_PER_S),
            None if highest is None else Fraction(highest[1], PS_PER_S),
        )

    def independent(self, confidence: Fraction, repeats: int) -> int:
        """Return as how many independent delays those of so many repeats like these count."""
        delays = Fraction(self._delays.count * repeats, self._repeats)
        return max(1, math.floor(delays / self._design_effect(confidence)))

    def said(self, confidence: Fraction, ends: Ends, items: str) -> str:
        """Return in words what the delays of all repeats come to, and whether they are enough.

        `items` is what they are called, see `items_of`.
        """
        count, independent = self._delays.count, self.independent(confidence, self._repeats)
        ones = "one" if independent == 1 else "ones"
        words = f"{number_text(Fraction(count))} {items} count as"
        words += f" {number_text(Fraction(independent))} independent {ones}"
        if self._delays.alike:
            words += ", for the repeats do not differ"
        needed, bound = self._needed(confidence, ends)
        if independent < needed:
            words += f", and {number_text(Fraction(needed))} are needed for {bound} bound"
        return words

    def suffices(self, confidence: Fraction, ends: Ends, repeats: int) -> bool:
        """Return whether so many repeats like these would have the bounds that are asked for."""
        return self.independent(confidence, repeats) >= self._needed(confidence, ends)[0]

    def _needed(self, confidence: Fraction, ends: Ends) -> tuple[int, str]:
        """Return how many independent items it takes, and for which bound."""
        wanted = [(fewest(self._beyond, confidence), "an upper")] if ends.upper else []
        wanted += [(fewest(1 - self._beyond, confidence), "a lower")] if ends.lower else []
        return max(wanted, default=(0, ""))

    def _design_effect(self, confidence: Fraction) -> Fraction:
        if self._delays.alike:  # what each repeat draws once, such as phases, may decide all of it
            return Fraction(self._delays.count, self._repeats)
        if confidence not in self._effects:
            found = self._delays.design_effect(self._beyond, confidence, LEVELS)
            rarer = min(self._beyond, 1 - self._beyond) * self._delays.count
            independent = (rarer or 1) / found  # `p0` is the least delay alone
            self._effects[confidence] = 1 + (found - 1) * (1 + FEW / independent)
        return self._effects[confidence]


class Edge(NamedTuple):
    """An expression that must be below 0, or if it is not `strict` at it, for a criterion to hold.

    `estimates` are those of all that it measures, `repeats` says how often.
    """

    expression: Expression
    strict: bool
    estimates: Mapping[Measured | Counted, Estimate]
    repeats: int

    @property
    def alike(self) -> bool:
        """Return whether nothing in the repeats differs."""
        return all(each.alike for each in self.estimates.values())

    @property
    def mean(self) -> Fraction:
        """Return what the estimates come to."""
        value = value_of(self.expression, self.estimates)
        if value is None:
            raise ValueError("estimates come to no number")
        return value

    def holds(self, sure: Sureness) -> bool | None:
        """Return whether it is below 0 for all that is not excluded; None if not decided."""
        return holds(lambda each: self._between(each, self.repeats), sure, strict=self.strict)

    def more(self, sure: Sureness) -> int | None:
        """Return how many more repeats would decide if they are like these; None if too many."""
        return more_to_decide(self._between, self.mean, sure, self.repeats)

    def _between(self, confidence: Fraction, repeats: int) -> Bounds:
        return between(self.expression, self.estimates, confidence, repeats)


def value_of(
    expression: Expression, estimates: Mapping[Measured | Counted, Estimate]
) -> Fraction | None:
    """Return what an expression comes to of what was estimated; None if that is no number."""
    value = evaluate(expression, lambda leaf: estimates[leaf].value)  # type: ignore[index]
    return value if isinstance(value, Fraction) else None


def shared(
    confidence: Fraction, estimates: Collection[Measured | Counted], expression: Expression
) -> Fraction:
    """Return how sure each bound must be for the value of an expression to be as sure as asked.

    Each estimate has its share of the doubt; where an `abs` reckons with both its ends, each of
    them has half of that.
    """
    ends = 2 if _is_unsigned(expression) else 1
    return 1 - (1 - confidence) / (len(estimates) * ends)


def _is_unsigned(expression: Expression) -> bool:
    """Return whether the sign of something measured is dropped in an expression."""
    if not isinstance(expression, Operation):
        return False
    dropped = expression.operator == "abs" and bool(measurements(expression))
    return dropped or any(map(_is_unsigned, expression.operands))


def between(
    expression: Expression,
    estimates: Mapping[Measured | Counted, Estimate],
    confidence: Fraction,
    repeats: int,
) -> Bounds:
    """Return between what the value of an expression lies, to either side with that confidence."""
    each = shared(confidence, estimates, expression)
    return bounds(expression, lambda leaf: estimates[leaf].between(each, repeats))  # type: ignore[index]


def edges(
    expression: Operation, estimates: Mapping[Measured | Counted, Estimate], repeats: int
) -> list[Edge]:
    """Return what must be below 0 for a comparison to hold."""
    operator, operands = expression.operator, expression.operands
    if operator in MIRRORED:
        left, right = operands if operator.startswith("<") else reversed(operands)
        below = Operation("-", (left, right))
        return [Edge(below, operator in ("<", ">"), estimates, repeats)]
    value, width, target = operands
    if operator == "within share":
        width = Operation("*", (width, Operation("abs", (target,))))
    return [
        Edge(
            Operation("-", (Operation("-", sides), width)),
            strict=False,
            estimates=estimates,
            repeats=repeats,
        )
        for sides in ((value, target), (target, value))
    ]


def needed_ends(comparison: Operation, leaf: Measured | Counted) -> Ends:
    """Return of which ends of a measured value a comparison must know to hold."""
    one = Fraction(1)

    def needed(of_leaf: Bounds) -> bool:
        def known(other: Leaf) -> Bounds:
            return of_leaf if other == leaf else Bounds(one, one)

        return any(bounds(each.expression, known).most is None for each in edges(comparison, {}, 1))

    return Ends(lower=needed(Bounds(None, one)), upper=needed(Bounds(one, None)))


def items_of(leaf: Measured | Counted) -> str:
    """Return what a quantile is one of: delays, or other values."""
    return "delays" if getattr(leaf, "metric", "") in DELAYS else "values"


def fewest(beyond: Fraction, confidence: Fraction) -> int:
    """Return of how many independent items one is beyond, where that share is, so confidently."""
    low, high = 0, 1
    while most_unlikely(high, beyond, 1 - confidence) < 0:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        enough = most_unlikely(middle, beyond, 1 - confidence) >= 0
        low, high = (low, middle) if enough else (middle, high)
    return high
