"""The shaper against a fluid bucket in exact fractions."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from books import in_bytes
from hypothesis import given
from hypothesis import strategies as st

from qospec.calculus.curve import Curve
from qospec.calculus.guarantee import bound_items
from qospec.catalogue.kinds import Buffer
from qospec.elements.shape import Shape
from qospec.engine.event.process import build_process
from qospec.units import PS_PER_S


def by_the_book(shape, packets):
    """Return when each packet leaves with its number, and number and cause of each that is lost.

    RFC 3290, Appendix A: tokens flow into the bucket all the time; the first packet of the queue
    leaves at the exact time when there are tokens for all of it, which is shown rounded down.
    """
    rate, size = shape.rate.amount / 8 / PS_PER_S, shape.burst_size.amount
    tokens, filled_ps, last_ps, left, lost = Fraction(size), Fraction(0), Fraction(0), [], []
    for number, (t, length) in enumerate(packets):
        waiting = [(at, packets[n][1]) for at, n in left if at > t]
        taken = sum(1 if shape.limit.unit == "packet" else size for _, size in waiting)
        amount = 1 if shape.limit.unit == "packet" else length
        if length > size:
            lost.append((number, "policed"))
            continue
        starts_ps = max(Fraction(t), last_ps)
        there = min(tokens + (starts_ps - filled_ps) * rate, Fraction(size))
        leaves_ps = starts_ps + max((length - there) / rate, Fraction(0))
        if math.floor(leaves_ps) > t and taken + amount > shape.limit.amount:
            lost.append((number, "overflow"))
            continue
        tokens = min(tokens + (leaves_ps - filled_ps) * rate, Fraction(size)) - length
        filled_ps = last_ps = leaves_ps
        left.append((math.floor(leaves_ps), number))
    return left, lost


@st.composite
def shapes(draw):
    """Draw a shaper."""
    rates = st.one_of(
        st.sampled_from([Fraction(8_000), Fraction(12 * 10**6), Fraction(8 * 10**12)]),
        st.sampled_from([Fraction(10**8, 3), Fraction(49_999_999), Fraction(10**9, 7)]),
    )
    limits = st.one_of(
        st.builds(Buffer, st.sampled_from([1, 2, 5, 2**40]), st.just("packet")),
        st.builds(Buffer, st.sampled_from([100, 1_500, 4_000]), st.just("byte")),
    )
    return in_bytes(Shape, draw(rates), draw(st.sampled_from([40, 1_500, 3_001])), draw(limits))


@given(st.data())
def test_it_delays_by_the_book(lab, data):
    shape = data.draw(shapes())
    time = data.draw(st.sampled_from([1, 40, 1_500])) * 8 * PS_PER_S // shape.rate.amount
    gaps = st.sampled_from([0, 0, 1, time, time + 1]) | st.integers(0, 3 * int(time))
    packets, now = [], 0
    for _ in range(data.draw(st.integers(0, 25))):
        now += data.draw(gaps)
        packets.append((now, data.draw(st.sampled_from([1, 20, 40, 576, 1_500]))))
    cuts = data.draw(st.lists(st.integers(0, 2 * now + 2), max_size=5))
    batch = lab.cells([t for t, _ in packets], size_bytes=[size for _, size in packets])
    got = lab.carry(shape, lab.setting(watched=True), batch, cuts=cuts)
    (after,) = got.departures
    left, lost = by_the_book(shape, packets)
    assert got.waits == [(packets[n][0], at) for at, n in left if at > packets[n][0]]
    assert list(zip(after.at_ps.tolist(), after.sent_ps.tolist(), strict=True)) == left
    assert sorted((number, cause) for cause, _, _, number in got.lost) == lost


@pytest.mark.parametrize("by_events", [False, True])
def test_a_queue_that_comes_round_to_its_first_places_finds_more(lab, by_events):
    """Some have left when a burst fills the places from there on, and needs twice as many again."""
    ms, sizes = 10**9, [40, 576, 1_500, 1_499, 41]
    at_ps = [*(n // 4 * 10 * ms for n in range(140)), *[400 * ms] * 200]
    at_ps += [420 * ms + n * ms // 3 for n in range(60)]
    packets = [(t, sizes[n % 5]) for n, t in enumerate(at_ps)]
    shape = in_bytes(Shape, Fraction(10**8, 7), 1_500, Buffer(80_000, "byte"))
    batch = lab.cells(at_ps, size_bytes=[size for _, size in packets])
    got = lab.carry(shape, lab.setting(watched=True), batch, by_events=by_events)
    (after,) = got.departures
    left, lost = by_the_book(shape, packets)
    assert list(zip(after.at_ps.tolist(), after.sent_ps.tolist(), strict=True)) == left
    assert sorted((number, cause) for cause, _, _, number in got.lost) == lost
    assert got.waits == [(at_ps[n], at) for at, n in left if at > at_ps[n]]
    assert lost


@pytest.mark.parametrize("by_events", [False, True])
def test_the_largest_packet_passes(lab, by_events):
    shape = in_bytes(Shape, Fraction(8_000), 65_535, Buffer(1, "packet"))
    packet = lab.cells([7], size_bytes=65_535)
    (left,) = lab.carry(shape, lab.setting(), packet, by_events=by_events).departures
    assert left.at_ps.tolist() == [7]


def test_what_leaves_never_exceeds_its_rate_and_burst(lab):
    """Within any time t no more than burst + rate t, and under load exactly at the rate."""
    shape = in_bytes(Shape, Fraction(12 * 10**6), 3_000, Buffer(1_000, "packet"))
    (left,) = lab.carry(shape, lab.setting(), lab.cells([0] * 200, size_bytes=1_500)).departures
    assert left.at_ps.tolist() == [0, 0, *(n * 10**9 for n in range(1, 199))]


@pytest.mark.parametrize("limit", [Buffer(1, "packet"), Buffer(1_500, "byte")])
def test_a_packet_that_leaves_in_this_very_ps_takes_no_room(lab, limit):
    """1,500 B take 1 ms. The second waits until 1 ms, where the third finds its place free."""
    shape = in_bytes(Shape, Fraction(12 * 10**6), 1_500, limit)
    ms = 10**9
    for third, waits in ((ms - 1, False), (ms, True)):
        got = lab.carry(shape, lab.setting(), lab.cells([0, 0, third], size_bytes=1_500))
        (left,) = got.departures
        assert left.at_ps.tolist() == ([0, ms, 2 * ms] if waits else [0, ms])
        assert [cause for cause, *_ in got.lost] == ([] if waits else ["overflow"])


def test_each_waits_until_it_leaves_itself(lab):
    """At 1.5 ms the second has left and the third has not: so one finds room, and one does not."""
    ms, shape = 10**9, in_bytes(Shape, Fraction(12 * 10**6), 1_500, Buffer(2, "packet"))
    packets = lab.cells([0, 0, 0, 3 * ms // 2, 3 * ms // 2], size_bytes=1_500)
    got = lab.carry(shape, lab.setting(), packets)
    assert got.departures[0].at_ps.tolist() == [0, ms, 2 * ms, 3 * ms]
    assert got.lost == [("overflow", "", 0, 4)]


@pytest.mark.parametrize("cut", [10**9 - 1, 10**9, 10**9 + 1])
def test_where_time_is_cut_does_not_decide_whether_there_is_room(lab, cut):
    shape, at_ps = in_bytes(Shape, Fraction(12 * 10**6), 1_500, Buffer(1, "packet")), [0, 0, 10**9]
    got = lab.carry(shape, lab.setting(), lab.cells(at_ps, size_bytes=1_500), cuts=[cut])
    assert got.departures[0].at_ps.tolist() == [0, 10**9, 2 * 10**9]


def test_a_wait_beyond_int64_is_refused(lab):
    shape = in_bytes(Shape, Fraction(8), 65_535, Buffer(10_000, "packet"))
    with pytest.raises(OverflowError, match="50 days"):
        lab.carry(shape, lab.setting(), lab.cells([0] * 100, size_bytes=65_535))


@pytest.mark.parametrize("limit", [Buffer(2, "packet"), Buffer(140_000, "byte")])
def test_lost_packets_do_not_count_towards_that_wait(lab, limit):
    shape = in_bytes(Shape, Fraction(8), 65_535, limit)
    got = lab.carry(shape, lab.setting(), lab.cells([0] * 100, size_bytes=65_535))
    assert [batch.count for batch in got.departures] == [3]


def test_a_bucket_that_cannot_be_kept_is_refused():
    with pytest.raises(ValueError, match="11 days"):
        in_bytes(Shape, Fraction(8), 2**31, Buffer(1, "packet"))


def test_before_anything_came_the_watermark_is_that_of_the_input(lab):
    shape = in_bytes(Shape, Fraction(8_000), 100, Buffer(1, "packet"))
    assert build_process(shape, lab.setting())((lab.cells([]),), 0).until_ps == (0,)


@pytest.mark.parametrize(("burst", "at_first"), [(10_000, 10), (15_000, 15)])
def test_tokens_that_come_at_once_let_bursts_go(lab, burst, at_first):
    """CIR 8 Mbit/s and Tc 10 ms: Bc is 10,000 B each 10 ms, and Be 0 or 5,000 B at first."""
    ms = 10**9
    steady = in_bytes(Shape, Fraction(8 * 10**6), burst, Buffer(100, "packet"))
    shape = replace(steady, refill=10 * ms)
    got = lab.carry(shape, lab.setting(), lab.cells([0] * 40, size_bytes=1_000), cuts=[7 * ms])
    (left,) = got.departures
    later = [10 * ms * (1 + n // 10) for n in range(40 - at_first)]
    assert left.at_ps.tolist() == [0] * at_first + later


def refilled_by_the_book(refill_ps, per_refill, burst, packets):
    """Return when packets leave, all tokens of an interval coming at its end, none in between."""
    tokens, refills, left, last_ps = burst, 0, [], 0
    for came_ps, size_bytes in packets:
        last_ps = max(last_ps, came_ps)
        for _ in range(refills, last_ps // refill_ps):
            tokens = min(tokens + per_refill, burst)
        refills = max(refills, last_ps // refill_ps)
        while tokens < size_bytes:
            refills += 1
            last_ps, tokens = refills * refill_ps, min(tokens + per_refill, burst)
        tokens -= size_bytes
        left.append(last_ps)
    return left


@given(st.data())
def test_tokens_that_come_at_once_are_counted_by_the_book(lab, data):
    """A byte takes 1 us."""
    us = 10**6
    refill_us = data.draw(st.sampled_from([100, 700, 1_500]))
    burst = data.draw(st.sampled_from([1_500, 1_501, 4_000]))
    gaps = st.sampled_from([0, 0, 1, refill_us * us, 3 * refill_us * us]) | st.integers(0, 10**10)
    packets, now_ps = [], 0
    for _ in range(data.draw(st.integers(1, 20))):
        now_ps += data.draw(gaps)
        packets.append((now_ps, data.draw(st.sampled_from([20, 40, 576, 1_500]))))
    steady = in_bytes(Shape, Fraction(8 * 10**6), burst, Buffer(100, "packet"))
    shape = replace(steady, refill=refill_us * us)
    sizes = [size for _, size in packets]
    batch = lab.cells([at_ps for at_ps, _ in packets], size_bytes=sizes)
    got = lab.carry(shape, lab.setting(), batch, cuts=[now_ps // 2])
    expected = refilled_by_the_book(refill_us * us, refill_us, burst, packets)
    assert got.departures[0].at_ps.tolist() == expected


def test_a_burst_without_room_for_a_refill_is_refused():
    shape = in_bytes(Shape, Fraction(8 * 10**6), 1_000, Buffer(1, "packet"))
    with pytest.raises(ValueError, match="no room for the tokens of `refill`"):
        replace(shape, refill=1_001 * 10**6)


def test_tokens_that_come_at_once_are_late_by_up_to_a_refill():
    """Of 40 packets of 1,000 B at once 15 leave, and 10 each 10 ms: the last at 30 ms.

    The tokens of 40 ms less those saved, 15 ms, and the 10 ms by which they may be late, are 35 ms.
    """
    steady = in_bytes(Shape, Fraction(8 * 10**6), 15_000, Buffer(100, "packet"))
    shape = replace(steady, refill=10 * 10**9)
    arriving = bound_items(Curve.from_lines([(Fraction(40), Fraction(0))]), [1_000])
    assert shape.guarantee_service((arriving,), None, (None,)).inputs[0].most_ps == 35 * 10**9
    short = replace(shape, refill=15 * 10**9)
    assert short.guarantee_service((arriving,), None, (None,)) is None
