"""Frames of cells: to which frame each cell of a source belongs."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.items.batch import COLUMNS, count_columns
from qospec.engine.items.piece import LENGTH_BITS, MORE_FOLLOW, note_piece, number_in, read_whole
from qospec.engine.kernel import kernel
from qospec.engine.source.changing import list_draws, list_spans
from qospec.engine.source.sizes import Sizes
from qospec.protocol.atm import CELL_BYTES

if TYPE_CHECKING:
    from qospec.catalogue.kinds import SizeMix
    from qospec.engine.arrays import Rows, Whole
    from qospec.engine.items.batch import Batch
    from qospec.engine.random import Draws
    from qospec.engine.source.arrivals import Arrivals
    from qospec.protocol.aal import Adaptation

FRAME = COLUMNS.index("frame")
WIDTH = count_columns("frame")


NEXT = 1 << LENGTH_BITS
"""From the number of a frame to the next; no packet is known of which it is made."""


class Framing(NamedTuple):
    """How the cells of a source form frames.

    Attributes:
        cells: How many cells its frames have, in the order in which they are repeated; or that they
            may have, if their sizes are drawn.
        first: The index by which frames of its first connection are counted.
        drawn: The sizes that are drawn, as the source draws them, see `count_in_cells`.
    """

    cells: tuple[int, ...]
    first: int
    drawn: Sizes | None = None


def count_in_cells(mix: SizeMix, adaptation: Adaptation) -> Sizes:
    """Return the sizes of packets as those of all cells that carry them, in bytes."""
    sizes = (CELL_BYTES * adaptation.count_cells(size_bytes) for size_bytes, _ in mix.parts)
    return Sizes(tuple(sizes), tuple(weight for _, weight in mix.parts), mix.in_order)


class Numbering:
    """Notes of the cells of one source of which frame they are, in order of sending.

    A change of the source begins a frame, and leaves one unfinished.
    """

    def __init__(
        self, framing: Framing, arrivals: Arrivals, first: int, connections: int, draws: Draws
    ) -> None:
        """Take what the cells of a source form, when they are sent, and its draws."""
        self._first, self._connections = first, connections
        self._cells = np.array(framing.cells[: 1 if framing.drawn else None], np.int64)
        self._next = np.full(connections, note_piece(NEXT, 0, MORE_FOLLOW), np.int64)
        self._last, self._turn = np.zeros((2, connections), np.int64)
        self._drawn = framing.drawn
        self._stages = deque(zip(list_spans(arrivals), list_draws(arrivals, draws), strict=True))
        self._begin_stage()

    def _begin_stage(self) -> None:
        """Begin anew, as the source does."""
        (_, self._until_ps, _), draws = self._stages.popleft()
        drawn = self._drawn
        self._sizes = None if drawn is None else drawn.start(self._connections, draws)
        self._ahead = np.empty(0, np.int64)
        self._turn[:] = 0
        _begin_frames(self._next, self._last, self._cells[0])

    def note_frames(self, batch: Batch) -> Batch:
        """Return the same cells, with what is noted of them."""
        more = np.empty((batch.count, WIDTH), np.int64)
        mine, done = batch.connection.view(np.uint32), 0
        while True:
            stop = int(batch.at_ps.searchsorted(self._until_ps))
            self._number_cells(mine[done:stop], more[done:stop])
            if stop == batch.count:
                return batch._replace(more=more)
            self._begin_stage()
            done = stop

    def _number_cells(self, connection: Rows, more: Whole) -> None:
        """Write what is noted of cells of one stage."""
        if self._sizes is not None and len(self._ahead) < len(connection):
            sizes = self._sizes.take_next(np.zeros(len(connection), np.int32)) // CELL_BYTES
            self._ahead = np.concatenate([self._ahead, sizes])
        frames = self._next, self._last, self._turn
        used = _number_cells(connection, self._first, (self._cells, self._ahead), frames, more)
        self._ahead = self._ahead[used:]


@kernel
def _begin_frames(following: Whole, last: Whole, cells: int) -> None:
    """Let the next cell of each connection begin a frame of so many cells; see `_number_cells`."""
    for c in range(len(following)):
        if number_in(following[c]):
            following[c] = note_piece(read_whole(following[c]) + NEXT, 0, MORE_FOLLOW)
        last[c] = note_piece(read_whole(following[c]), cells - 1, MORE_FOLLOW)


@kernel
def _number_cells(
    connection: Rows,
    first: int,
    sizes: tuple[Whole, Whole],
    frames: tuple[Whole, Whole, Whole],
    more: Whole,
) -> int:
    """Write which cell of which frame each is.

    Args:
        connection: (n,) Their connections.
        first: The index of the source's first.
        sizes: How many cells frames have in turn; and those that are drawn, in order of their
            beginning, none if that is not so.
        frames: (connections,) each, updated: what is noted of the next cell and of the last one of
            its frame, if others followed them; and whose turn it is.
        more: (n, WIDTH) Written.

    Returns:
        How many sizes that were drawn have been used.
    """
    cells, ahead = sizes
    following, last, turn = frames
    takes_turns, is_drawn, used = len(cells) > 1, len(ahead) > 0, 0
    for i in range(len(connection)):
        c = connection[i] - first
        piece = following[c]
        if is_drawn and number_in(piece) == 0:
            last[c] = note_piece(read_whole(piece), ahead[used] - 1, MORE_FOLLOW)
            used += 1
        if piece != last[c]:
            following[c] = piece + 2
        else:
            piece -= MORE_FOLLOW
            if takes_turns:
                turn[c] = turn[c] + 1 if turn[c] + 1 < len(cells) else 0
            whole = read_whole(piece) + NEXT
            following[c] = note_piece(whole, 0, MORE_FOLLOW)
            last[c] = note_piece(whole, cells[turn[c]] - 1, MORE_FOLLOW)
        more[i, :FRAME] = 0
        more[i, FRAME] = piece
    return used
