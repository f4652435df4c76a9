"""Reassembly: cells become packets again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from qospec.calculus.guarantee import Guarantee, Guarantees
from qospec.catalogue.kinds import LONGEST_PS, Domain, element
from qospec.dataclass import dataclass
from qospec.engine.adaptation import AdaptationEnd
from qospec.engine.arrays import np
from qospec.engine.element import Loss, Step
from qospec.engine.event.transition import (
    CONNECTION,
    DONE,
    FRAME,
    SEAL,
    SIZE,
    Transition,
    consume,
    grow,
    lose,
    send,
)
from qospec.engine.items.batch import (
    COLUMNS,
    FOREVER_PS,
    FRAME_PLACE,
    count_columns,
    read_note,
)
from qospec.engine.items.partition import partition
from qospec.engine.items.piece import MORE_FOLLOW, number_in, read_length_bytes, read_whole
from qospec.engine.kernel import kernel, view_part
from qospec.engine.security.seal import TAMPERED
from qospec.protocol.aal import AALS

if TYPE_CHECKING:
    from qospec.calculus.guarantee import Arrival
    from qospec.catalogue.form import Form
    from qospec.catalogue.kinds import Buffer
    from qospec.engine.arrays import Marks, Sizes, Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch
    from qospec.engine.line.clock import Clock

Timeout = Annotated[int | None, Domain("time", 1, LONGEST_PS)]

COUNT, FIRST, FIRST_MISINSERTED, MOST_CELLS, IS_SEQUENCED, TIMEOUT_PS = range(6)
"""The state: the number of connections, the first indices of cells and of misinserted ones; how
many cells the largest packet has; whether cells are numbered; the timeout, or a time that no trial
reaches. Then comes a row for each connection."""
FRAMES = 6
CELLS, EXPECTED, WHOLE, VIOLATION, BEGAN_PS, OWED = range(6)
"""Of the frame that a connection is in: how many of its cells have come, 0 if none is under way;
the number of the next, its own number, what is wrong with it, a number of CAUSES, and when its
first cell came. Of one that was given up: why, until a cell is counted for it."""
WIDTH = 6
CAUSES = (
    "",
    "crc_error",
    "length_violation",
    "sequence_violation",
    "too_long",
    "reassembly_timeout",
)
NO_ERROR, CRC_ERROR, LENGTH_VIOLATION, SEQUENCE_VIOLATION, TOO_LONG, TIMED_OUT, ENDS = range(7)
"""The fate of a cell: it ends here; it is the last, and its packet goes on or is lost; or it is
counted as lost for a frame that is given up without its last."""
SEAL_PLACE = COLUMNS.index("seal")
SEQUENCE = 16
"""The numbers of cells, in turn. Source: I.363.3, 8.2.1.2 (a sequence number of 4 bits)."""


@element(
    source="ITU-T I.363.5, 9 (AAL5: CRC-32, length, maximum SDU); I.363.3, 8 (AAL3/4: CRC-10,"
    " sequence numbers, length); RFC 2515, 5 (counts of errors)",
    carries=("cell",),
)
@dataclass(frozen=True)
class AalReassemble(AdaptationEnd):
    """Put the cells of each packet together again, and check them as the AAL does.

    A packet goes on when its last cell comes, or is lost then. In AAL5 a frame is all that has come
    since the last one ended: if a cell is missing, changed or of another one, that is a
    `crc_error`; after the last cell of a packet was lost, the next packet is lost, too. More cells
    than the largest packet of the `mtu` has are `too_long`, and what follows them is a new frame.
    In AAL3/4 each cell has a number and a CRC-10, and a first cell begins a new frame whatever was
    missing before it; a gap is a `sequence_violation` or, if it is of a multiple of 16 cells, a
    `length_violation`.

    What has come of a frame is given up when the `timeout` is over since its first cell has come: a
    later last cell brings a `reassembly_timeout`, and a later first one begins anew.

    A packet whose last cell was lost was lost where that was. What has come of it is given up here,
    as `too_long`, `reassembly_timeout` or, if a first cell follows, `sequence_violation`: counted
    once, with the cell, of those that are counted by themselves, that shows it or comes next.

    OAM cells and those of other users end here. A packet has the marks of its last cell.

    Not modelled: that a CRC holds by chance; a limit of what waits; the time that it takes, which a
    `processor` has.
    """

    timeout: Timeout = None
    """How long a frame may take from its first cell to its last; by default, any time."""

    causes = CAUSES[1:]
    ends = ("cells", "misinserted", "oam")

    def guarantee_service(
        self, arriving: tuple[Arrival, ...], clock: Clock | None, limits: tuple[Buffer | None, ...]
    ) -> Guarantees:
        """Return that a packet goes on when its last cell comes."""
        return Guarantees((Guarantee(0, 0),))

    @property
    def discards_for(self) -> tuple[str, ...]:
        unsequenced = {LENGTH_VIOLATION, SEQUENCE_VIOLATION}
        never = {TOO_LONG} if AALS[self.aal].is_sequenced else unsequenced
        never |= {TIMED_OUT} if self.timeout is None else set()
        return tuple(CAUSES[n] for n in range(1, len(CAUSES)) if n not in never)

    def predict_form(self, form: Form) -> Form:
        return form.reassemble_cells(self.adaptation, self.mtu_bytes)

    def start(self, setting: Setting) -> Whole:
        streams = setting.streams
        own = [
            streams.count,
            streams.start("cells"),
            streams.start("misinserted"),
            self.adaptation.count_cells(self.mtu_bytes),
            AALS[self.aal].is_sequenced,
            FOREVER_PS if self.timeout is None else self.timeout,
        ]
        return np.array([*own, *[0] * (WIDTH * streams.count)], np.int64)

    def build_transition(self, setting: Setting) -> Transition:
        return Transition(
            self.start(setting),
            _arrive,
            losses=tuple(("", cause) for cause in self.causes),
            columns=count_columns("frame"),
        )

    def process(self, state: Whole, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        fate, counts = np.empty(batch.count, np.uint8), np.zeros(ENDS + 1, np.int64)
        _take_all_in(batch, state, fate, counts)
        ends = np.flatnonzero(fate != ENDS)
        last = batch.select(ends)
        kept, *lost = partition(last, fate[ends], tuple(counts[:ENDS].tolist()))
        frames, size_bytes = kept.read_column("frame"), np.empty(kept.count, np.int32)
        _read_lengths(frames, size_bytes)
        packets = kept.with_column("frame", np.zeros_like(frames)).with_sizes(size_bytes)
        return Step(
            (packets,),
            (until_ps,),
            tuple(Loss(*loss) for loss in zip(self.causes, lost, strict=True) if loss[1].count),
            consumed=(batch.without_notes().select(fate == ENDS),),
            resized=((kept, packets),),
        )


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Take a cell in, and send a packet on if it is its last; see `engine.event.transition`."""
    piece = items[item, FRAME]
    fate = _take_in(state, items[item, CONNECTION], piece, items[item, SEAL], now_ps)
    if fate == ENDS:
        consume(out, item)
    elif fate != NO_ERROR:
        lose(out, fate - 1, item)
    else:
        items[item, FRAME] = 0
        grow(out, item, read_length_bytes(piece) - items[item, SIZE])
        send(out, 0, item, now_ps)
    return DONE


@kernel
def _take_all_in(batch: Batch, state: Whole, fate: Marks, counts: Whole) -> None:
    """Write the fate of each cell, and count cells by fate."""
    for i in range(len(fate)):
        piece = read_note(batch.more, i, FRAME_PLACE)
        seal = read_note(batch.more, i, SEAL_PLACE)
        outcome = _take_in(state, batch.connection[i], piece, seal, batch.at_ps[i])
        fate[i] = outcome
        counts[outcome] += 1


@kernel
def _read_lengths(frames: Whole, size_bytes: Sizes) -> None:
    """Write the size of each packet."""
    for i in range(len(frames)):
        size_bytes[i] = read_length_bytes(frames[i])


@kernel
def _take_in(state: Whole, connection: int, piece: int, seal: int, now_ps: int) -> int:
    """Return the fate of a cell: it ends, it brings a packet, or that is lost for one of CAUSES."""
    kind = connection // state[COUNT]
    frame = view_part(state, FRAMES + WIDTH * (connection - kind * state[COUNT]), WIDTH)
    first = kind * state[COUNT]
    if kind > 0 and first != state[FIRST]:
        if first == state[FIRST_MISINSERTED] and not state[IS_SEQUENCED]:
            if frame[CELLS] == 0:
                frame[BEGAN_PS] = now_ps
            frame[CELLS] += 1
            frame[VIOLATION] = CRC_ERROR
        return ENDS
    if frame[CELLS] > 0 and now_ps - frame[BEGAN_PS] > state[TIMEOUT_PS]:
        is_late = read_whole(piece) == frame[WHOLE]
        frame[CELLS], frame[VIOLATION] = 0, TIMED_OUT if is_late else NO_ERROR
        frame[OWED] = NO_ERROR if is_late else TIMED_OUT
    if frame[CELLS] > 0 and state[IS_SEQUENCED] and number_in(piece) == 0:
        frame[OWED] = frame[VIOLATION] if frame[VIOLATION] != NO_ERROR else SEQUENCE_VIOLATION
        frame[CELLS] = frame[VIOLATION] = 0
    if frame[CELLS] == 0:
        frame[BEGAN_PS] = now_ps
    _note_cell(state, frame, piece, seal & TAMPERED)
    is_too_long = not state[IS_SEQUENCED] and frame[CELLS] > state[MOST_CELLS]
    if piece & MORE_FOLLOW and not is_too_long:
        owed, frame[OWED] = frame[OWED], NO_ERROR
        return ENDS if owed == NO_ERROR else owed
    violation = TOO_LONG if is_too_long else _check(frame, piece)
    frame[CELLS] = frame[VIOLATION] = 0
    return violation


@kernel
def _note_cell(state: Whole, frame: Whole, piece: int, is_changed: int) -> None:
    """Note a cell, and what is wrong with its frame."""
    number, violation = number_in(piece), NO_ERROR
    is_first = frame[CELLS] == 0
    if state[IS_SEQUENCED]:
        if number > 0 and (is_first or (number - frame[EXPECTED]) % SEQUENCE != 0):
            violation = SEQUENCE_VIOLATION
    elif number != (0 if is_first else frame[EXPECTED]) or (
        not is_first and read_whole(piece) != frame[WHOLE]
    ):
        violation = CRC_ERROR
    if is_changed:
        violation = CRC_ERROR
    if is_first:
        frame[WHOLE] = read_whole(piece)
    if frame[VIOLATION] == NO_ERROR:
        frame[VIOLATION] = violation
    frame[EXPECTED] = number + 1
    frame[CELLS] += 1


@kernel
def _check(frame: Whole, piece: int) -> int:
    """Return what is wrong with a frame of which the last cell has come."""
    if frame[VIOLATION] != NO_ERROR:
        return frame[VIOLATION]  # type: ignore[no-any-return]
    if frame[CELLS] != number_in(piece) + 1 or frame[WHOLE] != read_whole(piece):
        return LENGTH_VIOLATION
    return NO_ERROR
