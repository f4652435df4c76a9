"""Partial packet discard: the rest of a frame of which a cell found no room is lost."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.dropping.ppd import Ppd
from qospec.dropping.tail import Tail
from qospec.elements.fifo import Fifo

PARTIAL = "partial_packet_discard"
A, B = range(2)


def traffic(bench):
    """Return two frames of A and three of B, before a queue of three cells.

    A cell that waits begins with a slot: of those that come with the first, 1, 2 and 3 begin with
    the slots 1, 2 and 3. Those of the third line come during slot 2, when one waits.
    """
    slot_ps = math.floor(bench.cells.slot_ps)
    no_frame, more, last = bench.no_frame, bench.more, bench.last
    coming = [
        *[(0, A, more), (0, A, more)],  # 0, 1: sent; one waits
        *[(0, B, more), (0, B, more), (0, A, more)],  # 2, 3: three wait; 4: no room
        *[(2, A, more), (2, B, last), (2, A, last)],  # 5: there is room, but not for it; 6, 7 wait
        *[(2, B, more), (2, B, last)],  # 8, 9: no room for a frame of B, nor for its last cell
        (2, A, no_frame),  # 10: no room
        *[(7, B, more), (7, A, more), (7, B, last)],  # 11, 12, 13: nothing waits
    ]
    items = [
        bench.came(slot * slot_ps + (slot > 0), 53, 0, vc, frame) for slot, vc, frame in coming
    ]
    return bench.sending_of(items)


def lost(bench, policy):
    return sorted(bench.carry(traffic(bench), Buffer(3, "cell"), policy)[1], key=lambda x: x[1])


def test_the_rest_of_a_frame_is_lost_but_for_its_last_cell(bench):
    overflow = [("overflow", number) for number in (8, 9, 10)]
    assert lost(bench, Ppd()) == [("overflow", 4), (PARTIAL, 5), *overflow]


def test_tail_drop_lets_the_rest_in_instead(bench):
    """5 and 6 have the places that there are, and 7, the last cell, has none."""
    assert lost(bench, Tail()) == [("overflow", number) for number in (4, 7, 8, 9, 10)]


@given(data=st.data())
def test_it_is_the_paper_s_discard(bench, data):
    coming = data.draw(bench.traffic([0], data.draw(bench.clocks), bench.of_frames))
    limit = data.draw(bench.limits)
    limit = Buffer(limit.amount, "byte" if limit.unit == "byte" else "cell")
    rules = bench.rules("", {}, {}, None, bench.frames(partial=True))
    bench.agree(coming, limit, Ppd(), rules)


def test_packets_are_no_frames_of_cells(bench):
    message = "drop: only cells have a frame, and the limit is in packets"
    with pytest.raises(ValueError, match=message):
        Fifo(bench.packets(10), Ppd())


def test_its_queue_says_what_it_may_discard_for():
    assert Fifo(Buffer(10, "cell"), Ppd()).discards_for == ("overflow", PARTIAL)
