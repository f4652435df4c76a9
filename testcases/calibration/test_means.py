"""Means of skewed repeats, bursts and hints are wrong no more often than they say: a part of it.

The draws are fixed, so the counts are the same in every run.
"""

from fractions import Fraction

import pytest
from asked import Row
from bursts import Row as Bursts
from bursts import count as count_bursts
from hints import count as count_hints
from means import counts
from trials import most_wrong

DEFAULT_CONFIDENCE = Fraction(95, 100)
DRAWN = 240


@pytest.mark.slow
@pytest.mark.parametrize("test", ["some_loss", "no_loss"])
def test_means_of_skewed_repeats_are_wrong_no_more_often_than_the_confidence_allows(test) -> None:
    for count in counts(test, DRAWN):
        most = most_wrong(count.cases, DEFAULT_CONFIDENCE)
        assert max(count.wrong_above, count.wrong_below) <= most, count


@pytest.mark.slow
def test_losses_in_bursts_of_various_lengths_are_wrong_no_more_often() -> None:
    found = count_bursts(Bursts(2, 5, varying=True, traced=False), 120)
    assert found.wrong + found.unseen <= most_wrong(found.trials, DEFAULT_CONFIDENCE)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "nearness", "ranges"),
    [
        (Row(0.8, 0, 1_000, 5, "mean", DEFAULT_CONFIDENCE), "1.3", 15),
        (Row(0.8, 0, 1_000, 10, "mean", DEFAULT_CONFIDENCE), "1.1", 15),
        (Row(0.5, 0, 1_000, 5, "p99", DEFAULT_CONFIDENCE), "1.3", 15),
        (Row(0.8, 16, 1_000, 5, "loss", DEFAULT_CONFIDENCE), "40", 15),
    ],
)
def test_as_many_more_repeats_decide_as_is_said(row, nearness, ranges) -> None:
    found = count_hints(row, Fraction(nearness), 60)
    assert found.ranges >= ranges
    assert found.too_few + found.too_many <= most_wrong(found.ranges, Fraction(8, 10))
