"""Quantiles of Student's t, beside a published table and against the distribution's own shape."""

from fractions import Fraction

import pytest

from qospec.judge.statistics import (
    compute_student_cdf,
    compute_student_quantile,
    estimate_skewness,
    square_root,
)

CONFIDENCES = ("0.90", "0.95", "0.975", "0.99", "0.995", "0.999")

# NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2, upper critical values.
TABLE = {
    1: ("3.078", "6.314", "12.706", "31.821", "63.657", "318.313"),
    2: ("1.886", "2.920", "4.303", "6.965", "9.925", "22.327"),
    3: ("1.638", "2.353", "3.182", "4.541", "5.841", "10.215"),
    4: ("1.533", "2.132", "2.776", "3.747", "4.604", "7.173"),
    5: ("1.476", "2.015", "2.571", "3.365", "4.032", "5.893"),
    9: ("1.383", "1.833", "2.262", "2.821", "3.250", "4.297"),
    10: ("1.372", "1.812", "2.228", "2.764", "3.169", "4.144"),
    19: ("1.328", "1.729", "2.093", "2.539", "2.861", "3.579"),
    30: ("1.310", "1.697", "2.042", "2.457", "2.750", "3.385"),
    60: ("1.296", "1.671", "2.000", "2.390", "2.660", "3.232"),
    100: ("1.290", "1.660", "1.984", "2.364", "2.626", "3.174"),
}


@pytest.mark.parametrize("degrees", TABLE)
def test_quantiles_are_those_of_the_published_table(degrees: int) -> None:
    found = [compute_student_quantile(Fraction(confidence), degrees) for confidence in CONFIDENCES]
    for value, printed in zip(found, TABLE[degrees], strict=True):
        assert float(value) == pytest.approx(float(printed), rel=2e-5, abs=1e-3)


def test_with_many_degrees_it_is_nearly_the_normal_distribution() -> None:
    assert float(compute_student_quantile(Fraction("0.95"), 9_999)) == pytest.approx(
        1.644854, abs=2e-4
    )
    assert float(compute_student_quantile(Fraction("0.99999"), 9_999)) == pytest.approx(
        4.264891, abs=3e-3
    )


def test_one_degree_is_the_cauchy_distribution() -> None:
    assert compute_student_cdf(1.0, 1) == pytest.approx(0.75)


@pytest.mark.parametrize("degrees", [1, 2, 7, 8, 199])
def test_it_rises_from_a_half(degrees: int) -> None:
    at = [compute_student_cdf(t / 4, degrees) for t in range(24)]
    assert at[0] == 0.5
    assert at == sorted(at)
    assert at[-1] < 1


def test_a_quantile_has_few_digits_so_that_no_machine_differs() -> None:
    assert compute_student_quantile(Fraction("0.95"), 4) == Fraction("2.13184679")


@pytest.mark.parametrize(
    "value", ["0", "1/4", "2", "1/10000000000000000000000000000", "12345678901"]
)
def test_a_root_squared_is_the_value(value: str) -> None:
    exact = Fraction(value)
    assert float(square_root(exact) ** 2) == pytest.approx(float(exact), rel=1e-15)


def test_ten_repeats_with_the_normal_quantile_have_intervals_too_narrow() -> None:
    """The UNH thesis writes 1.96 for ten repeats: the normal quantile, for a known deviation."""
    of_ten_repeats = compute_student_quantile(Fraction("0.975"), 9)
    assert round(float(of_ten_repeats), 3) == 2.262
    assert round(1.96 / float(of_ten_repeats), 3) == 0.866
    # Such an interval holds the mean in fewer than 92 of 100 cases instead of 95.
    assert 2 * compute_student_cdf(1.96, 9) - 1 == pytest.approx(0.9184, abs=1e-4)


@pytest.mark.parametrize(
    ("values", "least", "skewness"),
    [
        ([5, 5, 5], 0, 0),
        ([1, 3], 0, 4),  # a deviation of the square root of 2, 2 above the least: more than 4
        ([99, 101], 0, "0.183848"),  # 13 * 1.414214 / 100
        ([99, 101], 90, "1.838478"),  # what matters is the distance from the least
        ([9, 11], 8, 4),  # 9.19, but no more than 4 are taken
        (["1/2", "501/1000"], 0, "0.0183663"),  # 13 * 0.000707107 / 0.5005
        (["-1", "-2"], 0, 4),
        ([-1, 1], 0, 4),
    ],
)
def test_the_skewness_assumed_is_a_multiple_of_deviation_over_distance(
    values, least, skewness
) -> None:
    found = estimate_skewness([Fraction(value) for value in values], Fraction(least))
    assert float(found) == pytest.approx(float(skewness), rel=1e-5)
