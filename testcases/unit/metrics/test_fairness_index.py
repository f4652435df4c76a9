"""Jain's index by the book."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.engine.measure.tally import Tally
from qospec.metrics.fairness_index import FairnessIndex, LossFairnessIndex


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=9), st.integers(1, 1000))
def test_it_lies_between_one_share_and_one(shares, factor):
    seen = [
        FairnessIndex().measure(of(tuple(split)))
        for split in (shares, [factor * x for x in shares])
    ]
    if not any(shares):
        assert seen == [None, None]
        return
    index, scaled = seen
    assert index == scaled, "it does not hang on the unit"
    assert Fraction(1, len(shares)) <= index <= 1
    assert (index == 1) == (len(set(shares)) == 1)


@given(st.lists(st.integers(0, 100), min_size=1, max_size=9).filter(any))
def test_of_equal_members_it_falls_by_no_more_than_what_they_lose(arrived):
    """It does where each loses all or nothing."""
    lost = 1 - Fraction(sum(arrived), 100 * len(arrived))
    assert FairnessIndex().measure(of(tuple(arrived))) >= 1 - FairnessIndex.fall_per_loss * lost
    assert FairnessIndex().measure(of((100, 100, 100, 0))) == 1 - Fraction(1, 4)


def of(shares: tuple[int, ...]) -> Tally:
    return Tally(len(shares), 0, 0, 0, 0, {}, 53, 10**12, shares=shares)


@pytest.mark.parametrize(
    ("shares", "expected"),
    [((20, 20, 20), 1), ((0, 0, 5), Fraction(1, 3)), ((50, 30, 50), Fraction(16_900, 17_700))],
)
def test_examples(shares, expected):
    assert FairnessIndex().measure(of(shares)) == expected


def test_losses_are_compared_as_ratios(tally):
    """Two of four members lose 1/10 and 3/10 of what they send, another nothing, one is silent."""
    seen = tally(shares=(9, 70, 5, 0), fates=((10, 1), (100, 30), (5, 0), (0, 0)))
    assert LossFairnessIndex().measure(seen) == Fraction(16, 30)
    assert LossFairnessIndex().measure(tally(shares=(1, 1), fates=((1, 0), (1, 0)))) is None
