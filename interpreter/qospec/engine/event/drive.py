"""The event loop: the earliest event is answered, and what leaves arrives elsewhere.

What arrives at an input of an element over one wire arrives at a *place*, in order of time; so does
its alarm. The next event is that of the earliest time; of simultaneous ones, that of the first
place; at one place, that which came first. Places stand in the order in which elements work at one
moment: each before those that it feeds without delay, its inputs in their order, its alarm last.
So the order of events follows from the network alone, and is that of the batches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.event.counting import Counters, count_arrived, count_made, count_sent
from qospec.engine.event.places import (
    COUNT,
    DUE_PS,
    PLACE,
    Places,
    fill_gap,
    schedule,
    sink,
    vacate,
)
from qospec.engine.event.transition import (
    ALARM,
    ANSWERED_AT,
    ANSWERS_OF,
    AT,
    CONNECTION,
    DONE,
    MARKS,
    MORE,
    MOST_MADE,
    NEXT,
    PENDING,
    SENT,
    SIZE,
    SPARE,
    TOLD,
    WAITED,
    acquire,
    release,
)
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.items.totals import BYTES, GREW, ITEMS, LEFT, LOST, MADE
from qospec.engine.kernel import call_arrive, call_wake, get_state, kernel

if TYPE_CHECKING:
    from typing import Any

    from qospec.engine.arrays import Whole
    from qospec.engine.items.batch import Batch

IDLE, BUDGET, OUTBOX, POOL, PYTHON, REPLENISH = range(6)
"""Why the loop stops: no event before the given time; enough events; the outbox is full; the pool
is empty; the element's transition is not compiled; it lacks something.
"""
TOO_MANY_ANSWERS, MISROUTED, DISORDER, PAST, TOO_LATE, NO_WAKE, UNSTATED, NOT_AT_ONCE = range(
    REPLENISH + 1, REPLENISH + 9
)
"""What is wrong: the element answers too much at once; it sends an item to an output that does not
exist, or so early that it overtakes; it acts in the past, or beyond all times; it sets an alarm
without a kernel for it; it names a cause or a queue that it does not state; it does not say on
arrival what becomes of an item, though it states that it does.
"""
NODE, REASON, EVENTS, ANSWERED = range(4)
"""The fields of its report."""
NO_KERNEL = 0
NOTHING = 0
"""No item."""
ALARM_PORT = -1
"""In place of an input: its alarm."""

OUTLET, AT_PS, SENT_PS, OF, SIZED, MARKED, NOTED = range(7)
"""The columns of the outbox. For what waited, the second and third are when it came and began; for
what grew, the third is by how many bytes, for what is told the value. From NOTED on are those of
`Batch.more`.
"""


class Wiring(NamedTuple):
    """Where things go; an outlet is a number by which Python knows where a row of the outbox goes.

    Attributes:
        connections: How many there are, so how many connection indices a kind has.
        kinds: How many kinds there are.
        outputs: (elements + 1,) The number of the first output of each element among all outputs.
        to: (outputs,) The place that an output leads to, or -1 - an outlet.
        seen: (outputs,) An outlet that is to see what leaves by it, besides; -1: none.
        alarms: (elements,) The place of each alarm; -1: none.
        ends: (elements, ENTRIES) By MADE, GREW and CONSUMED, the outlet of these items; by LOST,
            that of its first cause of loss.
        waits: (elements,) The outlet of its first queue; -1 if none is watched.
        tells: (elements,) The outlet of the first quantity that it tells.
        stated: (elements, 3) The number of its causes of loss, its queues, and its quantities.
        counted: (outlets,) Whether what goes out there is counted, and not put out.
    """

    connections: int
    kinds: int
    outputs: Whole
    to: Whole
    seen: Whole
    alarms: Whole
    ends: Whole
    waits: Whole
    tells: Whole
    stated: Whole
    counted: Whole


class Working(NamedTuple):
    """What the loop writes to.

    Attributes:
        items: The pool; see `engine.event.transition`.
        out: (n, 4) The answer to one event; row 0 holds the number of its rows and, if the outbox
            had no room for them, the first that is PENDING.
        outbox: (n, NOTED + k) What goes out; row 0 holds the number of its rows.
        passed: (outputs * kinds * 2,) By output and kind, the items and bytes that stay within;
            what goes out is counted there. In one dimension, since that is faster.
        sums: (outlets * kinds * 2,) Likewise, what was counted by outlet.
        counters: What was counted.
        report: (4,) The element of the last event, the reason for which it lacks something, the
            number of events, and whether Python has put the answer to the next one into `out`.
    """

    items: Whole
    out: Whole
    outbox: Whole
    passed: Whole
    sums: Whole
    counters: Counters
    report: Whole


@kernel
def drive(
    places: Places,
    wiring: Wiring,
    feed: Batch,
    elements: tuple[Any, Any, Any],
    working: Working,
    limits: tuple[int, int],
) -> int:
    """Answer all events before `until_ps`, or as many as possible; return why it stopped.

    Args:
        places: Updated.
        wiring: Of the network.
        feed: What comes from outside, place by place, in order of time.
        elements: By place, the `arrive` kernels and the `wake` kernels, NO_KERNEL where Python
            answers; by element, the states.
        working: Written.
        limits: Arrivals from outside from this time on are not known yet; how many events at most.
    """
    due, out = places.due, working.out
    first, node, now_ps = out[0, PENDING], out[0, ANSWERS_OF], out[0, ANSWERED_AT]
    out[0, PENDING] = 0
    while True:
        if first == 0:
            fill_gap(places)
            if due[0, COUNT] == 0 or due[1, DUE_PS] >= limits[0]:
                return IDLE
            code = _find_hindrance(places, elements, working, limits[1])
            if code != IDLE:
                return code
            now_ps, node = due[1, DUE_PS], places.node[due[1, PLACE]]
            code = _handle_event(places, feed, elements, working)
            if code != IDLE:
                return code
            first = 1
        code = _carry_out(places, wiring, working, first, node, now_ps)
        if code != IDLE:
            return code
        first = 0


@kernel
def _find_hindrance(
    places: Places, elements: tuple[Any, Any, Any], working: Working, most_events: int
) -> int:
    """Return what Python has to do before the next event, or IDLE."""
    if working.report[EVENTS] >= most_events:
        return BUDGET
    if working.items[0, SPARE] <= MOST_MADE:
        return POOL
    place = places.due[1, PLACE]
    kernels = elements[1] if places.port[place] == ALARM_PORT else elements[0]
    if kernels[place] == NO_KERNEL and not working.report[ANSWERED]:
        return PYTHON
    return IDLE


@kernel
def _handle_event(
    places: Places, feed: Batch, elements: tuple[Any, Any, Any], working: Working
) -> int:
    """Answer the next event; return IDLE, or REPLENISH."""
    arrives, wakes, states = elements
    items, out, report = working.items, working.out, working.report
    now_ps, place = places.due[1, DUE_PS], places.due[1, PLACE]
    node, port, reason = places.node[place], places.port[place], DONE
    if report[ANSWERED]:
        report[ANSWERED] = 0
    elif port == ALARM_PORT:
        out[0, 0] = 0
        reason = call_wake(wakes, place, get_state(states, node), items, now_ps, out)
    else:
        out[0, 0] = 0
        item = bring_first(places, place, feed, items)
        reason = call_arrive(
            arrives, place, get_state(states, node), items, item, port, now_ps, out
        )
    report[NODE], report[REASON] = node, reason
    if reason != DONE:
        return REPLENISH
    report[EVENTS] += 1
    _advance(places, place, feed, items)
    return IDLE


@kernel
def bring_first(places: Places, place: int, feed: Batch, items: Whole) -> int:
    """Return the item that arrives next at a place, which may have to come out of the feed."""
    if places.first[place] == NOTHING:
        n = places.fed[place, 0]
        item = acquire(
            items,
            feed.connection[n],
            feed.size_bytes[n],
            feed.marks[n],
            feed.sent_ps[n],
        )
        for column in range(feed.more.shape[1]):
            items[item, MORE + column] = feed.more[n, column]
        items[item, NEXT] = NOTHING
        places.first[place] = places.last[place] = item
        places.fed[place, 0] = n + 1
    return places.first[place]  # type: ignore[no-any-return]


@kernel
def _advance(places: Places, place: int, feed: Batch, items: Whole) -> None:
    """Go on to the next event of the first place, if it has one."""
    due_ps = FOREVER_PS
    if places.port[place] != ALARM_PORT:
        following = items[places.first[place], NEXT]
        places.first[place] = following
        if following != NOTHING:
            due_ps = items[following, AT]
        elif places.fed[place, 0] < places.fed[place, 1]:
            due_ps = feed.at_ps[places.fed[place, 0]]
    if due_ps < FOREVER_PS:
        sink(places, 1, due_ps, place)
    else:
        vacate(places, place)


@kernel
def _carry_out(
    places: Places, wiring: Wiring, working: Working, first: int, node: int, now_ps: int
) -> int:
    """Do what an element has answered, from row `first` on; return IDLE, OUTBOX or what is wrong.

    Each row may be two of the outbox. What finds no room there stays PENDING.
    """
    out, outbox = working.out, working.outbox
    count = out[0, 0]
    if count >= len(out):
        return TOO_MANY_ANSWERS
    stop = min(count + 1, first + ((len(outbox) - 1 - outbox[0, 0]) >> 1))
    for n in range(first, stop):
        what, number, item, at_ps = out[n, 0], out[n, 1], out[n, 2], out[n, 3]
        code = IDLE
        if what == LEFT:
            leaving = (number, item, at_ps, now_ps)
            code = _leave(places, wiring, working, node, leaving)
        elif what == ALARM:
            code = _set_alarm(places, wiring.alarms[node], at_ps, now_ps)
        elif what == WAITED:
            code = _report_wait(wiring, working, node, (number, item, at_ps))
        elif what == TOLD:
            code = _report_sample(wiring, working, node, (number, item, at_ps), now_ps)
        else:
            code = _count_fate(wiring, working, node, (what, number, item, now_ps))
        if code != IDLE:
            return code
    if stop > count:
        return IDLE
    out[0, PENDING], out[0, ANSWERS_OF], out[0, ANSWERED_AT] = stop, node, now_ps
    return OUTBOX


@kernel
def _report_wait(wiring: Wiring, working: Working, node: int, wait: tuple[int, int, int]) -> int:
    """Put out when an item arrived at a queue, and when it was begun; return IDLE or UNSTATED."""
    queue, arrived_ps, began_ps = wait
    if wiring.waits[node] >= 0:
        if queue >= wiring.stated[node, 1]:
            return UNSTATED
        _put_out(working, wiring.waits[node] + queue, NOTHING, arrived_ps, began_ps)
    return IDLE


@kernel
def _report_sample(
    wiring: Wiring, working: Working, node: int, told: tuple[int, int, int], now_ps: int
) -> int:
    """Put out what an endpoint tells of a connection; return IDLE or UNSTATED."""
    quantity, connection, value = told
    if quantity >= wiring.stated[node, 2]:
        return UNSTATED
    _put_out(working, wiring.tells[node] + quantity, NOTHING, now_ps, value)
    working.outbox[working.outbox[0, 0], OF] = connection
    return IDLE


@kernel
def _count_fate(
    wiring: Wiring, working: Working, node: int, fate: tuple[int, int, int, int]
) -> int:
    """Put out what an element did to an item that does not leave; return IDLE or UNSTATED."""
    what, number, item, now_ps = fate
    if what == LOST and number >= wiring.stated[node, 0]:
        return UNSTATED
    outlet, items = wiring.ends[node, what], working.items
    if what == GREW:
        items[item, SIZE] += number
        _put_out(working, outlet, item, now_ps, number)
        return IDLE
    if what == MADE:
        _make(wiring, working, outlet, item, now_ps)
        return IDLE
    _put_out(working, outlet + number, item, now_ps, items[item, SENT])
    release(items, item)
    return IDLE


@kernel
def _make(wiring: Wiring, working: Working, outlet: int, item: int, now_ps: int) -> None:
    """Count an item that was made, or put it out."""
    items = working.items
    if not wiring.counted[outlet]:
        _put_out(working, outlet, item, now_ps, items[item, SENT])
        return
    _sum_up(wiring, working.sums, outlet, items, item)
    count_made(working.counters, items[item, CONNECTION], items[item, SENT], now_ps)


@kernel
def _sum_up(wiring: Wiring, sums: Whole, number: int, items: Whole, item: int) -> None:
    """Add an item to the sums of an output or an outlet."""
    place = _find_sum(wiring.connections, wiring.kinds, number, items[item, CONNECTION])
    sums[place + ITEMS] += 1
    sums[place + BYTES] += items[item, SIZE]


@kernel
def _find_sum(connections: int, kinds: int, number: int, connection: int) -> int:
    """Return where the sums of an output or an outlet are, for the kind of a connection index.

    An index beyond all kinds, as in rows of what waited, counts as of the last.
    """
    place = number * kinds * 2
    last = place + 2 * (kinds - 1)
    while connection >= connections and place < last:  # not divided: most are of the first kind
        connection -= connections
        place += 2
    return place


@kernel
def _set_alarm(places: Places, alarm: int, at_ps: int, now_ps: int) -> int:
    """Set an alarm, a place or -1; return IDLE, or what is wrong with that."""
    if alarm < 0:
        return NO_WAKE
    if at_ps < now_ps or at_ps >= FOREVER_PS:
        return PAST if at_ps < now_ps else TOO_LATE
    schedule(places, alarm, at_ps)
    return IDLE


@kernel
def _leave(
    places: Places, wiring: Wiring, working: Working, node: int, leaving: tuple[int, int, int, int]
) -> int:
    """Take an item, that leaves by an output at a time, to where that leads."""
    number, item, at_ps, now_ps = leaving
    items, output = working.items, wiring.outputs[node] + number
    if number < 0 or output >= wiring.outputs[node + 1]:
        working.report[REASON] = items[item, CONNECTION]
        return MISROUTED
    if at_ps < now_ps or at_ps >= FOREVER_PS:
        return PAST if at_ps < now_ps else TOO_LATE
    if wiring.seen[output] >= 0:
        _show_item(wiring, working, wiring.seen[output], item, at_ps)
    to = wiring.to[output]
    if to >= 0:
        _sum_up(wiring, working.passed, output, items, item)
        return _arrive_at(places, to, items, item, at_ps)
    _receive(wiring, working, -1 - to, item, at_ps)
    release(items, item)
    return IDLE


@kernel
def _show_item(wiring: Wiring, working: Working, outlet: int, item: int, at_ps: int) -> None:
    """Count an item that leaves the line of its source, or put it out, to be seen."""
    items = working.items
    if wiring.counted[outlet]:
        counters, size_bytes = working.counters, items[item, SIZE]
        count_sent(counters, items[item, CONNECTION], size_bytes, items[item, SENT])
    else:
        _put_out(working, outlet, item, at_ps, items[item, SENT])


@kernel
def _receive(wiring: Wiring, working: Working, outlet: int, item: int, at_ps: int) -> None:
    """Count an item that has arrived at its end, or put it out."""
    items = working.items
    sent_ps = items[item, SENT]
    if not wiring.counted[outlet]:
        _put_out(working, outlet, item, at_ps, sent_ps)
        return
    _sum_up(wiring, working.sums, outlet, items, item)
    count_arrived(working.counters, items[item, CONNECTION], items[item, SIZE], sent_ps, at_ps)


@kernel
def _arrive_at(places: Places, place: int, items: Whole, item: int, at_ps: int) -> int:
    """Let an item arrive at a place; return DISORDER if it overtakes the one ahead of it."""
    items[item, AT], items[item, NEXT] = at_ps, NOTHING
    last = places.last[place]
    places.last[place] = item
    if places.first[place] == NOTHING:
        places.first[place] = item
        schedule(places, place, at_ps)
        return IDLE
    items[last, NEXT] = item
    return IDLE if items[last, AT] <= at_ps else DISORDER


@kernel
def _put_out(working: Working, outlet: int, item: int, at_ps: int, sent_ps: int) -> None:
    """Copy an item to the outbox, with two times."""
    items, outbox = working.items, working.outbox
    n = outbox[0, 0] + 1
    outbox[n, OUTLET], outbox[n, AT_PS], outbox[n, SENT_PS] = outlet, at_ps, sent_ps
    outbox[n, OF], outbox[n, SIZED] = items[item, CONNECTION], items[item, SIZE]
    outbox[n, MARKED] = items[item, MARKS]
    for column in range(outbox.shape[1] - NOTED):
        outbox[n, NOTED + column] = items[item, MORE + column]
    outbox[0, 0] = n


@kernel
def put_in_order(outbox: Whole, stops: Whole, ordered: Batch) -> None:
    """Copy the rows of the outbox so that those of one outlet follow each other, in their order.

    Args:
        outbox: As of `Working`; not changed.
        stops: (outlets + 1,) Zeros; written: where the rows of each outlet end.
        ordered: Written; as many items as the outbox has rows, and as wide.
    """
    count = outbox[0, 0]
    for n in range(1, count + 1):
        stops[outbox[n, OUTLET] + 1] += 1
    for outlet in range(1, len(stops)):
        stops[outlet] += stops[outlet - 1]
    for n in range(1, count + 1):
        outlet = outbox[n, OUTLET]
        k = stops[outlet]
        stops[outlet] = k + 1
        ordered.at_ps[k], ordered.sent_ps[k] = outbox[n, AT_PS], outbox[n, SENT_PS]
        ordered.connection[k], ordered.size_bytes[k] = outbox[n, OF], outbox[n, SIZED]
        ordered.marks[k] = outbox[n, MARKED]
        for column in range(ordered.more.shape[1]):
            ordered.more[k, column] = outbox[n, NOTED + column]
