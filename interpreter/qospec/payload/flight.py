"""Items in flight: those that were sent and have not ended, each with its number.

An item is known by its connection and the time when its first bit was sent, which no two items of a
connection share. Only items in flight are kept, so memory does not grow with the length of a trial.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from qospec.engine.arrays import np
from qospec.engine.items.batch import joined

if TYPE_CHECKING:
    from qospec.engine.arrays import Indices, Rows, Sizes, Times, Truths, Whole
    from qospec.engine.items.batch import Batch

UNKNOWN = -1
"""In place of a number, or of what became of an item."""
ARRIVED = 0
"""The fate of an item that was not lost."""


class Items(NamedTuple):
    """Items that passed a place, in order of time.

    Attributes:
        batch: n items as they passed, with the times when their last bits were there.
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


class Flight:
    """The items in flight of a trial with so many connection indices."""

    def __init__(self, indices: int) -> None:
        self._sent = np.zeros(indices, np.int64)
        self._batch = joined()
        self._numbers = np.zeros(0, np.int64)

    def add(self, batch: Batch) -> None:
        """Number items that were sent, in order for each connection, and keep them."""
        numbers = self._sent[batch.connection] + _ranks(batch.connection)
        np.add.at(self._sent, batch.connection, 1)
        self._batch = joined(self._batch, batch)
        self._numbers = np.concatenate([self._numbers, numbers])

    def seen(self, batch: Batch, place: str) -> Items:
        """Return what passed a place, with numbers and without fates.

        Raises:
            ValueError: An item is not in flight.
        """
        found = find(self._batch.connection, self._batch.sent_ps, batch.connection, batch.sent_ps)
        if (found == UNKNOWN).any():
            raise ValueError(f"an item passed {place} that was never sent")
        unknown = np.full(batch.count, UNKNOWN, np.int64)
        return Items(batch, self._numbers[found], self._batch.size_bytes[found], unknown)

    def remove(self, connection: Indices, sent_ps: Times) -> None:
        """Forget items that have ended."""
        found = find(connection, sent_ps, self._batch.connection, self._batch.sent_ps)
        stays = found == UNKNOWN
        self._batch, self._numbers = self._batch.select(stays), self._numbers[stays]


def copied(batch: Batch) -> Batch:
    """Return a batch whose columns nobody else writes over."""
    return batch.select(np.arange(batch.count))


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


def find(connection: Indices, sent_ps: Times, of_connection: Indices, of_sent_ps: Times) -> Whole:
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
