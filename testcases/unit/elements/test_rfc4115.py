"""The marker with an excess rate against RFC 4115's text, and a vector."""

from fractions import Fraction

import pytest
from books import in_bytes
from hypothesis import given
from hypothesis import strategies as st

from qospec.elements.rfc4115 import Rfc4115
from qospec.protocol.marks import MARKS

GREEN, YELLOW, RED = range(3)
KBIT = Fraction(1_000)


class Book:
    """RFC 4115, 3: Tc is incremented at CIR up to CBS, Te at EIR up to EBS.

    Where they are coupled, Te also gets what finds no room in Tc (MEF 10.4, 12).
    """

    def __init__(self, meters, meter):
        self.c = meters.bucket(meter.committed_information_rate, meter.committed_burst_size)
        self.e = meters.bucket(meter.excess_information_rate, meter.excess_burst_size)
        self.coupled = meter.coupling

    def passed(self, ps):
        over = self.c.add(ps * self.c.rate)
        self.e.add(ps * self.e.rate + self.coupled * over)

    def colour(self, size, came):
        if came == GREEN and self.c.covers(size):
            self.c.tokens -= size
            return GREEN
        if came != RED and self.e.covers(size):
            self.e.tokens -= size
            return YELLOW
        return RED


@given(st.data())
def test_it_colours_by_the_book(meters, data):
    rate, committed = data.draw(meters.rates), data.draw(meters.bursts)
    more, excess = data.draw(meters.rates), data.draw(meters.bursts) or int(not committed)
    fields, said = meters.three(data.draw)
    meter = in_bytes(Rfc4115, rate, committed, more, excess, **fields)
    meters.agree(data.draw, meter, Book(meters, meter), said)


@given(st.data())
def test_it_couples_by_the_book(meters, data):
    rates = [Fraction(8), Fraction(8_000), Fraction(12 * 10**6), Fraction(10**8, 3)]
    rate = data.draw(st.sampled_from(rates))
    more = rate * data.draw(st.sampled_from([1, 3, Fraction(1, 2), Fraction(5, 7)]))
    committed, excess = data.draw(meters.bursts), data.draw(meters.bursts)
    fields, said = meters.three(data.draw)
    buckets = rate, committed, more, excess or int(not committed)
    meter = in_bytes(Rfc4115, *buckets, coupling=True, **fields)
    meters.agree(data.draw, meter, Book(meters, meter), said)


@pytest.mark.parametrize(("coupling", "passed"), [(False, 207), (True, 607)])
def test_yellow_packets_get_what_green_ones_leave(lab, coupling, passed):
    """10 Mbit/s of them: 10,000 B, and in 999 ms 2 Mbit/s, or with the committed ones 6 Mbit/s."""
    rates = 4_000 * KBIT, 10_000, 2_000 * KBIT, 10_000
    meter = in_bytes(Rfc4115, *rates, aware=True, violate="drop", coupling=coupling)
    at_ps = [n * 10**9 for n in range(1_000)]
    yellow = lab.cells(at_ps, size_bytes=1_250, marks=MARKS["colour"].put(0, YELLOW))
    (left,) = lab.carry(meter, lab.setting(), yellow).departures
    assert left.count == passed
    assert {MARKS["colour"].read(marks) for marks in left.marks.tolist()} == {YELLOW}


def test_rates_that_cannot_be_coupled_exactly_are_refused():
    with pytest.raises(ValueError, match="eir: this fraction is too fine"):
        in_bytes(Rfc4115, Fraction(49_999_999), 10_000, Fraction(10**9, 7), 10_000, coupling=True)


def test_a_vector(meters):
    assert meters.vector(in_bytes(Rfc4115, 8 * KBIT, 1_500, 8 * KBIT, 1_500)) == "GYRRRRGYR"


@pytest.mark.parametrize(
    ("outcomes", "left"),
    [
        ({"exceed": "drop"}, "G.RRRRG.R"),
        ({"violate": "drop"}, "GY....GY."),
        ({"exceed": "drop", "violate": "drop"}, "G.....G.."),
    ],
)
def test_yellow_exceeds_and_red_violates(meters, outcomes, left):
    assert meters.vector(in_bytes(Rfc4115, 8 * KBIT, 1_500, 8 * KBIT, 1_500, **outcomes)) == left


def test_without_any_burst_all_would_be_red():
    with pytest.raises(ValueError, match="all is red"):
        in_bytes(Rfc4115, KBIT, 0, KBIT, 0)
