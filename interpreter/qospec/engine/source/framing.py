"""Frames of cells: to which frame each cell of a source belongs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.items.batch import COLUMNS, count_columns
from qospec.engine.items.piece import LENGTH_BITS, MORE_FOLLOW, note_piece, number_in, read_whole
from qospec.engine.kernel import kernel
from qospec.engine.source.changing import Changing

if TYPE_CHECKING:
    from qospec.engine.arrays import Rows, Times, Whole
    from qospec.engine.items.batch import Batch
    from qospec.engine.source.arrivals import Arrivals

FRAME = COLUMNS.index("frame")
WIDTH = count_columns("frame")


NEXT = 1 << LENGTH_BITS
"""From the number of a frame to the next; no packet is known of which it is made."""


class Framing(NamedTuple):
    """How the cells of a source form frames.

    Attributes:
        cells: How many cells its frames have, in the order in which they are repeated.
        first: The index by which frames of its first connection are counted.
    """

    cells: tuple[int, ...]
    first: int


class Numbering:
    """Notes of the cells of one source of which frame they are, in order of sending."""

    def __init__(self, framing: Framing, arrivals: Arrivals, first: int, connections: int) -> None:
        """Take what the cells of a source form, when they are sent, and its connections."""
        self._first = first
        turn = np.zeros(connections, np.int64)
        self._sizes = np.array(framing.cells, np.int64), turn
        self._next = np.full(connections, note_piece(NEXT, 0, MORE_FOLLOW), np.int64)
        changes = arrivals.processes[1:] if isinstance(arrivals, Changing) else ()
        self._changes_ps = np.array([at_ps for at_ps, _ in changes], np.int64)
        self._seen = np.zeros(connections, np.int64)

    def note(self, batch: Batch) -> Batch:
        """Return the same cells, with what is noted of them."""
        more = np.empty((batch.count, WIDTH), np.int64)
        mine = batch.connection.view(np.uint32)
        if len(self._changes_ps):
            changing = self._changes_ps, self._seen
            _number_anew(batch.at_ps, mine, self._first, changing, self._sizes, self._next, more)
        else:
            _number(mine, self._first, self._sizes, self._next, more)
        return batch._replace(more=more)


@kernel
def _number(
    connection: Rows, first: int, sizes: tuple[Whole, Whole], following: Whole, more: Whole
) -> None:
    """Write which cell of which frame each is.

    Args:
        connection: (n,) Their connections.
        first: The index of the source's first.
        sizes: How many cells frames have, in turn; and whose turn it is, by connection, updated.
        following: (connections,) What is noted of the next cell, if others follow it. Updated.
        more: (n, WIDTH) Written.
    """
    cells, turn = sizes
    takes_turns = len(cells) > 1
    for i in range(len(connection)):
        c = connection[i] - first
        piece = following[c]
        if number_in(piece) + 1 < cells[turn[c] if takes_turns else 0]:
            following[c] = piece + 2
        else:
            piece -= MORE_FOLLOW
            turn[c] = turn[c] + 1 if turn[c] + 1 < len(cells) else 0
            following[c] = note_piece(read_whole(piece) + NEXT, 0, MORE_FOLLOW)
        more[i, :FRAME] = 0
        more[i, FRAME] = piece


@kernel
def _number_anew(  # noqa: PLR0913, PLR0917 -- a kernel
    at_ps: Times,
    connection: Rows,
    first: int,
    changing: tuple[Times, Whole],
    sizes: tuple[Whole, Whole],
    following: Whole,
    more: Whole,
) -> None:
    """Do the same where a change of the source begins a frame, and leaves one unfinished.

    Args:
        at_ps: (n,) When cells are ready.
        connection: (n,) Their connections.
        first: The index of the source's first.
        changing: When the source changes; and how many changes each connection has seen, updated.
        sizes: As of `_number`; those in turn begin anew, too.
        following: As of `_number`.
        more: (n, WIDTH) Written.
    """
    changes_ps, seen = changing
    for i in range(len(at_ps)):
        c = connection[i] - first
        while seen[c] < len(changes_ps) and at_ps[i] >= changes_ps[seen[c]]:
            seen[c] += 1
            sizes[1][c] = 0
            if number_in(following[c]):
                following[c] = note_piece(read_whole(following[c]) + NEXT, 0, MORE_FOLLOW)
        _number(connection[i : i + 1], first, sizes, following, more[i : i + 1])
