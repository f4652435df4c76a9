"""Schedulers before schedulers: the inner one is asked when the line is free, and not before.

Kernels run as Python, since each set of schedulers would be a loop to compile; compiled loops of
several sets are compared with books in `testcases/unit/elements/test_nested.py`.
"""

from fractions import Fraction

import numpy as np
import pytest
from connected import connected
from definition import kernels_as_python
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.elements.drr import Drr
from qospec.elements.scfq import Scfq
from qospec.elements.strict import Strict
from qospec.elements.wf2q_plus import Wf2qPlus
from qospec.elements.wfq import Wfq
from qospec.elements.wrr import Wrr
from qospec.engine.element import Setting
from qospec.engine.items.batch import FOREVER_PS, build_batch, join_batches, make_empty
from qospec.engine.items.contract import Contract
from qospec.engine.line.clock import Clock
from qospec.engine.queue.drop_policy import Waiting
from qospec.engine.random import Draws
from qospec.engine.scheduler.combined import Combined

GIGABIT = Clock(Fraction(10**9), slotted=False)
SHARES = (("af", Fraction(3)), ("be", Fraction(1)))
FAIR = Drr(SHARES, quantum=1_500)
TOP = Combined(Strict(("ef", "rest")), (None, FAIR))
WEIGHTED = [Scfq(SHARES), Wfq(SHARES), Wf2qPlus(SHARES), Drr(SHARES), Wrr((("af", 3), ("be", 1)))]

PAIRS = [(kind, other) for n, kind in enumerate(WEIGHTED) for other in (kind, WEIGHTED[n - 1])]
"""Each above itself and above another."""


@pytest.fixture(scope="module", autouse=True)
def _interpreted():
    with kernels_as_python():
        yield


def packets(first, cells):
    """Return a batch of (at_ps, bytes) pairs; the connection is 0, and `sent_ps` a number."""
    at_ps, sizes = zip(*cells, strict=True) if cells else ((), ())
    count = len(cells)
    return build_batch(
        at_ps=np.array(at_ps, np.int64),
        sent_ps=np.arange(first, first + count),
        connection=np.zeros(count, np.int32),
        size_bytes=np.array(sizes, np.int32),
        marks=np.zeros(count, np.uint32),
    )


def carried(element, inputs, cuts=(), limit=None):
    """Return the numbers of who left, in order, when, and who was lost."""
    contract = Contract("cbr", Fraction(1_000), 0)
    queues = tuple(Waiting(name, limit) for name in element.inputs)
    connections = connected((contract,), ("oam",))
    state = element.start(Setting(*connections, Draws(("test",)), GIGABIT, queues))
    firsts = np.cumsum([0, *map(len, inputs)]).tolist()
    batches = [packets(first, cells) for first, cells in zip(firsts, inputs, strict=False)]
    left, lost, done = make_empty(), [], [0] * len(batches)
    for until_ps in (*sorted(cuts), FOREVER_PS):
        stops = [int(batch.at_ps.searchsorted(until_ps)) for batch in batches]
        parts = tuple(b.select_range(i, j) for b, i, j in zip(batches, done, stops, strict=True))
        step = element.process(state, parts, until_ps)
        left, done = join_batches(left, step.departures[0]), stops
        lost += [
            (loss.element, name) for loss in step.losses for name in loss.batch.sent_ps.tolist()
        ]
    return left.sent_ps.tolist(), left.at_ps.tolist(), sorted(lost)


def test_its_inputs_are_the_queues():
    assert TOP.inputs == ("ef", "rest.af", "rest.be")
    assert TOP.outputs == ("out",)


def test_what_is_urgent_goes_first_and_the_rest_is_shared():
    """Packets of 1,500 B take 12 us: one that is urgent comes in the third one's time."""
    rest = [(0, 1_500)] * 8
    names, times, _ = carried(TOP, [[(25_000_000, 100)], rest, rest])
    assert names == [1, 2, 3, 0, 9, 4, 5, 6, 10, 7, 8, 11, 12, 13, 14, 15, 16]
    assert times[3] == 36_000_000 + 800_000


def test_the_inner_one_does_not_run_ahead():
    """While what is urgent keeps the line busy, nothing leaves the queues, which overflow."""
    urgent = [(0, 1_500)] * 4
    late = [(n * 1_000_000, 1_500) for n in range(4)]
    names, _, lost = carried(TOP, [urgent, late, []], limit=Buffer(3, "cell"))
    assert names == [0, 1, 2, 3, 4, 5, 6]
    assert lost == [("rest.af", 7)]


def test_the_inner_one_has_tags_though_the_outer_one_has_none():
    """`be` is late: the fluid server has done nearly four packets, at 500 of virtual time each.

    It would end its 1,400 B after some 3,350, and the sixth and seventh packet after 3,000, 3,500.
    """
    tree = Combined(Strict(("ef", "rest")), (None, Wfq(SHARES)))
    names, _, _ = carried(tree, [[], [(0, 1_500)] * 8, [(47_000_000, 1_400)]])
    assert names == [0, 1, 2, 3, 4, 5, 8, 6, 7]


PAIR = Drr((("one", Fraction(1)), ("two", Fraction(1))), quantum=200)
"""In a turn, each may send two of the packets below."""


@pytest.mark.parametrize("cuts", [(), (400_000,), (800_000,), (1_000_000,)])
@pytest.mark.parametrize("tree", [PAIR, Combined(PAIR, (None, Strict(("high", "low"))))])
def test_a_line_that_was_idle_begins_anew_whenever_time_is_cut(tree, cuts):
    """The turn of `two` has ended with its packet, which takes 800 ns."""
    again = 1_600_000
    inputs = [[(again, 100)], [(0, 100), (again, 100)], []]
    names, times, _ = carried(tree, inputs[: len(tree.inputs)], cuts)
    assert names == [1, 0, 2]
    assert times == [800_000, again + 800_000, again + 1_600_000]


def test_what_comes_as_the_line_becomes_free_is_a_candidate_though_time_is_cut_there():
    urgent, rest = [(0, 100), (1_600_000, 100)], [(0, 100), (0, 100)]
    names, _, _ = carried(Strict(("ef", "rest")), [urgent, rest], [1_600_000])
    assert names == [0, 2, 1, 3]


cells = st.lists(
    st.tuples(st.integers(0, 40_000_000), st.sampled_from([64, 576, 1_500])), max_size=12
).map(sorted)


@given(data=st.data(), inner=st.sampled_from(WEIGHTED), inputs=st.tuples(cells, cells))
def test_alone_below_another_it_is_as_without(data, inner, inputs):
    cuts = data.draw(st.lists(st.integers(0, 60_000_000), max_size=4))
    limit = data.draw(st.sampled_from([None, Buffer(2, "cell")]))
    tree = Combined(Strict(("ef", "rest")), (None, inner))
    names, times, lost = carried(tree, [[], *inputs], cuts, limit)
    alone = carried(inner, list(inputs), limit=limit)
    assert (names, times) == alone[:2]
    assert [(path.removeprefix("rest."), name) for path, name in lost] == alone[2]


@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_shares_are_shares_of_shares(outer, inner):
    """3 : 1, and the 1 once more 3 : 1, so of 16 packets 12, 3 and 1."""
    always = [(0, 1_500)] * 250
    names, _, _ = carried(Combined(outer, (None, inner)), [always, always, always])
    sent = np.bincount(np.array(names[:320]) // 250)
    assert np.abs(sent - [240, 60, 20]).max() <= 3


def test_a_third_level_shares_what_is_left_of_a_share_of_a_share():
    """3 : 1, three times: so of 64 packets 48, 12, 3 and 1; each level has a policy of its own."""
    tree = Combined(WEIGHTED[0], (None, Combined(FAIR, (None, WEIGHTED[-1]))))
    names, _, _ = carried(tree, [[(0, 1_500)] * 150] * 4)
    sent = np.bincount(np.array(names[:192]) // 150)
    assert np.abs(sent - [144, 36, 9, 3]).max() <= 3


@given(
    data=st.data(),
    pair=st.sampled_from(PAIRS),
    inputs=st.tuples(cells, cells, cells),
)
def test_time_may_be_cut_anywhere_in_any_tree(data, pair, inputs):
    cuts = data.draw(st.lists(st.integers(0, 60_000_000), max_size=4))
    limit = data.draw(st.sampled_from([None, Buffer(2, "cell"), Buffer(100, "byte")]))
    outer, inner = pair
    tree = Combined(outer, (None, inner))
    assert carried(tree, inputs, cuts, limit) == carried(tree, inputs, limit=limit)


@given(data=st.data(), inputs=st.tuples(cells, cells, cells, cells))
def test_two_beside_each_other_have_virtual_times_of_their_own(data, inputs):
    cuts = data.draw(st.lists(st.integers(0, 60_000_000), max_size=4))
    tree = Combined(Wrr((("left", 1), ("right", 2))), (Wfq(SHARES), Wfq(SHARES)))
    assert carried(tree, inputs, cuts) == carried(tree, inputs)


def test_as_many_are_combined_as_there_are_inputs():
    with pytest.raises(ValueError, match="input"):
        Combined(Strict(("ef", "rest")), (FAIR,))


def test_what_is_lost_is_lost_when_it_comes():
    element, limit = Strict(("first", "rest")), Buffer(1, "packet")
    queues = tuple(Waiting(name, limit) for name in element.inputs)
    connections = connected((Contract("cbr", Fraction(1_000), 0),))
    state = element.start(Setting(*connections, Draws(("test",)), GIGABIT, queues))
    inputs = packets(0, [(10, 64), (20, 64), (30, 64)]), packets(3, [(15, 64), (25, 64)])
    step = element.process(state, inputs, FOREVER_PS)
    lost = [loss.batch for loss in step.losses]
    assert [(batch.sent_ps.tolist(), batch.at_ps.tolist()) for batch in lost] == [
        ([2], [30]),
        ([4], [25]),
    ]
