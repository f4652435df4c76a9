"""CUBIC: the window over time, by the function of RFC 9438, packet by packet."""

from dataclasses import replace
from math import cbrt

import pytest
from tcp_path import BULK, MS, observe, rounds

from qospec.congestion.cubic import Cubic, _compute_cube_root
from qospec.engine.kernel import get_function

WIDE = replace(BULK, algorithm=Cubic(), send_buffer=2**21, receive_buffer=2**21)


@pytest.mark.slow
def test_the_window_is_the_cubic_function_of_time():
    """The 51st segment of 100 is lost: 150 are under way, W_max is 150, 105 are left.

    Then 150 + 0.4 (t - K)^3 with K = cbrt(45 / 0.4), 4.83 s: concave before and convex after it.
    """
    rtt = 100 * MS
    _, there, _ = observe(replace(WIDE, initial_window=100), 82 * rtt, there=[2 + 50], rtt=rtt)
    windows = rounds(there, rtt)
    # It is sent again in the second round trip, and acknowledged in the third.
    begin = 2
    for k in (1, 10, 20, 40, 60, 75):
        expected = 150 + 0.4 * (0.1 * k - cbrt(45 / 0.4)) ** 3
        assert windows[begin + k] == pytest.approx(expected, abs=3), k


@pytest.mark.slow
def test_a_small_window_grows_as_renos_of_the_same_mean():
    """At 10 ms the cubic function would take seconds: W_est adds 9/17 of a segment in a round trip.

    Once it is as large as before the loss, it adds one.
    """
    rtt = 10 * MS
    _, there, _ = observe(replace(WIDE, initial_window=40), 90 * rtt, there=[2 + 20], rtt=rtt)
    windows = rounds(there, rtt)
    begin = 2
    assert windows[begin] == pytest.approx(42, abs=2)
    assert windows[begin + 30] - windows[begin] == pytest.approx(30 * 9 / 17, abs=2)
    # From 60 on, 18 segments later, one in each.
    assert windows[begin + 75] - windows[begin + 45] == pytest.approx(30, abs=2)


@pytest.mark.slow
def test_a_second_loss_before_the_first_window_is_back_makes_room():
    """RFC 9438, 4.7: W_max is then 85 % of the window, 30 % of which is lost.

    Later W_est is larger, which adds 9/17 of a segment in a round trip.
    """
    rtt = 100 * MS
    lost = [2 + 50, 2 + 50 + 1_000]
    _, there, _ = observe(replace(WIDE, initial_window=100), 56 * rtt, there=lost, rtt=rtt)
    windows = rounds(there, rtt)
    begin, second = there.data[0][0], [at for at, _, _, is_lost in there.seen if is_lost][1]
    lost_in = (second - begin + rtt // 10) // rtt
    before = windows[lost_in]
    assert before < 150
    k = cbrt((0.85 - 0.7) * before / 0.4)
    for passed in (10, 20, 40):
        cubic = 0.85 * before + 0.4 * (0.1 * passed - k) ** 3
        expected = max(cubic, 0.7 * before + 9 / 17 * passed)
        assert windows[lost_in + 2 + passed] == pytest.approx(expected, abs=4), passed


@pytest.mark.parametrize("number", [0, 1, 7, 8, 26, 27, 2**40, 2**62])
def test_a_cube_root_is_rounded_down(number):
    root = get_function(_compute_cube_root)(number)
    assert root**3 <= number < (root + 1) ** 3
