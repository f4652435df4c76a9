"""Method 2 of the thesis by the book."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.metrics.arrival_gap_variation import ArrivalGapVariation


@given(data=st.data())
def test_gaps_between_arrivals_are_compared_in_the_order_of_sending(road, data):
    came, tally = road.drawn(data)
    changes = []
    for mine in came:
        gaps = [abs(b.at_ps - a.at_ps) for a, b in pairwise(mine)]
        changes += [abs(b - a) for a, b in pairwise(gaps)]
    assert ArrivalGapVariation().measure(tally, "max") == max(changes, default=None)
    mean = Fraction(sum(changes), len(changes)) if changes else None
    assert ArrivalGapVariation().measure(tally, "mean") == mean
    assert road.has_quantiles_of(ArrivalGapVariation(), tally, changes)


@given(data=st.data())
def test_each_packet_has_its_own(road, data):
    trips, tally = road.alone(data)
    came = [number for number, trip in enumerate(trips, 1) if not trip.lost]
    for place, number in enumerate(came):
        value = None
        if place > 1:
            first, second, third = (trips[n - 1].at_ps for n in came[place - 2 : place + 1])
            value = abs(abs(third - second) - abs(second - first))
        assert ArrivalGapVariation().measure(tally, f"packet_{number}") == value


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("constant", [0, 0, 0, 0]),
        ("saw tooth", [4, 4, 4, 4]),
        ("spike", [6, 4, 2, 0]),
        ("step", [0, 2, 2, 0]),
        ("steps", [0, 1, 1, 0]),
    ],
)
def test_table_2_1(road, name, expected):
    """As printed: signed gaps would give 6, 12, 6, 0 for the spike, and arrivals 2, 2, 0, 2."""
    seen = [ArrivalGapVariation().measure(road.case(name), f"packet_{n}") for n in range(1, 7)]
    assert seen == [None, None, *(gap * 10**9 for gap in expected)]


def test_what_was_not_recorded_is_no_data(tally) -> None:
    assert ArrivalGapVariation().measure(tally(received=5), "max") is None


@pytest.mark.parametrize("statistic", ["", "median", "packet_0", "packet_"])
def test_another_statistic_is_refused(tally, statistic: str) -> None:
    with pytest.raises(ValueError, match="no statistic"):
        ArrivalGapVariation().measure(tally(), statistic)
