"""Self-clocked fair queueing against tags that are written on each packet."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.elements.scfq import Scfq
from qospec.elements.strict import Strict
from qospec.engine.line.clock import Clock
from qospec.engine.queue.drop_policy import Waiting
from qospec.engine.scheduler.combined import Combined
from qospec.engine.scheduler.tree import VIRTUAL

NAMES = "abc"
weights = st.lists(st.sampled_from([1, 2, 3, Fraction(1, 2), 7]), min_size=1, max_size=3)


class Tags:
    """Golestani 1994, (4): F = max(F before, v) + L / w; v is the tag of what is being sent."""

    def __init__(self, weights):
        self.weights = weights
        self.last = [Fraction(0)] * len(weights)
        self.tags = {}
        self.virtual = Fraction(0)

    def arrived(self, k, cell, _now):
        begins = max(self.last[k], self.virtual)
        self.last[k] = self.tags[cell] = begins + cell[1] / Fraction(self.weights[k])

    def choose(self):
        waiting = [(self.tags[queue[0]], k) for k, queue in enumerate(self.queues) if queue]
        return min(waiting)[1] if waiting else None

    def sent(self, _k, cell, _end):
        self.virtual = self.tags[cell]


def scfq(weights):
    return Scfq(tuple((n, Fraction(w)) for n, w in zip(NAMES, weights, strict=False)))


@given(data=st.data(), weights=weights)
def test_it_serves_by_the_book(schedulers, data, weights):
    case = data.draw(schedulers.case(len(weights)))
    schedulers.agree(scfq(weights), Tags(weights), case)


@given(sizes=st.lists(st.integers(53, 1_500), min_size=30, max_size=30), weights=weights)
def test_what_is_sent_in_any_time_is_near_the_weights(lab, sizes, weights):
    """Golestani 1994: |sent_i / w_i - sent_j / w_j| <= L_i / w_i + L_j / w_j while both wait."""
    where = lab.setting(clock=Clock(Fraction(10**9), slotted=False))
    batches = [lab.cells([0] * 30, connection=k, size_bytes=sizes) for k in range(len(weights))]
    (left,) = lab.carry(scfq(weights), where, *batches).departures
    owing, sent = [30] * len(weights), [Fraction(0)] * len(weights)
    for k, size in zip(left.connection.tolist(), left.size_bytes.tolist(), strict=True):
        sent[k] += size / Fraction(weights[k])
        owing[k] -= 1
        if not all(owing):
            break
        for i, first in enumerate(weights):
            for j, second in enumerate(weights):
                allowed = max(sizes) / Fraction(first) + max(sizes) / Fraction(second)
                assert sent[i] - sent[j] <= allowed


@pytest.mark.slow
def test_virtual_time_goes_on_while_one_packet_waits(lab):
    """A byte takes 1 ps, and all have 100; what is urgent comes at 150, and is sent until 300.

    The tags of a are 50 and 100, and that of b, which came before, is 100. What comes to a at 250
    has 150, for virtual time is 100: no new period has begun at 200, when a was idle.
    """
    low = Scfq((("a", Fraction(2)), ("b", Fraction(1))))
    element = Combined(Strict(("urgent", "low")), (None, low))
    where = lab.setting(clock=Clock(Fraction(8 * 10**12), slotted=False))
    inputs = ([150], [0, 0, 250], [0])
    cells = [lab.cells(at_ps, connection=k, size_bytes=100) for k, at_ps in enumerate(inputs)]
    (left,) = lab.carry(element, where, *cells).departures
    assert "".join("uab"[k] for k in left.connection) == "aauba"


@pytest.mark.untraced
def test_virtual_time_does_not_outgrow_what_holds_it(lab):
    """Two inputs busy for ever, in many small batches."""
    element = scfq([1, 4_000])
    state = element.start(lab.setting(clock=Clock(Fraction(10**9), slotted=False)))
    left = 0
    for k in range(300):
        cells = lab.cells([k * 10**6] * 20, size_bytes=1_500)
        step = element.process(state, (cells, cells), (k + 1) * 10**6)
        left += step.departures[0].count
    assert left
    assert abs(int(state.tree[0, VIRTUAL])) < 2**50


@pytest.mark.parametrize(
    "weights", [[], [0], [Fraction(-1)], [Fraction(1, 10**6), 10**9], [9_973, 9_967]]
)
def test_weights_are_above_zero_and_can_be_kept_exactly(weights):
    with pytest.raises(ValueError, match=r"^weights: "):
        scfq(weights)


@pytest.mark.parametrize("by_events", [False, True])
@pytest.mark.parametrize("large", [0, 1])
def test_what_is_larger_than_its_queue_goes_only_at_once(lab, large, by_events):
    """A byte takes 1 ps. Of two that come at once the shorter one goes; behind it comes what fits.

    Nothing is left of the one that was lost: what comes at 10 takes all that its queue may hold.
    """
    queues = tuple(Waiting(f"q{k}", Buffer(60, "byte")) for k in range(2))
    where = lab.setting(clock=Clock(Fraction(8 * 10**12), slotted=False), queues=queues)
    cells = [lab.cells([0], sent_ps=[7], size_bytes=53)]
    cells.insert(large, lab.cells([0, 10], sent_ps=[8, 9], size_bytes=[106, 60]))
    shares = (("a", Fraction(1)), ("b", Fraction(1)))
    got = lab.carry(Scfq(shares), where, *cells, by_events=by_events)
    (left,) = got.departures
    assert (left.at_ps.tolist(), left.sent_ps.tolist()) == ([53, 113], [7, 9])
    assert got.lost == [("overflow", f"q{large}", 0, 8)]
