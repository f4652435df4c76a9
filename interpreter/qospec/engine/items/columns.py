"""The columns of tables by marks, as a perfect hash of the marks that occur.

Marks have 32 bits, and a trial uses few of their values. So a table has a column for each of these,
and one more for all others. A multiplication gives each a slot of its own: the upper bits of the
product, of which there are as many as it takes to keep them apart.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from qospec.engine.arrays import np
from qospec.engine.kernel import kernel
from qospec.protocol.marks import ALL_BITS, BITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.engine.arrays import Whole

MULTIPLIER, SHIFT, OTHERS, SLOTS = 0, 1, 2, 3
"""The first numbers; from SLOTS on there are pairs of marks, or -1, and their column."""
MULTIPLIERS = tuple(0x1E35_A7BD * (2 * k + 1) % 2**31 for k in range(64))
"""Odd, so that with enough slots any two marks have different ones."""


def build_columns(marks: Sequence[int]) -> Whole:
    """Return the columns 0, 1, 2 … of some marks, for `find_column`; others have the next one."""
    for bits in itertools.count(max(1, (len(marks) - 1).bit_length())):
        for multiplier in MULTIPLIERS:
            slots = [(mark * multiplier & ALL_BITS) >> (BITS - bits) for mark in marks]
            if len(set(slots)) == len(marks):
                columns = np.full(SLOTS + 2 * 2**bits, -1, np.int64)
                columns[:SLOTS] = multiplier, BITS - bits, len(marks)
                for number, slot in enumerate(slots):
                    columns[SLOTS + 2 * slot :][:2] = marks[number], number
                return columns
    raise AssertionError  # with all bits, no two marks have the same slot


@kernel
def find_column(columns: Whole, start: int, marks: int) -> int:
    """Return the column of an item's marks; `columns` begins at place `start` of its array."""
    hashed = (marks * columns[start + MULTIPLIER] & ALL_BITS) >> columns[start + SHIFT]
    slot = start + SLOTS + 2 * hashed
    return columns[slot + 1] if columns[slot] == marks else columns[start + OTHERS]  # type: ignore[no-any-return]
