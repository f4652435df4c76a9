"""False criteria pass no more often than their confidence says, and true ones are decided.

The draws are fixed, so a row's counts are the same in every run. `make calibration` prints the
whole table.
"""

from fractions import Fraction

import numpy as np
import pytest
import queues
from trials import Row, count, most_wrong

SURE = Fraction(95, 100)
TRIALS = 200


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "decided"),
    [
        (Row(0.5, 0, 1_000, 5, "p90", SURE), 190),
        (Row(0.8, 0, 1_000, 10, "p90", SURE), 150),
        (Row(0.9, 0, 1_000, 10, "p90", SURE), 40),
        (Row(0.9, 0, 1_000, 10, "mean", SURE), 110),
        (Row(0.8, 0, 2_000, 10, "p99", SURE), 40),
        (Row(0.8, 8, 1_000, 10, "", SURE), 190),
        (Row(0.9, 12, 1_000, 10, "", SURE), 100),
    ],
)
def test_a_confidence_is_kept(row: Row, decided: int) -> None:
    found = count(row, TRIALS)
    assert max(found.false_below, found.false_above) <= most_wrong(TRIALS, row.confidence)
    assert found.decided >= decided


@pytest.mark.slow
def test_quantiles_judged_by_the_mean_of_repeats_would_be_seen() -> None:
    """The rule that was here first: Student's t over the quantiles of the repeats."""
    row, wrong = Row(0.9, 0, 9_000, 20, "p99_9", SURE), 0
    truth = queues.waiting_quantile(0.999, row.load)
    stream = np.random.default_rng(1)
    for _ in range(20):
        found = [
            np.quantile(queues.waiting_times(row.load, row.cells, 2_000, stream), 0.999)
            for _ in range(row.repeats)
        ]
        wrong += np.mean(found) + 1.729 * np.std(found, ddof=1) / np.sqrt(row.repeats) < truth
    assert wrong > most_wrong(20, SURE)


@pytest.mark.parametrize(
    ("load", "share", "waits"),
    [(0.5, 0.5, 0.0), (0.5, 0.9, 1.5140), (0.8, 0.99, 10.349), (0.9, 0.9, 10.765)],
)
def test_the_quantiles_of_the_queue_are_those_of_long_runs(load, share, waits) -> None:
    assert queues.waiting_quantile(share, load) == pytest.approx(waits, rel=0.01, abs=1e-6)


def test_the_loss_of_a_queue_with_one_place_is_that_of_erlang() -> None:
    assert queues.loss_probability(1, 0.5) == pytest.approx(0.5 / 1.5)
