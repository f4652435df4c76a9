"""Insertion of OAM cells into the path of user cells."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from qospec.catalogue.kinds import CellRate, Domain, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Step
from qospec.engine.items.batch import uninitialised
from qospec.engine.kernel import kernel
from qospec.protocol.atm import CELL_BYTES
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.engine.arrays import Indices, Times, Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch

LARGEST_DENOMINATOR = 2**62


class State(NamedTuple):
    """The state that is kept from batch to batch.

    Attributes:
        first: The index of the OAM cells of the first VC.
        due_ps: (count,) The first whole ps in which an OAM cell of each VC is due.
        ahead: (count,) The amount by which that is rounded up, as a numerator.
        period: The time between two: whole ps, numerator, denominator.
    """

    first: int
    due_ps: Times
    ahead: Whole
    period: tuple[int, int, int]


@element(
    source="ITU-T I.610 (F5 flow); EANTC 2006 (two cells per minute and PVC)", carries=("cell",)
)
@dataclass(frozen=True)
class OamInsert(Element):
    """Insert OAM cells at a rate, each directly before a user cell of its connection.

    A connection's OAM cell is due once a period. It waits for the next user cell of its connection
    and goes before it in the same ps, one per user cell. The next is due one period after this one
    was due, not after it was sent: a connection with few cells still gets its rate on average, and
    catches up at one OAM cell per user cell.

    Not modelled: the content of OAM cells; OAM cells without user cells.
    """

    inserts = ("oam",)

    rate: CellRate
    """OAM cells per second and connection."""
    phases: Annotated[Literal["random", "even"], Domain("choice", choices=("random", "even"))] = (
        "random"
    )
    """When the first of each connection is due: at random within a period, or evenly spread."""

    def __post_init__(self) -> None:
        if (PS_PER_S / Fraction(self.rate)).denominator > LARGEST_DENOMINATOR:
            raise ValueError(
                "rate: this fraction is too fine to be kept exactly; give fewer digits"
            )

    def start(self, setting: Setting) -> State:
        count = setting.connections.count
        period_ps = PS_PER_S / Fraction(self.rate)
        denominator = period_ps.denominator
        ahead = np.zeros(count, np.int64)
        if self.phases == "random":
            stream = setting.draws.below("phases").stream()
            due_ps = stream.integers(0, -(-period_ps // 1), count)
        else:
            exact = [number * period_ps / count for number in range(count)]
            due_ps = np.array([ceil(at_ps) for at_ps in exact], np.int64)
            # Rounding the numerator down is harmless: only whole numerators are ever added to it.
            ahead[:] = [floor((ceil(at_ps) - at_ps) * denominator) for at_ps in exact]
        period = (*divmod(period_ps.numerator, denominator), denominator)
        return State(setting.connections.index(0, "oam"), due_ps, ahead, period)

    def process(self, state: State, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        before = np.empty(batch.count, np.int64)
        count = _due(batch.at_ps, batch.connection, state, before)
        if count:
            with_oam = uninitialised(batch.count + count)
            _insert(batch, before[:count], state.first, with_oam)
            batch = with_oam
        return Step((batch,), (until_ps,))


@kernel
def _due(at_ps: Times, connection: Indices, state: State, before: Whole) -> int:
    """Find the user cells that an OAM cell precedes; return their number.

    Args:
        at_ps: (n,) Times; they do not fall.
        connection: (n,) Indices; only user cells count.
        state: Updated.
        before: (n,) Written, up to the number returned: the numbers of those cells.
    """
    _, due_ps, ahead, (period_ps, period_part, denominator) = state
    count = 0
    for i in range(len(at_ps)):
        v = connection[i]
        if v < len(due_ps) and due_ps[v] <= at_ps[i]:
            before[count] = i
            count += 1
            due_ps[v] += period_ps
            ahead[v] -= period_part
            if ahead[v] < 0:
                ahead[v] += denominator
                due_ps[v] += 1
    return count


@kernel
def _insert(batch: Batch, before: Whole, oam: int, with_oam: Batch) -> None:
    """Copy the cells, with an OAM cell ahead of each whose number is in `before`.

    Args:
        batch: n cells.
        before: (m,) Ascending numbers.
        oam: The offset from the index of a connection to that of its OAM cells.
        with_oam: n + m cells; written.
    """
    at, at_1 = with_oam.at_ps, batch.at_ps
    sent, sent_1 = with_oam.sent_ps, batch.sent_ps
    connection, connection_1 = with_oam.connection, batch.connection
    size, size_1 = with_oam.size_bytes, batch.size_bytes
    marks, marks_1 = with_oam.marks, batch.marks
    start = 0
    for m in range(len(before) + 1):
        stop = before[m] if m < len(before) else len(at_1)
        at[start + m : stop + m] = at_1[start:stop]
        sent[start + m : stop + m] = sent_1[start:stop]
        connection[start + m : stop + m] = connection_1[start:stop]
        size[start + m : stop + m] = size_1[start:stop]
        marks[start + m : stop + m] = marks_1[start:stop]
        if m < len(before):
            at[stop + m] = sent[stop + m] = at_1[stop]
            connection[stop + m] = connection_1[stop] + oam
            size[stop + m], marks[stop + m] = CELL_BYTES, 0
        start = stop
