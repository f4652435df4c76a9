"""Items in flight: those that were sent and have not ended, each with its number.

An item is known by its connection and the time when its first bit was sent, which no two items of a
connection share. Only items in flight are kept, so memory does not grow with the length of a trial.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.items.batch import Batch, join_batches
from qospec.engine.items.piece import LARGEST_NUMBER
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Indices, Rows, Sizes, Times, Truths, Whole
    from qospec.protocol.streams import KindName

UNKNOWN = -1
"""In place of a number, or of what became of an item."""
ARRIVED = 0
"""The fate of an item that was not lost."""
PARTS: Mapping[KindName, str] = {"fragments": "fragment", "cells": "frame"}
"""The kinds of parts of packets, with the column that tells which they are."""
_PART_BITS, _PART = 31, (1 << 31) - 1
"""Of a time, which is mixed in two parts."""


class Items(NamedTuple):
    """Items that passed a place, in order of time.

    Attributes:
        batch: n items as they passed, with the times when their last bits were there.
        number: (n,) Which of its connection's items each is, in the order of sending, from 0.
        sent_bytes: (n,) Its length when it was sent: before any header was put around it.
        fate: (n,) What became of it later: ARRIVED, or the place in the list of losses.
        fragment: (n,) Which part of its packet each is, from 0; of what was not cut, 0. Number
            and length of a fragment are those of its packet.
    """

    batch: Batch
    number: Whole
    sent_bytes: Sizes
    fate: Whole
    fragment: Whole

    @property
    def total(self) -> int:
        """Return the number of items."""
        return self.batch.count

    def select(self, which: Rows | Truths | Whole | slice) -> Items:
        """Return the items of an index array, a boolean mask or a slice."""
        return Items(
            self.batch.select(which),
            self.number[which],
            self.sent_bytes[which],
            self.fate[which],
            self.fragment[which],
        )

    def select_range(self, start: int, stop: int) -> Items:
        """Return the items from `start` up to `stop`, as views."""
        return Items(
            self.batch.select_range(start, stop),
            self.number[start:stop],
            self.sent_bytes[start:stop],
            self.fate[start:stop],
            self.fragment[start:stop],
        )

    def append(self, later: Items) -> Items:
        """Return these items, and later ones behind them."""
        return Items(
            join_batches(self.batch, later.batch),
            np.concatenate([self.number, later.number]),
            np.concatenate([self.sent_bytes, later.sent_bytes]),
            np.concatenate([self.fate, later.fate]),
            np.concatenate([self.fragment, later.fragment]),
        )


class Flight:
    """The items in flight of a trial with so many connection indices.

    `parts` are the indices of parts of packets, in order of connections, by their kind of `PARTS`.
    """

    def __init__(self, indices: int, parts: Mapping[KindName, range] | None = None) -> None:
        self._sent = np.zeros(indices, np.int64)
        self._parts = parts or {}
        self._batch = join_batches()
        self._numbers = np.zeros(0, np.int64)
        self._fragment = np.zeros(0, np.int64)

    def add(self, batch: Batch) -> None:
        """Number items that were sent, in order for each connection, and keep them."""
        numbers = np.empty(batch.count, np.int64)
        _number_items(batch.connection, self._sent, numbers)
        before = self._batch.count
        self._batch = join_batches(self._batch, batch)
        self._numbers = np.concatenate([self._numbers, numbers])
        self._fragment = np.concatenate([self._fragment, np.zeros(batch.count, np.int64)])
        for kind, mine in self._parts.items():
            if mine:
                self._find_packets(before, mine, PARTS[kind])

    def _find_packets(self, start: int, mine: range, column: str) -> None:
        """Note of parts, from a place on, which of which packet they are; see `fragment`."""
        connection, sent_ps = self._batch.connection, self._batch.sent_ps
        is_part = (connection >= mine.start) & (connection < mine.stop)
        parts = start + np.flatnonzero(is_part[start:])
        fragment = self._batch.read_column(column)[parts] >> 1 & LARGEST_NUMBER
        user = connection[parts] - np.int32(mine.start)
        found = find(connection, sent_ps, user, sent_ps[parts] - fragment)
        parts, fragment, found = (array[found != UNKNOWN] for array in (parts, fragment, found))
        size_bytes = self._batch.size_bytes.copy()
        size_bytes[parts], self._numbers[parts] = size_bytes[found], self._numbers[found]
        self._fragment[parts] = fragment
        self._batch = self._batch.with_sizes(size_bytes)

    def identify(self, batch: Batch, place: str) -> Items:
        """Return what passed a place, with numbers and without fates.

        Raises:
            ValueError: An item is not in flight.
        """
        found = find(self._batch.connection, self._batch.sent_ps, batch.connection, batch.sent_ps)
        if (found == UNKNOWN).any():
            raise ValueError(f"an item passed {place} that was never sent")
        unknown = np.full(batch.count, UNKNOWN, np.int64)
        sent_bytes, fragment = self._batch.size_bytes[found], self._fragment[found]
        return Items(batch, self._numbers[found], sent_bytes, unknown, fragment)

    def remove(self, connection: Indices, sent_ps: Times) -> None:
        """Forget items that have ended."""
        found = find(self._batch.connection, self._batch.sent_ps, connection, sent_ps)
        stays = np.ones(self._batch.count, np.bool_)
        stays[found[found != UNKNOWN]] = False
        self._batch, self._numbers = self._batch.select(stays), self._numbers[stays]
        self._fragment = self._fragment[stays]


def copy_batch(batch: Batch) -> Batch:
    """Return a batch whose columns nobody else writes over."""
    return Batch._make(column.copy() for column in batch)


def find(connection: Indices, sent_ps: Times, of_connection: Indices, of_sent_ps: Times) -> Whole:
    """Return (m,) where each of m items is among n, by connection and time; UNKNOWN if nowhere."""
    found = np.full(len(of_sent_ps), UNKNOWN, np.int64)
    if len(sent_ps) and len(of_sent_ps):
        table = np.full(2 << len(sent_ps).bit_length(), UNKNOWN, np.int64)
        _enter(connection, sent_ps, table)
        _look_up(connection, sent_ps, table, of_connection, of_sent_ps, found)
    return found


@kernel
def _number_items(connection: Indices, sent: Whole, numbers: Whole) -> None:
    """Write the number of each item, and count it."""
    for i in range(len(connection)):
        numbers[i] = sent[connection[i]]
        sent[connection[i]] += 1


@kernel
def _find_slot(connection: int, sent_ps: int, slots: int) -> int:
    """Return the slot of a table, of which there are a power of two, at which an item is sought."""
    low, high = sent_ps & _PART, sent_ps >> _PART_BITS & _PART
    # The factors are odd numbers, and the sum stays below 2^63.
    mixed = low * 0x1B873593 + high * 0x0E6546B5 + connection * 0x5BD1E99
    return (mixed ^ mixed >> 29) & (slots - 1)


@kernel
def _enter(connection: Indices, sent_ps: Times, table: Whole) -> None:
    """Write the place of each item into the first slot that is free for it."""
    slots = len(table)
    for i in range(len(sent_ps)):
        slot = _find_slot(connection[i], sent_ps[i], slots)
        while table[slot] != UNKNOWN:
            slot = (slot + 1) & (slots - 1)
        table[slot] = i


@kernel
def _look_up(
    connection: Indices,
    sent_ps: Times,
    table: Whole,
    of_connection: Indices,
    of_sent_ps: Times,
    found: Whole,
) -> None:
    """Write where each item is among those that were entered."""
    slots = len(table)
    for k in range(len(of_sent_ps)):
        slot = _find_slot(of_connection[k], of_sent_ps[k], slots)
        while table[slot] != UNKNOWN:
            i = table[slot]
            if sent_ps[i] == of_sent_ps[k] and connection[i] == of_connection[k]:
                found[k] = i
                break
            slot = (slot + 1) & (slots - 1)
