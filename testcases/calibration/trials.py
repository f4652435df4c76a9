"""How often a criterion with confidence is wrong about a queue of which the truth is known."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import queues

from qospec.conditions import Constant, Measured, Operation
from qospec.engine.tally import Delays
from qospec.model import Statement
from qospec.run.confidence import judge_together
from qospec.source import Source, Span
from qospec.units import PS_PER_S, RATIO, TIME

SERVICE_PS = 10**6
PER_OCTAVE = 512
"""As the engine's histogram has buckets."""

CLEARLY = Fraction(3, 2)
"""A quantile is asked to be below so many times its value, where it truly is."""
RARELY = 4
"""Likewise a loss ratio."""

SPAN = Span(Source("calibration.qos", "expect\n"), 0, 6)


class Row(NamedTuple):
    """A row of the table: a queue, how it is measured, and what is asked of it.

    Attributes:
        load: Of the queue.
        room: Places in it; 0 for any number, and then delays are asked for.
        cells: Measured in each repeat.
        repeats: In a trial.
        statistic: The mean or quantile of delays that is asked for; "" for the loss ratio.
        confidence: Of the criterion.
    """

    load: float
    room: int
    cells: int
    repeats: int
    statistic: str
    confidence: Fraction


class Count(NamedTuple):
    """What came of trials.

    Attributes:
        trials: How many there were.
        false_below: In how many "below the truth" passed, which is false.
        false_above: In how many "above the truth" passed, which is false too.
        decided: In how many a true criterion at a clear distance passed.
    """

    trials: int
    false_below: int
    false_above: int
    decided: int


class Repeat(NamedTuple):
    """What a repeat measured, as `judge_together` reads it."""

    seen: Delays
    lost: int
    drawn: bool = True

    def read(self, leaf: Measured) -> Fraction:
        """Return the loss ratio, the mean delay, or the number of cells."""
        if leaf.metric == "cell_loss_ratio":
            return Fraction(self.lost, self.seen.count + self.lost)
        if leaf.metric == "transfer_delay":
            return Fraction(self.seen.sum_ps, self.seen.count * PS_PER_S)
        return Fraction(self.seen.count + self.lost)

    def delays(self, _leaf: Measured) -> Delays:
        """Return the delays of cells that arrived."""
        return self.seen


def delays_of(services: np.ndarray) -> Delays:
    """Return delays, given in units of a service, as the engine would keep them."""
    if not len(services):
        return Delays()
    times = np.rint(services * SERVICE_PS).astype(np.int64) + SERVICE_PS  # waiting and service
    numbers = np.floor(np.log2(times) * PER_OCTAVE).astype(np.int64)
    found, items = np.unique(numbers, return_counts=True)
    starts = [math.ceil(2 ** (n / PER_OCTAVE)) for n in (*found, *(found + 1))]
    buckets = zip(starts, starts[len(found) :], items.tolist(), strict=False)
    return Delays(
        count=len(times),
        sum_ps=int(times.sum()),
        min_ps=int(times.min()),
        max_ps=int(times.max()),
        buckets=tuple(buckets),
    )


def count(row: Row, trials: int) -> Count:
    """Return how many of so many trials were wrong, and how many decided."""
    truth = Fraction(_truth(row)).limit_denominator(10**12)
    wrong_below = wrong_above = decided = 0
    for repeats in _trials(row, trials):
        interval = judge_together(_statement(row), repeats, row.repeats).interval
        lower, upper = interval.lower.value, interval.upper.value
        wrong_below += upper is not None and upper < truth
        wrong_above += lower is not None and lower > truth
        clear = truth * (CLEARLY if row.statistic else RARELY)
        decided += upper is not None and upper < clear
    return Count(trials, wrong_below, wrong_above, decided)


def most_wrong(trials: int, confidence: Fraction) -> int:
    """Return how many wrong ones a true confidence exceeds in one of 1,000 tables at most."""
    doubt = float(1 - confidence)
    spread = math.sqrt(trials * doubt * (1 - doubt))
    return math.floor(trials * doubt + 3.1 * spread)


def _truth(row: Row) -> float:
    if row.room:
        return queues.loss_probability(row.room, row.load)
    if row.statistic == "mean":
        waits = row.load / (2 * (1 - row.load))
        return (waits + 1) * SERVICE_PS / PS_PER_S
    share = float(Fraction(row.statistic[1:].replace("_", ".")) / 100)
    return (queues.waiting_quantile(share, row.load) + 1) * SERVICE_PS / PS_PER_S


def _trials(row: Row, trials: int) -> Iterator[list[Repeat]]:
    warmup = math.ceil(20 / (1 - row.load) ** 2)
    stream = np.random.default_rng([round(row.load * 100), row.room, row.cells, row.repeats])
    for _ in range(trials):
        if not row.room:
            yield [
                Repeat(delays_of(queues.waiting_times(row.load, row.cells, warmup, stream)), 0)
                for _ in range(row.repeats)
            ]
            continue
        found = queues.finite_queue(row.room, row.load, row.cells, warmup, row.repeats, stream)
        lanes = zip(found[0].T, found[1].T, strict=True)
        yield [Repeat(delays_of(times[~lost]), int(lost.sum())) for times, lost in lanes]


def _statement(row: Row) -> Statement:
    metric, of = ("transfer_delay", TIME) if row.statistic else ("cell_loss_ratio", RATIO)
    leaf = Measured(
        "", "f", None, oam=False, metric=metric, statistic=row.statistic, dimension=of, text=""
    )
    condition = Operation("<", (leaf, Constant(Fraction(0), of)))
    return Statement("expect", "", "", condition, SPAN, row.confidence)
