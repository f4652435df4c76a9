"""What passed a link, item by item: each with its number and what became of it.

An item is known by its connection and the time when its first bit was sent, which no two items of a
connection share. Only items in flight are kept: those that were sent and have not ended, and those
that passed the link behind one of these. So memory does not grow with the length of a trial.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from qospec.engine.arrays import np
from qospec.engine.items.batch import joined

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.engine.arrays import Indices, Rows, Sizes, Times, Truths, Whole
    from qospec.engine.items.batch import Batch

UNKNOWN = -1
"""In place of a number, or of what became of an item."""
ARRIVED = 0
"""The fate of an item that was not lost."""


class Items(NamedTuple):
    """Items that passed a link, in order of time.

    Attributes:
        batch: n items as they passed, with the times when their last bits were at the far end.
        number: (n,) Which of its connection's items each is, in the order of sending, from 0.
        sent_bytes: (n,) Its length when it was sent: before any header was put around it.
        fate: (n,) What became of it later: ARRIVED, or the place in the list of losses.
    """

    batch: Batch
    number: Whole
    sent_bytes: Sizes
    fate: Whole

    @property
    def total(self) -> int:
        """Return the number of items."""
        return self.batch.count

    def where(self, which: Rows | Truths | Whole) -> Items:
        """Return the items of an index array or a boolean mask."""
        return Items(
            self.batch.select(which),
            self.number[which],
            self.sent_bytes[which],
            self.fate[which],
        )

    def part(self, start: int, stop: int) -> Items:
        """Return the items from `start` up to `stop`, as views."""
        return Items(
            self.batch.part(start, stop),
            self.number[start:stop],
            self.sent_bytes[start:stop],
            self.fate[start:stop],
        )

    def then(self, later: Items) -> Items:
        """Return these items, and later ones behind them."""
        return Items(
            joined(self.batch, later.batch),
            np.concatenate([self.number, later.number]),
            np.concatenate([self.sent_bytes, later.sent_bytes]),
            np.concatenate([self.fate, later.fate]),
        )


class _Ended(NamedTuple):
    """Items that ended: (n,) which they were, and their fates."""

    connection: Indices
    sent_ps: Times
    fate: Whole


class Sightings:
    """An observer that hands on what passed a place, in order, as soon as its fates are known.

    Attributes:
        place: Where it looks.
        losses: By fate, where items were lost and why; the first stands for those that arrived.
    """

    def __init__(self, place: str, indices: int, take: Callable[[Items], None]) -> None:
        """Begin a trial with so many connection indices; `take` is given the items."""
        self.place = place
        self.losses = [""]
        self._take = take
        self._sent = np.zeros(indices, np.int64)
        self._in_flight = joined()
        self._numbers = np.zeros(0, np.int64)
        self._began: list[Batch] = []
        self._passed: list[Batch] = []
        self._ended: list[_Ended] = []
        self._waiting = _without_fate(self._in_flight, self._numbers, self._in_flight.size_bytes)

    def began(self, batch: Batch) -> None:
        """Number items that are sent; each connection's are sent in order."""
        self._began.append(_copied(batch))

    def passed(self, batch: Batch) -> None:
        """Keep items that pass."""
        self._passed.append(_copied(batch))

    def ended(self, batch: Batch, how: str) -> None:
        """Keep what became of items."""
        if how not in self.losses:
            self.losses.append(how)
        fate = np.full(batch.count, self.losses.index(how), np.int64)
        self._ended.append(_Ended(batch.connection.copy(), batch.sent_ps.copy(), fate))

    def advanced(self) -> None:
        """Hand on the items up to the first whose fate is not known."""
        self._number()
        self._see()
        self._settle()
        unknown = self._waiting.fate == UNKNOWN
        ready = int(unknown.argmax()) if unknown.any() else self._waiting.total
        if ready:
            self._take(self._waiting.part(0, ready))
            self._waiting = self._waiting.part(ready, self._waiting.total)

    @property
    def unsettled(self) -> int:
        """Return how many items wait for their fate; none at the end of a trial."""
        return self._waiting.total

    def _number(self) -> None:
        began, self._began = joined(*self._began), []
        numbers = self._sent[began.connection] + _ranks(began.connection)
        np.add.at(self._sent, began.connection, 1)
        self._in_flight = joined(self._in_flight, began)
        self._numbers = np.concatenate([self._numbers, numbers])

    def _see(self) -> None:
        passed, self._passed = joined(*self._passed), []
        if not passed.count:
            return
        flying = self._in_flight
        found = _find(flying.connection, flying.sent_ps, passed.connection, passed.sent_ps)
        if (found == UNKNOWN).any():
            raise ValueError(f"an item passed {self.place} that was never sent")
        new = _without_fate(passed, self._numbers[found], flying.size_bytes[found])
        self._waiting = self._waiting.then(new)

    def _settle(self) -> None:
        if not self._ended:
            return
        ended = _Ended(*(np.concatenate(each) for each in zip(*self._ended, strict=True)))
        self._ended = []
        waiting, flying = self._waiting, self._in_flight
        open_ = np.flatnonzero(waiting.fate == UNKNOWN)
        mine = waiting.batch.connection[open_], waiting.batch.sent_ps[open_]
        found = _find(ended.connection, ended.sent_ps, *mine)
        settled = found != UNKNOWN
        waiting.fate[open_[settled]] = ended.fate[found[settled]]
        found = _find(ended.connection, ended.sent_ps, flying.connection, flying.sent_ps)
        stays = found == UNKNOWN
        self._in_flight, self._numbers = flying.select(stays), self._numbers[stays]


def _copied(batch: Batch) -> Batch:
    return batch.select(np.arange(batch.count))


def _without_fate(batch: Batch, numbers: Whole, sent_bytes: Sizes) -> Items:
    return Items(batch, numbers, sent_bytes, np.full(batch.count, UNKNOWN, np.int64))


def _ranks(connection: Indices) -> Whole:
    """Return (n,) how many of the same connection come before each."""
    order = np.argsort(connection, kind="stable")
    of = connection[order]
    places = np.arange(len(of))
    first = np.ones(len(of), np.bool_)
    first[1:] = of[1:] != of[:-1]
    ranks = np.empty(len(of), np.int64)
    ranks[order] = places - np.maximum.accumulate(np.where(first, places, 0))
    return ranks


def _find(connection: Indices, sent_ps: Times, of_connection: Indices, of_sent_ps: Times) -> Whole:
    """Return (m,) where each of m items is among n, by connection and time; UNKNOWN if nowhere."""
    if not len(sent_ps) or not len(of_sent_ps):
        return np.full(len(of_sent_ps), UNKNOWN, np.int64)
    # Sorted, since `np.unique` hashes, which takes ten times as long.
    times = np.sort(sent_ps)
    times = times[np.concatenate([[True], times[1:] != times[:-1]])]
    keys = connection.astype(np.int64) * len(times) + np.searchsorted(times, sent_ps)
    order = np.argsort(keys, kind="stable")
    ranks = np.minimum(np.searchsorted(times, of_sent_ps), len(times) - 1)
    sought = of_connection.astype(np.int64) * len(times) + ranks
    places = np.minimum(np.searchsorted(keys[order], sought), len(keys) - 1)
    there = (times[ranks] == of_sent_ps) & (keys[order[places]] == sought)
    return np.where(there, order[places], UNKNOWN)
