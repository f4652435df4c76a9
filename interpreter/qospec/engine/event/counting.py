"""What the event loop counts itself, of what nothing but counts is asked.

What goes out of a component is put out as batches, and there whoever wants to looks at each item.
Mostly they only count: what was made and sent, what arrived, and its delay. A row that is put out
for that is written twice and read five times, so the loop counts in the same arrays at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.items.delay_row import add_long_delay
from qospec.engine.items.frame_length import add_bytes
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.engine.arrays import Truths, Whole


class Outlet(NamedTuple):
    """Where something goes out: what, of which element, and of which output, cause or queue."""

    what: str
    element: int
    number: int


class Counters(NamedTuple):
    """The counts of a trial, as `measure.observation` keeps them, by connection index.

    Attributes:
        start_ps: The beginning of the measurement.
        stop_ps: Its end.
        until_ps: What is sent from then on is not of the population.
        own: The first index of what elements insert.
        counts_when_made: (n,) Whether an item is sent when it is made.
        planned: (n,) What was made for a line to send.
        sent: (n,)
        carried_less_received: (n,) What arrived within the measurement, less the delays.
        framing: (n, 5) The framing of packets; no rows if there are none.
        sent_bytes: (n, 2) Of packets and frames.
        carried_bytes: (n, 2) Likewise, of what arrived within the measurement.
        delays: (n, 8) A row of each, see `items.delay_row`.
        buckets: The histograms.
    """

    start_ps: int
    stop_ps: int
    until_ps: int
    own: int
    counts_when_made: Truths
    planned: Whole
    sent: Whole
    carried_less_received: Whole
    framing: Whole
    sent_bytes: Whole
    carried_bytes: Whole
    delays: Whole
    buckets: Whole


class Counting(NamedTuple):
    """What a component counts, and for whom.

    Attributes:
        counters: Written.
        is_counted: Whether what goes out by an outlet is only counted.
        settle: Called with an outlet and (kinds, 2) the items and bytes that were counted there.
    """

    counters: Counters
    is_counted: Callable[[Outlet], bool]
    settle: Callable[[Outlet, Whole], None]


def count_nothing() -> Counting:
    """Return a counting that leaves all to those who take what goes out."""
    none, pairs = np.zeros(0, np.int64), np.zeros((0, 2), np.int64)
    rows = np.zeros((0, 8), np.int64)
    truths = np.zeros(0, np.bool_)
    counters = Counters(0, 0, 0, 0, truths, none, none, none, rows, pairs, pairs, rows, none)
    return Counting(counters, lambda _: False, lambda *_: None)


@kernel
def count_made(counters: Counters, connection: int, sent_ps: int, now_ps: int) -> None:
    """Count an item that an element makes now: inserted cells and exchanges are sent thereby."""
    if connection < counters.own and counters.start_ps <= now_ps < counters.until_ps:
        counters.planned[connection] += 1
    if counters.counts_when_made[connection] and counters.start_ps <= sent_ps < counters.until_ps:
        counters.sent[connection] += 1


@kernel
def count_sent(counters: Counters, connection: int, size_bytes: int, sent_ps: int) -> None:
    """Count an item that leaves the line of its source."""
    if counters.start_ps <= sent_ps < counters.until_ps:
        counters.sent[connection] += 1
        if len(counters.framing) > 0:
            add_bytes(counters.sent_bytes[connection], size_bytes, counters.framing[connection])


@kernel
def count_arrived(
    counters: Counters, connection: int, size_bytes: int, sent_ps: int, at_ps: int
) -> None:
    """Count an item that arrives, and its delay."""
    is_sent = counters.start_ps <= sent_ps < counters.until_ps
    is_carried = counters.start_ps <= at_ps < counters.stop_ps
    if is_carried and len(counters.framing) > 0:
        add_bytes(counters.carried_bytes[connection], size_bytes, counters.framing[connection])
    if is_carried != is_sent:
        counters.carried_less_received[connection] += 1 if is_carried else -1
    if is_sent:
        add_long_delay(counters.delays[connection], at_ps - sent_ps, 0, counters.buckets)
