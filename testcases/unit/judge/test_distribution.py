"""The delays of all repeats: the n-th longest, and as how many items an independent one counts."""

from fractions import Fraction

import pytest

from qospec.engine.measure.tally import Delays
from qospec.judge.distribution import Distribution

DEFAULT_CONFIDENCE = Fraction(95, 100)
WIDER = Fraction("1.6797")
"""The square of Student's t of four degrees of freedom over the normal quantile, at 95 %."""


def delays(*buckets: tuple[int, int, int]) -> Delays:
    count = sum(items for _, _, items in buckets)
    return Delays(count, min_ps=buckets[0][0], max_ps=buckets[-1][1] - 1, buckets=buckets)


def of(*repeats: Delays, lost: tuple[int, ...] = (0, 0, 0, 0, 0)) -> Distribution:
    totals = [repeat.count + gone for repeat, gone in zip(repeats, lost, strict=False)]
    return Distribution(repeats, totals, lost[: len(repeats)])


@pytest.mark.parametrize(
    ("number", "found"),
    [(1, None), (2, None), (3, (30, 39)), (5, (10, 20)), (6, (10, 20)), (7, None)],
)
def test_what_was_lost_comes_before_the_longest_delays(number, found) -> None:
    both = of(delays((10, 20, 1), (30, 40, 2)), delays((10, 20, 1)), lost=(1, 1))
    assert both.bound_nth_longest_ps(number) == found


def test_buckets_that_overlap_bound_what_may_be_in_either() -> None:
    # the longest may be the 29 of the bucket that begins first
    both = of(delays((10, 30, 1)), delays((12, 22, 1)))
    assert [both.bound_nth_longest_ps(number) for number in (1, 2)] == [(12, 29), (10, 22)]


@pytest.mark.parametrize(
    ("quick", "slow", "effect"),
    [
        ((20, 20), (20, 20, 20), 25),  # squares of 480 over 40 * 60 / 100 = 24, less a fifth
        ((60,), (10, 10, 10, 10), 50),  # squares of 720 over 24, less two fifths
    ],
)
def test_repeats_of_any_length_are_held_to_the_share_of_all(quick, slow, effect) -> None:
    """Squares of independent items come to less, the more of all items a repeat has."""
    repeats = [delays((10, 20, items)) for items in quick]
    repeats += [delays((30, 40, items)) for items in slow]
    share = Fraction(sum(slow), 100)
    found = of(*repeats).compute_design_effect(share, DEFAULT_CONFIDENCE, 1)
    assert float(found) == pytest.approx(float(effect * WIDER), rel=1e-3)


def test_of_one_repeat_each_item_counts() -> None:
    assert (
        of(delays((10, 20, 5), (30, 40, 5))).compute_design_effect(
            Fraction(1, 2), DEFAULT_CONFIDENCE, 1
        )
        == 1
    )


def test_where_one_repeat_has_all_items_they_may_all_be_one() -> None:
    alone = of(delays((10, 20, 50), (30, 40, 50)), *[Delays()] * 4)
    assert alone.compute_design_effect(Fraction(1, 2), DEFAULT_CONFIDENCE, 1) >= 100


@pytest.mark.parametrize(("share", "effect"), [("0.05", 1), ("0.95", 50)])
def test_a_share_above_half_is_looked_at_from_below(share, effect) -> None:
    """The repeats agree in the longest delays, and one of them has all of the shortest."""
    shortest = [delays((10, 20, 30), (20, 30, 60), (30, 40, 10))]
    found = of(*shortest, *[delays((20, 30, 90), (30, 40, 10))] * 4)
    assert float(found.compute_design_effect(Fraction(share), DEFAULT_CONFIDENCE, 1)) >= effect


def test_repeats_with_equal_losses_and_delays_are_identical() -> None:
    same = [delays((10, 20, 9))] * 5
    assert of(*same, lost=(1,) * 5).identical
    assert not of(*same, lost=(1, 1, 3, 1, 1)).identical
    assert not of(*[Delays()] * 5, lost=(1,) * 5).identical


def test_one_repeat_is_not_identical_to_another() -> None:
    assert not of(delays((10, 20, 9)), lost=(0,)).identical


@pytest.mark.parametrize(
    ("first", "second", "identical"),
    [
        ((5, 5), (4, 6), True),  # by one item, as rounding may have it
        ((5, 5), (9, 1), False),
        # numbers of items whose variance, 2, is exactly a tenth of their mean; shares of 9/19 and
        # 11/21 differ by 20 items of 19 * 21, and 21 is how many one item makes
        ((10, 9), (10, 11), True),
    ],
)
def test_identical_repeats_may_differ_by_an_item_beyond_a_threshold(
    first, second, identical
) -> None:
    repeats = [delays((10, 20, below), (20, 30, above)) for below, above in (first, second)]
    assert of(*repeats).identical == identical


SLOW = delays((10, 20, 8), (30, 40, 10), (40, 50, 2))
USUAL = [delays((10, 20, 8), (20, 30, 10), (40, 50, 2))] * 4
"""Beyond 40 are 10 of 100 items, as many of each repeat; beyond 30 are 20, 12 of them of one; and
beyond 20 are 60, as many of each again."""


@pytest.mark.parametrize(("thresholds", "effect"), [(1, 1), (2, 80 / Fraction("39.2") * WIDER)])
def test_thresholds_with_enough_items_are_pooled_up_to_their_number(thresholds, effect) -> None:
    """Squares are 0, 80 and 0, where independent ones have 7.2, 12.8 and 19.2.

    The 20 items beyond the second threshold are less than 10 by their effect, so the third counts.
    """
    found = of(SLOW, *USUAL).compute_design_effect(Fraction(1, 10), DEFAULT_CONFIDENCE, thresholds)
    assert float(found) == pytest.approx(float(effect), rel=1e-3)


def test_items_that_depend_on_each_other_are_not_enough_for_a_threshold() -> None:
    """Ten items beyond 40 are fewer than one by their effect, so further ones count, too.

    Beyond 40, 30 and 20, squares are 80, 320 and 180; of independent ones 7.2, 12.8 and 19.2.
    """
    slow = delays((30, 40, 10), (40, 50, 10))
    others = [delays((10, 20, 15), (20, 30, 5))] * 4
    found = of(slow, *others).compute_design_effect(Fraction(1, 10), DEFAULT_CONFIDENCE, 1)
    assert float(found) == pytest.approx(float(580 / Fraction("39.2") * WIDER), rel=1e-3)


def test_what_is_asked_for_itself_counts_if_it_differs_most() -> None:
    """Ten items beyond 40 in one repeat, squares of 80 over 7.2; beyond 30, all have as many."""
    slow = delays((10, 20, 10), (40, 50, 10))
    others = [delays((10, 20, 10), (30, 40, 10))] * 4
    found = of(slow, *others).compute_design_effect(Fraction(1, 10), DEFAULT_CONFIDENCE, 1)
    assert float(found) == pytest.approx(float(80 / Fraction("7.2") * WIDER), rel=1e-3)


def test_of_more_repeats_a_design_effect_is_better_known() -> None:
    """Student's t of 19 degrees of freedom is 1.72913, the normal quantile 1.64485."""
    slow = delays((10, 20, 10), (40, 50, 10))
    both = of(slow, *[delays((10, 20, 10), (30, 40, 10))] * 4)
    found = both.compute_design_effect(Fraction(1, 10), DEFAULT_CONFIDENCE, 1, repeats=20)
    assert float(found) == pytest.approx(80 / 7.2 * (1.72913 / 1.64485) ** 2, rel=1e-4)


def test_a_rare_share_begins_with_the_longest_delay() -> None:
    """It is of one repeat, and the next of another; then all have as many."""
    longest = [delays((10, 20, 19), (50, 60, 1)), delays((10, 20, 19), (40, 50, 1))]
    others = [delays((10, 20, 20))] * 3
    found = of(*longest, *others).compute_design_effect(Fraction(1, 1_000), DEFAULT_CONFIDENCE, 1)
    assert float(found) == pytest.approx(float(Fraction(100, 99) * WIDER), rel=1e-3)


def test_what_was_lost_is_the_first_beyond_a_threshold() -> None:
    """One item of each is lost, and one repeat has the five longest delays: 6, 1, 1, 1 and 1."""
    slow = delays((10, 20, 14), (40, 50, 5))
    others = [delays((10, 20, 14), (30, 40, 5))] * 4
    found = of(slow, *others, lost=(1,) * 5)
    effect = found.compute_design_effect(Fraction(1, 10), DEFAULT_CONFIDENCE, 1)
    assert float(effect) == pytest.approx(float(Fraction(25, 9) * WIDER), rel=1e-3)


def test_one_item_alone_shows_nothing_of_how_repeats_differ() -> None:
    found = of(delays((10, 20, 1)), Delays())
    assert found.compute_design_effect(Fraction(9, 10), DEFAULT_CONFIDENCE, 1) == 1
