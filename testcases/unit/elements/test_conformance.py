"""Packets that keep a rate exactly, at meters and shapers: nothing is yellow, red, late or lost."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import pytest
from books import in_bytes
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer, Load
from qospec.elements.police import Police
from qospec.elements.rfc4115 import Rfc4115
from qospec.elements.shape import Shape
from qospec.elements.srtcm import Srtcm
from qospec.elements.trtcm import Trtcm
from qospec.protocol.encapsulation import Framing
from qospec.protocol.marks import MARKS
from qospec.units import PS_PER_S

METERS = {
    "police": lambda rate, burst: in_bytes(Police, rate, burst),
    "srtcm": lambda rate, burst: in_bytes(Srtcm, rate, burst, 0),
    "trtcm": lambda rate, burst: in_bytes(Trtcm, rate, burst, rate, burst),
    "rfc4115": lambda rate, burst: in_bytes(Rfc4115, rate, burst, Fraction(8), 0),
}
MARKING = {
    "police": lambda rate, burst: Police(rate, burst, "mark"),
    "srtcm": lambda rate, burst: Srtcm(rate, burst, burst._replace(amount=0)),
    "trtcm": lambda rate, burst: Trtcm(rate, burst, rate, burst),
    "rfc4115": lambda rate, burst: Rfc4115(rate, burst, rate, burst._replace(amount=0)),
}
ETHERNET = Framing(header_bytes=18, least_bytes=64, extra_bytes=20)
CELLS = Framing(header_bytes=8, per_cell_bytes=48)
COUNTS = [
    (Load(Fraction(8 * 10**6), "ip"), 0, ETHERNET, 40, 40),
    (Load(Fraction(8 * 10**6), "ip"), 4, ETHERNET, 40, 44),
    (Load(Fraction(8 * 10**6), "frame"), 0, ETHERNET, 40, 64),
    (Load(Fraction(8 * 10**6), "frame"), 0, ETHERNET, 46, 64),
    (Load(Fraction(8 * 10**6), "frame"), 4, ETHERNET, 47, 69),
    (Load(Fraction(8 * 10**6), "line"), 0, ETHERNET, 40, 84),
    (Load(Fraction(8 * 10**6), "line"), 0, ETHERNET, 1_500, 1_538),
    (Load(Fraction(8 * 10**6), "frame"), 0, CELLS, 41, 2 * 53),
    (Load(Fraction(10**6), ""), 0, ETHERNET, 1_500, 1),
]
"""Rates of a token in a us, and what a packet takes by overhead, framing and size, by hand: IEEE
802.3, 3 and 4.4.2."""
GREEN, YELLOW, RED = range(3)
AWKWARD = [Fraction(10**8, 3), Fraction(49_999_999), Fraction(10**9, 7), Fraction(44_736_000)]
"""Bit/s at which a packet takes no whole number of ps."""


def byte_ps(rate):
    return 8 * PS_PER_S / Fraction(rate)


@st.composite
def conforming(draw, rate, burst):
    """Draw exact times and sizes of packets that a bucket covers in full, many of them just."""
    empty, now, found = Fraction(0), Fraction(0), []
    slack = st.just(Fraction(0)) | st.fractions(0, int(3_000 * byte_ps(rate)), max_denominator=60)
    for _ in range(draw(st.integers(1, 40))):
        size = draw(st.integers(20, burst))
        # The tokens of `burst` bytes are there again at `empty`.
        now = max(now, empty - (burst - size) * byte_ps(rate)) + draw(slack)
        empty = max(now, empty) + size * byte_ps(rate)
        found.append((now, size))
    return found


@pytest.mark.parametrize("rate", AWKWARD)
@pytest.mark.parametrize("name", METERS)
def test_a_constant_rate_is_green_though_a_bucket_holds_one_packet(lab, name, rate):
    at_ps = [math.floor(n * 577 * byte_ps(rate)) for n in range(5_000)]
    batch = lab.cells(at_ps, size_bytes=577)
    got = lab.carry(METERS[name](rate, 577), lab.setting(), batch)
    assert got.lost == []
    assert not got.departures[0].marks.any()


@pytest.mark.parametrize(("rate", "overhead", "frames", "size", "tokens"), COUNTS)
def test_a_packet_takes_what_its_layer_counts(lab, rate, overhead, frames, size, tokens):
    """The bucket holds one packet: of a meter's three the last comes when it is full again."""
    burst, full_ps = Buffer(tokens, "byte" if rate.layer else "packet"), tokens * 10**6
    batch = lab.cells([0, full_ps - 1, full_ps], size_bytes=size)
    for make, by_events in itertools.product(MARKING.values(), (False, True)):
        meter = replace(make(rate, burst), overhead=overhead).with_frames(frames)
        (left,) = lab.carry(meter, lab.setting(), batch, by_events=by_events).departures
        found = [MARKS["colour"].read(marks) for marks in left.marks.tolist()]
        assert found == [GREEN, RED, GREEN]
    shape = Shape(rate, burst, Buffer(9, "packet"), overhead=overhead).with_frames(frames)
    (left,) = lab.carry(shape, lab.setting(), lab.cells([0, 0], size_bytes=size)).departures
    assert left.at_ps.tolist() == [0, full_ps]


@pytest.mark.parametrize("name", METERS)
@given(st.data())
def test_what_conforms_in_exact_time_is_green(lab, name, data):
    rate = data.draw(st.sampled_from(AWKWARD))
    packets = data.draw(conforming(rate, 1_500))
    batch = lab.cells([math.floor(t) for t, _ in packets], size_bytes=[size for _, size in packets])
    got = lab.carry(METERS[name](rate, 1_500), lab.setting(), batch)
    assert got.lost == []
    assert not got.departures[0].marks.any()


@pytest.mark.parametrize(
    ("make", "colours"),
    [
        (lambda rate: in_bytes(Police, rate, 1, "mark"), [GREEN, RED]),
        (lambda rate: in_bytes(Srtcm, rate, 1, 1), [GREEN, YELLOW, RED]),
        (lambda rate: in_bytes(Trtcm, rate, 1, rate, 100), [GREEN, YELLOW]),
        (lambda rate: in_bytes(Trtcm, rate, 100, rate, 1), [GREEN, RED]),
        (lambda rate: in_bytes(Rfc4115, rate, 1, rate, 1), [GREEN, YELLOW, RED]),
    ],
)
def test_to_look_at_a_bucket_brings_no_tokens(lab, make, colours):
    """A byte takes 10/3 ps; within 2 ps of those that emptied the bucket nothing is covered."""
    meter = make(24 * 10**11)
    batch = lab.cells([0, 0] + [1] * 9 + [2], size_bytes=1)
    (left,) = lab.carry(meter, lab.setting(), batch).departures
    found = [MARKS["colour"].read(marks) for marks in left.marks.tolist()]
    assert found == colours + colours[-1:] * (12 - len(colours))


@given(st.data())
def test_what_conforms_in_exact_time_is_not_delayed(lab, data):
    rate = data.draw(st.sampled_from(AWKWARD))
    packets = data.draw(conforming(rate, 1_500))
    at_ps = [math.floor(t) for t, _ in packets]
    batch = lab.cells(at_ps, size_bytes=[size for _, size in packets])
    (left,) = lab.carry(
        in_bytes(Shape, rate, 1_500, Buffer(1, "packet")), lab.setting(), batch
    ).departures
    assert left.at_ps.tolist() == at_ps


@given(st.data())
def test_what_a_shaper_lets_out_an_equal_bucket_lets_pass(lab, data):
    rate = data.draw(st.sampled_from(AWKWARD))
    gaps = st.sampled_from([0, 0, 1]) | st.integers(0, int(3_000 * byte_ps(rate)))
    at_ps, sizes, now = [], [], 0
    for _ in range(data.draw(st.integers(1, 40))):
        now += data.draw(gaps)
        at_ps.append(now)
        sizes.append(data.draw(st.integers(20, 1_500)))
    shape = in_bytes(Shape, rate, 1_500, Buffer(2**40, "packet"))
    (shaped,) = lab.carry(shape, lab.setting(), lab.cells(at_ps, size_bytes=sizes)).departures
    (again,) = lab.carry(shape, lab.setting(), shaped).departures
    assert again.at_ps.tolist() == shaped.at_ps.tolist()
    for make in METERS.values():
        got = lab.carry(make(rate, 1_500), lab.setting(), shaped)
        assert got.lost == []
        assert not got.departures[0].marks.any()


@pytest.mark.parametrize("rate", AWKWARD)
def test_packets_above_the_rate_are_dropped_as_in_exact_time(lab, rate):
    """A thousandth above it; no packet comes within a ps of what is allowed."""
    interval_ps = 577 * byte_ps(rate * Fraction(1_001, 1_000))
    full_ps, empty, red = 1_500 * byte_ps(rate), Fraction(0), []
    for number in range(10_000):
        exact_ps = number * interval_ps
        if max(empty - exact_ps, 0) + 577 * byte_ps(rate) > full_ps:
            red.append(number)
        else:
            empty = max(empty, exact_ps) + 577 * byte_ps(rate)
    batch = lab.cells([math.floor(n * interval_ps) for n in range(10_000)], size_bytes=577)
    got = lab.carry(in_bytes(Police, rate, 1_500), lab.setting(), batch)
    assert len(red) > 1
    assert [number for *_, number in got.lost] == red
