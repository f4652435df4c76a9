"""What is counted: in words where nothing was lost, and what a comparison counts."""

from dataclasses import replace
from fractions import Fraction

import pytest

from qospec.engine.measure.tally import Delays
from qospec.judge.distribution import Distribution
from qospec.judge.losses import (
    Losses,
    find_compared_count,
    pool_losses,
    write_none_lost_note,
    write_percent,
)
from qospec.judge.statistics import compute_clopper_pearson, compute_half_width, estimate_skewness
from qospec.model.expression import Constant, Measured, Operation
from qospec.units import CELLS, RATIO

LOST, DELAY = (
    Measured("", "f", None, part="user", metric=name, statistic="", dimension=CELLS, text="")
    for name in ("lost", "transfer_delay")
)
ONE = Constant(Fraction(1), CELLS)


def test_a_confidence_keeps_its_last_digit():
    assert write_percent(Fraction("0.99999999")) == "99.999999 %"


@pytest.mark.parametrize(
    ("sent", "words", "ratio"),
    [
        (1, "1", "95 %"),
        (2, "2", "78 %"),  # 1 - 0.2236
        (30, "30", "9.6 %"),  # 0.0951 is rounded up
        (301, "301", "1 %"),  # 0.0099 to two digits
        (302, "302", "9.9 × 10⁻³"),
        (3_010, "3010", "1.0 × 10⁻³"),  # 0.000995
        (1_200_000, "1_200_000", "2.5 × 10⁻⁶"),
        (29_957_322, "29_957_322", "1.0 × 10⁻⁷"),
    ],
)
def test_where_none_was_lost_a_ratio_remains_possible(sent, words, ratio):
    """The one at which none is lost with 5 %: 1 - 0.05 ** (1 / n)."""
    assert write_none_lost_note(sent) == (
        f"0 of {words} lost: if losses are independent, with 95 % confidence the ratio is below"
        f" {ratio}"
    )


def test_a_count_is_compared_with_constants():
    assert find_compared_count(Operation("<", (LOST, ONE))) == LOST
    assert find_compared_count(Operation(">", (ONE, LOST))) == LOST
    assert find_compared_count(Operation("within", (LOST, ONE, ONE))) == LOST
    assert find_compared_count(Operation("within", (LOST, DELAY, ONE))) is None
    assert find_compared_count(Operation("within", (LOST, ONE, DELAY))) is None
    assert find_compared_count(Operation("within", (ONE, ONE, LOST))) is None
    assert find_compared_count(Operation("<", (DELAY, ONE))) is None


CONFIDENCE, HALF_THE_DOUBT = Fraction(95, 100), Fraction(975, 1_000)


def counted(sent, lost, **more):
    """Return losses of repeats whose items have no delays, so that they count as independent."""
    delays = Distribution([Delays()] * len(sent), sent, lost)
    return Losses(sum(lost), sum(sent), len(sent), delays=delays, **more)


def test_a_number_is_as_uncertain_as_the_ratio_and_what_is_sent():
    """Each bound has half of the doubt where repeats send unequally many."""
    sent, lost = (900, 1_100, 900, 1_100, 1_100), (9, 11, 10, 10, 11)
    by_repeat = tuple(map(Fraction, sent))
    low, high = counted(sent, lost, sent_by_repeat=()).compute_interval(HALF_THE_DOUBT, 5)
    wide = compute_half_width(
        by_repeat, estimate_skewness(by_repeat, Fraction(0)), HALF_THE_DOUBT, 5
    )
    assert 0 < wide < 1_020
    found = counted(sent, lost, sent_by_repeat=by_repeat)
    assert found.value == Fraction(51, 5)
    assert found.compute_interval(CONFIDENCE, 5) == (low * (1_020 - wide), high * (1_020 + wide))


def test_where_all_repeats_send_alike_a_number_is_the_ratio_times_that():
    sent, lost = (1_000,) * 5, (9, 11, 10, 12, 9)
    low, high = counted(sent, lost, sent_by_repeat=()).compute_interval(CONFIDENCE, 5)
    found = counted(sent, lost, sent_by_repeat=(Fraction(1_000),) * 5)
    assert found.compute_interval(CONFIDENCE, 5) == (low * 1_000, high * 1_000)


def test_what_may_not_be_above_a_bound_counts_only_for_the_upper_end():
    """Of 51 are 11 uncertain; of twice as many repeats there are twice as many."""
    sent, lost = (1_000,) * 5, (9, 11, 10, 12, 9)
    found = counted(sent, lost, sent_by_repeat=(), uncertain=11)
    for times in (1, 2):
        low, _ = compute_clopper_pearson(40 * times, 5_000 * times, 1 - CONFIDENCE)
        _, high = compute_clopper_pearson(51 * times, 5_000 * times, 1 - CONFIDENCE)
        assert found.compute_interval(CONFIDENCE, 5 * times) == (low, high)


def test_where_the_repeats_send_very_unequally_a_number_may_be_0():
    sent = (10, 10, 10, 10, 100_000)
    found = counted(sent, (1, 1, 1, 1, 10_000), sent_by_repeat=tuple(map(Fraction, sent)))
    assert found.compute_interval(CONFIDENCE, 5).least == 0


def test_where_all_may_count_as_one_it_may_be_lost_or_not():
    """One repeat has all items, and its delays say nothing about the others."""
    delays = Distribution(
        [Delays(100, min_ps=1, max_ps=9, buckets=((1, 10, 100),)), Delays()], (100, 0), (30, 0)
    )
    found = Losses(30, 100, 2, (), delays)
    assert found.compute_design_effect(CONFIDENCE) > 100
    assert found.compute_interval(CONFIDENCE, 2) == (0, 1)


def test_one_burst_hardly_tells_how_long_others_are():
    """50 lost in one repeat of five differ by 2000 / 39.6 = 50.5 times what independent ones do.

    That is one burst: by 5 over its number more, and by the square of 2.132 / 1.645.
    """
    found = counted((1_000,) * 5, (0, 0, 50, 0, 0), sent_by_repeat=())
    effect = (1 + 49.505 * (1 + 5 * 50.505 / 50)) * (2.13185 / 1.64485) ** 2
    assert float(found.compute_design_effect(CONFIDENCE)) == pytest.approx(effect, rel=1e-3)


def test_repeats_that_lose_nothing_bound_what_others_lose():
    """All of 100 were lost in one repeat of five: clusters of 100 of 500 leave more open."""
    found = counted((100,) * 5, (0, 0, 100, 0, 0), sent_by_repeat=())
    assert float(found.compute_interval(CONFIDENCE, 5).most) == pytest.approx(0.6574, abs=1e-4)


def test_of_equal_repeats_some_may_lose_all_or_nothing():
    """A share of them that their number does not exclude; the lower end is of what surely was."""
    delays = Delays(1_000, min_ps=1, max_ps=9, buckets=((1, 10, 1_000),))
    found = Losses(
        50, 5_000, 5, (), Distribution([delays] * 5, [1_000] * 5, [10] * 5), uncertain=20
    )
    _, rare = compute_clopper_pearson(0, 5, 1 - CONFIDENCE)
    low, high = Fraction(30, 5_000), Fraction(50, 5_000)
    assert found.compute_interval(CONFIDENCE, 5) == (low * (1 - rare), high + (1 - high) * rare)


class Repeat:
    """What a repeat has measured."""

    drawn = True

    def __init__(self, values, delays=None):
        self._values, self._delays = values, delays

    def read(self, leaf):
        return self._values.get(leaf.metric)

    def read_delays(self, leaf):  # noqa: ARG002
        return self._delays


def test_a_repeat_without_data_counts_nothing():
    found = pool_losses(LOST, [Repeat({"sent": Fraction(10), "lost": Fraction(3)}), Repeat({})])
    assert (found.lost, found.sent, found.sent_by_repeat) == (3, 10, (10, 0))


def test_what_is_above_a_bound_is_not_lost():
    above = replace(DELAY, statistic="above_15", dimension=RATIO)
    delays = Delays(10, min_ps=10, max_ps=29, buckets=((10, 12, 4), (20, 30, 6)))
    found = pool_losses(above, [Repeat({}, delays), Repeat({}, delays)])
    assert (found.lost, found.sent, found.uncertain) == (12, 20, 0)
    assert found.delays.bound_nth_longest_ps(1) == (20, 29)


def test_delays_above_a_bound_depend_on_each_other_as_two_thresholds_show():
    """Above 40 are 2 of 20 of each repeat; above 30, 12 of one and 2 of the others.

    Their squares are 0 and 80, and at the third threshold, which the few at the second let count,
    0 again; independent ones have 7.2, 12.8 and 19.2. Of five repeats it is 1.6797 times as much.
    """
    slow = Delays(20, min_ps=10, max_ps=49, buckets=((10, 20, 8), (30, 40, 10), (40, 50, 2)))
    usual = Delays(20, min_ps=10, max_ps=49, buckets=((10, 20, 8), (20, 30, 10), (40, 50, 2)))
    above = replace(DELAY, statistic="above_40", dimension=RATIO)
    found = pool_losses(above, [Repeat({}, losses) for losses in (slow, *[usual] * 4)])
    effect = found.compute_design_effect(CONFIDENCE)
    assert float(effect) == pytest.approx(80 / 39.2 * 1.6797, rel=1e-3)
