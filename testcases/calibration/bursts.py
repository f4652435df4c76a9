"""How often a ratio lost in rare bursts is judged to be less than it is.

In one repeat of so many a burst is lost, all of it in that repeat: one that meets an interruption,
say. The other repeats lose nothing, and their delays are those of a queue.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import queues
from trials import SPAN, Repeat, delays_of

from qospec.engine.measure.tally import Delays
from qospec.judge.confidence import judge_repeats
from qospec.judge.repeats import bound_rare_share
from qospec.model.expression import Constant, Measured, Operation
from qospec.model.suite import Statement
from qospec.units import RATIO

CELLS = 1_000
"""Sent in each repeat."""
MEAN_BURST = 50
CONFIDENCE = Fraction(95, 100)
LOADS = (0.5, 0.97)
"""Of the queue in a usual repeat, and in one with a burst if that leaves a trace in delays."""
KNOWN = 200
"""So many repeats of each are drawn, and drawn from."""
LOSS = Measured(
    "", "f", None, part="user", metric="cell_loss_ratio", statistic="", dimension=RATIO, text="clr"
)


class Row(NamedTuple):
    """A network and a number of repeats.

    Attributes:
        one_in: In one repeat of so many a burst is lost.
        repeats: In a trial.
        varying: Whether bursts have exponential lengths; else all have the same.
        traced: Whether delays are longer in a repeat with a burst.
    """

    one_in: int
    repeats: int
    varying: bool
    traced: bool

    @property
    def excluded(self) -> bool:
        """Return whether so many repeats, all without a burst, would exclude that there are any."""
        return Fraction(1, self.one_in) > bound_rare_share(CONFIDENCE, self.repeats)


SHOWN = ((2, 5), (3, 10), (5, 20), (10, 40))
TOO_RARE = ((5, 5), (10, 10), (20, 20), (20, 40))
ROWS = tuple(
    Row(one_in, repeats, varying, traced)
    for one_in, repeats in (*SHOWN, *TOO_RARE)
    for varying in (False, True)
    for traced in (False, True)
)


class Count(NamedTuple):
    """Of so many trials, in how many less than the truth was shown, and in how many no burst was.

    Attributes:
        wrong: In how many the ratio was below its upper bound, though there was a burst.
        unseen: Likewise, where there was none in any repeat.
    """

    trials: int
    wrong: int
    unseen: int


def count(row: Row, trials: int) -> Count:
    """Return how often the upper bound is below the truth."""
    stream = np.random.default_rng([row.one_in, row.repeats, row.varying, row.traced])
    truth = _mean_burst(varying=row.varying) / row.one_in / CELLS
    condition = Operation("<", (LOSS, Constant(Fraction(truth), RATIO)))
    statement = Statement("expect", "", "", condition, SPAN, CONFIDENCE)
    wrong = unseen = 0
    for _ in range(trials):
        repeats = [_draw(row, stream) for _ in range(row.repeats)]
        if judge_repeats(statement, repeats, row.repeats).verdict == "pass":
            lost = any(repeat.lost for repeat in repeats)
            wrong, unseen = wrong + lost, unseen + (not lost)
    return Count(trials, wrong, unseen)


def _draw(row: Row, stream: np.random.Generator) -> Repeat:
    usual, busy = _known()
    if stream.integers(row.one_in):
        return Repeat(usual[stream.integers(KNOWN)], 0)
    lost = _length(stream.random(), varying=row.varying)
    return Repeat(_without((busy if row.traced else usual)[stream.integers(KNOWN)], lost), lost)


def _length(share: float, *, varying: bool) -> int:
    """Return the length of a burst that this share of all bursts does not exceed."""
    longer = -MEAN_BURST * np.log1p(-share) if varying else MEAN_BURST
    return min(CELLS, max(1, round(longer)))


@functools.cache
def _mean_burst(*, varying: bool) -> float:
    shares = (np.arange(100_000) + 0.5) / 100_000
    return float(np.mean([_length(share, varying=varying) for share in shares]))


@functools.cache
def _known() -> tuple[list[Delays], list[Delays]]:
    """Return delays of usual repeats and of busy ones, whose queue has 20 places."""
    stream = np.random.default_rng(1)
    found = [
        [np.minimum(queues.waiting_times(load, CELLS, 50, stream), 20) + 1 for _ in range(KNOWN)]
        for load in LOADS
    ]
    usual, busy = ([delays_of(times_ps) for times_ps in times] for times in found)
    return usual, busy


def _without(delays: Delays, lost: int) -> Delays:
    """Return delays without the shortest of them, which were lost."""
    kept, left = [], lost
    for low, high, items in delays.buckets:
        gone = min(items, left)
        left -= gone
        if items > gone:
            kept.append((low, high, items - gone))
    return replace(delays, count=delays.count - lost, buckets=tuple(kept))
