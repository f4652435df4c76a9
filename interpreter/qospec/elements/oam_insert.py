"""Insertion of OAM cells into the path of user cells."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Annotated, Literal

from qospec.calculus.guarantee import Guarantee, Guarantees, bound_items
from qospec.catalogue.kinds import CellRate, Domain, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Step
from qospec.engine.event.transition import CONNECTION, DONE, MARKS, Transition, make, send
from qospec.engine.items.insertion import insert_cells
from qospec.engine.kernel import kernel, view_rows
from qospec.protocol.atm import CELL_BYTES
from qospec.protocol.marks import LEG
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.calculus.guarantee import Arrival
    from qospec.catalogue.kinds import Buffer
    from qospec.engine.arrays import Indices, Times, Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch
    from qospec.engine.line.clock import Clock

LARGEST_DENOMINATOR = 2**62


FIRST, PERIOD, PERIOD_PART, DENOMINATOR, VCS = range(5)
"""The state: the index of the OAM cells of the first VC; the time between two of a VC, in whole ps
and a numerator over the denominator. Then comes a row for each VC."""
DUE, PART = 0, 1
"""Its columns: when an OAM cell is due, rounded down to whole ps, and the rest, as a numerator."""
COLUMNS = 2
LEG_BITS = LEG.mask
"""The marks of a user cell that its OAM cell has too."""


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

    def guarantee_service(
        self, arriving: tuple[Arrival, ...], clock: Clock | None, limits: tuple[Buffer | None, ...]
    ) -> Guarantees:
        return Guarantees((Guarantee(0, 0),))

    def bound_inserted(self, passing: Arrival) -> Arrival:
        """Return as much as passes: at most one goes before each user cell."""
        return bound_items(passing.items, (CELL_BYTES,))

    def start(self, setting: Setting) -> Whole:
        count = setting.streams.count
        period_ps = PS_PER_S / Fraction(self.rate)
        denominator = period_ps.denominator
        vcs = np.zeros((count, COLUMNS), np.int64)
        if self.phases == "random":
            stream = setting.draws.derive("phases").open_stream()
            vcs[:, DUE] = stream.integers(0, ceil(period_ps), count)
        else:
            exact = [number * period_ps / count for number in range(count)]
            vcs[:, DUE] = [floor(at_ps) for at_ps in exact]
            # Rounding the numerator down is harmless: only whole numerators are ever added to it.
            vcs[:, PART] = [floor(at_ps % 1 * denominator) for at_ps in exact]
        period = [*divmod(period_ps.numerator, denominator), denominator]
        return np.array([setting.streams.start("oam"), *period, *vcs.ravel()], np.int64)

    def build_transition(self, setting: Setting) -> Transition:
        return Transition(self.start(setting), _arrive)

    def process(self, state: Whole, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        before = np.empty(batch.count, np.int64)
        count = _find_due(batch.at_ps, batch.connection, state, before)
        if not count:
            return Step((batch,), (until_ps,))
        with_oam, oam = insert_cells(batch, before[:count], int(state[FIRST]))
        return Step((with_oam,), (until_ps,), made=(oam,))


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send a cell on at once, behind an OAM cell if one is due; see `engine.event.transition`."""
    vcs = view_rows(state, VCS, (len(state) - VCS) // COLUMNS, COLUMNS)
    connection = items[item, CONNECTION]
    if _is_due(vcs, connection, now_ps):
        _postpone(state, vcs, connection)
        carried = items[item, MARKS] & LEG_BITS
        oam = make(items, out, state[FIRST] + connection, CELL_BYTES, carried, now_ps)
        send(out, 0, oam, now_ps)
    send(out, 0, item, now_ps)
    return DONE


@kernel
def _is_due(vcs: Whole, connection: int, now_ps: int) -> bool:
    """Return whether an OAM cell goes ahead of a cell of this connection index."""
    return connection < len(vcs) and vcs[connection, DUE] <= now_ps


@kernel
def _postpone(state: Whole, vcs: Whole, connection: int) -> None:
    """Let the next OAM cell of a connection be due one period after the last."""
    vcs[connection, DUE] += state[PERIOD]
    vcs[connection, PART] += state[PERIOD_PART]
    if vcs[connection, PART] >= state[DENOMINATOR]:
        vcs[connection, PART] -= state[DENOMINATOR]
        vcs[connection, DUE] += 1


@kernel
def _find_due(at_ps: Times, connection: Indices, state: Whole, before: Whole) -> int:
    """Find the user cells that an OAM cell precedes; return their number.

    Args:
        at_ps: (n,) Times; they do not fall.
        connection: (n,) Indices; only user cells count.
        state: Updated.
        before: (n,) Written, up to the number returned: the numbers of those cells.
    """
    vcs = view_rows(state, VCS, (len(state) - VCS) // COLUMNS, COLUMNS)
    count = 0
    for i in range(len(at_ps)):
        if _is_due(vcs, connection[i], at_ps[i]):
            _postpone(state, vcs, connection[i])
            before[count] = i
            count += 1
    return count
