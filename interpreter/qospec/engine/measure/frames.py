"""Frames of cells: which were sent, which arrived whole, and how long they took.

A frame is sent when its last cell is. It arrives with its last cell if all of them have come, in
order and with none of another frame of the connection among them; otherwise it is lost, as a
receiver finds who checks its length or its sequence. A frame is of the window if all its cells are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.experiment import END
from qospec.engine.items.batch import COLUMNS, allocate_batch, count_columns
from qospec.engine.items.delay_row import add_delay
from qospec.engine.items.piece import MORE_FOLLOW, number_in
from qospec.engine.kernel import kernel
from qospec.engine.measure import delays
from qospec.engine.measure.latency import compute_transmission_ps
from qospec.engine.measure.tally import Delays, FrameLatencies, combine_signs
from qospec.protocol.atm import CELL_BYTES

if TYPE_CHECKING:
    from qospec.engine.arrays import Rows, Times, Whole
    from qospec.engine.experiment import Experiment
    from qospec.engine.items.batch import Batch
    from qospec.engine.line.clock import Clock

NOT_FRAMED = -1
NEVER_PS = -1
"""When the first cell of a frame came of which none has."""
FIRST_SENT, FIRST_AT, UNDELAYED = range(3)
"""Columns of a connection: when the first cell of a frame was sent, when that arrived, and from
when on the output would send its cells, one behind the other, so that no more of them had to wait.
"""
BROKEN = -3
"""In place of what is noted of the last cell that arrived, if no cell may follow it."""
COMPLETES = 1
"""The lowest bit of a listed cell, above which its place is; see `_follow`."""
FIRST_IN_FIRST_OUT, LAST_IN_LAST_OUT, LAST_IN_FIRST_OUT, FIRST_IN_LAST_OUT, MOST_IN_MOST_OUT = (
    range(5)
)
"""Rows of an index, each followed by one of the absolute values of those below 0: by LATENCIES."""
LATENCIES = 5
MOST_PARTS = 2**20
"""Of a ps: so that what the cells of a frame take is right to a ps."""


FRAME = COLUMNS.index("frame")
WIDTH = count_columns("frame")
ENDED, FIRST, NOMINAL = range(3)
"""Columns of `more` of cells, and of frames as items: of which frame a cell is;
when the last cell was sent, when the first one came, and when the last bit would come of a switch
without delay. Such an item is sent when its first cell is, and comes with its last."""


class Pace(NamedTuple):
    """The time of a cell on the lines at both ends; on the last one also its parts of a ps."""

    input_ps: int
    output_ps: int
    part: int
    parts: int


class Frames:
    """Follows the frames of all sources that have any.

    Attributes:
        needed: Whether there are any.
        recorded: Whether a statement uses their latencies.
        planned: Whether one uses how many were to be sent.
        targets: The hosts where they arrive, each with the indices by which they are counted.
    """

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        indices = experiment.streams.indices
        self._frame = np.full(indices, NOT_FRAMED, np.int64)
        self._clocks: list[tuple[slice, Clock]] = []
        self.targets: list[tuple[str, slice]] = []
        for source in experiment.sources:
            if source.framing is None:
                continue
            first, clock = source.framing.first, experiment.nodes[source.node].clock
            mine = slice(first, first + source.connections)
            self._frame[source.indices] = np.arange(mine.start, mine.stop)
            if clock is not None:
                self._clocks.append((mine, clock))
            self.targets.append((source.monitor.host, mine))
        self.needed = bool(self.targets)
        ranges = experiment.measurement.list_ranges("planned")
        self.planned = any(
            first < mine.stop and mine.start < stop
            for first, stop in ranges
            for _, mine in self.targets
        )
        self._began, self._ready = (np.full(indices, NEVER_PS, np.int64) for _ in range(2))
        self._arriving = np.full(indices, BROKEN, np.int64), np.zeros((indices, 3), np.int64)
        self._rows = (
            _create_rows(experiment, indices) if self.needed else np.zeros((0, 0, 8), np.int64)
        )
        self.recorded = self._rows.size > 0
        self._paces: dict[int, Whole] = {}
        self._ends = np.empty(0, np.int64)

    def follows(self, index: int) -> bool:
        """Return whether frames are counted by an index."""
        return any(mine.start <= index < mine.stop for _, mine in self.targets)

    def find_sent(self, batch: Batch) -> Batch:
        """Return the frames whose last cells have left the line of their source."""
        return self._select_ended(batch, self._began)

    def find_emitted(self, batch: Batch) -> Batch:
        """Return the frames whose last cells a source has ready."""
        return self._select_ended(batch, self._ready)

    def _select_ended(self, batch: Batch, began: Whole) -> Batch:
        if batch.width < WIDTH:
            return NONE
        ends = self._make_room(batch.count)
        ends = ends[: _list_ends(batch.more, ends)]
        found = allocate_batch(len(ends), width=2)
        mine = batch.connection.view(np.uint32)
        count = _send(ends, batch.sent_ps, mine, batch.more, (self._frame, began), found)
        return _cut(found, count)

    def find_arrived(self, batch: Batch, point: int) -> Batch:
        """Return the frames that have arrived at an end with their last cells."""
        if batch.width < WIDTH:
            return NONE
        before, first = self._arriving
        pace = self._find_paces(point) if self.recorded else NO_PACES
        times, mine = (batch.at_ps, batch.sent_ps), batch.connection.view(np.uint32)
        ends = self._make_room(batch.count)
        ends = ends[: _follow(mine, batch.more, before, pace, ends)]
        found = allocate_batch(len(ends), width=3)
        known = self._frame, pace, first
        return _cut(found, _arrive(ends, times, mine, batch.more, known, found))

    def _make_room(self, count: int) -> Whole:
        """Return room to list so many cells, which is used anew in each call."""
        if len(self._ends) < count:
            self._ends = np.empty(count, np.int64)
        return self._ends

    def record_latencies(self, frames: Batch, point: int) -> None:
        """Record the latencies of frames that arrived at an end."""
        frame = frames.connection.view(np.uint32)
        _measure(frames, frame, self._find_paces(point), self._rows, NO_BUCKETS)

    def _find_paces(self, point: int) -> Whole:
        """Return (indices, 4) the fields of a `Pace`; all 0 where a rate is not known."""
        if point not in self._paces:
            self._paces[point] = self._build_paces(point)
        return self._paces[point]

    def _build_paces(self, point: int) -> Whole:
        wire = self._experiment.wires[point]
        assert wire.to == END  # noqa: S101 -- what arrives is at an end
        clock = self._experiment.nodes[wire.node].clock
        found = np.zeros((len(self._frame), 4), np.int64)
        for mine, origin in self._clocks:
            if clock is None:
                continue
            output_ps, part = divmod(CELL_BYTES * clock.byte_time_ps, 1)
            parts = part.limit_denominator(MOST_PARTS).as_integer_ratio()
            found[mine] = Pace(compute_transmission_ps(origin, CELL_BYTES), output_ps, *parts)
        return found

    def pool(self, part: slice) -> FrameLatencies | None:
        """Return the latencies of a range of connections; None if none were recorded."""
        if not self.recorded:
            return None
        rows = [
            delays.DelaySummary(self._rows[part, n], NO_HISTOGRAM, 0) for n in range(2 * LATENCIES)
        ]
        pooled: list[Delays] = [row.pool(slice(None)) for row in rows]
        return FrameLatencies(
            *(combine_signs(pooled[2 * n], pooled[2 * n + 1]) for n in range(LATENCIES))
        )


NONE = allocate_batch(0, width=2)
NO_PACES = np.zeros((0, 4), np.int64)
NO_BUCKETS = np.zeros(0, np.int64)
NO_HISTOGRAM = np.zeros((0, 0), np.int64)


def _create_rows(experiment: Experiment, indices: int) -> Whole:
    """Return (indices, 10, 8) empty rows; none if no statement uses latencies of frames."""
    if not experiment.measurement.list_ranges("frame_latencies"):
        return np.zeros((0, 0, 8), np.int64)
    return delays.create_rows(np.full(indices * 2 * LATENCIES, -1)).reshape(indices, -1, 8)


def _cut(found: Batch, count: int) -> Batch:
    """Return the first frames, as items of the size of a cell: that of a frame is not counted."""
    frames = found.select_range(0, count)
    frames.size_bytes[:], frames.marks[:] = CELL_BYTES, 0
    return frames


# Cells that begin or end a frame are listed before their times are read. They are so far apart that
# what is read of each is out of the caches, and a loop over all cells would wait for one at a time.
@kernel
def _list_ends(more: Whole, ends: Whole) -> int:
    """List the cells that begin or end a frame, and those of none; return how many."""
    listed = 0
    for i in range(len(more)):
        piece = more[i, FRAME]
        if not piece & MORE_FOLLOW or not number_in(piece):
            ends[listed] = i
            listed += 1
    return listed


@kernel
def _send(
    ends: Whole,
    sent_ps: Times,
    connection: Rows,
    more: Whole,
    known: tuple[Whole, Whole],
    found: Batch,
) -> int:
    """Write the frames whose last cell is sent, and when their first was; return how many."""
    (frame, began), count = known, 0
    for i in ends:
        piece, c = more[i, FRAME], connection[i]
        if not piece or frame[c] == NOT_FRAMED:
            continue
        if not number_in(piece):
            began[c] = sent_ps[i]
        if not piece & MORE_FOLLOW:
            found.connection[count], found.sent_ps[count] = frame[c], began[c]
            found.more[count, ENDED] = found.at_ps[count] = sent_ps[i]
            count += 1
    return count


@kernel
def _follow(connection: Rows, more: Whole, before: Whole, pace: Whole, ends: Whole) -> int:
    """List the cells that begin, end or break a frame; all, if frames are timed.

    Each is followed by whether it completes a frame. What is noted of a cell is that of the one
    before it and 2, or 1 if no more follow.

    Args:
        connection: (n,) Their connections.
        more: (n, k) What is noted of them.
        before: (connections,) Updated: what was noted of the last one.
        pace: See `_find_paces`; none if frames are not timed.
        ends: (n,) Written: twice the index of a cell, and COMPLETES.

    Returns:
        How many are listed.
    """
    timed, listed = len(pace) > 0, 0
    for i in range(len(connection)):
        piece, c = more[i, FRAME], connection[i]
        if piece == before[c] + 2 and piece & MORE_FOLLOW:
            before[c] = piece
            if timed:
                ends[listed] = i << 1
                listed += 1
        elif piece:
            begins, follow = not number_in(piece), piece & MORE_FOLLOW
            completes = not follow and (begins or piece == before[c] + 1)
            ends[listed] = i << 1 | completes
            listed += 1
            before[c] = piece if begins and follow else BROKEN
    return listed


@kernel
def _arrive(
    ends: Whole,
    times: tuple[Times, Times],
    connection: Rows,
    more: Whole,
    known: tuple[Whole, Whole, Whole],
    found: Batch,
) -> int:
    """Write the frames whose cells have all come, one behind the other; return how many."""
    (at_ps, sent_ps), (frame, pace, first), count = times, known, 0
    timed = len(pace) > 0
    for end in ends:
        i = end >> 1
        piece, c = more[i, FRAME], connection[i]
        if frame[c] == NOT_FRAMED:
            continue
        if not number_in(piece):
            first[c, FIRST_SENT], first[c, FIRST_AT] = sent_ps[i], at_ps[i]
            first[c, UNDELAYED] = sent_ps[i]
        elif timed:
            _delay_frame(first[c], pace[frame[c]], piece, sent_ps[i])
        if end & COMPLETES:
            found.connection[count], found.sent_ps[count] = frame[c], first[c, FIRST_SENT]
            found.more[count, ENDED], found.at_ps[count] = sent_ps[i], at_ps[i]
            found.more[count, FIRST] = first[c, FIRST_AT]
            if timed:
                whole_ps = _compute_cells_time(pace[frame[c]], 1 + number_in(piece))
                found.more[count, NOMINAL] = first[c, UNDELAYED] + whole_ps
            count += 1
    return count


@kernel
def _delay_frame(first: Whole, pace: Whole, piece: int, sent_ps: int) -> None:
    """Let the cells of a frame be sent so much later that this one is not sent before it comes."""
    earliest_ps = sent_ps - _compute_cells_time(pace, number_in(piece))
    first[UNDELAYED] = max(first[UNDELAYED], earliest_ps)


@kernel
def _compute_cells_time(pace: Whole, cells: int) -> int:
    """Return how long cells take on the last line; 0 if its rate is not known."""
    _, output_ps, part, parts = pace
    return cells * output_ps + cells * part // parts if parts else 0


@kernel
def _measure(frames: Batch, frame: Rows, pace: Whole, rows: Whole, buckets: Whole) -> None:
    """Add the latencies of frames. Source: ATM Forum/97-0178, 1 (MIMO and its parts).

    Their nominal output time is what a frame takes through a switch without delay. Of cells without
    gaps on a line that is as fast as the last one, or faster, this is the input time, times the
    ratio of the rates, as is printed; with gaps that are shorter than cells are apart on the last
    line, the print would count these as often, and a frame be there before it is sent.
    """
    for i in range(len(frame)):
        c = frame[i]
        input_ps, output_ps, _, parts = pace[c]
        if not parts:
            continue
        last_in = frames.more[i, ENDED] + input_ps
        first_out = frames.more[i, FIRST] - output_ps
        last_last = frames.at_ps[i] - last_in
        first_last = frames.at_ps[i] - frames.sent_ps[i]
        _add(rows[c], FIRST_IN_FIRST_OUT, first_out - frames.sent_ps[i], buckets)
        _add(rows[c], LAST_IN_LAST_OUT, last_last, buckets)
        _add(rows[c], LAST_IN_FIRST_OUT, first_out - last_in, buckets)
        _add(rows[c], FIRST_IN_LAST_OUT, first_last, buckets)
        _add(
            rows[c],
            MOST_IN_MOST_OUT,
            min(last_last, frames.at_ps[i] - frames.more[i, NOMINAL]),
            buckets,
        )


@kernel
def _add(rows: Whole, latency: int, time_ps: int, buckets: Whole) -> None:
    """Add a time to the row of those of at least 0, or to that of the others."""
    row = 2 * latency + (1 if time_ps < 0 else 0)
    add_delay(rows[row], abs(time_ps), 0, buckets)
