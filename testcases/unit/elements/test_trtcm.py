"""The two rate three colour marker against RFC 2698's text, and a vector."""

from fractions import Fraction

import pytest
from books import in_bytes
from hypothesis import given
from hypothesis import strategies as st

from qospec.elements.trtcm import Trtcm

GREEN, YELLOW, RED = range(3)
KBIT = Fraction(1_000)


class Book:
    """RFC 2698, 3: Tp is incremented at PIR up to PBS, Tc at CIR up to CBS."""

    def __init__(self, meters, meter):
        self.c = meters.bucket(meter.committed_information_rate, meter.committed_burst_size)
        self.p = meters.bucket(meter.peak_information_rate, meter.peak_burst_size)

    def passed(self, ps):
        self.c.add(ps * self.c.rate)
        self.p.add(ps * self.p.rate)

    def colour(self, size, came):
        if came == RED or not self.p.covers(size):
            return RED
        self.p.tokens -= size
        if came == YELLOW or not self.c.covers(size):
            return YELLOW
        self.c.tokens -= size
        return GREEN


@given(st.data())
def test_it_colours_by_the_book(meters, data):
    rate, committed, most = map(data.draw, (meters.rates, meters.bursts, meters.bursts))
    peak = rate * data.draw(st.sampled_from([1, Fraction(3, 2), 4]))
    buckets = rate, committed or 1, min(peak, Fraction(8 * 10**12)), most or 1
    fields, said = meters.three(data.draw)
    meter = in_bytes(Trtcm, *buckets, **fields)
    meters.agree(data.draw, meter, Book(meters, meter), said)


def test_a_vector(meters):
    assert meters.vector(in_bytes(Trtcm, 8 * KBIT, 1_500, 16 * KBIT, 3_000)) == "GYRRYRGYR"


@pytest.mark.parametrize(
    ("outcomes", "left"),
    [
        ({"exceed": "drop"}, "G.RR.RG.R"),
        ({"violate": "drop"}, "GY..Y.GY."),
        ({"exceed": "drop", "violate": "drop"}, "G.....G.."),
    ],
)
def test_yellow_exceeds_and_red_violates(meters, outcomes, left):
    assert meters.vector(in_bytes(Trtcm, 8 * KBIT, 1_500, 16 * KBIT, 3_000, **outcomes)) == left


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ((2 * KBIT, 1_500, KBIT, 1_500), "less than the committed"),
        ((KBIT, 0, KBIT, 1_500), "both must be more than 0"),
        ((KBIT, 1_500, KBIT, 0), "both must be more than 0"),
    ],
)
def test_fields_that_contradict_each_other_are_refused(fields, words):
    with pytest.raises(ValueError, match=words):
        in_bytes(Trtcm, *fields)
