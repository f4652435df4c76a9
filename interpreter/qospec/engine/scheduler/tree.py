"""Schedulers as a tree: a row for each of them and for each of the queues before them.

The root comes first, then the inputs of each scheduler side by side. A row is of int64 numbers: the
fields below; then those that a policy keeps for its scheduler, in the row of the scheduler; then
those that a policy keeps for its inputs, in their rows. Only one policy uses either part of a row,
so all policies number their fields from the same place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.engine.arrays import Whole

    Tree = Whole
    """(rows, FIELDS), a row for each scheduler and each queue."""

NO_LIMIT = 2**62

PARENT, WAITS, ITEM, SIZE, ARRIVAL_TAG = range(5)
"""Row of the scheduler that it is an input of, 0 for the root; how many items wait below it; of the
one that it would send next the number, the bytes and, if the policy above keeps tags, what that
policy returned when it arrived."""
HEAD, TAIL, LIMIT, IN_BYTES, AMOUNT, NUMBER = range(5, 11)
"""Of a queue: place of the first that waits; place of the last that was lost, or behind its places;
how much may wait; whether that counts bytes, and how many bytes wait, if so; which of all it is."""
FIRST, LAST, POLICY, LEVEL, INNER, CHOICE, VIRTUAL = range(11, 18)
"""Of a scheduler: row of its first input, 0 for a queue; the row behind its last; number of its
policy among those of the tree; column of `Service.arrival_tags` that it writes and reads, -1: none;
row of the one below the root that selects after it, 0: none; row of the input whose item it would
send next; and its virtual time, of policies that have one."""
SENT, OVER_LIMIT = range(18, 20)
"""Of the root: row of the queue of the item that is being sent, 0: none; whether some item at a
queue that is too small must be sent at once."""

OPENS, HIDDEN = range(20, 22)
"""Of an input, if some policy holds items back though the line is free: no earlier than when it may
send its next item, 0: at once; and WAITS, while a policy selects among the others."""

_OWN, _OF_INPUT, FIELDS = 22, 36, 55


def list_own_fields(count: int, after: Sequence[int] = ()) -> range:
    """Return the first fields, or those behind others, that a policy keeps for its scheduler."""
    fields = range(_OWN + len(after), _OWN + len(after) + count)
    assert fields.stop <= _OF_INPUT  # noqa: S101 -- else make the rows longer
    return fields


def list_input_fields(count: int) -> range:
    """Return the fields that a policy keeps for each input of its scheduler."""
    fields = range(_OF_INPUT, _OF_INPUT + count)
    assert fields.stop <= FIELDS  # noqa: S101 -- likewise
    return fields
