"""Criteria about queues whose true values are known."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import queues

from qospec.catalogue.statistics import name_share_above
from qospec.model.expression import Constant, Expression, Measured, Operation
from qospec.units import CELLS, PS_PER_S, RATIO, TIME

if TYPE_CHECKING:
    import numpy as np

SERVICE_PS = 10**6
BURST = (20.0, 40.0)
"""How long an on-off source stays in each state, in services."""
BATCH = 4
LATE = "late"


class Row(NamedTuple):
    """A row of the table: a queue, how it is measured, and what is asked of it.

    Attributes:
        load: Of the queue.
        room: Places in it; 0 for any number.
        cells: Measured in each repeat; of an on-off source with a finite room as many on average,
            in a time that is the same in each, so that their number is drawn.
        repeats: In a trial.
        asked: The "loss", or how many are "lost"; of the delays "mean" or "p99"; "p99 - p90"; how
            far one of them is from the truth, "abs(mean)"; the share above what it should be,
            "above p99"; the quantile of how far delays are above the least, "pdv p99"; the share
            that a device loses which discards what waits longer than a quantile, "late p99".
        confidence: Of the criterion.
        queue: "M/D/1", "M/M/1", "on-off" (exponential stays, and services), or "batches" of four.
    """

    load: float
    room: int
    cells: int
    repeats: int
    asked: str
    confidence: Fraction
    queue: str = "M/D/1"


class Question(NamedTuple):
    """What is asked for, what it truly is, and what it is clearly below."""

    asked: Expression
    truth: Fraction
    clear: Fraction


CLEARLY = Fraction(3, 2)
"""A quantile or a number is asked to be below so many times its value, where it truly is."""
RARELY = 4
"""Likewise a ratio."""


def question(row: Row) -> Question:
    """Return what a row asks."""
    if row.asked in ("loss", "lost"):
        return _of_losses(row)
    word, _, last = row.asked.rpartition(" ")
    if word in ("above", LATE):
        above = name_share_above(round(_delay(row, last) * SERVICE_PS))
        lost = _measured("cell_loss_ratio", "")
        asked = lost if word == LATE else _measured("transfer_delay", above)
        return _rarely(asked, 1 - share_of(last))
    if word == "pdv":
        truth = _seconds(_delay(row, last) - _least(row))
        return Question(_measured("packet_delay_variation", last), truth, CLEARLY * truth)
    if word:
        high, low = row.asked.split(" - ")
        truth = _seconds(_delay(row, high) - _delay(row, low))
        both = (_measured("transfer_delay", statistic) for statistic in (high, low))
        return Question(Operation("-", tuple(both), TIME), truth, CLEARLY * truth)
    statistic = row.asked.removeprefix("abs(").removesuffix(")")
    leaf, truth = _measured("transfer_delay", statistic), _seconds(_delay(row, statistic))
    if statistic == row.asked:
        return Question(leaf, truth, CLEARLY * truth)
    off = Operation("-", (leaf, Constant(truth, TIME)), TIME)
    return Question(Operation("abs", (off,), TIME), Fraction(0), truth / 2)


def late_delays(row: Row, stream: np.random.Generator) -> tuple[np.ndarray, int]:
    """Return the delays of a repeat, in services, that are not too long, and how many are."""
    every = delays(row, stream)
    kept = every[every <= _delay(row, row.asked.removeprefix(f"{LATE} "))]
    return kept, len(every) - len(kept)


def warmup(row: Row) -> int:
    """Return how many customers come before those that are measured."""
    busy = row.load if row.queue == "M/D/1" else _busy(row)
    return math.ceil(20 / (1 - busy) ** 2)


def delays(row: Row, stream: np.random.Generator) -> np.ndarray:
    """Return the delays of a repeat, in services."""
    before = warmup(row)
    if row.queue == "M/D/1":
        return queues.waiting_times(row.load, row.cells, before, stream) + 1
    if row.queue == "batches":
        return queues.batch_delays(BATCH, row.load, row.cells, before, stream)
    return markovian(row).delays(row.cells, before, stream)


def losses(
    row: Row, lanes: int, stream: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return of so many repeats the delays, which cells are lost, and which are measured."""
    time, before = row.cells / row.load, warmup(row)
    return markovian(row).losses(row.room, time, before, lanes, stream)


def share_of(quantile: str) -> float:
    """Return the share that a quantile is named for."""
    return float(Fraction(quantile[1:].replace("_", ".")) / 100)


def _of_losses(row: Row) -> Question:
    if row.asked == "loss":
        return _rarely(_measured("cell_loss_ratio", ""), _loss(row))
    lost = Fraction(_loss(row) * row.cells).limit_denominator(10**9)
    return Question(replace(_measured("lost", ""), dimension=CELLS), lost, CLEARLY * lost)


def _rarely(leaf: Measured, truth: float) -> Question:
    exact = Fraction(truth).limit_denominator(10**12)
    return Question(leaf, exact, RARELY * exact)


def _measured(metric: str, statistic: str) -> Measured:
    ratio = not statistic or statistic.startswith("above")
    of = RATIO if ratio else TIME
    return Measured(
        "",
        "f",
        None,
        part="user",
        metric=metric,
        statistic=statistic,
        dimension=of,
        text=statistic,
    )


def _seconds(services: float) -> Fraction:
    return Fraction(services * SERVICE_PS / PS_PER_S).limit_denominator(10**15)


def markovian(row: Row) -> queues.Markovian:
    """Return the queue with exponential services that a row names."""
    if row.queue == "M/M/1":
        return queues.Markovian.poisson(row.load)
    return queues.Markovian.on_off(row.load, *BURST)


def _loss(row: Row) -> float:
    if row.queue == "M/D/1":
        return queues.loss_probability(row.room, row.load)
    return markovian(row).loss_probability(row.room)


def _busy(row: Row) -> float:
    return row.load if row.queue == "batches" else markovian(row).busy


def _least(row: Row) -> float:
    """Return the shortest delay, in services; of exponential ones none is."""
    return 1.0 if row.queue in ("M/D/1", "batches") else 0.0


def _delay(row: Row, statistic: str) -> float:
    """Return the mean or a quantile of the delays, in services."""
    if row.queue == "batches":
        return queues.batch_delay(BATCH, row.load)
    if row.queue != "M/D/1":
        queue = markovian(row)
        return queue.delay if statistic == "mean" else queue.delay_quantile(share_of(statistic))
    if statistic == "mean":
        return row.load / (2 * (1 - row.load)) + 1
    return queues.waiting_quantile(share_of(statistic), row.load) + 1
