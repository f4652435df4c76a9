"""The marker with an excess rate against RFC 4115's text, and a vector."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qospec.elements.rfc4115 import Rfc4115

GREEN, YELLOW, RED = range(3)
KBIT = Fraction(1_000)
drawn = settings(deadline=None, max_examples=2 * settings().max_examples)


class Book:
    """RFC 4115, 3: Tc is incremented at CIR up to CBS, Te at EIR up to EBS."""

    def __init__(self, meters, meter):
        self.c = meters.bucket(meter.committed_information_rate, meter.committed_burst_size)
        self.e = meters.bucket(meter.excess_information_rate, meter.excess_burst_size)

    def passed(self, ps):
        self.c.add(ps * self.c.rate)
        self.e.add(ps * self.e.rate)

    def colour(self, size, came):
        if came == GREEN and self.c.tokens >= size:
            self.c.tokens -= size
            return GREEN
        if came != RED and self.e.tokens >= size:
            self.e.tokens -= size
            return YELLOW
        return RED


@drawn
@given(st.data())
def test_it_colours_by_the_book(meters, data):
    rate, committed = data.draw(meters.rates), data.draw(meters.bursts)
    more, excess = data.draw(meters.rates), data.draw(meters.bursts) or int(not committed)
    meter = Rfc4115(rate, committed, more, excess, **meters.three(data.draw))
    meters.agree(data.draw, meter, Book(meters, meter))


def test_a_vector(meters):
    assert meters.vector(Rfc4115(8 * KBIT, 1_500, 8 * KBIT, 1_500)) == "GYRRRRGYR"


def test_without_any_burst_all_would_be_red():
    with pytest.raises(ValueError, match="all is red"):
        Rfc4115(KBIT, 0, KBIT, 0)
