"""Means of skewed repeats, and hints, are wrong no more often than they say: a part of the table.

The draws are fixed, so the counts are the same in every run.
"""

from fractions import Fraction

import pytest
from asked import Row
from hints import count as count_hints
from means import counts
from trials import most_wrong

DEFAULT_CONFIDENCE = Fraction(95, 100)
DRAWN = 600


@pytest.mark.slow
@pytest.mark.parametrize("test", ["some_loss", "no_loss"])
def test_means_of_skewed_repeats_are_wrong_no_more_often_than_the_confidence_allows(test) -> None:
    found = list(counts(test, DRAWN))
    assert sum(each.shown for each in found) > len(found) / 2
    for each in found:
        most = most_wrong(each.cases, DEFAULT_CONFIDENCE)
        assert not each.shown or max(each.wrong_above, each.wrong_below) <= most, each


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
