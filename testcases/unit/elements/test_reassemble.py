"""Reassembly: packets from fragments in any order, without some of them, and too late."""

import numpy as np
import pytest

from qospec.elements.duplicate import Duplicate
from qospec.elements.fragment import Fragment
from qospec.elements.reassemble import PLACES, Reassemble
from qospec.engine.event.process import build_process
from qospec.engine.items.batch import FOREVER_PS, join_batches
from qospec.engine.items.contract import Contract
from qospec.engine.items.piece import MORE_FOLLOW, note_piece
from qospec.engine.security.seal import TAMPERED
from qospec.protocol.marks import CODEPOINTS, set_marks


@pytest.fixture
def setting(lab):
    return lab.setting(inserted=("fragments",))


@pytest.fixture
def fragments(lab, setting):
    """Return the fragments of packets of 3,000 bytes, three of each, sent 1,000 ps apart."""

    def make(count, size_bytes=3_000, mtu=1_400):
        batch = lab.cells(
            np.arange(count) * 1_000, sent_ps=np.arange(count) * 1_000, size_bytes=size_bytes
        )
        (left,) = build_process(Fragment(mtu), setting)((batch,), FOREVER_PS).departures
        return left

    return make


def put_together(setting, batch, cuts=(), **parameters):
    """Return (time, number, size, marks) of what leaves, (time, number) of what is lost, and how
    many fragments were consumed.
    """
    process = build_process(Reassemble(**parameters), setting)
    left, lost, consumed, done = [], [], 0, 0
    for until_ps in (*cuts, FOREVER_PS):
        stop = int(batch.at_ps.searchsorted(until_ps))
        step = process((batch.select_range(done, stop),), until_ps)
        done = stop
        (went,) = step.departures
        columns = (went.at_ps, went.sent_ps // 1_000, went.size_bytes, went.marks)
        left += zip(*(column.tolist() for column in columns), strict=True)
        for loss in step.losses:
            assert loss.cause == "reassembly_timeout"
            lost += zip(
                loss.batch.at_ps.tolist(), (loss.batch.sent_ps // 1_000).tolist(), strict=True
            )
        consumed += sum(batch.count for batch in step.consumed)
    return left, lost, consumed


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]])
def test_a_packet_goes_on_when_its_last_fragment_has_come(setting, fragments, order):
    came = fragments(1).select(np.array(order)).with_times(np.array([10, 20, 30]))
    assert put_together(setting, came, cuts=[25]) == ([(30, 0, 3_000, 0)], [], 2)


def test_fragments_of_several_packets_may_come_mixed(setting, fragments):
    came = fragments(3).select(np.array([0, 6, 4, 1, 7, 3, 8, 5, 2])).with_times(np.arange(9))
    left, lost, consumed = put_together(setting, came, cuts=[2, 5])
    assert [(at, number) for at, number, *_ in left] == [(6, 2), (7, 1), (8, 0)]
    assert (lost, consumed) == ([], 6)


@pytest.mark.parametrize(("missing", "lost"), [(0, []), (1, [(500, 0)]), (2, [(500, 0)])])
def test_a_packet_of_which_a_fragment_is_missing_is_lost_in_the_end(
    setting, fragments, missing, lost
):
    """Without its first fragment it was lost before, and is not lost again."""
    kept = np.array([n for n in range(3) if n != missing])
    came = join_batches(fragments(1).select(kept), fragments(2).select_range(3, 6))
    came = came.with_times(np.array([0, 100, 499, 600, 610]))
    left, gone, consumed = put_together(setting, came, cuts=[300], timeout=500)
    assert [(at, number) for at, number, *_ in left] == [(610, 1)]
    assert (gone, consumed) == (lost, 3 + (missing == 0))


def test_the_middle_of_a_later_packet_is_missed_too(setting, fragments):
    came = fragments(2).select(np.array([0, 1, 2, 3, 5])).with_times(np.arange(5))
    left, gone, _ = put_together(setting, came, timeout=500)
    assert [(at, number) for at, number, *_ in left] == [(2, 0)]
    assert gone == [(503, 1)]


def test_fragments_of_two_connections_are_not_mixed(lab):
    """Packets of both were sent at the same times."""
    contracts = [Contract("packets", 1, 0)] * 2
    setting = lab.setting(contracts=contracts, inserted=("fragments",))
    packets = lab.cells([0, 0], connection=[0, 1], sent_ps=[0, 0], size_bytes=3_000)
    (cut,) = build_process(Fragment(1_400), setting)((packets,), FOREVER_PS).departures
    assert cut.connection.tolist() == [0, 2, 2, 1, 3, 3]
    came = cut.select(np.array([0, 3, 1, 4, 5, 2])).with_times(np.arange(6))
    (left,) = build_process(Reassemble(), setting)((came,), FOREVER_PS).departures
    assert (left.at_ps.tolist(), left.connection.tolist()) == ([4, 5], [1, 0])


def test_many_packets_may_be_given_up_at_once(setting, fragments):
    count = 131
    firsts = fragments(count).select(np.arange(count) * 3).with_times(np.zeros(count, np.int64))
    lost = put_together(setting, firsts, timeout=500)[1]
    assert lost == [(500, n) for n in range(count)]


def test_a_fragment_that_comes_when_the_timeout_ends_is_in_time(setting, fragments):
    came = fragments(1)
    at_last = put_together(setting, came.with_times(np.array([0, 9, 500])), timeout=500)
    assert at_last == ([(500, 0, 3_000, 0)], [], 2)
    too_late = put_together(setting, came.with_times(np.array([0, 9, 501])), timeout=500)
    assert too_late == ([], [(500, 0)], 2)


def test_a_fragment_that_comes_twice_counts_once(setting, fragments):
    came = fragments(1).select(np.array([1, 1, 0, 0, 2])).with_times(np.arange(5))
    left, lost, consumed = put_together(setting, came)
    assert (left, lost, consumed) == ([(4, 0, 3_000, 0)], [], 4)


def test_many_packets_may_wait_for_fragments(setting, fragments):
    count = 3 * PLACES
    came = fragments(count)
    firsts, others = (came.select(came.connection == kind) for kind in (0, 1))
    late = others.select(np.argsort(-others.sent_ps // 1_000, kind="stable"))
    both = join_batches(firsts, late)
    both = both.with_times(np.arange(both.count))
    left, lost, consumed = put_together(setting, both, cuts=[count // 2, count + 7])
    assert [number for _, number, *_ in left] == [*reversed(range(count))]
    assert (lost, consumed) == ([], 2 * count)
    lost = put_together(setting, firsts.with_times(np.arange(count)), timeout=10**6)[1]
    assert lost == [(10**6 + n, n) for n in range(count)]


@pytest.mark.parametrize(("mtu", "count"), [(68, 1_365), (576, 119), (1_500, 45)])
def test_the_longest_packet_goes_over_any_mtu(setting, fragments, mtu, count):
    came = fragments(2, size_bytes=65_535, mtu=mtu)
    assert came.count == 2 * count
    orders = {
        "in order": np.arange(2 * count),
        "the other way round": np.arange(2 * count)[::-1],
        "by turns": np.arange(2 * count).reshape(2, count).T.ravel(),
    }
    for name, order in orders.items():
        left, lost, consumed = put_together(
            setting, came.select(order).with_times(np.arange(2 * count)), cuts=[count - 3]
        )
        sizes = {number: size_bytes for _, number, size_bytes, _ in left}
        assert sizes == {0: 65_535, 1: 65_535}, name
        assert (lost, consumed) == ([], 2 * count - 2), name


def test_what_was_not_cut_goes_on_at_once(lab):
    batch = lab.cells([5, 6], size_bytes=[100, 1_500])
    (left,) = build_process(Reassemble(), lab.setting())((batch,), FOREVER_PS).departures
    assert left.equals(batch)


def test_what_is_of_another_plane_goes_on_at_once(lab):
    setting = lab.setting(inserted=("fragments", "misinserted"))
    other = lab.cells([5], connection=2, size_bytes=1_500)
    other = other.with_column("fragment", np.array([note_piece(1, 0, MORE_FOLLOW)]))
    (left,) = build_process(Reassemble(), setting)((other,), FOREVER_PS).departures
    assert left.at_ps.tolist() == [5]


def test_a_packet_of_which_no_fragment_was_changed_is_not_changed(setting, fragments):
    came = fragments(1).with_column("seal", np.array([7, 7, 7]))
    (left,) = build_process(Reassemble(), setting)((came,), FOREVER_PS).departures
    assert left.read_column("seal").tolist() == [7]


@pytest.mark.parametrize("changed", [0, 1, 2])
def test_a_packet_of_which_a_fragment_was_changed_is_changed(setting, fragments, changed):
    seal = np.where(np.arange(3) == changed, TAMPERED, 0)
    came = fragments(1).with_column("seal", seal)
    (left,) = build_process(Reassemble(), setting)((came,), FOREVER_PS).departures
    assert left.read_column("seal").tolist() == [TAMPERED]


@pytest.mark.parametrize("marked", [None, 0, 1, 2])
def test_a_packet_of_which_a_fragment_is_marked_is_marked(setting, fragments, marked):
    """RFC 3168, 5.3: that congestion was experienced is not lost with the fragment that says so."""
    capable, ce = (set_marks(dscp=46, ecn=CODEPOINTS.index(name)) for name in ("ect0", "ce"))
    marks = [ce if n == marked else capable for n in range(3)]
    came = fragments(1).with_marks(np.array(marks, np.uint32))
    (left,) = build_process(Reassemble(), setting)((came,), FOREVER_PS).departures
    assert left.marks.tolist() == [capable if marked is None else ce]


@pytest.fixture
def with_copies(lab):
    return lab.setting(inserted=("fragments", "copies"))


def copied(lab, setting, batch):
    """Return fragments with a copy of each first one behind it; copies have the index 2."""
    (left,) = lab.carry(Duplicate(first=1, every=1), setting, batch).departures
    return left


@pytest.mark.parametrize(
    ("order", "left", "ended"),
    [
        ([0, 1, 2, 3], [(3, 0)], ([], 3)),  # the first, its copy, and two more
        ([1, 0, 2, 3], [(3, 0)], ([], 3)),  # the copy has overtaken the first
        ([1, 2, 3], [(2, 2)], ([], 2)),  # the first is lost, and the copy takes its place
        ([0, 2, 3, 1], [(2, 0)], ([503], 2)),  # the packet has left: the copy waits for others
        ([0, 1, 2], [], ([500], 2)),
    ],
)
def test_the_copy_of_a_first_fragment_is_of_use_only_without_it(
    lab, with_copies, fragments, order, left, ended
):
    came = copied(lab, with_copies, fragments(1)).select(np.array(order))
    process = build_process(Reassemble(timeout=500), with_copies)
    step = process((came.with_times(np.arange(len(order))),), FOREVER_PS)
    (went,) = step.departures
    assert list(zip(went.at_ps.tolist(), went.connection.tolist(), strict=True)) == left
    assert went.size_bytes.tolist() == [3_000] * len(left)
    lost = [at for loss in step.losses for at in loss.batch.at_ps.tolist()]
    assert (lost, sum(batch.count for batch in step.consumed)) == ended
