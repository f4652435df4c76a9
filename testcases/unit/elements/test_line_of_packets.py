"""A line that frames packets, against the standard's text in exact fractions."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.elements.drr import Drr
from qospec.elements.fifo import Fifo
from qospec.elements.line import Line
from qospec.elements.strict import Strict
from qospec.elements.wf2q_plus import Wf2qPlus
from qospec.elements.wfq import Wfq
from qospec.elements.wrr import Wrr
from qospec.engine.queue.drop_policy import Waiting

RATES = [Fraction(10**7), Fraction(10**8), Fraction(10**9), Fraction(2_048_000), Fraction(10**8, 7)]


def ethernet(rate, **more):
    fields = {"preamble": 8, "header": 18, "min_frame": 64, "gap": 12, **more}
    return Line(rate, carries="packet", **fields)


def by_the_book(at_ps, sizes, rate, propagation_ps):
    """Return when the first bit behind the preamble is sent, and the last before the gap is there.

    Source: IEEE 802.3, 3.2 and 4.4.2.
    """
    byte_ps, free, rows = 8 * 10**12 / rate, Fraction(0), []
    for t, size in zip(at_ps, sizes, strict=True):
        begin = max(Fraction(t), free)
        frame = max(size + 18, 64)
        free = begin + (8 + frame + 12) * byte_ps
        # The line's clock is cut to whole ps once for each time that is given.
        first = int(begin) + round(8 * byte_ps)
        rows.append((first, int(free) + propagation_ps - round(12 * byte_ps)))
    return rows


packets = st.lists(
    st.tuples(st.integers(0, 10**6), st.sampled_from([20, 40, 46, 47, 576, 1_500])), max_size=30
)


@pytest.mark.parametrize("rate", RATES)
@given(gaps=packets, alike=st.booleans(), cuts=st.lists(st.integers(0, 10**7), max_size=4))
def test_frames_follow_each_other_by_the_standard(lab, rate, gaps, alike, cuts):
    at_ps, now = [], 0
    for gap, _ in gaps:
        now += gap
        at_ps.append(now)
    sizes = [46 if alike else size for _, size in gaps]
    line = ethernet(rate, length=Fraction(1_000))
    where = lab.setting(clock=line.build_clock(stamps=True), size_bytes=46 if alike else 0)
    (left,) = lab.carry(line, where, lab.cells(at_ps, size_bytes=sizes), cuts=cuts).departures
    rows = list(zip(left.sent_ps.tolist(), left.at_ps.tolist(), strict=True))
    assert rows == by_the_book(at_ps, sizes, rate, 5_000_000)


@given(gaps=packets)
def test_a_queue_and_a_scheduler_send_as_the_line_does(lab, gaps):
    at_ps, sizes, now = [], [], 0
    for gap, size in gaps:
        now += gap
        at_ps.append(now)
        sizes.append(size)
    batch = lab.cells(at_ps, size_bytes=sizes)
    line = ethernet(Fraction(10**9))
    clock = line.build_clock(stamps=False)
    where = lab.setting(clock=clock)
    (alone,) = lab.carry(line, where, batch).departures
    (queued,) = lab.carry(Fifo(Buffer(2**30, "packet")), where, batch).departures
    chosen = where._replace(queues=(Waiting("q", None),))
    (served,) = lab.carry(Strict(("q",)), chosen, batch).departures
    assert queued.at_ps.tolist() == served.at_ps.tolist() == alone.at_ps.tolist()


@pytest.mark.parametrize(
    "scheduler",
    [
        Wrr((("a", 1), ("b", 2))),
        Drr((("a", Fraction(1)), ("b", Fraction(2)))),
        Wfq((("a", Fraction(1)), ("b", Fraction(2)))),
        Wf2qPlus((("a", Fraction(1)), ("b", Fraction(2)))),
    ],
    ids=lambda scheduler: type(scheduler).__name__,
)
@given(gaps=packets, cuts=st.lists(st.integers(0, 10**7), max_size=4))
def test_schedulers_keep_the_line_as_busy_as_the_standard_says(lab, scheduler, gaps, cuts):
    at_ps, now = [], 0
    for gap, _ in gaps:
        now += gap
        at_ps.append(now)
    inputs = [
        lab.cells(at_ps[first::2], size_bytes=[size for _, size in gaps][first::2])
        for first in (0, 1)
    ]
    rate = Fraction(10**9)
    clock = ethernet(rate).build_clock(stamps=False)
    where = lab.setting(clock=clock, queues=(Waiting("a", None), Waiting("b", None)))
    (left,) = lab.carry(scheduler, where, *inputs, cuts=cuts).departures
    assert left.count == len(at_ps)
    byte_ps = 8 * 10**12 // rate
    took_ps = [(8 + max(size + 18, 64) + 12) * byte_ps for size in left.size_bytes.tolist()]
    ends_ps = [at + 12 * byte_ps for at in left.at_ps.tolist()]
    begun_ps = [end - took for end, took in zip(ends_ps, took_ps, strict=True)]
    # No frame begins before the one ahead ends, and none is put off while something is here.
    waited = list(zip(begun_ps, [0, *ends_ps], strict=False))
    assert all(begun >= free for begun, free in waited)
    assert all(begun == free or begun in at_ps for begun, free in waited)


@pytest.mark.parametrize("by_events", [False, True])
def test_a_gap_of_fast_ethernet_is_960_ns(lab, by_events):
    line = ethernet(Fraction(10**8))
    where, frames = (
        lab.setting(clock=line.build_clock(stamps=True)),
        lab.cells([0, 0], size_bytes=46),
    )
    (left,) = lab.carry(line, where, frames, by_events=by_events).departures
    (first, second), (end, _) = left.sent_ps.tolist(), left.at_ps.tolist()
    preamble_ps = 8 * 80_000
    assert second - preamble_ps - end == 960_000
    assert first == preamble_ps


@pytest.mark.parametrize("field", ["preamble", "header", "min_frame", "gap"])
def test_cells_are_not_framed(field):
    with pytest.raises(ValueError, match="only packets are framed"):
        Line(Fraction(10**8), **{field: 4})


def test_packets_know_no_slots():
    assert not ethernet(Fraction(10**8), slotted=True).build_clock(stamps=False).slotted


def test_a_packet_smaller_than_its_own_header_is_refused(lab):
    line = ethernet(Fraction(10**8))
    with pytest.raises(ValueError, match="at least 20 bytes"):
        lab.carry(
            line, lab.setting(clock=line.build_clock(stamps=False)), lab.cells([0], size_bytes=19)
        )
