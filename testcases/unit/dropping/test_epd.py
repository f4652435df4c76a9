"""Early packet discard: a frame of cells that begins at a long queue is lost whole."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.dropping.epd import Epd
from qospec.elements.fifo import Fifo

EARLY = "early_packet_discard"
A, B, C = range(3)
EXAMPLE = Path(__file__).parents[2] / "language/accept/discard_of_frames.qos"


def cells(bench, *coming):
    """Return cells that come at once: of a connection, and what each is of a frame."""
    items = [bench.came(0, 53, 0, *facts) for facts in coming]
    return bench.sending_of(items)


def lost(bench, limit, policy, traffic):
    return sorted(bench.carry(traffic, Buffer(limit, "cell"), policy)[1], key=lambda loss: loss[1])


def test_a_frame_that_begins_at_the_threshold_is_lost_to_its_last_cell(bench):
    """All at once: one is sent, three wait when the second frame of A, and that of C, begin."""
    no_frame, more, last = bench.no_frame, bench.more, bench.last
    traffic = cells(
        bench,
        (A, more),  # 0: sent
        (A, more),  # 1: waits alone
        (B, more),  # 2: one waited, so the frame of B is in
        (A, last),  # 3: three wait from now on
        (C, last),  # 4: a frame of one cell, at the threshold: lost
        (A, more),  # 5: likewise
        (B, more),  # 6: of a frame that began before: four wait
        (A, more),  # 7: lost with its frame
        (B, last),  # 8: five wait
        (A, last),  # 9: lost with its frame
        (C, no_frame),  # 10: of no frame: six wait
        (A, more),  # 11: a third frame of A: lost
        (C, no_frame),  # 12: seven wait
        (C, no_frame),  # 13: there is no room
    )
    early = [(EARLY, number) for number in (4, 5, 7, 9, 11)]
    assert lost(bench, 7, Epd(Buffer(3, "cell")), traffic) == [*early, ("overflow", 13)]


def test_a_frame_is_in_at_one_cell_below_the_threshold(bench):
    more, last = bench.more, bench.last
    traffic = cells(bench, (A, more), (A, more), (A, last), (B, more), (B, last), (C, last))
    assert lost(bench, 9, Epd(Buffer(3, "cell")), traffic) == [(EARLY, 5)]


@pytest.mark.parametrize(
    ("partial", "cause"), [(False, "overflow"), (True, "partial_packet_discard")]
)
def test_what_finds_no_room_in_a_frame_that_is_in(bench, partial, cause):
    """Two wait, and the fourth cell of a frame of six is lost; the next frame begins at one."""
    more, last = bench.more, bench.last
    traffic = cells(bench, *[(A, more)] * 5, (A, last))
    found = lost(bench, 2, Epd(Buffer(1, "cell"), partial=partial), traffic)
    assert found == [("overflow", 3), (cause, 4), ("overflow", 5)]


def test_behind_a_last_cell_that_was_lost_before_the_next_frame_is_the_same(bench):
    """The first frame of A has no last cell: the next one is in though two wait, the third not."""
    more, last = bench.more, bench.last
    traffic = cells(bench, (A, more), (A, more), (A, more), (A, more), (A, last), (A, last))
    assert lost(bench, 9, Epd(Buffer(2, "cell")), traffic) == [(EARLY, 5)]


def test_room_again_lets_only_the_next_frame_in(bench):
    """Cells come when two slots later all has been sent: the rest of the frame is lost still."""
    slot_ps = math.floor(bench.cells.slot_ps) + 1
    of_b = [(0, bench.more), (0, bench.more), (3, bench.more), (3, bench.last), (6, bench.more)]
    traffic = bench.sending_of(
        [bench.came(0, 53, 0, A, bench.more)] * 2
        + [bench.came(slot * slot_ps, 53, 0, B, frame) for slot, frame in of_b]
    )
    early = [(EARLY, number) for number in (2, 3, 4, 5)]
    assert lost(bench, 9, Epd(Buffer(1, "cell")), traffic) == early


@given(data=st.data())
def test_it_is_the_paper_s_discard(bench, data):
    traffic = data.draw(bench.traffic([0], data.draw(bench.clocks), bench.of_frames))
    limit = data.draw(bench.limits)
    limit = Buffer(limit.amount, "byte" if limit.unit == "byte" else "cell")
    at, partial = data.draw(st.integers(1, limit.amount)), data.draw(st.booleans())
    rules = bench.rules("", {}, {}, None, bench.frames(at, partial=partial))
    bench.agree(traffic, limit, Epd(Buffer(at, limit.unit), partial=partial), rules)


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        (Buffer(10, "packet"), "drop: only cells have a frame, and the limit is in packets"),
        (Buffer(10, "byte"), "at: expected bytes, as in the limit, found cells"),
        (Buffer(2, "cell"), "at: the threshold 3 is never reached, as at most 2 may wait"),
    ],
)
def test_queues_that_it_does_not_fit(limit, message):
    with pytest.raises(ValueError, match=message):
        Fifo(limit, Epd(Buffer(3, "cell")))


@pytest.mark.parametrize(("partial", "more"), [(False, ()), (True, ("partial_packet_discard",))])
def test_its_queue_says_what_it_may_discard_for(partial, more):
    queue = Fifo(Buffer(10, "cell"), Epd(Buffer(3, "cell"), partial=partial))
    assert queue.discards_for == ("overflow", EARLY, *more)
    assert queue.accepts == ("cell",)


@pytest.mark.slow
def test_frames_are_lost_like_cells_where_tail_drop_loses_far_more(run_cases):
    cases = ["whole_frames", "most_frames", "rest_of_frames"]
    assert [run_case["verdict"] for run_case in run_cases(EXAMPLE, cases)] == ["pass"] * 3
