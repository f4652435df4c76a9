"""Admission to a queue: whether an arrival is admitted or lost, and for which cause.

Every drop policy is the same few steps with other numbers. The marks of an item give its class.
Each class has an amount that may wait including it; and above some average of what waits, items are
lost early, at random. All numbers are integers:

- The average is kept in 2^-20 of a packet, cell or byte. Its weight is 1/2^k, so that each step is
  a shift (Floyd and Jacobson 1993, 11), rounded down.
- An arrival at an empty queue follows an idle time of m typical items; the average falls as if so
  many had found the queue empty (there, 4 and figure 2). (1 - 1/2^k)^m is the product of its powers
  of 2^0, 2^1, 2^2 …, each kept in 30 binary places, rounded down, as is the average after each.
- A probability has 30 binary places, and so has the random number that it is compared with.

A queue may mark in place of early losses: packets of a transport that is capable of it, and CE is
then their codepoint (RFC 3168, 5).

Cells of frames may be lost with their frame, one fate for each connection at a time. Nothing but
the last cell of a frame tells where the next begins, as for a switch, which sees headers only
(Romanow and Floyd 1995): behind a last cell that was lost before, the next frame is the same.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Literal

from qospec.catalogue.kinds import OF_PACKETS, Boolean, Domain
from qospec.dataclass import NamedTuple, dataclass
from qospec.engine.arrays import np
from qospec.engine.items.piece import MORE_FOLLOW
from qospec.engine.kernel import kernel, view_rows

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole

CAUSES = (
    "",
    "overflow",
    "threshold",
    "early",
    "early_packet_discard",
    "partial_packet_discard",
)
"""By decision: admitted; no room in the queue; none for the class; lost early; with a frame that
began when too much waited; with the rest of a frame of which a cell was lost."""
ADMITTED, OVERFLOW, THRESHOLD, EARLY, EARLY_PACKET_DISCARD, PARTIAL_PACKET_DISCARD = range(6)
MARKED = len(CAUSES)
"""Admitted, too, with CE in place of an early loss."""
BETWEEN, UNDER_WAY = 0, -1
"""The fate of a connection's frame: there is none; nothing is decided. Else it is the cause for
which the rest of it is lost."""

PLACES = 20
"""Binary places of the average."""
CERTAIN = 1 << 30
"""A probability of 1; random numbers are below."""
POWERS = 31
"""Squares of the weight's complement that are kept; after 2^31 typical items nothing is left."""
MOST_COUNTED = 1 << 31
"""The largest count of admissions of a class since its last loss."""

FIRST, TABLE, BIT, HIGHEST, LIMIT, WEIGHT, TYPICAL, MARKING, MOST, AVERAGE, SINCE = range(11)
QUEUE_FIELDS = 11
"""First row of its classes, row of `column`, first bit and greatest value of the mark by which it
has them, how much may wait, k of the average's weight or -1, the time of a typical item in ps, and
which bits of marks tell that it marks an item, and up to what admissions in a row are counted; the
average, and until when its last item was sent."""
ROOM, LOW, HIGH, TOP, SLOPE, CUT, CUT_ABOVE, COUNT, FRAMES_FROM, REST, CONGESTED_FROM = range(11)
CLASS_FIELDS = 11
"""How much may wait with an item; the averages at which early drops begin, have the probability
SLOPE, and are certain; by how many places differences are cut; admissions in a row; what must wait
for a frame that begins to be lost; whether the rest of a frame is lost with one of its cells; how
many items must wait for the line for an arrival to be lost."""


class AdmissionTable(NamedTuple):
    """What the kernels know about queues.

    Attributes:
        queues: (queues, QUEUE_FIELDS) The last two are updated.
        classes: (classes, CLASS_FIELDS) COUNT is updated.
        column: (tables, values) By value of the mark, the class among those of the queue.
        decay: (queues, POWERS) The weight's complement to the power of 2^n, 30 binary places.
        frames: (queues, connections) Updated: the fate of the frame under way; (queues, 0) if no
            policy is about frames.
    """

    queues: Whole
    classes: Whole
    column: Whole
    decay: Whole
    frames: Whole


def as_integers(table: AdmissionTable) -> Whole:
    """Return a table as one array of int64, for `view_table`: its shapes, then its fields."""
    shapes = [*map(len, table), table.column.shape[1], table.frames.shape[1]]
    return np.concatenate([shapes, *(field.ravel() for field in table)], dtype=np.int64)


@kernel
def view_table(state: Whole, start: int) -> AdmissionTable:
    """Return the table that begins at a place of `state`, as views."""
    queues, classes = start + 7, start + 7 + state[start] * QUEUE_FIELDS
    column = classes + state[start + 1] * CLASS_FIELDS
    decay = column + state[start + 2] * state[start + 5]
    frames = decay + state[start + 3] * POWERS
    return AdmissionTable(
        view_rows(state, queues, state[start], QUEUE_FIELDS),
        view_rows(state, classes, state[start + 1], CLASS_FIELDS),
        view_rows(state, column, state[start + 2], state[start + 5]),
        view_rows(state, decay, state[start + 3], POWERS),
        view_rows(state, frames, state[start + 4], state[start + 6]),
    )


Cell = tuple[int, int]
"""Its connection, and what is noted of its frame: see `items.piece`; 0 if it is of none."""
Item = tuple[int, int, int, Cell]
"""Its marks, the amount of the limit that it takes, the time of its arrival, and its frame."""
Ahead = tuple[int, int]
"""The amount that waits at a queue, as its limit counts, and the number of items that wait for the
line, at all queues."""


@kernel
def admit(
    table: AdmissionTable,
    k: int,
    item: Item,
    ahead: Ahead,
    needs_room: bool,  # noqa: FBT001 -- by place, as kernels do
    draw: int,
) -> int:
    """Decide about an item that arrives at queue `k`: ADMITTED, MARKED, or the cause of its loss.

    Args:
        table: Updated.
        k: Number of the queue.
        item: The arrival.
        ahead: What waits.
        needs_room: Whether the item has to wait itself.
        draw: A random number below CERTAIN.
    """
    queues, classes = table.queues, table.classes
    marks, amount, at_ps, cell = item
    waiting, items = ahead
    row = _find_class(table, k, marks)
    if queues[k, WEIGHT] >= 0:
        _follow(table, k, waiting, at_ps)
    average = queues[k, AVERAGE]
    counts = average >= classes[row, LOW]
    found = _find_fate(table, k, row, cell, waiting)
    is_early = found == ADMITTED and counts and _is_early(classes, row, average, draw)
    is_marked = is_early and marks & queues[k, MARKING] != 0
    if is_early and not is_marked:
        found = EARLY
    elif found == ADMITTED and needs_room and waiting + amount > classes[row, ROOM]:
        found = OVERFLOW if waiting + amount > queues[k, LIMIT] else THRESHOLD
    elif found == ADMITTED and items >= classes[row, CONGESTED_FROM]:
        found = THRESHOLD
    _note_fate(table, k, row, cell, found)
    if found != ADMITTED or not counts or is_marked:
        classes[row, COUNT] = 0
    elif classes[row, COUNT] < queues[k, MOST]:
        classes[row, COUNT] += 1
    return MARKED if is_marked and found == ADMITTED else found


@kernel
def is_admitted(decision: int) -> bool:
    """Return whether an item goes on."""
    return decision in (ADMITTED, MARKED)


@kernel
def find_room(table: AdmissionTable, k: int, marks: int) -> int:
    """Return the amount that may wait in queue `k` including an item of these marks."""
    return table.classes[_find_class(table, k, marks), ROOM]  # type: ignore[no-any-return]


@kernel
def note_drop(table: AdmissionTable, k: int, marks: int, cell: Cell) -> None:
    """Note that an item that was admitted finds no room after all."""
    row = _find_class(table, k, marks)
    table.classes[row, COUNT] = 0
    _note_fate(table, k, row, cell, OVERFLOW)


@kernel
def _find_fate(table: AdmissionTable, k: int, row: int, cell: Cell, waiting: int) -> int:
    """Return the cause for which an arrival is lost with its frame, or ADMITTED."""
    connection, piece = cell
    connections = table.frames.shape[1]
    if piece == 0 or connections == 0:
        return ADMITTED
    fate = table.frames[k, connection % connections]
    if fate == BETWEEN:
        return EARLY_PACKET_DISCARD * (waiting >= table.classes[row, FRAMES_FROM])  # type: ignore[no-any-return]
    if fate == UNDER_WAY or (fate == PARTIAL_PACKET_DISCARD and not piece & MORE_FOLLOW):
        return ADMITTED
    return fate  # type: ignore[no-any-return]


@kernel
def _note_fate(table: AdmissionTable, k: int, row: int, cell: Cell, found: int) -> None:
    """Note what becomes of the rest of a frame, given what becomes of one of its cells."""
    connection, piece = cell
    connections = table.frames.shape[1]
    if piece == 0 or connections == 0:
        return
    vc = connection % connections
    if not piece & MORE_FOLLOW:
        table.frames[k, vc] = BETWEEN
    elif found >= EARLY_PACKET_DISCARD:
        table.frames[k, vc] = found
    elif found != ADMITTED and table.classes[row, REST]:
        table.frames[k, vc] = PARTIAL_PACKET_DISCARD
    elif table.frames[k, vc] == BETWEEN:
        table.frames[k, vc] = UNDER_WAY


@kernel
def _find_class(table: AdmissionTable, k: int, marks: int) -> int:
    """Return the row of the class of an item at queue `k`."""
    queues = table.queues
    value = (marks >> queues[k, BIT]) & queues[k, HIGHEST]
    return queues[k, FIRST] + table.column[queues[k, TABLE], value]  # type: ignore[no-any-return]


@kernel
def _follow(table: AdmissionTable, k: int, waiting: int, at_ps: int) -> None:
    """Update the average by what an arrival finds waiting."""
    queues, decay = table.queues, table.decay
    average = queues[k, AVERAGE]
    if waiting == 0 and average > 0:
        steps, n = (at_ps - queues[k, SINCE]) // queues[k, TYPICAL], 0
        while steps > 0:
            if n == POWERS:
                average = 0
                break
            if steps & 1:
                high, low = average >> 30, average & (CERTAIN - 1)
                average = high * decay[k, n] + (low * decay[k, n] >> 30)
            steps >>= 1
            n += 1
    queues[k, AVERAGE] = average + (((waiting << PLACES) - average) >> queues[k, WEIGHT])


@kernel
def _is_early(classes: Whole, row: int, average: int, draw: int) -> bool:
    """Return whether an item is lost early; the average is not below LOW.

    With the probability p / (1 - count p), the first, the second … the (1/p)th
    item after a lost one are lost equally often (Floyd and Jacobson 1993, 7, method 2); with p
    itself, as nothing is counted, gaps are geometric (method 1).
    """
    low, high, top, slope = (
        classes[row, LOW],
        classes[row, HIGH],
        classes[row, TOP],
        classes[row, SLOPE],
    )
    if average >= top:
        return True
    if average < high:
        cut = classes[row, CUT]
        probability = slope * ((average - low) >> cut) // ((high - low) >> cut)
    else:
        cut = classes[row, CUT_ABOVE]
        share = (CERTAIN - slope) * ((average - high) >> cut) // ((top - high) >> cut)
        probability = slope + share
    ahead = CERTAIN - classes[row, COUNT] * probability
    return ahead <= 0 or draw * ahead < probability * CERTAIN  # type: ignore[no-any-return]


Weight = Annotated[Fraction, Domain("ratio", Fraction(1, 2**16), 1)]
"""The weight of an arrival in an average."""
Typical = Annotated[int, Domain("data", 1, 65_535, layers=OF_PACKETS)]
"""A size in bytes."""
Spacing = Annotated[
    Literal["uniform", "geometric"], Domain("choice", choices=("uniform", "geometric"))
]
"""The distribution of gaps between early drops."""
LIGHTEST = 16
"""The least weight of an average is 1/2^16."""


class Average(NamedTuple):
    """How an average follows the queue, and early drops follow the average.

    Attributes:
        weight: That of each arrival.
        typical_bytes: Of a typical item.
        spaces: Whether early drops are spaced evenly.
    """

    weight: Fraction
    typical_bytes: int
    spaces: bool


@dataclass(frozen=True, kw_only=True)
class Averaging:
    """What all policies declare that drop by an average."""

    gentle: Boolean = False
    """Whether the probability rises from `p` at `high` to 1 at twice `high`, instead of at once."""
    weight: Weight = Fraction(1, 512)
    """How far each arrival moves the average: 1, 1/2, 1/4 … or 1/65536."""
    typical: Typical = 500
    """The size of a typical packet, as a measure of idle time; a cell has 53 bytes."""
    spacing: Spacing = "uniform"
    """How early drops are spaced: `uniform`, gaps of 1 … 1/p packets are equally likely, or
    `geometric`, each packet is dropped with the probability itself, so that `p` is the share that
    is lost at `high`: what data sheets of WRED mean by it."""
    ecn: Boolean = False
    """Whether packets that are capable of ECN are marked, with CE, in place of early drops."""

    def __post_init__(self) -> None:
        find_exponent(self.weight)

    @property
    def marks_congestion(self) -> bool:
        """Return whether it marks in place of early drops."""
        return self.ecn

    @property
    def average(self) -> Average:
        """Return how the average follows that early drops go by."""
        return Average(self.weight, self.typical, self.spacing == "uniform")


def find_exponent(weight: Fraction) -> int:
    """Return k of a weight 1/2^k; raises ValueError for other weights, in the author's words."""
    k = weight.denominator.bit_length() - 1
    if weight != 0 and 1 / weight == 2**k and k <= LIGHTEST:
        return k
    raise ValueError(f"weight: expected 1, 1/2, 1/4, 1/8 … or 1/{2**LIGHTEST}, as in `1 / 512`")
