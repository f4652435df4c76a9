"""How often as many more repeats decide as an inconclusive criterion says."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import queues
from asked import Row, delays, question, warmup
from trials import SPAN, Repeat, delays_of

from qospec.judge.confidence import judge_repeats
from qospec.model.expression import Constant, Operation
from qospec.model.suite import Statement

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from qospec.judge.repeats import MoreRepeats

MOST_DRAWN = 400
"""Hints of more repeats than these are not followed."""


class Count(NamedTuple):
    """What came of hints.

    Attributes:
        cases: In how many of these criteria were undecided.
        ranges: How many were told from how many to how many more repeats decide.
        too_few: Of these, how many were decided by fewer.
        too_many: Of these, how many were not decided by the most.
    """

    cases: int = 0
    ranges: int = 0
    too_few: int = 0
    too_many: int = 0


def count(row: Row, nearness: Fraction, trials: int) -> Count:
    """Follow the hints of a criterion that its value is below `nearness` times what it is."""
    asked, truth, _ = question(row)
    condition = Operation("<", (asked, Constant(nearness * truth, asked.dimension)))
    statement = Statement("expect", "", "", condition, SPAN, row.confidence)
    found = Count()
    for number in range(trials):
        drawn = _drawn(row, np.random.default_rng([number, row.cells, row.repeats]))
        repeats = list(itertools.islice(drawn, row.repeats))
        hint = judge_repeats(statement, repeats, row.repeats).more
        if hint is None:
            continue
        found = found._replace(cases=found.cases + 1)
        if hint.most is not None and hint.most <= MOST_DRAWN:
            found = _followed(statement, repeats, drawn, hint, found)
    return found


def _followed(
    statement: Statement,
    repeats: list[Repeat],
    drawn: Iterator[Repeat],
    hint: MoreRepeats,
    found: Count,
) -> Count:
    last = len(repeats) + (hint.most or 0)
    repeats += itertools.islice(drawn, hint.least - 1)
    early = hint.least > 1 and _decides(statement, repeats)
    repeats += itertools.islice(drawn, last - len(repeats))
    late = not early and not _decides(statement, repeats)
    return found._replace(
        ranges=found.ranges + 1,
        too_few=found.too_few + early,
        too_many=found.too_many + late,
    )


def _decides(statement: Statement, repeats: list[Repeat]) -> bool:
    return judge_repeats(statement, repeats, len(repeats)).verdict != "inconclusive"


def _drawn(row: Row, stream: np.random.Generator) -> Iterator[Repeat]:
    """Yield repeats without end."""
    while True:
        if not row.room:
            yield Repeat(delays_of(delays(row, stream)), 0)
            continue
        times, lost = queues.finite_queue(
            row.room, row.load, row.cells, warmup(row), MOST_DRAWN, stream
        )
        for arrived, missing in zip(times.T, lost.T, strict=True):
            yield Repeat(delays_of(arrived[~missing] + 1), int(missing.sum()))
