"""Drop policies of the queues before a scheduler: its own book, and theirs for each queue."""

import math
from collections import Counter
from fractions import Fraction
from typing import NamedTuple

import pytest
from connected import connected
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.dropping.clp_first import ClpFirst
from qospec.dropping.congested import Congested
from qospec.dropping.epd import Epd
from qospec.dropping.ppd import Ppd
from qospec.dropping.red import Red
from qospec.elements.drr import Drr
from qospec.elements.scfq import Scfq
from qospec.elements.strict import Strict
from qospec.engine.element import Setting
from qospec.engine.items.batch import FOREVER_PS, join_batches, make_empty
from qospec.engine.items.contract import Contract
from qospec.engine.queue.drop_policy import Waiting
from qospec.engine.random import Draws
from qospec.engine.scheduler.combined import Combined

CONNECTIONS = connected((Contract("cbr", Fraction(1_000), 0),) * 3)
TYPICAL = 500
SHARES = (("a", Fraction(500)), ("b", Fraction(1_500)), ("c", Fraction(4_500)))
SCHEDULERS = {
    "strict": lambda count: Strict(tuple("abc"[:count])),
    "drr": lambda count: Drr(SHARES[:count], quantum=1),
    "scfq": lambda count: Scfq(SHARES[:count]),
}


class Queue(NamedTuple):
    """A queue with its policy and its book."""

    limit: Buffer
    policy: Red | ClpFirst | Epd | Ppd | None
    rules: object
    draws: list[int]


class Input(list):
    """Who waits at a queue, with their numbers, as the book of a scheduler looks at it."""

    count = property(len)

    def next(self):
        return self[0][1]


@st.composite
def queues(draw, bench, number, traffic):
    """Draw a queue: RED, CLP first, frames or tail drop."""
    few, some = st.integers(2, 9), st.integers(2, 2_000)
    limits = st.one_of(
        st.builds(Buffer, few, st.just("cell")), st.builds(Buffer, some, st.just("byte"))
    )
    limit = draw(limits)
    draws = bench.drawn(len(traffic.items), "drop", f"q{number}")
    policy = draw(st.sampled_from(["red", "red", "clp_first", "congested", "tail", "epd", "ppd"]))
    if policy == "tail":
        return Queue(limit, None, bench.rules("", {}, {}, None), draws)
    if policy == "ppd":
        rules = bench.rules("", {}, {}, None, bench.frames(partial=True))
        return Queue(limit, Ppd(), rules, draws)
    if policy == "epd":
        at, partial = draw(st.integers(1, limit.amount)), draw(st.booleans())
        rules = bench.rules("", {}, {}, None, bench.frames(at, partial=partial))
        return Queue(limit, Epd(Buffer(at, limit.unit), partial=partial), rules, draws)
    if policy == "congested":
        clp_1 = draw(st.integers(1, 3))
        rules = bench.rules("clp", {}, {}, None, congested={1: clp_1})
        return Queue(limit, Congested("clp", (("1", Buffer(clp_1, "cell")),)), rules, draws)
    if policy == "clp_first":
        room = limit.amount // 2
        rules = bench.rules("clp", {1: room}, {}, None)
        return Queue(limit, ClpFirst(Fraction(1, 2)), rules, draws)
    high = draw(st.integers(2, limit.amount))
    p, weight = Fraction(1, draw(st.integers(1, 9))), Fraction(1, draw(st.sampled_from([1, 2, 8])))
    low = draw(st.integers(1, high - 1))
    curve = bench.curve(low, high, p, gentle=False)
    average = bench.average(weight, bench.typical_ps(traffic.clock, TYPICAL))
    ends = (Buffer(low, limit.unit), Buffer(high, limit.unit))
    red = Red(*ends, p, weight=weight, typical=TYPICAL, ecn=draw(st.booleans()))
    return Queue(limit, red, bench.rules("", {}, {0: curve}, average, ecn=red.ecn), draws)


def by_the_book(bench, book, inputs, kept):
    """Serve by the book of a scheduler, one event after the other; return (departures, lost)."""
    line = bench.sending(inputs[0].clock)
    coming = [list(enumerate(traffic.items)) for traffic in inputs]
    waiting, left, lost = [Input() for _ in inputs], [], []
    book.inputs = waiting

    def following():
        """Return when the next one comes, and to which input."""
        heads = ((cells[0][1].at_ps, k) for k, cells in enumerate(coming) if cells)
        return min(heads, default=(FOREVER_PS, 0))

    def come(k, *, waits):
        number, came = coming[k].pop(0)
        rules, limit, draw = kept[k].rules, kept[k].limit, kept[k].draws[number]
        before = sum(packet.size if limit.unit == "byte" else 1 for _, packet in waiting[k])
        ahead = sum(map(len, waiting))
        found = rules.cause(came, limit, before, draw, waits=waits, ahead=ahead)
        if found == bench.marked:
            came, found = came._replace(marks=came.marks | bench.congested), ""
        if found:
            lost.append((k, found, number))
        else:
            waiting[k].append((number, came))
            book.come(k, came, came.at_ps)

    while any(coming) or any(waiting):
        while following()[0] < math.floor(line.free):
            come(following()[1], waits=True)
        for k, cells in enumerate(coming):
            while cells and cells[0][1].at_ps == math.floor(line.free) and not waiting[k]:
                come(k, waits=False)
        book.settle()
        if not any(waiting):
            line.free = max(line.free, line.begins(following()[0]))
            continue
        k = book.choose()
        number, came = waiting[k].pop(0)
        left.append((line.send(0, came.size), k, number, came.marks))
        book.sent(k, came.size, line.free)
        kept[k].rules.sent(line.free)
        lost += turned_away(waiting, kept)
    return left, sorted(lost)


def turned_away(waiting, kept):
    """Yield who came just now, was not sent at once, and is too large to wait."""
    for k, queue in enumerate(waiting):
        if len(queue) == 1 and (found := kept[k].rules.outgrown(queue[0][1], kept[k].limit)):
            yield k, found, queue.pop()[0]


def carried(bench, scheduler, inputs, kept, cuts):
    """Return the same of the engine."""
    clock = inputs[0].clock
    waiting = tuple(Waiting(f"q{k}", queue.limit, queue.policy) for k, queue in enumerate(kept))
    state = scheduler.start(Setting(*CONNECTIONS, Draws(("test",)), clock, waiting))
    batches = [bench.batch_of(traffic.items, 1_000 * k) for k, traffic in enumerate(inputs)]
    done, left, lost = [0] * len(batches), make_empty(), []
    for until_ps in (*cuts, FOREVER_PS):
        stops = [int(batch.at_ps.searchsorted(until_ps)) for batch in batches]
        parts = zip(batches, done, stops, strict=True)
        step = scheduler.process(state, tuple(b.select_range(i, j) for b, i, j in parts), until_ps)
        left, done = join_batches(left, *step.departures), stops
        for loss in step.losses:
            names = [divmod(name, 1_000) for name in loss.batch.sent_ps.tolist()]
            lost += [(k, loss.cause, number) for k, number in names]
            assert {f"q{k}" for k, _ in names} == {loss.element}
    rows = zip(left.at_ps.tolist(), left.sent_ps.tolist(), left.marks.tolist(), strict=True)
    return [(at_ps, *divmod(name, 1_000), marks) for at_ps, name, marks in rows], sorted(lost)


@pytest.mark.slow
@pytest.mark.parametrize("kind", SCHEDULERS)
@given(data=st.data())
def test_each_queue_keeps_to_its_policy(bench, books, kind, data):
    clock = data.draw(bench.clocks)
    coming = [0, 1, bench.codepoints[2]], clock, bench.of_frames
    some = st.one_of(bench.long_traffic(*coming), bench.traffic(*coming))
    inputs = [data.draw(some) for _ in range(data.draw(st.integers(1, 3)))]
    kept = [data.draw(queues(bench, k, traffic)) for k, traffic in enumerate(inputs)]
    cuts = sorted(cut for traffic in inputs for cut in traffic.cuts)
    got = carried(bench, SCHEDULERS[kind](len(inputs)), inputs, kept, cuts)
    book = books[kind]([int(share) for _, share in SHARES[: len(inputs)]], clock)
    assert got == by_the_book(bench, book, inputs, kept)


@pytest.mark.parametrize(
    ("limit", "lost"), [(400, [(1, "overflow", 0)]), (800, [(1, "threshold", 0)]), (1_000, [])]
)
def test_who_is_not_chosen_as_it_comes_needs_room(bench, limit, lost):
    """Two come at once to an idle line: the one that is not sent waits, if half the limit do."""
    queue = Queue(Buffer(limit, "byte"), ClpFirst(Fraction(1, 2)), None, [])
    both = [bench.all_at_once([1])] * 2
    assert carried(bench, Strict(("a", "b")), both, [queue] * 2, [])[1] == lost
    assert carried(bench, Strict(("a",)), both[:1], [queue], [])[1] == []


def test_who_waits_already_is_not_turned_away(bench):
    """Two that no queue has room for are sent as they come; who came between them has its place."""
    end_ps = bench.typical_ps(bench.line, TYPICAL)
    large = [bench.came(at_ps, TYPICAL, 0) for at_ps in (0, end_ps)]
    few = bench.all_at_once([0])
    inputs = [few._replace(items=large), few._replace(items=[bench.came(1, 40, 0)])]
    kept = [Queue(Buffer(2, unit), ClpFirst(Fraction(1, 2)), None, []) for unit in ("byte", "cell")]
    left, lost = carried(bench, Strict(("a", "b")), inputs, kept, [2])
    assert ([number for _, *number, _ in left], lost) == ([[0, 0], [0, 1], [1, 0]], [])


@pytest.mark.parametrize("combined", [False, True])
def test_any_scheduler_asks_the_policies(bench, combined):
    """At equal shares of a line asked for twice, half of each is lost, and RED loses it early."""
    scheduler = Drr((("a", Fraction(1)), ("b", Fraction(1))), 1_500)
    if combined:
        scheduler = Combined(Strict(("only",)), (scheduler,))
    red = Red(Buffer(10, "packet"), Buffer(40, "packet"), Fraction(9, 10), weight=Fraction(1, 32))
    waiting = tuple(Waiting(name, Buffer(60, "packet"), red) for name in "ab")
    state = scheduler.start(Setting(*CONNECTIONS, Draws(("test",)), bench.line, waiting))
    each_ps = bench.typical_ps(bench.line, TYPICAL)
    items = [bench.came(n * each_ps, TYPICAL, 0) for n in range(4_000)]
    batches = tuple(bench.batch_of(items, 1_000 * k) for k in range(2))
    step = scheduler.process(state, batches, FOREVER_PS)
    lost = Counter()
    for loss in step.losses:
        lost[loss.element, loss.cause] += len(loss.batch.connection)
    assert set(lost) == {("a", "early"), ("b", "early")}
    assert all(count == pytest.approx(2_000, rel=0.05) for count in lost.values())
