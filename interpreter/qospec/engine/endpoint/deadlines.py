"""Deadlines: what an endpoint waits for, each thing until its time, and the earliest first.

They are a heap, for timeouts of any length. A deadline that is met or put off stays where it is in
the heap, and is only moved once it comes to the top: so what is set for each request and met by
each answer costs a few steps, and is moved once in a timeout.

The heap is a part of an element's state: row 0 is the heap itself, every other row one deadline.
The k-th row also holds what is in the k-th place of the heap, with the time by which it stands
there, no later than when it is due.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole

DUE, TURN, PLACE, STANDS, SORTED_DUE, SORTED_TURN, SORTED_ROW = range(7)
"""The first columns of a row: when it is due in ps, FOREVER_PS if it is not set; its turn among
those due at once; its place in the heap, 0 if it has none; the time by which it stands there, since
to look for it in that place, far off, takes a tenth of the time of an exchange. Then what is in the
place of this number: a row, and the time and the turn by which it stands there. Of row 0, PLACE is
how many places are in use, and TURN how many deadlines have been set."""
DEADLINE = 7
NO_ROW = 0
"""The row of no deadline, due at FOREVER_PS."""
RANK_BIT = 48
"""In a turn, the bits of the rank are above those of the order in which deadlines were set."""


def clear_deadlines(rows: Whole) -> None:
    """Write an empty heap into (n, columns) `rows`, of which the first columns are those above."""
    rows[:, :DEADLINE] = 0
    rows[:, DUE] = FOREVER_PS


@kernel
def set_deadline(rows: Whole, row: int, due_ps: int, rank: int) -> None:
    """Set the time of a row; of those due at once, the lowest rank and the first set is first."""
    rows[NO_ROW, TURN] += 1
    rows[row, TURN] = (rank << RANK_BIT) + rows[NO_ROW, TURN]
    move_deadline(rows, row, due_ps)


@kernel
def move_deadline(rows: Whole, row: int, due_ps: int) -> None:
    """Set the time of a row, whose turn among those due at once is the one that it had."""
    rows[row, DUE] = due_ps
    if rows[row, PLACE] == 0:
        rows[NO_ROW, PLACE] += 1
        _sift_up(rows, rows[NO_ROW, PLACE], row)
    elif due_ps <= rows[row, STANDS] and _is_due_before(rows, row, rows[row, PLACE]):
        _sift_up(rows, rows[row, PLACE], row)


@kernel
def meet_deadline(rows: Whole, row: int) -> None:
    """Let a row be due no more."""
    rows[row, DUE] = FOREVER_PS


@kernel
def find_earliest(rows: Whole) -> int:
    """Return the row that is due first; NO_ROW if none is."""
    while rows[NO_ROW, PLACE] > 0:
        row = rows[1, SORTED_ROW]
        if rows[row, DUE] == FOREVER_PS:
            rows[row, PLACE] = 0
            last = rows[NO_ROW, PLACE]
            rows[NO_ROW, PLACE] = last - 1
            if last > 1:
                _sift_down(
                    rows, rows[last, SORTED_ROW], rows[last, SORTED_DUE], rows[last, SORTED_TURN]
                )
        elif rows[row, TURN] != rows[1, SORTED_TURN]:
            _sift_down(rows, row, rows[row, DUE], rows[row, TURN])
        else:
            return row  # type: ignore[no-any-return]
    return NO_ROW


@kernel
def _sift_up(rows: Whole, k: int, row: int) -> None:
    """Put a row into the heap by when it is due, at place k or above."""
    while k > 1 and _is_due_before(rows, row, (k + 2) >> 2):
        above = (k + 2) >> 2
        _put(rows, k, rows[above, SORTED_ROW], rows[above, SORTED_DUE], rows[above, SORTED_TURN])
        k = above
    _put(rows, k, row, rows[row, DUE], rows[row, TURN])


@kernel
def _is_due_before(rows: Whole, row: int, place: int) -> bool:
    """Return whether a row is due before what is in a place, by when that stands there."""
    if rows[row, DUE] != rows[place, SORTED_DUE]:
        return rows[row, DUE] < rows[place, SORTED_DUE]  # type: ignore[no-any-return]
    return rows[row, TURN] < rows[place, SORTED_TURN]  # type: ignore[no-any-return]


@kernel
def _sift_down(rows: Whole, row: int, due_ps: int, turn: int) -> None:
    """Put a row into the first place of the heap, or below."""
    k, count = 1, rows[NO_ROW, PLACE]
    while 4 * k - 2 <= count:
        below = 4 * k - 2
        for other in range(below + 1, min(below + 3, count) + 1):
            if _is_before(rows, other, below):
                below = other
        if due_ps < rows[below, SORTED_DUE] or (
            due_ps == rows[below, SORTED_DUE] and turn < rows[below, SORTED_TURN]
        ):
            break
        _put(rows, k, rows[below, SORTED_ROW], rows[below, SORTED_DUE], rows[below, SORTED_TURN])
        k = below
    _put(rows, k, row, due_ps, turn)


@kernel
def _is_before(rows: Whole, one: int, other: int) -> bool:
    """Return whether what is in one place is due before what is in another."""
    if rows[one, SORTED_DUE] != rows[other, SORTED_DUE]:
        return rows[one, SORTED_DUE] < rows[other, SORTED_DUE]  # type: ignore[no-any-return]
    return rows[one, SORTED_TURN] < rows[other, SORTED_TURN]  # type: ignore[no-any-return]


@kernel
def _put(rows: Whole, k: int, row: int, due_ps: int, turn: int) -> None:
    """Write what is in a place of the heap."""
    rows[k, SORTED_ROW], rows[k, SORTED_DUE], rows[k, SORTED_TURN] = row, due_ps, turn
    rows[row, PLACE], rows[row, STANDS] = k, due_ps


@kernel
def compute_begin_ps(connection: int, connections: int, spread_ps: int) -> int:
    """Return when a connection begins, of so many that are evenly spread over a time."""
    every_ps, rest_ps = spread_ps // connections, spread_ps % connections
    # Not the product of connection and spread, which may exceed int64.
    return connection * every_ps + connection * rest_ps // connections
