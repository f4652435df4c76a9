"""The single rate three colour marker against RFC 2697's text, and a vector."""

from fractions import Fraction

import pytest
from books import in_bytes
from hypothesis import given
from hypothesis import strategies as st

from qospec.elements.srtcm import Srtcm

GREEN, YELLOW, RED = range(3)
KBIT = Fraction(1_000)


class Book:
    """RFC 2697, 3: Tc is incremented at CIR up to CBS, and then Te up to EBS."""

    def __init__(self, meters, meter):
        rate = meter.committed_information_rate
        self.c = meters.bucket(rate, meter.committed_burst_size)
        self.e = meters.bucket(rate, meter.excess_burst_size)

    def passed(self, ps):
        self.e.add(self.c.add(ps * self.c.rate))

    def colour(self, size, came):
        if came == GREEN and self.c.covers(size):
            self.c.tokens -= size
            return GREEN
        if came in (GREEN, YELLOW) and self.e.covers(size):
            self.e.tokens -= size
            return YELLOW
        return RED


@given(st.data())
def test_it_colours_by_the_book(meters, data):
    rate, committed, excess = map(data.draw, (meters.rates, meters.bursts, meters.bursts))
    fields, said = meters.three(data.draw)
    meter = in_bytes(Srtcm, rate, committed, excess or int(not committed), **fields)
    meters.agree(data.draw, meter, Book(meters, meter), said)


def test_a_vector(meters):
    assert meters.vector(in_bytes(Srtcm, 8 * KBIT, 3_000, 1_500)) == "GGYRRRGGR"


@pytest.mark.parametrize(
    ("outcomes", "left"),
    [
        ({"exceed": "drop"}, "GG.RRRGGR"),
        ({"violate": "drop"}, "GGY...GG."),
        ({"exceed": "drop", "violate": "drop"}, "GG....GG."),
    ],
)
def test_yellow_exceeds_and_red_violates(meters, outcomes, left):
    assert meters.vector(in_bytes(Srtcm, 8 * KBIT, 3_000, 1_500, **outcomes)) == left


def test_without_any_burst_all_would_be_red():
    with pytest.raises(ValueError, match="all is red"):
        in_bytes(Srtcm, KBIT, 0, 0)
