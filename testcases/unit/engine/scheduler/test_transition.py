"""Schedulers item by item: the same as in batches, for any tree, limit, policy and line."""

from fractions import Fraction

import numpy as np
import pytest
from connected import connected
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.dropping.congested import Congested
from qospec.dropping.epd import Epd
from qospec.dropping.ppd import Ppd
from qospec.dropping.red import Red
from qospec.dropping.threshold import Threshold
from qospec.elements.custom import Custom
from qospec.elements.drr import Drr
from qospec.elements.scfq import Scfq
from qospec.elements.strict import Strict
from qospec.elements.wf2q_plus import Wf2qPlus
from qospec.elements.wfq import Wfq
from qospec.elements.wrr import Wrr
from qospec.engine.element import Setting
from qospec.engine.event.process import EventProcess
from qospec.engine.items.batch import FOREVER_PS, build_batch, join_batches, make_empty
from qospec.engine.items.contract import Contract
from qospec.engine.items.piece import MORE_FOLLOW, note_piece
from qospec.engine.line.clock import Clock
from qospec.engine.queue.drop_policy import Waiting
from qospec.engine.random import Draws
from qospec.engine.scheduler import transition
from qospec.engine.scheduler.combined import Combined
from qospec.protocol.marks import set_marks

SHARES = (("a", Fraction(3)), ("b", Fraction(1)))
FLAT = [
    Strict(("a", "b")),
    Custom((("a", 3_000), ("b", 1_500))),
    Wrr((("a", 3), ("b", 1))),
    *(kind(SHARES) for kind in (Drr, Scfq, Wfq, Wf2qPlus)),
]
NESTED = [
    Combined(Strict(("a", "b")), (None, Drr(SHARES))),
    Combined(Wfq(SHARES), (Wfq(SHARES), None)),
    Combined(Wf2qPlus(SHARES), (Scfq(SHARES), Wrr((("a", 2), ("b", 1))))),
]
moments = st.one_of(st.integers(0, 60_000_000), st.sampled_from([0, 12_000_000, 24_000_000]))
packets = st.lists(st.tuples(moments, st.sampled_from([64, 576, 1_500])), max_size=12).map(sorted)
cells = st.lists(st.tuples(moments, st.just(53)), max_size=12).map(sorted)
cuts = st.lists(st.integers(0, 90_000_000), max_size=3)

GIGABIT = Clock(Fraction(10**9), slotted=False)
FRACTIONS = Clock(Fraction(999_999_937), slotted=False, propagation_ps=5_000)
SLOTS = Clock(Fraction(149_760_000), slotted=True, phase_ps=1_000)
LINES = [(GIGABIT, packets), (FRACTIONS, packets), (SLOTS, cells)]
"""Lines, and what arrives there."""
LIMITS = [None, Buffer(0, "packet"), Buffer(2, "packet"), Buffer(100, "byte")]
RED = Red(low=Buffer(1, "packet"), high=Buffer(3, "packet"), p=Fraction(1, 2), weight=Fraction(1))
POLICIES = [
    RED,
    Threshold("dscp", (("46", Buffer(1, "packet")),)),
    Congested("dscp", (("46", Buffer(2, "packet")),)),
    Epd(Buffer(2, "packet"), partial=True),
    Ppd(),
]
"""For queues of four packets."""
PIECES = [*[note_piece(1, 0, MORE_FOLLOW)] * 3, note_piece(1, 1, 0), 0]
"""What is noted of items in turn: of those of a frame, and of one of none."""


def setting(clock, queues):
    contract = Contract("cbr", Fraction(1_000), 0)
    return Setting(*connected((contract,)), Draws(("test",)), clock, queues, watched=True)


def batch_of(first, arrivals, marks):
    """Return (at_ps, bytes) pairs as a batch; `sent_ps` is the number of each."""
    count = len(arrivals)
    at_ps, sizes = zip(*arrivals, strict=True) if arrivals else ((), ())
    return build_batch(
        at_ps=np.array(at_ps, np.int64),
        sent_ps=np.arange(first, first + count),
        connection=np.zeros(count, np.int32),
        size_bytes=np.array(sizes, np.int32),
        marks=np.resize(np.array(marks, make_empty().marks.dtype), count),
    ).with_column("frame", np.resize(PIECES, count))


def outcome(process, batches, cuts=()):
    """Return who left, when, and what was lost where and why."""
    left, lost, done = make_empty(), [], [0] * len(batches)
    for until_ps in (*sorted(cuts), FOREVER_PS):
        stops = [int(batch.at_ps.searchsorted(until_ps)) for batch in batches]
        parts = tuple(b.select_range(i, j) for b, i, j in zip(batches, done, stops, strict=True))
        step = process(parts, until_ps)
        left, done = join_batches(left, step.departures[0]), stops
        lost += [(x.element, x.cause, n) for x in step.losses for n in x.batch.sent_ps.tolist()]
    return left.sent_ps.tolist(), left.at_ps.tolist(), sorted(lost)


def both(element, clock, queue, arrivals, cuts=(), marks=(0,)):
    """Return the outcome in batches, and item by item."""
    queues = tuple(Waiting(name, *queue) for name in element.inputs)
    firsts = np.cumsum([0, *map(len, arrivals)]).tolist()
    batches = [batch_of(a, b, marks) for a, b in zip(firsts, arrivals, strict=False)]
    state = element.start(setting(clock, queues))
    alone = EventProcess(element, setting(clock, queues))
    in_batches = outcome(lambda *arguments: element.process(state, *arguments), batches)
    return in_batches, outcome(alone.process, batches, cuts)


@given(data=st.data(), element=st.sampled_from(FLAT + NESTED), cuts=cuts)
def test_it_is_the_same_item_by_item(data, element, cuts):
    clock, items = data.draw(st.sampled_from(LINES))
    arrivals = [data.draw(items) for _ in element.inputs]
    one, other = both(element, clock, (data.draw(st.sampled_from(LIMITS)),), arrivals, cuts)
    assert one == other


@given(data=st.data(), element=st.sampled_from([FLAT[0], NESTED[0]]), cuts=cuts)
def test_drop_policies_decide_the_same_item_by_item(data, element, cuts):
    arrivals = [data.draw(packets) for _ in element.inputs]
    queue = (Buffer(4, "packet"), data.draw(st.sampled_from(POLICIES)))
    one, other = both(element, GIGABIT, queue, arrivals, cuts, marks=(0, set_marks(dscp=46)))
    assert one == other


@pytest.mark.parametrize(("dscp", "lost"), [(46, False), (10, True), (0, False)])
def test_one_that_comes_beside_another_needs_the_room_of_its_class(dscp, lost):
    """Of those that come at once to two queues, one is sent and one waits, or may not."""
    ways = (("46", Buffer(1, "packet")), ("10", Buffer(0, "packet")))
    queue, arrivals = (Buffer(1, "packet"), Threshold("dscp", ways)), [[(0, 100)], [(0, 100)]]
    found = both(FLAT[0], GIGABIT, queue, arrivals, marks=(set_marks(dscp=dscp),))
    kept = [0], [800_000], [("b", "threshold", 1)]
    assert found == ((kept,) * 2 if lost else (([0, 1], [800_000, 1_600_000], []),) * 2)


@pytest.mark.parametrize("element", [Wfq(SHARES), Scfq(SHARES)])
def test_slots_random_numbers_and_small_virtual_times_are_replenished(element, monkeypatch):
    monkeypatch.setattr(transition, "PLACES", 2)
    steady = [(n * 10_000_000, 1_500) for n in range(600)]
    one, other = both(element, GIGABIT, (Buffer(40, "packet"), RED), [steady, steady])
    assert one == other
    assert {cause for _, cause, _ in other[2]} >= {"early"}


def test_many_that_are_simultaneous_are_lost_one_by_one():
    """More losses in one picosecond than the answer to one event has room for."""
    arrivals = [[(0, 1_500)] * 100, [(0, 1_500)] * 100]
    one, other = both(FLAT[0], GIGABIT, (Buffer(1, "packet"),), arrivals)
    assert one == other
    assert len(other[2]) == 197
