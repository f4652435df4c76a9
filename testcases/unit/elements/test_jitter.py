"""Random delays: how they are distributed, and whether items overtake each other."""

import numpy as np
import pytest

from qospec.elements.jitter import Jitter

COUNT = 40_000
FAR_PS = 10**9
"""Between items, further than any delay: then each is delayed by its own time alone."""


def delays(lab, element, gap_ps=FAR_PS, **more):
    came = np.arange(COUNT) * gap_ps
    (left,) = lab.carry(element, lab.setting(), lab.cells(came), **more).departures
    assert (np.diff(left.at_ps) >= 0).all()
    return left.at_ps - came[left.sent_ps]


@pytest.mark.parametrize(
    ("element", "mean_ps", "deviation_ps"),
    [
        (Jitter(10**6), 10**6 / 2, 10**6 / 12**0.5),
        (Jitter(10**7, "exponential", mean=10**6), 10**6, 10**6),
        (Jitter(10**6, "normal"), 10**6 / 2, 10**6 / 6),
        (Jitter(10**6, "normal", mean=6 * 10**5, deviation=10**5), 6 * 10**5, 10**5),
    ],
)
def test_delays_have_their_distribution(lab, element, mean_ps, deviation_ps):
    found = delays(lab, element)
    assert found.min() >= 0
    assert found.max() <= element.longest
    doubt = 5 / COUNT**0.5
    assert abs(found.mean() - mean_ps) < doubt * deviation_ps
    assert abs(found.std() - deviation_ps) < 0.03 * deviation_ps  # truncation takes up to 1.4 %


def test_a_truncated_time_is_drawn_again_and_not_cut_off(lab):
    found = delays(lab, Jitter(10**6, "exponential", mean=10**6))
    assert (found == 10**6).sum() < 5
    assert abs((found <= 10**6 / 2).mean() - 0.622) < 0.02  # (1 - e^-0.5) / (1 - e^-1)


def test_order_is_kept_unless_reordering_is_asked_for(lab):
    came = lab.cells(np.arange(3_000) * 10**5)
    (kept,) = lab.carry(Jitter(10**6), lab.setting(), came).departures
    (mixed,) = lab.carry(Jitter(10**6, reorder=True), lab.setting(), came).departures
    assert (np.diff(kept.sent_ps) == 1).all()
    assert (np.diff(mixed.sent_ps) < 0).sum() > 100
    drawn = mixed.at_ps[np.argsort(mixed.sent_ps)]
    assert (kept.at_ps == np.maximum.accumulate(drawn)).all(), "the same times are drawn"


def test_how_items_are_batched_changes_nothing(lab):
    for element in (Jitter(10**7, "normal"), Jitter(10**7, "exponential", reorder=True)):
        whole = delays(lab, element, 10**5)
        cut = delays(lab, element, 10**5, cuts=range(0, COUNT * 10**5, 37 * 10**6))
        assert (whole == cut).all()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"mean": 5}, "mean: that of a uniform distribution is half of `longest`"),
        ({"deviation": 5}, "deviation: only a normal distribution has one to choose"),
        ({"distribution": "exponential", "mean": 11}, "mean: it is more than `longest`"),
        ({"distribution": "normal", "deviation": 11}, "deviation: it is more than `longest`"),
    ],
)
def test_a_distribution_that_cannot_be_meant_is_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        Jitter(longest=10, **fields)
