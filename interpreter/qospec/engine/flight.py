"""Packets on their way: what each connection has sent, in order, until it has arrived or ended.

Some definitions of jitter take packets in the order in which they arrive, others in that in which
they were sent. For these, packets stand in a ring; when the fate of the first is known, it is
counted and leaves. So memory is bounded by what is on its way, and neither loss nor reordering
changes what is a pair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Rows, Sizes, Times, Whole

SENT, SENDING, AT = 0, 1, 2
"""Columns of a ring: when the first bit was sent, the time until the last was, the arrival."""
ON_ITS_WAY, ENDED = -1, -2
"""In place of an arrival."""
HEAD, TAIL = 0, 1

ARRIVALS, LATENCIES, ONE_WAY, RECEIVED = range(4)
"""The extents of a connection, in the order of `Variation`."""
COUNT, SUM_LOW, SUM_HIGH, LEAST, LARGEST = range(5)
"""Columns of an extent. SUM_HIGH counts in 2**31 ps."""
SUM_BITS = 31
_LOW_31 = 2**31 - 1

AS_SENT, AS_RECEIVED = 0, 1
"""The two orders."""
SEEN, LATENCY, DELAY, CAME, NUMBER, APART, JITTER, LARGEST_JITTER = range(8)
"""Of the packet before, by order. SEEN: how many came so far; CAME: when it arrived; APART: how far
from the one before it. JITTER is 16 times that of RFC 3550, as in its A.8."""
LONGEST_STEP_PS = 2**58
"""Of the jitter of RFC 3550: delays that differ by more than three days count as that."""


class Followed(NamedTuple):
    """The connections of one source, n of them, with all that is known of them.

    Attributes:
        first: Index of the first.
        marks: (n, 2) HEAD and TAIL of each ring: the number of its first packet and of the next.
        ring: (n, places, 3) A packet's place is its number modulo places.
        before: (n, 2, 8) By order, of the packet before.
        extents: (n, 4, 5) What was seen.
        kept: (n, each, 3) Of the first packets, by number, likewise.
    """

    first: int
    marks: Whole
    ring: Whole
    before: Whole
    extents: Whole
    kept: Whole


@kernel
def sent(
    sent_ps: Times,
    connection: Rows,
    size_bytes: Sizes,
    times_ps: Whole,
    followed: Followed,
    done: int,
) -> int:
    """Put packets from number `done` on into the rings; return how many fit."""
    first, marks, ring, _, _, kept = followed
    places = ring.shape[1]
    for i in range(done, len(sent_ps)):
        c = connection[i] - first
        if c < 0 or c >= len(marks):
            continue
        number = marks[c, TAIL]
        if number - marks[c, HEAD] == places:
            return i
        place = number & (places - 1)
        ring[c, place, SENT] = sent_ps[i]
        ring[c, place, SENDING] = times_ps[size_bytes[i]]
        ring[c, place, AT] = ON_ITS_WAY
        if number < kept.shape[1]:
            kept[c, number, SENT] = sent_ps[i]
            kept[c, number, SENDING] = times_ps[size_bytes[i]]
        marks[c, TAIL] = number + 1
    return len(sent_ps)


@kernel
def arrived(at_ps: Times, sent_ps: Times, connection: Rows, followed: Followed) -> None:
    """Count packets that arrived, in both orders.

    Args:
        at_ps: (n,) When they arrived.
        sent_ps: (n,) Which they are.
        connection: (n,) Whose they are; those of other sources are passed over.
        followed: Carried on.
    """
    first, marks, ring, before, extents, kept = followed
    for i in range(len(at_ps)):
        c = connection[i] - first
        if c < 0 or c >= len(marks):
            continue
        number = _number(marks, ring, c, sent_ps[i])
        if number == marks[c, TAIL]:
            continue  # it was sent outside of the window
        place = number & (ring.shape[1] - 1)
        ring[c, place, AT] = at_ps[i]
        if number < kept.shape[1]:
            kept[c, number, AT] = at_ps[i]
        delay_ps = at_ps[i] - sent_ps[i]
        latency_ps = delay_ps - ring[c, place, SENDING]
        if before[c, AS_RECEIVED, SEEN]:
            step_ps = abs(latency_ps - before[c, AS_RECEIVED, LATENCY])
            _add(extents, c, RECEIVED, step_ps)
        _follow(before, c, AS_RECEIVED, latency_ps, delay_ps)
        if number == marks[c, HEAD]:
            _settle(c, followed)


@kernel
def ended(sent_ps: Times, connection: Rows, followed: Followed) -> None:
    """Note packets that did not arrive. See `arrived`."""
    first, marks, ring, _, _, _ = followed
    for i in range(len(sent_ps)):
        c = connection[i] - first
        if c < 0 or c >= len(marks):
            continue
        number = _number(marks, ring, c, sent_ps[i])
        if number == marks[c, TAIL]:
            continue  # it was sent outside of the window
        ring[c, number & (ring.shape[1] - 1), AT] = ENDED
        if number == marks[c, HEAD]:
            _settle(c, followed)


@kernel
def _number(marks: Whole, ring: Whole, c: int, sent_ps: int) -> int:
    """Return the number of the packet on its way that was sent then; the next if there is none."""
    low: int = marks[c, HEAD]
    high: int = marks[c, TAIL]
    end, last = high, ring.shape[1] - 1
    if low < high and ring[c, low & last, SENT] == sent_ps:
        return low
    while low < high:
        middle = (low + high) // 2
        if ring[c, middle & last, SENT] < sent_ps:
            low = middle + 1
        else:
            high = middle
    return low if low < end and ring[c, low & last, SENT] == sent_ps else end


@kernel
def _settle(c: int, followed: Followed) -> None:
    """Count, in order of sending, the packets of which all before them is known."""
    _, marks, ring, before, extents, _ = followed
    last = ring.shape[1] - 1
    number, end = marks[c, HEAD], marks[c, TAIL]
    while number < end and ring[c, number & last, AT] != ON_ITS_WAY:
        place = number & last
        at_ps = ring[c, place, AT]
        if at_ps != ENDED:
            delay_ps = at_ps - ring[c, place, SENT]
            latency_ps = delay_ps - ring[c, place, SENDING]
            seen = before[c, AS_SENT, SEEN]
            if seen:
                _add(extents, c, LATENCIES, abs(latency_ps - before[c, AS_SENT, LATENCY]))
                if before[c, AS_SENT, NUMBER] == number - 1:
                    _add(extents, c, ONE_WAY, delay_ps - before[c, AS_SENT, DELAY])
                apart_ps = abs(at_ps - before[c, AS_SENT, CAME])
                if seen > 1:
                    _add(extents, c, ARRIVALS, abs(apart_ps - before[c, AS_SENT, APART]))
                before[c, AS_SENT, APART] = apart_ps
            before[c, AS_SENT, CAME] = at_ps
            before[c, AS_SENT, NUMBER] = number
            _follow(before, c, AS_SENT, latency_ps, delay_ps)
        number += 1
    marks[c, HEAD] = number


@kernel
def _follow(before: Whole, c: int, order: int, latency_ps: int, delay_ps: int) -> None:
    """Make a packet the one before, and carry the jitter of RFC 3550 on."""
    if before[c, order, SEEN]:
        step_ps = min(abs(delay_ps - before[c, order, DELAY]), LONGEST_STEP_PS)
        jitter = before[c, order, JITTER]
        jitter += step_ps - ((jitter + 8) >> 4)
        before[c, order, JITTER] = jitter
        before[c, order, LARGEST_JITTER] = max(jitter, before[c, order, LARGEST_JITTER])
    before[c, order, SEEN] += 1
    before[c, order, LATENCY] = latency_ps
    before[c, order, DELAY] = delay_ps


@kernel
def _add(extents: Whole, c: int, which: int, value_ps: int) -> None:
    """Add a value, which may be negative, to an extent."""
    if extents[c, which, COUNT] == 0:
        extents[c, which, LEAST] = value_ps
        extents[c, which, LARGEST] = value_ps
    extents[c, which, COUNT] += 1
    low = extents[c, which, SUM_LOW] + (value_ps & _LOW_31)
    extents[c, which, SUM_LOW] = low & _LOW_31
    extents[c, which, SUM_HIGH] += (value_ps >> SUM_BITS) + (low >> SUM_BITS)
    extents[c, which, LEAST] = min(extents[c, which, LEAST], value_ps)
    extents[c, which, LARGEST] = max(extents[c, which, LARGEST], value_ps)
