"""What a count of lost cells says of the loss ratio, if cells are lost independently of each other.

At a ratio p, at most k of n cells are lost with a probability of at most exp(-n D), where D is the
divergence of k/n from p; so what is excluded by that is excluded. Where none is lost the bound is
exact, (1 - p)ⁿ. Source: Chernoff, Ann. Math. Statist. 23 (1952), 493.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from qospec.conditions import Constant, Measured
from qospec.units import CELLS, RATIO, number_text, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.conditions import Operation, Reader

RATIOS = ("cell_loss_ratio", "loss_ratio")
METRICS = ("lost", *RATIOS)

DIGITS = 9
"""Ratios are rounded to so many digits, where no two machines differ in the logarithm."""

_HALVINGS = 200
PERCENT = -2
TWO_DIGITS = 100


def percent(confidence: Fraction) -> str:
    """Return a confidence as text, to its last digit: 99.999 % is not 100 %."""
    return f"{number_text(confidence * 100, exact=True)} %"


class Losses(NamedTuple):
    """How many cells were lost of how many, in all repeats together.

    `unit` is what a ratio of 1 comes to in the value that is judged: 1, or the cells of a repeat.
    """

    lost: int
    sent: int
    repeats: int
    unit: Fraction

    def reach(self, confidence: Fraction, repeats: int) -> tuple[Fraction, Fraction]:
        """Return how far the value may lie below and above, after so many repeats like these."""
        share = Fraction(self.lost, self.sent)
        cells = self.sent * repeats / self.repeats
        ends = [_excluded(float(share), cells, float(1 - confidence), end) for end in (0.0, 1.0)]
        low, high = (Fraction(f"{end:.{DIGITS}g}") for end in ends)
        return max(share - low, Fraction(0)) * self.unit, max(high - share, Fraction(0)) * self.unit

    def said(self, confidence: Fraction) -> str:
        """Return in words what ratio is excluded."""
        cells = number_text(self.sent, exact=True)
        most = _excluded(self.lost / self.sent, self.sent, float(1 - confidence), 1.0)
        return (
            f"{number_text(self.lost, exact=True)} of {cells} lost:"
            f" with {percent(confidence)} confidence the ratio is below {_above(most)}"
        )


def losses(leaf: Measured, readers: Sequence[Reader]) -> Losses | None:
    """Return the losses of what a criterion measures; None if no cell was sent."""
    lost, sent = (_sum(leaf, metric, readers) for metric in ("lost", "sent"))
    if not sent:
        return None
    unit = Fraction(1) if leaf.metric in RATIOS else Fraction(sent, len(readers))
    return Losses(lost, sent, len(readers), unit)


def judged(comparison: Operation) -> Measured | None:
    """Return the losses that a comparison holds against a constant; None if it does not."""
    leaf, *others = comparison.operands
    if isinstance(leaf, Constant) and len(others) == 1:
        leaf, others = others[0], [leaf]
    known = all(isinstance(other, Constant) for other in others)
    return leaf if isinstance(leaf, Measured) and leaf.metric in METRICS and known else None


def _sum(leaf: Measured, metric: str, readers: Sequence[Reader]) -> int:
    of = replace(leaf, metric=metric, statistic="", dimension=CELLS)
    counts = [read(of) for read in readers]
    return sum(int(count) for count in counts if isinstance(count, Fraction))


def _excluded(share: float, cells: float, doubt: float, end: float) -> float:
    """Return the ratio between `share` and `end` beyond which ratios are excluded."""
    near, far = share, end
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        if cells * _divergence(share, middle) < -math.log(doubt):
            near = middle
        else:
            far = middle
    return far


def _divergence(share: float, ratio: float) -> float:
    lost = share * math.log(share / ratio) if share else 0.0
    if share == 1:
        return lost
    if ratio == 1:
        return math.inf
    return lost + (1 - share) * (math.log1p(-share) - math.log1p(-ratio))


def _above(ratio: float) -> str:
    """Return a ratio in two digits that are not below it: `2.5 × 10⁻⁶`."""
    power = math.floor(math.log10(ratio))
    digits = math.ceil(ratio / 10.0**power * 10 - 1e-6)
    if digits == TWO_DIGITS:
        digits, power = 10, power + 1
    if power >= PERCENT:
        return text_of(Fraction(digits, 10 ** (1 - power)), RATIO)
    return f"{digits / 10:.1f} × 10{str(power).translate(_RAISED)}"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
