"""Judges a criterion over all repeats at once: `expect … with 95% confidence`.

The mean of the repeats has a one-sided interval to either side, by Student's t. Where all of it is
on the good side the criterion passes, where all of it is on the bad side it fails; else the repeats
do not decide. Source: NIST/SEMATECH e-Handbook of Statistical Methods, 7.2.2; for `within`, which
must hold to both sides, two one-sided tests: Schuirmann, J. Pharmacokin. Biopharm. 15 (1987), 657.

Losses are held against the cells that were counted, too: the interval is the wider of that of the
repeats and that of the count. Losses that come in bursts are seen by the one, losses that are too
rare to differ by the other. Of all else, repeats that do not differ have no spread to go by, and
the sign test is left: n equal values say with 1 - ½ⁿ that most repeats would have that value.
Source: Dixon and Mood, J. Am. Stat. Assoc. 41 (1946), 557.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from qospec.conditions import Measured, Operation, evaluate, measurements
from qospec.model import MOST_REPEATS
from qospec.run.losses import judged, losses
from qospec.run.student import quantile, root
from qospec.run.verdict import MIRRORED, Interval, Judgement, Side, dimension_of

if TYPE_CHECKING:
    from qospec.conditions import Expression, Reader
    from qospec.model import Statement
    from qospec.run.losses import Losses
    from qospec.run.verdict import Verdict

GRAIN = 10**21
"""Where repeats differ, their values are rounded to its inverse (of a second, a cell, a bit/s).

Exact sums of thousands of fractions would have thousands of digits.
"""

DIFFERENCE = "judged by the difference of both sides in each repeat"
ALIKE = "the repeats do not differ"
FAILED = "it does not hold"

Values = Sequence[Fraction]


class _Confidence(NamedTuple):
    """How sure a verdict must be. Where either of two sides may fail, each has half the doubt."""

    holding: Fraction
    failing: Fraction


class _Edge(NamedTuple):
    """Values that must lie below 0 (or, unless it is `strict`, at it) for a criterion to hold.

    `losses` are what was counted, where losses are judged; negated if it is not `rising`.
    """

    values: Values
    strict: bool
    losses: Losses | None = None
    rising: bool = True

    @classmethod
    def of(
        cls, values: Values, *, strict: bool, losses: Losses | None = None, rising: bool = True
    ) -> _Edge:
        if len(set(values)) > 1:
            values = [Fraction(round(value * GRAIN), GRAIN) for value in values]
        return cls(values, strict, losses, rising)

    @property
    def mean(self) -> Fraction:
        return _sum(self.values) / len(self.values)

    @property
    def variance(self) -> Fraction:
        mean = self.mean
        return _sum([(value - mean) ** 2 for value in self.values]) / (len(self.values) - 1)

    @property
    def alike(self) -> bool:
        """Return whether nothing is left but to count equal values."""
        return len(set(self.values)) == 1 and self.losses is None

    def reach(self, confidence: Fraction, count: int) -> tuple[Fraction, Fraction]:
        """Return how far the interval of so many repeats goes below the mean, and above."""
        exact = quantile(confidence, count - 1) * root(self.variance / count)
        spread = Fraction(math.ceil(exact * GRAIN), GRAIN)
        if self.losses is None:
            return spread, spread
        below, above = (max(spread, each) for each in self.losses.reach(confidence, count))
        return (below, above) if self.rising else (above, below)

    def holds(self, sure: _Confidence) -> bool | None:
        """Return whether all of the interval is on the good side; None if that is not decided."""
        count = len(self.values)
        high = self.mean + self.reach(sure.holding, count)[1]
        if high < 0 or (high == 0 and not self.strict):
            return True if self._says_enough(sure.holding, count) else None
        low = self.mean - self.reach(sure.failing, count)[0]
        fails = low > 0 or (low == 0 and self.strict)
        return False if fails and self._says_enough(sure.failing, count) else None

    def _says_enough(self, confidence: Fraction, count: int) -> bool:
        return not self.alike or Fraction(1, 2**count) <= 1 - confidence

    def more(self, sure: _Confidence) -> int | None:
        """Return how many more repeats would decide if they are like these; None if too many."""
        mean = self.mean
        confidence = sure.failing if mean > 0 else sure.holding

        def decides(count: int) -> bool:
            if self.alike:
                return self._says_enough(confidence, count)
            below, above = self.reach(confidence, count)
            return (below if mean > 0 else above) < abs(mean)

        low, high = len(self.values), MOST_REPEATS
        if not decides(high):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if decides(middle) else (middle, high)
        return high - len(self.values)


def _sum(values: Values) -> Fraction:
    return sum(values, Fraction(0))


def judge_together(statement: Statement, readers: Sequence[Reader], repeats: int) -> Judgement:
    """Return the judgement of a statement over the repeats that were run, of `repeats` asked for.

    A criterion between two measured values is judged by their difference in each repeat.
    """
    expression, confidence = statement.expression, statement.confidence
    if not isinstance(expression, Operation) or confidence is None:
        raise TypeError("a criterion with a confidence compares")
    if len(readers) < repeats:
        return Judgement("inconclusive", None, note=unfinished(len(readers), repeats))
    rows: list[list[Fraction]] = []
    for number, read in enumerate(readers, 1):
        values = [evaluate(operand, read) for operand in expression.operands]
        if not all(isinstance(value, Fraction) for value in values):
            return Judgement("inconclusive", None, note=f"no data in repeat {number}")
        rows.append([value for value in values if isinstance(value, Fraction)])
    leaf = judged(expression)
    counted = losses(leaf, readers) if leaf is not None else None
    edges = _edges(expression, rows, counted)
    sure = _Confidence(confidence, 1 - (1 - confidence) / len(edges))
    held = [edge.holds(sure) for edge in edges]
    verdict: Verdict = "pass" if all(held) else "inconclusive"
    if False in held and statement.kind == "expect":
        verdict = "fail"
    notes = [DIFFERENCE] if all(measurements(side) for side in _sides(expression)) else []
    if counted is not None and len(set(map(tuple, rows))) == 1:
        notes.insert(0, counted.said(confidence))
    elif all(edge.alike for edge in edges):
        notes.insert(0, ALIKE)
    if False in held and statement.kind == "require":
        notes.insert(0, FAILED)
    elif None in held and False not in held:
        notes.insert(0, _outlook(_more(edges, held, sure)))
    shown = _shown(expression, rows, statement, counted)
    return replace(shown, verdict=verdict, note="; ".join(notes))


def averaged(found: Sequence[Side], confidence: Fraction) -> Judgement | None:
    """Return the mean of what repeats showed, and between what it lies with that confidence.

    None if there is no number, or only one.
    """
    values = [side.value for side in found if isinstance(side.value, Fraction)]
    if len(values) < len(found) or len(set(values)) <= 1:
        return None
    edge = _Edge.of(values, strict=False)
    reach, _ = edge.reach((1 + confidence) / 2, len(values))
    low, middle, high = (
        replace(found[0], value=value)
        for value in (edge.mean - reach, edge.mean, edge.mean + reach)
    )
    shown = Interval(low, high, confidence, len(values))
    return Judgement(None, middle, interval=shown, note=f"mean of {len(values)} repeats")


def unfinished(run: int, repeats: int) -> str:
    """Return the note of what cannot be decided since repeats are missing."""
    return f"{run} of {repeats} repeats were run"


def _sides(expression: Operation) -> tuple[Expression, Expression]:
    return expression.operands[0], expression.operands[-1]


def _edges(expression: Operation, rows: Sequence[Values], counted: Losses | None) -> list[_Edge]:
    operator = expression.operator
    if operator in MIRRORED:
        first = isinstance(expression.operands[0], Measured)
        below = operator.startswith("<")
        values = [left - right if below else right - left for left, right in rows]
        strict = operator in ("<", ">")
        return [_Edge.of(values, strict=strict, losses=counted, rising=first == below)]
    widths = [
        width * (abs(target) if operator == "within share" else 1) for _, width, target in rows
    ]
    above = [value - target for value, _, target in rows]
    over, under = (
        [sign * each - width for each, width in zip(above, widths, strict=True)] for sign in (1, -1)
    )
    return [
        _Edge.of(over, strict=False, losses=counted),
        _Edge.of(under, strict=False, losses=counted, rising=False),
    ]


def _more(edges: Sequence[_Edge], held: Sequence[bool | None], sure: _Confidence) -> int:
    """Return how many more repeats would decide, beyond `MOST_REPEATS` if more than that."""
    undecided = [edge for edge, known in zip(edges, held, strict=True) if known is None]
    wanted = [(edge.mean > 0, edge.more(sure) or MOST_REPEATS + 1) for edge in undecided]
    against = [more for bad, more in wanted if bad]
    return min(against) if against else max(more for _, more in wanted)


def _outlook(more: int) -> str:
    if more > MOST_REPEATS:
        return f"even {MOST_REPEATS:_} repeats would hardly decide: the mean is too near the bound"
    return f"about {more:_} more {'repeat' if more == 1 else 'repeats'} would decide"


def _shown(
    expression: Operation, rows: Sequence[Values], statement: Statement, counted: Losses | None
) -> Judgement:
    """Return what is shown: the mean and its interval, beside the bound."""
    first, last = _sides(expression)
    comparison = expression.operator
    lefts, rights = [row[0] for row in rows], [row[-1] for row in rows]
    if measurements(last) and not measurements(first) and comparison in MIRRORED:
        first, last, lefts, rights = last, first, rights, lefts
        comparison = MIRRORED[comparison]
    dimension = dimension_of(first)
    approximate = any(m.statistic[1:2].isdigit() for m in measurements(statement.expression))
    bound = rights[0]
    if measurements(last):
        lefts = [left - right for left, right in zip(lefts, rights, strict=True)]
        bound = Fraction(0)
    edge = _Edge.of(lefts, strict=False, losses=counted)
    confidence = statement.confidence or Fraction(0)
    mean, (below, above) = edge.mean, edge.reach(confidence, len(rows))
    tolerance = None
    if comparison.startswith("within"):
        comparison = "within"
        tolerance = _tolerance(expression, rows, measured=bool(measurements(last)))
    return Judgement(
        None,
        Side(mean, dimension, approximate),
        comparison,
        Side(bound, dimension),
        tolerance,
        Interval(
            Side(mean - below, dimension), Side(mean + above, dimension), confidence, len(rows)
        ),
    )


def _tolerance(expression: Operation, rows: Sequence[Values], *, measured: bool) -> Side:
    """Return the tolerance as it was written; of a measured target the width that it comes to."""
    middle = expression.operands[1]
    if expression.operator == "within share" and measured:
        widths = [row[1] * abs(row[2]) for row in rows]
        return Side(_sum(widths) / len(widths), dimension_of(expression.operands[2]))
    return Side(_sum([row[1] for row in rows]) / len(rows), dimension_of(middle))
