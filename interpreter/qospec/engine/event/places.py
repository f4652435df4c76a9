"""Places, and the heap that finds the next event.

A heap holds each place at which there is an event, so it is as small as the network is quiet, and
never grows with the items under way: what arrives behind the first at a place is linked to it. The
place that has been answered stays at the top until the first place that it feeds takes its row, as
most events make one other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole

DUE_PS, PLACE = range(2)
"""The columns of the heap of places."""
COUNT, VACANT = range(2)
"""The same in its row 0: how many places there are, and whether the first row is vacant."""


class Places(NamedTuple):
    """Where events happen, in their order.

    Attributes:
        due: (n + 1, 2) From row 1, a heap: the time of the first event at a place, and the place.
        row: (n,) The row of each place in the heap; 0: no event.
        first: (n,) The item that arrives there next; NOTHING: none, or it is still in the feed.
        last: (n,) The one that arrives there last.
        node: (n,) The element there.
        port: (n,) Its input; -1 for its alarm.
        fed: (n, 2) Of what comes from outside: the number of the next item in the feed, and of the
            one behind the last.
    """

    due: Whole
    row: Whole
    first: Whole
    last: Whole
    node: Whole
    port: Whole
    fed: Whole


@kernel
def schedule(places: Places, place: int, due_ps: int) -> None:
    """Set the time of the next event of a place."""
    due, row = places.due, places.row
    if row[place] != 0:
        fill_gap(places)
        k = row[place]
        if due_ps < due[k, DUE_PS]:
            _sift_up(places, k, due_ps, place)
        else:
            sink(places, k, due_ps, place)
    elif due[0, VACANT]:
        due[0, VACANT] = 0
        sink(places, 1, due_ps, place)
    else:
        due[0, COUNT] += 1
        _sift_up(places, due[0, COUNT], due_ps, place)


@kernel
def vacate(places: Places, place: int) -> None:
    """Leave the row of the first place, whose last event has been answered, to the next."""
    places.due[0, VACANT] = 1
    places.row[place] = 0


@kernel
def fill_gap(places: Places) -> None:
    """Move the last place into the first row if that is vacant."""
    due = places.due
    if due[0, VACANT]:
        last = due[0, COUNT]
        due[0, VACANT] = 0
        due[0, COUNT] = last - 1
        if last > 1:
            sink(places, 1, due[last, DUE_PS], due[last, PLACE])


@kernel
def _sift_up(places: Places, k: int, due_ps: int, place: int) -> None:
    """Put a place into the heap, at row k or above."""
    due, row = places.due, places.row
    while k > 1:
        above = k >> 1
        if due[above, DUE_PS] < due_ps or (
            due[above, DUE_PS] == due_ps and due[above, PLACE] < place
        ):
            break
        due[k, DUE_PS], due[k, PLACE] = due[above, DUE_PS], due[above, PLACE]
        row[due[k, PLACE]] = k
        k = above
    due[k, DUE_PS], due[k, PLACE] = due_ps, place
    row[place] = k


@kernel
def sink(places: Places, k: int, due_ps: int, place: int) -> None:
    """Put a place into the heap, at row k or below."""
    due, row = places.due, places.row
    count = due[0, COUNT]
    while 2 * k <= count:
        below = 2 * k
        if below < count:
            other = below + 1
            if due[other, DUE_PS] < due[below, DUE_PS] or (
                due[other, DUE_PS] == due[below, DUE_PS] and due[other, PLACE] < due[below, PLACE]
            ):
                below = other
        if due_ps < due[below, DUE_PS] or (
            due_ps == due[below, DUE_PS] and place < due[below, PLACE]
        ):
            break
        due[k, DUE_PS], due[k, PLACE] = due[below, DUE_PS], due[below, PLACE]
        row[due[k, PLACE]] = k
        k = below
    due[k, DUE_PS], due[k, PLACE] = due_ps, place
    row[place] = k
