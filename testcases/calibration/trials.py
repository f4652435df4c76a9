"""How often a criterion with a confidence is wrong about a queue whose true values are known."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import queues
from asked import LATE, SERVICE_PS, Row, delays, late_delays, losses, question, warmup

from qospec.catalogue.statistics import parse_bound
from qospec.engine.measure.tally import Delays
from qospec.judge.confidence import judge_repeats
from qospec.model.expression import Constant, Measured, Operation
from qospec.model.suite import Statement
from qospec.source import Source, Span
from qospec.units import PS_PER_S

PER_OCTAVE = 512
"""As the engine's histogram has buckets."""

SPAN = Span(Source("calibration.qos", "expect\n"), 0, 6)


class Count(NamedTuple):
    """The results of trials.

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
    """What a repeat measured, as `judge_repeats` reads it."""

    seen: Delays
    lost: int
    drawn: bool = True

    def read(self, leaf: Measured) -> Fraction | None:
        """Return the loss, a share or a number, the share above a bound, the mean delay, or all.

        None is the share of nothing: a source that pauses may send nothing.
        """
        if leaf.metric == "cell_loss_ratio":
            sent = self.seen.count + self.lost
            return Fraction(self.lost, sent) if sent else None
        if leaf.metric == "lost":
            return Fraction(self.lost)
        if leaf.metric == "sent":
            return Fraction(self.seen.count + self.lost)
        bound_ps = parse_bound(leaf.statistic)
        if bound_ps is not None:
            return Fraction(self.seen.count_above(bound_ps)[1], self.seen.count)
        return Fraction(self.seen.sum_ps, self.seen.count * PS_PER_S)

    def read_delays(self, leaf: Measured) -> Delays:
        """Return the delays of cells that arrived, or by how much they exceed the least."""
        varies = leaf.metric == "packet_delay_variation"
        return self.seen.reduce(self.seen.min_ps or 0) if varies else self.seen


def delays_of(services: np.ndarray) -> Delays:
    """Return delays, given in units of a service, as the engine would keep them."""
    if not len(services):
        return Delays()
    times = np.maximum(np.rint(services * SERVICE_PS).astype(np.int64), 1)
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
    """Return how many of the trials were wrong, and how many were decided."""
    asked, truth, clear = question(row)
    condition = Operation("<", (asked, Constant(Fraction(0), asked.dimension)))
    statement = Statement("expect", "", "", condition, SPAN, row.confidence)
    wrong_below = wrong_above = decided = 0
    for repeats in _trials(row, trials):
        interval = judge_repeats(statement, repeats, row.repeats).interval
        if interval is None:  # a repeat without data decides nothing
            continue
        lower, upper = interval.lower.value, interval.upper.value
        wrong_below += upper is not None and upper < truth
        wrong_above += lower is not None and lower > truth
        decided += upper is not None and upper < clear
    return Count(trials, wrong_below, wrong_above, decided)


def most_wrong(trials: int, confidence: Fraction) -> int:
    """Return how many wrong ones a true confidence exceeds in one of 1,000 tables at most."""
    doubt = float(1 - confidence)
    spread = math.sqrt(trials * doubt * (1 - doubt))
    return math.floor(trials * doubt + 3.1 * spread)


def _trials(row: Row, trials: int) -> Iterator[list[Repeat]]:
    seed = [round(row.load * 100), row.room, row.cells, row.repeats]
    stream = np.random.default_rng(seed)
    if row.room and row.queue == "on-off":
        lanes = zip(*(loss.T for loss in losses(row, trials * row.repeats, stream)), strict=True)
        for _ in range(trials):
            yield [
                Repeat(delays_of(times[counted & ~lost]), int((counted & lost).sum()))
                for times, lost, counted in itertools.islice(lanes, row.repeats)
            ]
        return
    for _ in range(trials):
        if row.asked.startswith(LATE):
            drawn = (late_delays(row, stream) for _ in range(row.repeats))
            yield [Repeat(delays_of(kept), lost) for kept, lost in drawn]
            continue
        if not row.room:
            yield [Repeat(delays_of(delays(row, stream)), 0) for _ in range(row.repeats)]
            continue
        before = warmup(row)
        found = queues.finite_queue(row.room, row.load, row.cells, before, row.repeats, stream)
        lanes = zip(found[0].T, found[1].T, strict=True)
        yield [Repeat(delays_of(times[~lost] + 1), int(lost.sum())) for times, lost in lanes]
