"""Judges a criterion over all repeats at once: `expect … with 95% confidence`.

The mean of the repeats has a one-sided interval to either side, by Student's t. Where all of it is
on the good side the criterion passes, where all of it is on the bad side it fails; else the repeats
do not decide. Source: NIST/SEMATECH e-Handbook of Statistical Methods, 7.2.2; for `within`, which
must hold to both sides, two one-sided tests: Schuirmann, J. Pharmacokin. Biopharm. 15 (1987), 657.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from qospec.conditions import Operation, evaluate, measurements
from qospec.run.student import quantile, root
from qospec.run.verdict import MIRRORED, Interval, Judgement, Side, dimension_of

if TYPE_CHECKING:
    from qospec.conditions import Expression, Reader
    from qospec.model import Statement
    from qospec.run.verdict import Verdict

FEWEST = 5
"""Fewer repeats than these say too little; the checker asks for as many."""

MOST = 10_000
"""As many repeats as a case may have."""

GRAIN = 10**21
"""Where repeats differ, their values are rounded to its inverse (of a second, a cell, a bit/s).

Exact sums of thousands of fractions would have thousands of digits.
"""

DIFFERENCE = "judged by the difference of both sides in each repeat"

Values = Sequence[Fraction]


class _Edge(NamedTuple):
    """Values that must lie below 0 (or, unless it is `strict`, at it) for a criterion to hold."""

    values: Values
    strict: bool

    @classmethod
    def of(cls, values: Values, *, strict: bool) -> _Edge:
        if len(set(values)) > 1:
            values = [Fraction(round(value * GRAIN), GRAIN) for value in values]
        return cls(values, strict)

    @property
    def mean(self) -> Fraction:
        return _sum(self.values) / len(self.values)

    @property
    def variance(self) -> Fraction:
        mean = self.mean
        return _sum([(value - mean) ** 2 for value in self.values]) / (len(self.values) - 1)

    def reach(self, confidence: Fraction) -> Fraction:
        """Return how far the interval goes to either side of the mean."""
        count = len(self.values)
        exact = quantile(confidence, count - 1) * root(self.variance / count)
        return Fraction(math.ceil(exact * GRAIN), GRAIN)

    def holds(self, confidence: Fraction) -> bool | None:
        """Return whether all of the interval is on the good side; None if that is not decided."""
        reach = self.reach(confidence)
        high, low = self.mean + reach, self.mean - reach
        if high < 0 or (high == 0 and not self.strict):
            return True
        return False if low > 0 or (low == 0 and self.strict) else None

    def more(self, confidence: Fraction) -> int | None:
        """Return how many more repeats would decide if they are like these; None if too many."""

        def decides(count: int) -> bool:
            reach_squared = quantile(confidence, count - 1) ** 2 * self.variance / count
            return reach_squared < self.mean**2

        low, high = len(self.values), MOST
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
    if len(readers) < min(FEWEST, repeats):
        return Judgement("inconclusive", None, note=f"{len(readers)} of {repeats} repeats were run")
    rows: list[list[Fraction]] = []
    for number, read in enumerate(readers, 1):
        values = [evaluate(operand, read) for operand in expression.operands]
        if not all(isinstance(value, Fraction) for value in values):
            return Judgement("inconclusive", None, note=f"no data in repeat {number}")
        rows.append([value for value in values if isinstance(value, Fraction)])
    edges = _edges(expression, rows)
    held = [edge.holds(confidence) for edge in edges]
    verdict: Verdict = "pass" if all(held) else "inconclusive"
    if False in held and statement.kind == "expect":
        verdict = "fail"
    notes = [DIFFERENCE] if all(measurements(side) for side in _sides(expression)) else []
    if None in held and False not in held:
        notes = [_outlook(_more(edges, held, confidence)), *notes]
    shown = _shown(expression, rows, confidence, statement)
    return replace(shown, verdict=verdict, note="; ".join(notes))


def _sides(expression: Operation) -> tuple[Expression, Expression]:
    return expression.operands[0], expression.operands[-1]


def _edges(expression: Operation, rows: Sequence[Values]) -> list[_Edge]:
    operator = expression.operator
    if operator in ("<", "<="):
        return [_Edge.of([left - right for left, right in rows], strict=operator == "<")]
    if operator in (">", ">="):
        return [_Edge.of([right - left for left, right in rows], strict=operator == ">")]
    widths = [
        width * (abs(target) if operator == "within share" else 1) for _, width, target in rows
    ]
    above = [value - target for value, _, target in rows]
    return [
        _Edge.of([over - width for over, width in zip(above, widths, strict=True)], strict=False),
        _Edge.of([-over - width for over, width in zip(above, widths, strict=True)], strict=False),
    ]


def _more(edges: Sequence[_Edge], held: Sequence[bool | None], confidence: Fraction) -> int:
    """Return how many more repeats would decide, beyond `MOST` if more than that."""
    undecided = [edge for edge, known in zip(edges, held, strict=True) if known is None]
    wanted = [(edge.mean > 0, edge.more(confidence) or MOST + 1) for edge in undecided]
    against = [more for bad, more in wanted if bad]
    return min(against) if against else max(more for _, more in wanted)


def _outlook(more: int) -> str:
    if more > MOST:
        return f"even {MOST:_} repeats would hardly decide: the mean is too near the bound"
    return f"about {more:_} more {'repeat' if more == 1 else 'repeats'} would decide"


def _shown(
    expression: Operation, rows: Sequence[Values], confidence: Fraction, statement: Statement
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
    edge = _Edge.of(lefts, strict=False)
    mean, reach = edge.mean, edge.reach(confidence)
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
            Side(mean - reach, dimension), Side(mean + reach, dimension), confidence, len(rows)
        ),
    )


def _tolerance(expression: Operation, rows: Sequence[Values], *, measured: bool) -> Side:
    """Return the tolerance as it was written; of a measured target the width that it comes to."""
    middle = expression.operands[1]
    if expression.operator == "within share" and measured:
        widths = [row[1] * abs(row[2]) for row in rows]
        return Side(_sum(widths) / len(widths), dimension_of(expression.operands[2]))
    return Side(_sum([row[1] for row in rows]) / len(rows), dimension_of(middle))
