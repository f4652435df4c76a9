"""Deadlines: what an endpoint waits for, each thing until its time, and the earliest first.

With one timeout for all, what was sent last is due last. So the deadlines are a list in the order
in which they were set: one is appended at the end, the first is the earliest, and one that is met
is unlinked wherever it stands, each in a few steps, however many there are.

The list is a part of an element's state. Row 0 is the list itself: AFTER is its first row, BEFORE
its last. Every other row is one deadline; its neighbours are rows too, and row 0 is the neighbour
of both ends, so that no case is special.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole

BEFORE, AFTER, DUE = range(3)
"""The first columns of a row: its neighbours in the list, and when it is due in ps."""
LIST = 0
"""The row that is the list itself."""


def no_deadlines(rows: Whole) -> None:
    """Write an empty list into (n, columns) `rows`."""
    rows[LIST, BEFORE] = rows[LIST, AFTER] = LIST
    rows[LIST, DUE] = FOREVER_PS


@kernel
def set_deadline(rows: Whole, row: int, due_ps: int) -> None:
    """Append a row that is not in the list, due no earlier than all others."""
    last = rows[LIST, BEFORE]
    rows[row, BEFORE], rows[row, AFTER], rows[row, DUE] = last, LIST, due_ps
    rows[last, AFTER] = rows[LIST, BEFORE] = row


@kernel
def meet_deadline(rows: Whole, row: int) -> None:
    """Unlink a row that is in the list."""
    before, after = rows[row, BEFORE], rows[row, AFTER]
    rows[before, AFTER], rows[after, BEFORE] = after, before


@kernel
def earliest(rows: Whole) -> int:
    """Return the row that is due first; LIST, which is due at FOREVER_PS, if there is none."""
    return rows[LIST, AFTER]  # type: ignore[no-any-return]
