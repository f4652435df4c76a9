"""What is reported of all repeats: their mean, with an interval."""

from dataclasses import replace
from fractions import Fraction

import pytest

from qospec.judge.confidence import compute_mean_over_repeats
from qospec.judge.verdict import Side
from qospec.units import CELLS


def test_what_is_reported_is_the_mean_of_the_repeats_with_its_interval() -> None:
    shown = compute_mean_over_repeats(
        [Side(Fraction(value), CELLS) for value in (8, 9, 10, 11, 12)], Fraction("0.95")
    )
    # to both sides together: t(0.975, 4) = 2.776445
    assert (shown.verdict, shown.measured.value, shown.note) == (None, 10, "mean of 5 repeats")
    assert float(shown.interval.upper.value) == pytest.approx(10 + 2.776445 * 0.5**0.5)
    assert float(shown.interval.lower.value) == pytest.approx(10 - 2.776445 * 0.5**0.5)


@pytest.mark.parametrize(
    ("values", "mean", "note"),
    [
        ((None, 1, 5, None, 3), 3, "mean of 3 repeats; no data in 2 of 5"),
        ((None, 1, 1), 1, "no data in 1 of 3 repeats"),
        ((1, None), 1, "no data in 1 of 2 repeats"),
    ],
)
def test_what_is_reported_of_repeats_without_data_is_the_mean_of_the_others(
    values, mean, note
) -> None:
    found = [Side(v if v is None else Fraction(v), CELLS) for v in values]
    shown = compute_mean_over_repeats(found, Fraction("0.95"))
    assert (shown.measured.value, shown.note) == (mean, note)
    read = [replace(found[0], approximate=True), *found[1:]]
    assert not shown.measured.approximate
    assert compute_mean_over_repeats(read[::-1], Fraction("0.95")).measured.approximate
    assert (shown.interval is None) == (len(set(values)) == 2)


@pytest.mark.parametrize("values", [(1, 1, 1), ("a", "b"), ("a", None), (None, None), (1,)])
def test_of_words_and_of_equal_numbers_there_is_no_mean(values) -> None:
    found = [Side(Fraction(v) if isinstance(v, int) else v, CELLS) for v in values]
    assert compute_mean_over_repeats(found, Fraction("0.95")) is None
