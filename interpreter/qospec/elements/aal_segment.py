"""Segmentation: packets become cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.calculus.curve import NOTHING
from qospec.calculus.guarantee import Guarantee, Guarantees, bound_items
from qospec.catalogue.kinds import element
from qospec.dataclass import dataclass
from qospec.engine.adaptation import AdaptationEnd
from qospec.engine.arrays import np
from qospec.engine.element import Step
from qospec.engine.event.transition import (
    CONNECTION,
    DONE,
    FRAME,
    MARKS,
    MOST_MADE,
    NO_ITEMS,
    SENT,
    SIZE,
    SPARE,
    Transition,
    grow,
    make,
    send,
)
from qospec.engine.items.batch import FRAME_PLACE, Batch, allocate_batch, count_columns
from qospec.engine.items.piece import LENGTH_BITS, MORE_FOLLOW, note_piece
from qospec.engine.kernel import kernel
from qospec.protocol.atm import CELL_BYTES

if TYPE_CHECKING:
    from qospec.calculus.guarantee import Arrival
    from qospec.catalogue.form import Form
    from qospec.catalogue.kinds import Buffer
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.line.clock import Clock

HEADER_BYTES, LEAST_BYTES, PER_CELL_BYTES, COUNT, FIRST = range(5)
"""The state: what is put around a packet, how small that is with it at least, and how much of it a
cell carries; the number of connections, and the first index of cells. Then comes, for each
connection, how many frames it has sent."""
FRAMES = 5


@element(
    source="ITU-T I.363.5, 9 (AAL5); I.363.3, 8 (AAL3/4); RFC 2684, 5 and 6 (encapsulations);"
    " RFC 2225, 7 (MTU)",
    carries=("packet",),
)
@dataclass(frozen=True)
class AalSegment(AdaptationEnd):
    """Cut each packet into cells, with header, padding and trailer of its AAL.

    The last cell stays the packet until `aal_reassemble` gives it its size back. The others are
    counted by themselves, as `cells`, and go where it goes, with its marks. All leave at once, in
    order: a line or a shaper behind it spaces them. A packet larger than the MTU is an error.

    Not modelled: the time that it takes, which a `processor` has; several packets of a connection
    side by side by their MID, in AAL3/4; fragments of packets, which are an error.
    """

    inserts = ("cells",)
    cuts = True

    def guarantee_service(
        self, arriving: tuple[Arrival, ...], clock: Clock | None, limits: tuple[Buffer | None, ...]
    ) -> Guarantees:
        return Guarantees((Guarantee(0, 0),))

    def bound_inserted(self, passing: Arrival) -> Arrival:
        """Return all cells but the last of each packet, as many as the largest has."""
        most = self.adaptation.count_cells(max(passing.sizes, default=1)) - 1
        return bound_items(passing.items.scale_by(most) if most else NOTHING, (CELL_BYTES,))

    def count_parts(self, size_bytes: int) -> int:
        return self.adaptation.count_cells(size_bytes)

    def predict_form(self, form: Form) -> Form:
        return form.cut_into_cells(self.adaptation, self.mtu_bytes)

    def start(self, setting: Setting) -> Whole:
        framing, streams = self.adaptation.framing, setting.streams
        around = [framing.header_bytes, framing.least_bytes, framing.per_cell_bytes]
        own = [*around, streams.count, streams.start("cells")]
        return np.array([*own, *[0] * streams.count], np.int64)

    def build_transition(self, setting: Setting) -> Transition:
        return Transition(self.start(setting), _arrive, columns=count_columns("frame"))

    def process(self, state: Whole, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        counts = np.empty(batch.count, np.int64)
        cells = allocate_batch(
            _count_all(batch, state, counts), width=max(batch.width, count_columns("frame"))
        )
        ends = np.cumsum(counts) - 1
        _cut_all(batch, state, counts, cells)
        is_made = np.ones(cells.count, np.bool_)
        is_made[ends] = False
        after = batch._replace(size_bytes=cells.size_bytes[ends])
        return Step(
            (cells,),
            (until_ps,),
            made=(cells.select(is_made),),
            resized=((batch, after),),
        )


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send the cells of a packet; see `engine.event.transition`."""
    connection, size_bytes = items[item, CONNECTION], items[item, SIZE]
    count = _count_cells(state, connection, size_bytes)
    if count > MOST_MADE and count > items[0, SPARE]:
        return NO_ITEMS
    if count == 0:
        send(out, 0, item, now_ps)
        return DONE
    frame = _begin_frame(state, connection, size_bytes)
    for number in range(count - 1):
        one = make(items, out, state[FIRST] + connection, CELL_BYTES, items[item, MARKS], now_ps)
        # They are measured by themselves, and no two items of a connection are sent at once.
        items[one, SENT] = items[item, SENT] + number
        items[one, FRAME] = note_piece(frame, number, MORE_FOLLOW)
        send(out, 0, one, now_ps)
    grow(out, item, CELL_BYTES - size_bytes)
    items[item, FRAME] = note_piece(frame, count - 1, 0)
    send(out, 0, item, now_ps)
    return DONE


@kernel
def _count_cells(state: Whole, connection: int, size_bytes: int) -> int:
    """Return how many cells a packet becomes; 0 of what is none, which a plan lets not come."""
    if connection >= state[COUNT]:
        return 0
    pdu_bytes = max(size_bytes + state[HEADER_BYTES], state[LEAST_BYTES])
    return -(-pdu_bytes // state[PER_CELL_BYTES])  # type: ignore[no-any-return]


@kernel
def _begin_frame(state: Whole, connection: int, size_bytes: int) -> int:
    """Return the number of the next frame of a connection, with the size of its packet."""
    state[FRAMES + connection] += 1
    return state[FRAMES + connection] << LENGTH_BITS | size_bytes  # type: ignore[no-any-return]


@kernel
def _count_all(batch: Batch, state: Whole, counts: Whole) -> int:
    """Write how many items each item becomes, and return how many these are."""
    total = 0
    for i in range(len(counts)):
        count = max(1, _count_cells(state, batch.connection[i], batch.size_bytes[i]))
        counts[i] = count
        total += count
    return total


@kernel
def _cut_all(batch: Batch, state: Whole, counts: Whole, cells: Batch) -> None:
    """Write the cells of all packets."""
    n = 0
    for i in range(len(counts)):
        connection, last = batch.connection[i], counts[i] - 1
        is_packet = connection < state[COUNT]
        frame = _begin_frame(state, connection, batch.size_bytes[i]) if is_packet else 0
        for number in range(last + 1):
            cells.at_ps[n], cells.sent_ps[n] = batch.at_ps[i], batch.sent_ps[i] + number
            cells.connection[n] = state[FIRST] + connection
            cells.size_bytes[n], cells.marks[n] = CELL_BYTES, batch.marks[i]
            for column in range(cells.more.shape[1]):
                cells.more[n, column] = 0
            cells.more[n, FRAME_PLACE] = note_piece(frame, number, MORE_FOLLOW)
            n += 1
        cells.sent_ps[n - 1], cells.connection[n - 1] = batch.sent_ps[i], connection
        for column in range(batch.more.shape[1]):
            cells.more[n - 1, column] = batch.more[i, column]
        if is_packet:
            cells.more[n - 1, FRAME_PLACE] = note_piece(frame, last, 0)
        else:
            cells.size_bytes[n - 1] = batch.size_bytes[i]
