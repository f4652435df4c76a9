"""Echo, compared with a reference model: times, retries, exchanges given up, late answers."""

from dataclasses import replace
from fractions import Fraction

import pytest
from books import Echo as Reference
from books import Way
from connected import connected
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qospec.catalogue.kinds import LONGEST_PS, SizeMix
from qospec.dataclass import dataclass
from qospec.elements.line import Line
from qospec.engine.arrays import np
from qospec.engine.element import Element
from qospec.engine.endpoint.traffic import Exchange
from qospec.engine.event.transition import DONE, Transition, lose, make, send, wake_at
from qospec.engine.experiment import END, Experiment, MeasurementSpec, Node, Source, Wire
from qospec.engine.graph.components import BudgetError
from qospec.engine.graph.emulation import run
from qospec.engine.kernel import kernel
from qospec.traffic.echo import Echo, compute_begin_ps

NS, US, MS = 10**3, 10**6, 10**9
FIRST = Echo(size=SizeMix(((100, 1),), "ip"), window=2, timeout=MS)
BARE = Line(Fraction(10**8), carries="packet")


@dataclass(frozen=True)
class Gap(Element):
    """Lose the items of some numbers, in order of arrival from 0."""

    causes = ("policed",)
    numbers: frozenset[int]

    def build_transition(self, _setting):
        state = np.array([0, len(self.numbers), *sorted(self.numbers), -1])
        return Transition(state, _pass, losses=(("", "policed"),))


@kernel
def _pass(state, items, item, port, now_ps, out):  # noqa: ARG001
    lost = False
    for k in range(state[1]):
        lost |= state[2 + k] == state[0]
    state[0] += 1
    if lost:
        lose(out, 0, item)
    else:
        send(out, 0, item, now_ps)
    return DONE


def observed(traffic, stop, lines=(BARE, BARE), lost=((), ()), **given):
    """Run a client and a server with a line from each to the other; items may be lost behind."""
    warmup, server, chunk = (given.get(name) for name in ("warmup", "server", "chunk"))
    near, far = (line.build_clock(stamps=True) for line in lines)
    sent = traffic.describe_exchange(near, far)
    n = traffic.connections
    ends = traffic.build_endpoints(Exchange(n, 0, n, 2 * n, sent))
    nodes = (
        Node("to", lines[0], near),
        Node("gap", Gap(frozenset(lost[0]))),
        Node("server", server or ends.server),
        Node("from", lines[1], far),
        Node("pag", Gap(frozenset(lost[1]))),
        Node("client", ends.client),
    )
    onward = [Wire(k, 0, (k + 1) % 6) for k in range(6)]
    received = [Wire(2, 1, END), Wire(5, 1, END), Wire(5, 2, END)]
    streams = [(sent, 0, 0), (sent.answers, n, 3)]
    sources = tuple(
        Source("ask", stream.loop, first, n, "even", stream.sizes, 0, node, 0, stream.encapsulation)
        for stream, first, node in streams
    )
    contracts = (sent.contract,) * (3 * n)
    connections = connected(contracts, exchanges=n)
    rows = tuple(np.repeat(range(3), n).tolist())
    measurement = MeasurementSpec(warmup or 0, stop, rows)
    return run(
        Experiment(*connections, sources, nodes, (*onward, *received), measurement, ("0",)),
        chunk=chunk,
    )


def counts(seen, n=1):
    """Return what was sent and received of requests, answers and exchanges."""
    sent, received = seen.sent.reshape(3, n).sum(1), seen.received.reshape(3, n).sum(1)
    return [tuple(map(int, times)) for times in zip(sent, received, strict=True)]


def sent_by(seen, path):
    """Return how many items left a node in the whole trial."""
    return seen.ledger.sum_items(path).left


def test_a_window_is_kept_full():
    """100 B take 8 us: of a round trip of 2 * (8 + 10) us, four take 32."""
    lines = (replace(BARE, length=Fraction(2_000)),) * 2  # 10 us
    seen = observed(replace(FIRST, window=4), 3_960 * US, lines, warmup=360 * US)
    assert counts(seen) == [(400, 400)] * 3
    tally = seen.pool(2, 3)
    assert (tally.delays.min_ps, tally.delays.max_ps) == (36 * US, 36 * US)


def test_each_connection_has_a_window_of_its_own():
    """In 96 us twelve requests arrive, one every 8 us; what has begun then is still answered."""
    seen = observed(replace(FIRST, window=2, connections=2), 96 * US)
    assert seen.received.reshape(3, 2).tolist() == [[6, 6], [6, 5], [8, 6]]


def test_beyond_the_line_a_larger_window_only_waits():
    few, many = (
        observed(replace(FIRST, window=window, timeout=9 * MS), 8 * MS, warmup=4 * MS).pool(2, 3)
        for window in (2, 200)
    )
    assert few.received == many.received == 500
    assert (few.delays.max_ps, many.delays.max_ps) == (16 * US, 200 * 8 * US)


def test_a_lost_request_is_repeated_after_the_timeout():
    seen = observed(replace(FIRST, window=1), 16 * US, lost=({0}, ()))
    tally = seen.pool(2, 3)
    assert (tally.sent, tally.received, tally.delays.min_ps) == (1, 1, MS + 16 * US)
    left = {key.path: seen.ledger.sum_items(key.path).left for key in seen.ledger.accounts}
    assert left == {"to": 2, "gap": 1, "server": 2, "from": 1, "pag": 1, "client": 4}
    assert not seen.ledger.imbalance


@pytest.mark.parametrize(("timeout", "requests"), [(16 * US, 1), (16 * US - 1, 2)])
def test_an_answer_is_in_time_as_the_timeout_ends(timeout, requests):
    """What arrives in a ps is before alarms: of a round trip of 16 us nothing is sent again."""
    seen = observed(replace(FIRST, window=1, timeout=timeout), 16 * US)
    assert [sent_by(seen, path) for path in ("to", "from", "pag")] == [requests] * 3


def test_an_answer_that_comes_too_late_ends_nothing():
    """Of the three requests in a round trip of 16 us one is answered first, and two for nothing."""
    seen = observed(replace(FIRST, window=1, timeout=7 * US), 16 * US)
    tally = seen.pool(2, 3)
    assert (tally.sent, tally.received, tally.delays.max_ps) == (1, 1, 16 * US)
    assert [sent_by(seen, path) for path in ("to", "from", "pag")] == [3, 3, 3]


def test_an_exchange_is_given_up_after_the_last_retry():
    seen = observed(replace(FIRST, window=1, retries=2), MS, lost=({0, 1, 2}, ()))
    tally = seen.pool(2, 3)
    assert (tally.sent, tally.lost) == (1, {("client", "timed_out"): 1})
    assert sent_by(seen, "to") == 3


@dataclass(frozen=True)
class Flooding(Element):
    """Send answers that nobody has asked for, without end."""

    makes = True
    inputs = ("in",)
    outputs = ("out", "received")

    def build_transition(self, _setting):
        return Transition(np.zeros(1, np.int64), _take, _flood, first_alarm_ps=0)


@kernel
def _take(state, items, item, port, now_ps, out):  # noqa: ARG001
    send(out, 1, item, now_ps)
    return DONE


@kernel
def _flood(state, items, now_ps, out):  # noqa: ARG001
    send(out, 0, make(items, out, 1, 100, 0, now_ps), now_ps)
    wake_at(out, now_ps + 8_000_000)
    return DONE


def test_an_endpoint_that_floods_is_stopped_by_name():
    traffic = replace(FIRST, window=1)
    with pytest.raises(BudgetError, match=r"`server` floods the network: endpoints may make \d+"):
        observed(traffic, 80 * US, server=Flooding())


@st.composite
def ways(draw):
    """Return a line, by its rate in bit/s and its length in m, and what is lost behind it."""
    rate, length = draw(st.integers(10**7, 10**9)), draw(st.integers(0, 4_000))
    return rate, length, draw(st.sets(st.integers(0, 40)))


@given(
    both=st.tuples(ways(), ways()),
    window=st.integers(1, 5),
    timeout=st.integers(1, 60),
    ends=st.tuples(st.integers(0, 3), st.integers(1, 400)),
    chunk=st.integers(1, 50),
)
@settings(deadline=None)
def test_it_equals_the_reference(both, window, timeout, ends, chunk):
    retries, stop = ends
    traffic = replace(FIRST, window=window, timeout=timeout * US, retries=retries)
    lines = [replace(BARE, rate=Fraction(rate), length=Fraction(long)) for rate, long, _ in both]
    seen = observed(traffic, stop * US, lines, [lost for _, _, lost in both], chunk=chunk)
    there, back = (
        Way(Fraction(800 * 10**12, rate), long * 5_000, lost) for rate, long, lost in both
    )
    reference = Reference(there, back, timeout * US, retries, stop * US)
    reference.run(window)
    tally = seen.pool(2, 3)
    delays = [end - begun for begun, end in reference.ended if end is not None]
    assert tally.sent == tally.planned == len(reference.ended)
    assert tally.received == len(delays)
    assert tally.lost_count == len(reference.ended) - len(delays)
    least, most = min(delays, default=None), max(delays, default=None)
    found = tally.delays
    assert (found.sum_ps, found.min_ps, found.max_ps) == (sum(delays), least, most)
    assert (sent_by(seen, "to"), sent_by(seen, "from")) == (there.sent, back.sent)


@pytest.mark.parametrize("connections", [3, 40])
def test_connections_are_alike_and_begin_one_after_the_other(connections):
    lines = (replace(BARE, rate=Fraction(10**10)),) * 2
    traffic = replace(FIRST, connections=connections, spread=120 * US)
    seen = observed(traffic, 240 * US, lines)
    sent = seen.sent[2 * connections :]
    assert sent[0] == sent.max()
    assert (np.diff(sent) <= 0).all()
    assert sent[-1]


@given(connections=st.integers(1, 2**20), share=st.floats(0, 1), spread=st.integers(0, LONGEST_PS))
@example(connections=2**20, share=1.0, spread=LONGEST_PS)
def test_the_longest_spread_of_the_most_connections_does_not_overflow(connections, share, spread):
    connection = int(share * (connections - 1))
    at_ps = compute_begin_ps(np.int64(connection), np.int64(connections), np.int64(spread))
    assert at_ps == connection * spread // connections
