"""Quantiles, and their names."""

from fractions import Fraction

import pytest

from qospec.catalogue.statistics import parse_share
from qospec.engine.measure.tally import Delays, Tally, combine_signs


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("p50", Fraction(1, 2)),
        ("p99_9", Fraction(999, 1_000)),
        ("p99_999", Fraction(99_999, 100_000)),
        ("p0", Fraction(0)),
        ("p100", Fraction(1)),
        ("p100_1", None),
        ("p", None),
        ("p9_", None),
        ("99", None),
        ("mean", None),
        ("p50x", None),
    ],
)
def test_a_quantile_is_named_by_its_share(name: str, share: Fraction | None) -> None:
    assert parse_share(name) == share


THOUSAND = Delays(
    count=1_000,
    sum_ps=0,
    min_ps=1_000,
    max_ps=5_005,
    buckets=((1_000, 1_002, 990), (5_000, 5_010, 10)),
)


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (Fraction(0), 1_000),
        (Fraction(1, 1_000), 1_000),
        (Fraction(1, 2), 1_001),
        (Fraction(99, 100), 1_001),
        (Fraction(991, 1_000), 5_005),
        (Fraction(1), 5_005),
    ],
)
def test_a_bucket_s_middle_stands_for_it_within_the_extremes(
    share: Fraction, expected: int
) -> None:
    assert THOUSAND.compute_quantile_ps(share) == expected


def test_the_middle_of_a_bucket_is_never_below_the_least_or_above_the_largest() -> None:
    one = Delays(count=3, min_ps=1_001, max_ps=1_001, buckets=((900, 1_100, 3),))
    assert one.compute_quantile_ps(Fraction(1, 2)) == 1_001


def test_without_cells_or_buckets_there_is_no_quantile() -> None:
    assert Delays().compute_quantile_ps(Fraction(1, 2)) is None
    assert Delays(count=3, min_ps=1, max_ps=9).compute_quantile_ps(Fraction(1, 2)) is None


def test_losses_add_up() -> None:
    tally = Tally(1, 1, 9, 9, 4, {("a", "x"): 2, ("b", "x"): 3}, 53, 10)
    assert tally.lost_count == 5


LATER = Delays(3, 12, 54, 2, 7, ((2, 3, 1), (3, 4, 1), (6, 8, 1)))
SOONER = Delays(2, 9, 41, 4, 5, ((4, 5, 1), (5, 6, 1)))


def test_values_of_both_signs_are_in_order() -> None:
    both = combine_signs(LATER, SOONER)
    assert (both.count, both.sum_ps, both.sum_of_squares_ps2) == (5, 3, 95)
    assert (both.min_ps, both.max_ps) == (-5, 7)
    assert both.buckets == ((-5, -4, 1), (-4, -3, 1), *LATER.buckets)
    assert [both.read(name) for name in ("p20", "p40", "p60", "p99")] == [-5, -4, 2, 7]


def test_values_of_one_sign_are_those() -> None:
    assert combine_signs(LATER, Delays()) == LATER
    below = combine_signs(Delays(), SOONER)
    assert (below.count, below.sum_ps, below.min_ps, below.max_ps) == (2, -9, -5, -4)


def test_what_is_unknown_of_one_sign_is_unknown_of_both() -> None:
    unknown = Delays(1, 4, None, 4, 4)
    for both in (combine_signs(LATER, unknown), combine_signs(unknown, SOONER)):
        assert both.buckets == ()
        assert both.sum_of_squares_ps2 is None
        assert both.read("p50") is None
