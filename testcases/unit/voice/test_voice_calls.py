"""Calls are rated by what is played of them."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.voice.calls import Call, Heard, describe_connection, rate_call
from qospec.voice.emodel import Connection, rate_connection

MS = 10**9
CALL = Call(Fraction(11), Fraction(19), 25 * MS, 60 * MS)
"""G.729A in packets of 20 ms."""


def test_voice_delay_is_from_mouth_to_ear() -> None:
    """20 ms of speech, 5 ms of look-ahead, 15 ms of network, 60 ms in the buffer."""
    connection = describe_connection(CALL, Heard(500, 500, 0, 0, 15 * MS))
    assert connection == Connection(
        echo_delay_ms=100,
        round_trip_delay_ms=200,
        absolute_delay_ms=100,
        equipment_impairment=11,
        packet_loss_robustness=19,
    )


def test_voice_late_packets_are_lost() -> None:
    """10 lost and 30 late of 1,000, in 20 runs of two: BurstR = 2 * 0.96."""
    connection = describe_connection(CALL, Heard(1_000, 990, 30, 20, 0))
    assert connection is not None
    assert connection.packet_loss_percent == 4
    assert connection.burst_ratio == Fraction(192, 100)


def test_voice_losses_that_keep_apart_are_no_better_than_random() -> None:
    """One of four, each by itself: the mean run of random losses is 4/3, so BurstR would be 3/4."""
    connection = describe_connection(CALL, Heard(100, 75, 0, 25, 0))
    assert connection is not None
    assert connection.burst_ratio == 1


@pytest.mark.parametrize("heard", [Heard(9, 0, 0, 1, None), Heard(9, 4, 4, 1, 7)])
def test_voice_of_which_nothing_is_played_is_worth_nothing(heard: Heard) -> None:
    assert describe_connection(CALL, heard) is None
    assert rate_call(CALL, heard) == 0


def test_voice_that_sent_nothing_is_not_rated() -> None:
    assert rate_call(CALL, Heard(0, 0, 0, 0, None)) is None


def test_voice_never_rates_below_0() -> None:
    """One outage of half the call: the formula gives R far below 0."""
    heard = Heard(1_000, 500, 0, 1, 0)
    connection = describe_connection(CALL, heard)
    assert connection is not None
    assert rate_connection(connection).r < -100
    assert rate_call(CALL, heard) == 0


@given(sent=st.integers(1, 500), lost=st.integers(0, 500), least_ms=st.integers(0, 900))
def test_voice_more_losses_and_delay_never_help(sent: int, lost: int, least_ms: int) -> None:
    lost = min(lost, sent - 1)
    better = rate_call(CALL, Heard(sent, sent - lost, 0, lost, least_ms * MS))
    assert better is not None
    assert 0 <= better <= 100
    later = rate_call(CALL, Heard(sent, sent - lost, 0, lost, (least_ms + 50) * MS))
    assert later is not None
    assert later <= better
    if lost < sent - 1:
        fewer = rate_call(CALL, Heard(sent, sent - lost - 1, 0, lost + 1, least_ms * MS))
        assert fewer is not None
        assert fewer <= better
