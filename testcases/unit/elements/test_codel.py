"""CoDel against the pseudocode of RFC 8289, and against numbers that were worked out by hand."""

from collections import deque
from fractions import Fraction

import numpy as np
import pytest
from arriving import draw_bursts
from books import ControlledDelay
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.elements.codel import Codel
from qospec.elements.fifo import Fifo
from qospec.engine.line.clock import Clock

MS = 10**9
"""Picoseconds."""
LINE = Clock(Fraction(10_000_000), slotted=False)
"""It sends 1,250 bytes in 1 ms."""
PACKET_BYTES = 1_250
NO_LIMIT = Buffer(2**40, "packet")


def numbers(batch):
    """Return the numbers of packets."""
    return batch.sent_ps.tolist()


def dropped(lab, element, at_ps, clock=LINE, **columns):
    """Return the numbers of the packets that are dropped at the head, and when."""
    columns = {"size_bytes": PACKET_BYTES} | columns
    got = lab.carry(element, lab.setting(clock=clock, watched=True), lab.cells(at_ps, **columns))
    gone_ps = dict(zip((at for at, _ in got.waits), (until for _, until in got.waits), strict=True))
    assert {cause for cause, *_ in got.lost} <= {"early"}
    return [(number, gone_ps[at_ps[number]]) for *_, number in got.lost]


# ---- by hand: target and interval are those that RFC 8289 recommends, 5 and 100 ms


def overload_ps(count, first=0):
    """Return when packets come at twice the rate of the line."""
    return [first + number * MS // 2 for number in range(count)]


def test_the_control_law_is_an_interval_divided_by_the_square_root_of_the_count(lab):
    """At twice the rate of the line, the n-th packet has waited n / 2 ms at n ms.

    That is 5 ms at 10 ms, and an interval later, at 110 ms, the packet whose turn it is goes, and
    from then on the n-th comes a ms earlier. The next one is due at 210 ms, one interval later, and
    the others follow after 100 ms / sqrt(2) = 70.71, / sqrt(3) = 57.74, / sqrt(4) = 50.00 and
    / sqrt(5) = 44.72: at 280.71, 338.45, 388.45 and 433.17 ms. Each goes when the line is free
    next, in whole ms, and each makes the numbers one more than the ms.
    """
    assert dropped(lab, Codel(NO_LIMIT), overload_ps(900))[:6] == [
        (110, 110 * MS),
        (211, 210 * MS),
        (283, 281 * MS),
        (342, 339 * MS),
        (393, 389 * MS),
        (439, 434 * MS),
    ]


def again(pause_ms):
    """Return arrivals that overload the line for 400 ms, and a second time after a pause.

    What waits after the first time is sent by 800 ms.
    """
    return [*overload_ps(800), *overload_ps(800, (800 + pause_ms) * MS)]


def gaps_ms(drops, first):
    """Return the ms between those that are dropped from number `first` on."""
    at_ps = np.array([at_ps for number, at_ps in drops if number >= first])
    return (np.diff(at_ps) / MS).tolist()


@pytest.mark.parametrize(("pause_ms", "resumed"), [(200, True), (2_500, False)])
def test_it_drops_as_often_as_before_if_that_is_not_long_ago(lab, pause_ms, resumed):
    """The first time it counted from 1 to some n; now it begins with n - 1 or, if the next would
    have been dropped more than 16 intervals, 1.6 s, ago, with 1 again.
    """
    drops = dropped(lab, Codel(NO_LIMIT), again(pause_ms))
    before = sum(number < 800 for number, _ in drops)
    assert before > 5
    after_ms = 100 / (before - 1) ** 0.5 if resumed else 100
    assert after_ms <= gaps_ms(drops, 800)[0] <= after_ms + 1  # the line is free each ms


@pytest.mark.parametrize(("mtu", "drops"), [(999, True), (1_000, False), (1_500, False)])
def test_nothing_is_dropped_while_no_more_than_an_mtu_waits(lab, mtu, drops):
    """A line that takes 8 ms for each packet, and always finds two more when it is free.

    So each waits 16 ms, far above the target, but one is all that waits behind it.
    """
    slow = Clock(Fraction(1_000_000), slotted=False)
    at_ps = [0, 0, 0, *(number * 8 * MS for number in range(1, 60))]
    element = Codel(NO_LIMIT, mtu=mtu)
    found = dropped(lab, element, at_ps, slow, size_bytes=1_000, sent_ps=range(len(at_ps)))
    assert bool(found) == drops


def test_a_packet_at_the_target_has_waited_too_long_and_one_a_ps_below_has_not(lab):
    def first_ps(target):
        return dropped(lab, Codel(NO_LIMIT, target=target), overload_ps(400))[0][1]

    assert first_ps(5 * MS) == 110 * MS
    assert first_ps(5 * MS + 1) == 111 * MS


def test_what_finds_no_room_is_lost_on_arrival(lab):
    clock = Clock(Fraction(10_000_000), slotted=False)
    packets = lab.cells([0, 0, 0, 0, MS], size_bytes=PACKET_BYTES)
    got = lab.carry(Codel(Buffer(2, "packet")), lab.setting(clock=clock), packets)
    assert got.lost == [("overflow", "", 0, 3)]
    assert got.departures[0].at_ps.tolist() == [MS, 2 * MS, 3 * MS, 4 * MS]


# ---- by the pseudocode, in Python: `ControlledDelay`


def by_the_book(element, at_ps, sizes, byte_ps, capable=frozenset()):
    """Return what leaves by number and when, is dropped, finds no room, waits, and is marked.

    All of it on a line of whole ps per byte.
    """
    codel = ControlledDelay(element.target, element.interval, element.mtu, capable)
    left, overflowed, free = {}, [], 0
    coming = deque(enumerate(zip(at_ps, sizes, strict=True)))
    while coming or codel.queue:
        if codel.queue and (not coming or free <= coming[0][1][0]):
            now = free
        else:
            number, (now, size) = coming.popleft()
            amount = size if element.limit.unit == "byte" else 1
            held = codel.bytes if element.limit.unit == "byte" else len(codel.queue)
            if free > now and held + amount > element.limit.amount:
                overflowed.append(number)
                continue
            codel.queue.append((number, now, size))
            codel.bytes += size
        if free <= now:
            number, _, size = codel.dequeue(now)
            free = now + size * byte_ps
            left[number] = free
    return left, [number for number, *_ in codel.drops], overflowed, codel.waits, codel.marked


ARRIVALS = draw_bursts([0, 1, 100, 400, 500, 900, 5_000, 100_000], [100, 1_000, 1_000, 1_500])
"""Packets that come in bursts, faster than a line of 1 ps per byte sends, and slowly."""


@given(
    arrivals=ARRIVALS,
    element=st.builds(
        Codel,
        st.builds(Buffer, st.sampled_from([1, 30, 2**40]), st.just("packet"))
        | st.builds(Buffer, st.sampled_from([1_500, 20_000]), st.just("byte")),
        target=st.sampled_from([1, 500, 3_000]),
        interval=st.sampled_from([1, 1_000, 10_000]),
        mtu=st.sampled_from([1, 1_000, 1_500, 9_000]),
        ecn=st.booleans(),
    ),
    cuts=st.lists(st.integers(0, 60_000), max_size=4),
    every=st.integers(1, 3),
)
def test_it_drops_by_the_book(lab, arrivals, element, cuts, every):
    """Of codepoints 0 is not capable of ECN, and 3 is CE: RFC 3168, 5."""
    at_ps, sizes = arrivals
    clock = Clock(Fraction(8 * 10**12), slotted=False)
    codepoints = np.arange(len(at_ps)) // every % 4
    capable = {int(number) for number in np.flatnonzero(codepoints)} if element.ecn else set()
    batch = lab.cells(at_ps, size_bytes=sizes, marks=codepoints << 23)
    got = lab.carry(element, lab.setting(clock=clock, watched=True), batch, cuts=cuts)
    left, dropped, overflowed, waits, marked = by_the_book(element, at_ps, sizes, 1, capable)
    (departures,) = got.departures
    expected = [3 if number in marked else codepoints[number] for number in numbers(departures)]
    assert (departures.marks >> 23).tolist() == expected
    assert dict(zip(numbers(departures), departures.at_ps.tolist(), strict=True)) == left
    lost = sorted(got.lost)
    assert [number for cause, *_, number in lost if cause == "early"] == dropped
    assert [number for cause, *_, number in lost if cause == "overflow"] == overflowed
    assert got.waits == waits


def test_many_that_wait_find_places_and_a_count_that_is_as_large(lab):
    """Twenty thousand at once: the count passes all that are known at first of the control law."""
    element = Codel(NO_LIMIT, 1, 1_000, 1_000)
    at_ps, sizes = [0] * 20_000, [1_000] * 20_000
    batch = lab.cells(at_ps, size_bytes=sizes)
    clock = Clock(Fraction(8 * 10**12), slotted=False)
    got = lab.carry(element, lab.setting(clock=clock), batch)
    left, dropped, *_ = by_the_book(element, at_ps, sizes, 1)
    assert numbers(got.departures[0]) == list(left)
    assert [number for *_, number in got.lost] == dropped
    assert len(dropped) > 1_000


@given(arrivals=ARRIVALS, mtu=st.sampled_from([1, 1_500]))
def test_a_target_that_nothing_misses_makes_it_a_queue(lab, arrivals, mtu):
    at_ps, sizes = arrivals
    batch, limit = lab.cells(at_ps, size_bytes=sizes), Buffer(30, "packet")
    where = lab.setting(clock=Clock(Fraction(8 * 10**12), slotted=False), watched=True)
    codel = lab.carry(Codel(limit, 10**9, 1, mtu), where, batch, by_events=True)
    fifo = lab.carry(Fifo(limit), where, batch, by_events=True)
    assert codel.rows() == fifo.rows()
