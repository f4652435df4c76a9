"""How often means of repeats that are skewed, towards more or towards less, are judged wrongly.

The repeats of a network are drawn once, and so many of them at a time are judged together. What is
true is the mean of all.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.judge.confidence import judge_repeats
from qospec.judge.means import COUNTS, LATE
from qospec.model.expression import Measured, list_observed
from qospec.plan.plan import Bounds, plan
from qospec.run import trial
from qospec.units import CELLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.engine.measure.tally import Delays
    from qospec.judge.readings import Readings
    from qospec.model.expression import Counted, Leaf
    from qospec.model.suite import Statement
    from qospec.plan.plan import CasePlan

NETWORKS = Path(__file__).with_name("skewed.qos")
TESTS = ("heavy_loss", "some_loss", "no_loss")
REPEATS = (5, 10, 20)


class Count(NamedTuple):
    """How many of the cases put a mean above what is true, and how many below it."""

    test: str
    metric: str
    repeats: int
    cases: int
    wrong_above: int
    wrong_below: int


class Kept:
    """What a repeat measured of some values; all else, and buckets as tuples, take much memory."""

    drawn = True

    def __init__(self, readings: Readings, leaves: list[Measured | Counted]) -> None:
        flows = [leaf for leaf in leaves if isinstance(leaf, Measured) and leaf.flow]
        of = [replace(leaf, statistic="", place=None, dimension=CELLS) for leaf in flows]
        sums = [replace(leaf, metric=name) for leaf in of for name in (*COUNTS, LATE)]
        self._values = {leaf: readings.read(leaf) for leaf in (*leaves, *sums)}
        found = {leaf: readings.read_delays(leaf) for leaf in flows}
        packed = {delays: np.array(delays.buckets) for delays in found.values() if delays}
        self._delays = {
            leaf: delays and (replace(delays, buckets=()), packed[delays])
            for leaf, delays in found.items()
        }

    def read(self, leaf: Leaf) -> Fraction | None:
        """Return the value of a measurement."""
        return self._values.get(leaf)

    def read_delays(self, leaf: Measured) -> Delays | None:
        """Return the delays of a flow."""
        known = self._delays.get(leaf)
        return known and replace(known[0], buckets=tuple(map(tuple, known[1].tolist())))


def counts(test: str, drawn: int, most: int | None = None) -> Iterator[Count]:
    """Yield a count for each metric and number of repeats, of so many repeats of a network.

    With `most`, so many cases at most are judged, since cases of few repeats would be many.
    """
    case, repeats = _drawn(test, drawn)
    for statement in map(_decided, case.case.statements):
        (leaf,) = list_observed(statement.expression)
        truth = sum((repeat.read(leaf) for repeat in repeats), Fraction(0)) / len(repeats)
        for number in REPEATS:
            judged = repeats if most is None else repeats[: most * number]
            yield _count(test, statement, judged, number, truth)


@functools.cache
def _drawn(test: str, number: int) -> tuple[CasePlan, list[Kept]]:
    """Return the plan of the only case of a test, and repeats of it."""
    problems = Problems()
    plans = plan(check([NETWORKS], discover(), problems), "0", Bounds(), problems)
    if problems.all:
        raise ValueError(problems.all)
    (case,) = (planned for planned in plans if planned.test == test)
    leaves = [
        leaf for statement in case.case.statements for leaf in list_observed(statement.expression)
    ]
    found = (trial.observe(case, discover(), repeat) for repeat in range(number))
    return case, [Kept(readings, leaves) for readings in found]


def _decided(statement: Statement) -> Statement:
    """Return a statement with a bound that nothing reaches, so that no hint is worked out.

    A bound leaves the interval as it is, and how many more repeats decide takes longer to say.
    """
    expression = statement.expression
    leaf, bound = expression.operands
    decided = replace(expression, operands=(leaf, replace(bound, value=Fraction(-1))))
    return replace(statement, expression=decided)


def _count(
    test: str, statement: Statement, repeats: list[Kept], number: int, truth: Fraction
) -> Count:
    above = below = 0
    cases = [repeats[first : first + number] for first in range(0, len(repeats), number)]
    for case in cases:
        interval = judge_repeats(statement, case, len(case)).interval
        lower, upper = interval.lower.value, interval.upper.value
        above += lower is not None and lower > truth
        below += upper is not None and upper < truth
    return Count(test, statement.label, number, len(cases), above, below)
