"""A pool of connections: calls take those that are free, send for a time, and give them back.

A call finds a place when it begins, whatever becomes of its cells, so the calls of a window of time
are placed first, and all cells of the window follow from them. Times of calls are drawn in blocks,
in order, so how time is cut changes nothing.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple, dataclass
from qospec.engine.arrays import np
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.kernel import kernel
from qospec.engine.random import LATEST_PS, DrawnTimes
from qospec.engine.source import instants
from qospec.engine.source.arrivals import Told
from qospec.engine.source.periodic import list_multiples, split_time
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.catalogue.kinds import Duration
    from qospec.engine.arrays import Indices, Times, Truths, Whole
    from qospec.engine.random import Draws

BLOCK = 4_096
"""The number of holding times drawn at once."""
PLACE, NEXT, PART, END = range(4)
"""Columns of calls: the connection, when the next cell is ready, rounded down, and the rest of
that, as a numerator; when the call ends."""


class Coming(NamedTuple):
    """How calls come: how far apart, how many at a time and in all, at random or not, streams."""

    period_ps: Fraction
    burst: int
    most: int | None
    is_random: bool
    draws: Draws


def start(coming: Coming, hold: Duration, gap_ps: Fraction, connections: int, rest_ps: int) -> Pool:
    """Return the state of a pool before its first call.

    Args:
        coming: How calls come.
        hold: How long calls last.
        gap_ps: Between two cells of a call.
        connections: How many calls there may be at once.
        rest_ps: How long a connection is not free after a call.
    """
    period_ps, burst, most, is_random, draws = coming
    whole_ps, rest = divmod(gap_ps, 1)
    holds = DrawnTimes(hold.mean_ps, draws.derive("hold") if hold.law == "exponential" else None)
    return Pool(
        min(period_ps, Fraction(LATEST_PS)),
        burst,
        LATEST_PS if most is None else most,
        instants.start(PS_PER_S / period_ps, 1, draws) if is_random else None,
        0,
        holds,
        np.empty(0, np.int64),
        (int(whole_ps), rest.numerator, rest.denominator),
        rest_ps,
        _grow_tree(connections),
        np.empty((0, 4), np.int64),
        (np.empty(0, np.int64), np.empty(0, np.bool_)),
        np.empty(0, np.int64),
    )


@dataclass
class Pool:
    """The state that is kept from window to window.

    Attributes:
        period_ps: The mean time from a burst of calls to the next.
        burst: How many calls come at a time.
        left: How many calls are yet to come.
        random: Draws when they come; None if that is even.
        begun: How many bursts have come, if that is even.
        holds: Draws how long they last.
        held_ps: Holding times that were drawn and not yet used.
        gap: Between cells: whole ps, and a numerator over a denominator.
        rest_ps: How long a connection is not free after a call.
        free_ps: Since when each connection is free, see `_grow_tree`.
        calls: (m, 4) Those that go on.
        begins_ps: When those of the last window began, and whether each found a place.
        ends_ps: When those end that had not ended before that window, in order.
        until_ps: The end of that window.
        held: How many calls went on at the last time that was told.
    """

    period_ps: Fraction
    burst: int
    left: int
    random: instants.State | None
    begun: int
    holds: DrawnTimes
    held_ps: Times
    gap: tuple[int, int, int]
    rest_ps: int
    free_ps: Times
    calls: Whole
    begins_ps: tuple[Times, Truths]
    ends_ps: Times
    until_ps: int = 0
    held: int = 0

    def take_before(self, until_ps: int) -> tuple[Times, Indices]:
        """Return times and connections of all cells before `until_ps` that were not yet emitted."""
        self.ends_ps = self.ends_ps[self.ends_ps.searchsorted(self.until_ps) :]
        begins_ps = self._list_begins(until_ps)
        places = np.empty(len(begins_ps), np.int64)
        ends_ps = begins_ps + self._draw_holds(len(begins_ps))
        _place_calls(begins_ps, ends_ps, self.rest_ps, self.free_ps, places)
        found = places >= 0
        fresh = np.zeros((int(found.sum()), 4), np.int64)
        fresh[:, PLACE], fresh[:, NEXT], fresh[:, END] = (
            places[found],
            begins_ps[found],
            ends_ps[found],
        )
        calls = np.concatenate([self.calls, fresh])
        calls = calls[calls[:, PLACE].argsort(kind="stable")]
        self.begins_ps, self.until_ps = (begins_ps, found), until_ps
        self.ends_ps = np.sort(np.concatenate([self.ends_ps, ends_ps[found]]))
        times = np.minimum(calls[:, END], until_ps) - calls[:, NEXT]
        room = int((np.maximum(times, 0) // self.gap[0] + 1).sum())
        at_ps, connection = np.empty(room, np.int64), np.empty(room, np.int32)
        count = _send(calls, until_ps, self.gap, at_ps, connection)
        self.calls = calls[calls[:, NEXT] < calls[:, END]]
        order = at_ps[:count].argsort(kind="stable")
        return at_ps[order], connection[order]

    def tell(self) -> Iterator[Told]:
        """Yield what became of the calls of the last window, and how many were held."""
        begins_ps, found = self.begins_ps
        ends_ps = self.ends_ps[: self.ends_ps.searchsorted(self.until_ps)]
        yield Told("offered", begins_ps, np.ones(len(begins_ps), np.int64))
        yield Told("established", begins_ps[found], np.ones(int(found.sum()), np.int64))
        yield Told("refused", begins_ps[~found], np.ones(int((~found).sum()), np.int64))
        at_ps = np.concatenate([ends_ps, begins_ps[found]])
        steps = np.repeat([-1, 1], [len(ends_ps), int(found.sum())])
        order = at_ps.argsort(kind="stable")  # at one time those that end come first
        held = self.held + steps[order].cumsum()
        self.held = int(held[-1]) if len(held) else self.held
        yield Told("held", at_ps[order], held)

    def _list_begins(self, until_ps: int) -> Times:
        """Return when the calls come that do so before a time and have not yet."""
        if self.random is not None:
            bursts_ps, _ = instants.emit(self.random, until_ps)
        else:
            bursts_ps = self._list_even(math.ceil(until_ps / self.period_ps))
        begins_ps = np.repeat(bursts_ps, self.burst)[: self.left]
        self.left -= len(begins_ps)
        return begins_ps

    def _list_even(self, stop: int) -> Times:
        """Return when the bursts come up to one, exclusive, that have not yet."""
        first, self.begun = self.begun, max(self.begun, stop)
        denominator = self.period_ps.denominator
        step = split_time(self.period_ps, denominator)
        first_ps, first_part = split_time(first * self.period_ps, denominator)
        whole_ps, part = list_multiples(step, denominator, self.begun - first)
        return first_ps + whole_ps + (first_part + part >= denominator)

    def _draw_holds(self, count: int) -> Times:
        """Return how long the next calls last."""
        while len(self.held_ps) < count:
            block = np.empty(BLOCK, np.int64)
            self.holds.draw(block)
            self.held_ps = np.concatenate([self.held_ps, block])
        drawn_ps, self.held_ps = self.held_ps[:count], self.held_ps[count:]
        return drawn_ps


def _grow_tree(connections: int) -> Times:
    """Return when each connection is free, as a tree of least values: at first all are.

    Row `n` has the children `2 * n` and `2 * n + 1`; the last half are the connections.
    """
    leaves = 1 << (connections - 1).bit_length()
    tree = np.zeros(2 * leaves, np.int64)
    tree[leaves + connections :] = FOREVER_PS
    while leaves > 1:
        tree[leaves // 2 : leaves] = np.minimum(
            tree[leaves : 2 * leaves : 2], tree[leaves + 1 : 2 * leaves : 2]
        )
        leaves //= 2
    return tree


@kernel
def _place_calls(
    begins_ps: Times, ends_ps: Times, rest_ps: int, free_ps: Times, places: Whole
) -> None:
    """Give each call the first connection that is free, in as many steps as the tree is deep.

    Args:
        begins_ps: (n,) When calls begin; these do not fall.
        ends_ps: (n,) When they end.
        rest_ps: How long after that a connection is free again.
        free_ps: See `_grow_tree`. Updated.
        places: (n,) Written: the connection of each; -1: it is refused.
    """
    leaves = len(free_ps) // 2
    for i in range(len(begins_ps)):
        places[i] = -1
        if free_ps[1] > begins_ps[i]:
            continue
        row = 1
        while row < leaves:
            row *= 2
            if free_ps[row] > begins_ps[i]:
                row += 1
        places[i], free_ps[row] = row - leaves, ends_ps[i] + rest_ps
        while row > 1:
            row //= 2
            free_ps[row] = min(free_ps[2 * row], free_ps[2 * row + 1])


@kernel
def _send(
    calls: Whole, until_ps: int, gap: tuple[int, int, int], at_ps: Times, connection: Indices
) -> int:
    """Write the cells of calls before a time, call by call; return how many these are.

    Args:
        calls: (m, 4) Updated.
        until_ps: The time.
        gap: See `Pool.gap`.
        at_ps: (n,) Written.
        connection: (n,) Written.
    """
    count = 0
    for i in range(len(calls)):
        while calls[i, NEXT] < min(calls[i, END], until_ps):
            at_ps[count], connection[count] = calls[i, NEXT], calls[i, PLACE]
            count += 1
            calls[i, NEXT] += gap[0]
            calls[i, PART] += gap[1]
            if calls[i, PART] >= gap[2]:
                calls[i, PART] -= gap[2]
                calls[i, NEXT] += 1
    return count
