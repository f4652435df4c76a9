"""Bounds of a loss ratio, against the binomial distribution summed in fractions."""

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.judge.statistics import compute_clopper_pearson, find_binomial_critical_value

DOUBTS = (Fraction(1, 20), Fraction(1, 100_000), Fraction(49, 100))


def at_most(lost: int, sent: int, ratio: Fraction) -> Fraction:
    """Return the probability that no more are lost, by the book."""
    return sum(
        (comb(sent, n) * ratio**n * (1 - ratio) ** (sent - n) for n in range(lost + 1)),
        Fraction(0),
    )


@given(st.data(), st.sampled_from(DOUBTS))
def test_at_the_bound_the_probability_is_the_doubt(data, doubt):
    sent = data.draw(st.integers(1, 40) | st.sampled_from([64, 70]), "sent")
    lost = data.draw(st.integers(0, sent) | st.sampled_from([0, 1, sent - 1, sent]), "lost")
    low, high = compute_clopper_pearson(lost, sent, doubt)
    digit = Fraction(1, 10**8)  # bounds have nine, and so does what they lack to 1
    if lost < sent:
        off = digit * (1 - high) + Fraction(1, 10**9)
        assert at_most(lost, sent, min(high + off, Fraction(1))) < doubt
        assert at_most(lost, sent, high - off) > doubt
    if lost > 0:
        off = digit * low
        assert 1 - at_most(lost - 1, sent, low - off) < doubt
        assert 1 - at_most(lost - 1, sent, min(low + off, Fraction(1))) > doubt
    assert low <= Fraction(lost, sent) <= high


def test_all_or_nothing_has_one_bound():
    assert compute_clopper_pearson(0, 7, Fraction(1, 20))[0] == 0
    assert compute_clopper_pearson(7, 7, Fraction(1, 20))[1] == 1


@pytest.mark.parametrize(
    ("lost", "sent", "low", "high"),
    [
        (0, 1_200_000, "0", "2.49644045e-06"),  # 1 - 0.05 ** (1 / 1_200_000)
        (5, 100, "0.0199055637", "0.102253378"),
        (10, 1_000_000_000, "5.42541e-09", "1.69622e-08"),  # nearly Poisson's, 5.4254 and 16.9622
        (1, 10**13, "5.12932944e-15", "4.74386452e-13"),  # Poisson's: 0.0512932944, 4.74386452
    ],
)
def test_bounds_as_printed(lost, sent, low, high):
    found = [float(bound) for bound in compute_clopper_pearson(lost, sent, Fraction(1, 20))]
    assert found == pytest.approx([float(low), float(high)], rel=1e-5, abs=0)


def test_a_billion_with_half_of_it_lost_is_no_longer_sum():
    low, high = compute_clopper_pearson(500_000_000, 1_000_000_000, Fraction(1, 20))
    # the normal distribution: 1.644854 deviations, of 1 / (2 sqrt(n)) each
    assert float(high - Fraction(1, 2)) == pytest.approx(1.644854 / 2 / 1e9**0.5, rel=1e-4)
    assert float(Fraction(1, 2) - low) == pytest.approx(float(high - Fraction(1, 2)), rel=1e-4)


@given(
    st.integers(1, 30), st.fractions(0, 1, max_denominator=40), st.sampled_from([*DOUBTS, 1 / 4])
)
def test_a_critical_value_is_the_last_that_is_improbable(sent, ratio, significance):
    significance = Fraction(significance)
    found = find_binomial_critical_value(sent, ratio, significance)
    assert found < 0 or at_most(found, sent, ratio) <= significance
    assert found == sent or at_most(found + 1, sent, ratio) > significance


def test_a_critical_value_may_be_as_improbable_as_allowed():
    assert find_binomial_critical_value(2, Fraction(1, 2), Fraction(1, 4)) == 0


def test_far_below_the_mean_probabilities_are_negligible():
    mean, deviation = 500_000_000, 15_811  # of a billion at 1/2
    found = find_binomial_critical_value(10**9, Fraction(1, 2), Fraction(1, 20))
    assert found == pytest.approx(mean - 1.644854 * deviation, abs=deviation / 1_000)
