"""False criteria pass no more often than their confidence allows, and true ones are decided.

The draws are fixed, so a row's counts are the same in every run. `make calibration` prints the
whole table.
"""

from fractions import Fraction

import asked
import numpy as np
import pytest
import queues
from asked import Row, question
from trials import count, most_wrong

DEFAULT_CONFIDENCE = Fraction(95, 100)
TRIALS = 60


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "decided"),  # in per cent
    [
        (Row(0.5, 0, 1_000, 5, "p90", DEFAULT_CONFIDENCE), 95),
        (Row(0.8, 0, 1_000, 10, "p90", DEFAULT_CONFIDENCE), 75),
        (Row(0.9, 0, 1_000, 10, "p90", DEFAULT_CONFIDENCE), 20),
        (Row(0.9, 0, 1_000, 10, "mean", DEFAULT_CONFIDENCE), 55),
        (Row(0.8, 0, 2_000, 10, "p99", DEFAULT_CONFIDENCE), 20),
        (Row(0.8, 8, 1_000, 10, "loss", DEFAULT_CONFIDENCE), 95),
        (Row(0.9, 12, 1_000, 10, "loss", DEFAULT_CONFIDENCE), 50),
        (Row(0.5, 5, 500, 20, "lost", DEFAULT_CONFIDENCE, "on-off"), 95),
        (Row(0.3, 5, 150, 60, "loss", DEFAULT_CONFIDENCE, "on-off"), 95),
        (Row(0.85, 0, 1_000, 10, "above p90", DEFAULT_CONFIDENCE), 95),
        (Row(0.9, 0, 1_000, 10, "pdv p90", DEFAULT_CONFIDENCE), 20),
        (Row(0.5, 0, 1_000, 10, "p99 - p90", DEFAULT_CONFIDENCE), 30),
        (Row(0.8, 0, 1_000, 5, "abs(mean)", DEFAULT_CONFIDENCE), 55),
        (Row(0.8, 0, 1_000, 10, "abs(p90)", DEFAULT_CONFIDENCE), 75),
        (Row(0.8, 0, 1_000, 5, "mean", DEFAULT_CONFIDENCE, "M/M/1"), 55),
        (Row(0.5, 0, 2_000, 5, "mean", DEFAULT_CONFIDENCE, "on-off"), 55),
        (Row(0.8, 0, 2_000, 5, "mean", DEFAULT_CONFIDENCE, "batches"), 40),
    ],
)
def test_a_confidence_is_kept(row: Row, decided: int) -> None:
    found = count(row, TRIALS)
    assert max(found.false_below, found.false_above) <= most_wrong(TRIALS, row.confidence)
    assert found.decided / TRIALS >= decided / 100


@pytest.mark.slow
def test_quantiles_judged_by_the_mean_of_repeats_would_be_seen() -> None:
    """The former rule: Student's t over the quantiles of the repeats."""
    row, wrong = Row(0.9, 0, 9_000, 20, "p99_9", DEFAULT_CONFIDENCE), 0
    truth = queues.waiting_quantile(0.999, row.load)
    stream = np.random.default_rng(1)
    for _ in range(20):
        found = [
            np.quantile(queues.waiting_times(row.load, row.cells, 2_000, stream), 0.999)
            for _ in range(row.repeats)
        ]
        wrong += np.mean(found) + 1.729 * np.std(found, ddof=1) / np.sqrt(row.repeats) < truth
    assert wrong > most_wrong(20, DEFAULT_CONFIDENCE)


@pytest.mark.parametrize(
    ("load", "share", "waits"),
    [(0.5, 0.5, 0.0), (0.5, 0.9, 1.5140), (0.8, 0.99, 10.349), (0.9, 0.9, 10.765)],
)
def test_the_quantiles_of_the_queue_are_those_of_long_runs(load, share, waits) -> None:
    assert queues.waiting_quantile(share, load) == pytest.approx(waits, rel=0.01, abs=1e-6)


def test_the_loss_of_a_queue_with_one_place_is_that_of_erlang() -> None:
    assert queues.loss_probability(1, 0.5) == pytest.approx(0.5 / 1.5)


def test_the_loss_of_a_queue_with_exponential_services_is_the_last_of_a_geometric_row() -> None:
    geometric = 0.8**3 * (1 - 0.8) / (1 - 0.8**4)
    assert queues.Markovian.poisson(0.8).loss_probability(3) == pytest.approx(geometric)


def test_the_loss_of_an_on_off_source_is_that_of_a_long_run() -> None:
    row = Row(0.5, 5, 2_000, 1, "lost", DEFAULT_CONFIDENCE, "on-off")
    _, lost, counted = asked.losses(row, 200, np.random.default_rng(1))
    assert (lost & counted).sum() / 200 == pytest.approx(float(question(row).truth), rel=0.05)


def test_an_on_off_source_that_hardly_pauses_is_poisson() -> None:
    queue = queues.Markovian.on_off(0.7, on=1e6, off=1e-3)
    assert queue.busy == pytest.approx(0.7, rel=1e-3)
    assert queues.Markovian.poisson(0.7).busy == pytest.approx(0.7)


@pytest.mark.parametrize(
    "row",
    [
        Row(0.8, 0, 400_000, 1, "mean", DEFAULT_CONFIDENCE, "M/M/1"),
        Row(0.3, 0, 400_000, 1, "mean", DEFAULT_CONFIDENCE, "on-off"),
        Row(0.7, 0, 400_000, 1, "mean", DEFAULT_CONFIDENCE, "batches"),
    ],
    ids=lambda row: row.queue,
)
def test_the_mean_delay_of_a_queue_is_that_of_a_long_run(row: Row) -> None:
    found = asked.delays(row, np.random.default_rng(1)).mean()
    assert found == pytest.approx(float(question(row).truth * 10**6), rel=0.05)
