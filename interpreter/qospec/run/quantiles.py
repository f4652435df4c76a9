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

from qospec.check.bounds import Bounds, bounds
from qospec.conditions import Operation, evaluate, measurements
from qospec.run.binomial import most_unlikely
from qospec.run.distribution import Distribution
from qospec.run.repeats import more_repeats
from qospec.run.verdict import MIRRORED
from qospec.units import PS_PER_S, number_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qospec.conditions import Counted, Expression, Measured
    from qospec.engine.tally import Delays
    from qospec.run.repeats import Sureness

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

    def between(self, confidence: Fraction, repeats: int) -> Bounds:
        """Return its bounds, each with that confidence, after so many repeats like these."""


class Quantile:
    """A quantile of the delays of all repeats, in s."""

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

    def said(self, confidence: Fraction) -> str:
        """Return in words what the delays of all repeats come to, and whether they are enough."""
        items = self.independent(confidence, self._repeats)
        delays = f"{number_text(Fraction(self._delays.count))} delays"
        words = f"{delays} count as {number_text(Fraction(items))} independent ones"
        if self._delays.alike:
            words += ", for the repeats do not differ"
        needed = fewest(self._beyond, confidence)
        if items < needed:
            words += f", and {number_text(Fraction(needed))} are needed for an upper bound"
        return words

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
    alike: bool = False

    @property
    def mean(self) -> Fraction:
        """Return what the estimates come to."""
        return value_of(self.expression, self.estimates)

    def holds(self, sure: Sureness) -> bool | None:
        """Return whether it is below 0 for all that is not excluded; None if not decided."""
        highest = self._between(sure.holding, self.repeats).most
        if highest is not None and (highest < 0 or (highest == 0 and not self.strict)):
            return True
        lowest = self._between(sure.failing, self.repeats).least
        fails = lowest is not None and (lowest > 0 or (lowest == 0 and self.strict))
        return False if fails else None

    def more(self, sure: Sureness) -> int | None:
        """Return how many more repeats would decide if they are like these; None if too many."""
        bad = self.mean > 0

        def decides(count: int) -> bool:
            found = self._between(sure.failing if bad else sure.holding, count)
            end = found.least if bad else found.most
            return end is not None and (end > 0) == bad and end != 0

        return more_repeats(decides, self.repeats)

    def _between(self, confidence: Fraction, repeats: int) -> Bounds:
        return between(self.expression, self.estimates, confidence, repeats)


def value_of(expression: Expression, estimates: Mapping[Measured | Counted, Estimate]) -> Fraction:
    """Return what an expression comes to of what was estimated."""
    value = evaluate(expression, lambda leaf: estimates[leaf].value)  # type: ignore[index]
    return value if isinstance(value, Fraction) else Fraction(0)


def shared(
    confidence: Fraction, estimates: Mapping[Measured | Counted, Estimate], expression: Expression
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
