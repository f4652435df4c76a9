"""Delays of cells by their place in a frame, for the flows whose statements use them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.arrays import np
from qospec.engine.items.batch import COLUMNS, count_columns
from qospec.engine.items.delay_row import add_delay
from qospec.engine.items.piece import number_in
from qospec.engine.kernel import kernel
from qospec.engine.measure import delays

if TYPE_CHECKING:
    from qospec.engine.arrays import Rows, Times, Whole
    from qospec.engine.experiment import Experiment
    from qospec.engine.items.batch import Batch
    from qospec.engine.measure.tally import Delays

FRAME = COLUMNS.index("frame")
WIDTH = count_columns("frame")
NOT_FOLLOWED = -1


class Positions:
    """Records delays by place.

    Attributes:
        needed: Whether a statement uses any.
    """

    def __init__(self, experiment: Experiment) -> None:
        ranges = experiment.measurement.list_ranges("positions")
        self._first = np.full(experiment.streams.indices, NOT_FOLLOWED, np.int64)
        self._cells: dict[int, int] = {}
        rows = 0
        for source in experiment.sources if ranges else ():
            for index in range(source.indices.start, source.indices.stop):
                if source.framing and any(first <= index < stop for first, stop in ranges):
                    self._first[index], self._cells[index] = rows, max(source.framing.cells)
                    rows += self._cells[index]
        self.needed = rows > 0
        self._rows = delays.create_rows(np.full(rows, -1))
        self._buckets = np.zeros(0, np.int64)

    def add(self, batch: Batch, at_ps: Times, sent_ps: Times) -> None:
        """Add cells that have arrived, at those times and sent at those."""
        if batch.width >= WIDTH:
            mine = batch.connection.view(np.uint32)
            _add(at_ps, sent_ps, mine, batch.more, self._first, self._rows, self._buckets)

    def pool(self, first: int, stop: int) -> tuple[Delays, ...] | None:
        """Return by place, from the first cell, the delays of some connections.

        None if one of them was not followed.
        """
        cells = {self._cells.get(index, 0) for index in range(first, stop)}
        if not all(cells):
            return None
        starts = self._first[first:stop]
        return tuple(
            delays.DelaySummary(self._rows[starts + place], NO_HISTOGRAM, 0).pool(slice(None))
            for place in range(min(cells, default=0))
        )


NO_HISTOGRAM = np.zeros((0, 0), np.int64)


@kernel
def _add(  # noqa: PLR0913, PLR0917 -- a kernel
    at_ps: Times,
    sent_ps: Times,
    connection: Rows,
    more: Whole,
    first: Whole,
    rows: Whole,
    buckets: Whole,
) -> None:
    """Add the delay of each cell to the row of its place in its frame."""
    for i in range(len(at_ps)):
        start = first[connection[i]]
        if start != NOT_FOLLOWED:
            add_delay(rows[start + number_in(more[i, FRAME])], at_ps[i] - sent_ps[i], 0, buckets)
