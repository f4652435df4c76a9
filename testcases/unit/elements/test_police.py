"""The policer against RFC 3290's text in exact fractions, and against a vector."""

from fractions import Fraction

import pytest
from books import in_bytes
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.elements.police import Police
from qospec.elements.shape import Shape
from qospec.engine.event.process import EventProcess
from qospec.protocol.marks import MARKS

GREEN, RED = 0, 2
KBIT = Fraction(1_000)


class Book:
    """RFC 3290, 5.1.3: a packet conforms if there are tokens for all of it."""

    def __init__(self, meters, meter):
        rate, size = meter.committed_information_rate, meter.committed_burst_size
        self.bucket = meters.bucket(rate, size)

    def passed(self, ps):
        self.bucket.add(ps * self.bucket.rate)

    def colour(self, size, _):
        if not self.bucket.covers(size):
            return RED
        self.bucket.tokens -= size
        return GREEN


@given(st.data())
def test_it_polices_by_the_book(meters, data):
    rate, burst, exceed = map(data.draw, (meters.rates, meters.bursts, meters.outcomes))
    meter = in_bytes(Police, rate, burst, exceed)
    meters.agree(data.draw, meter, Book(meters, meter), meters.said({GREEN: "mark", RED: exceed}))


def test_a_vector(meters):
    assert meters.vector(in_bytes(Police, 8 * KBIT, 3_000, "mark")) == "GGRRRRGGR"
    assert meters.vector(in_bytes(Police, 8 * KBIT, 3_000, "drop")) == "GG....GG."


def test_nothing_is_rounded_far_from_the_beginning(lab):
    rate = Fraction(8 * 10**12, 3 * 10**5 + 1)
    meter = in_bytes(Police, rate, 1, "mark")
    far, byte_ps = 2**61, 3 * 10**5 + 1
    at_ps = [far, far, far + byte_ps - 1, far + byte_ps, far + 2 * byte_ps - 1, far + 2 * byte_ps]
    (left,) = lab.carry(meter, lab.setting(), lab.cells(at_ps, size_bytes=1)).departures
    colours = [MARKS["colour"].read(marks) for marks in left.marks.tolist()]
    assert colours == [GREEN, RED, RED, GREEN, RED, GREEN]


@pytest.mark.parametrize("by_events", [False, True])
def test_the_largest_packet_passes(lab, by_events):
    meter = in_bytes(Police, 8 * KBIT, 65_535, "mark")
    packets = lab.cells([0, 0], size_bytes=[65_535, 1])
    (left,) = lab.carry(meter, lab.setting(), packets, by_events=by_events).departures
    assert [MARKS["colour"].read(marks) for marks in left.marks.tolist()] == [GREEN, RED]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: in_bytes(Police, Fraction(8), 2**31), "11 days"),
        (lambda: in_bytes(Police, Fraction(10**18 + 9, 10**17 - 3), 1), "too fine"),
    ],
)
def test_what_cannot_be_kept_exactly_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_what_is_no_packet_is_refused(lab):
    with pytest.raises(ValueError, match="at most 65535"):
        lab.carry(in_bytes(Police, KBIT, 1_500), lab.setting(), lab.cells([0], size_bytes=65_536))


@pytest.mark.parametrize(
    "element",
    [in_bytes(Police, KBIT, 1_500), in_bytes(Shape, 8 * KBIT, 1_500, Buffer(1, "packet"))],
)
def test_what_is_no_packet_is_refused_in_a_loop_too(lab, element):
    process = EventProcess(element, lab.setting()).process
    with pytest.raises(ValueError, match="at most 65535"):
        process((lab.cells([0], size_bytes=65_536),), 1)
