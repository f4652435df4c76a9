"""What becomes of marks on a line: some its frames have no field for, and one tells the way."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple, dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Step
from qospec.engine.event.transition import CONNECTION, DONE, MARKS, Transition, send
from qospec.engine.kernel import as_signed, kernel
from qospec.protocol.marks import LEG

if TYPE_CHECKING:
    from qospec.engine.arrays import Bits, Indices, Times, Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch

KEPT, TURNS = 0, 1
"""The state: the bits that are kept; by connection index, where its turns begin, and behind the
last, where they end; then each turn: from which leg, to which, and since when."""
LEG_MASK = LEG.mask
LEG_FIRST = LEG.first


class Turn(NamedTuple):
    """Where items of connections begin another leg.

    Attributes:
        first: The index of the first of these connections; what follows their items goes with them.
        stop: That behind the last.
        leg: The one that ends.
        following: The one that begins.
        since_ps: Only for items that come from then on; of several turns the last holds.
    """

    first: int
    stop: int
    leg: int
    following: int
    since_ps: int = 0


@dataclass(frozen=True)
class Relabel(Element):
    """Clears the bits of marks that a line does not carry, and begins legs.

    The engine's lines keep all bits. The turns of a connection are in order of time.
    """

    kept: int
    turns: tuple[Turn, ...] = ()

    keeps_spacing = True

    def turn_marks(self, connection: int, marks: int) -> tuple[int, ...]:
        """Return the marks that items of a connection may have behind it."""
        mine = [turn for turn in self.turns if turn.first <= connection < turn.stop]
        taken = [turn for turn in mine if turn.leg == LEG.read(marks)]
        stays = () if any(turn.since_ps == 0 for turn in taken) else (marks,)
        return (*stays, *(LEG.put(marks, turn.following) for turn in taken))

    def start(self, setting: Setting) -> Whole:
        """Return what it keeps, and the turns by connection."""
        streams = setting.streams
        mine: list[list[Turn]] = [[] for _ in range(streams.count)]
        for turn in self.turns:
            for connection in range(turn.first, turn.stop):
                mine[connection].append(turn)
        some = [mine[streams.find_connection(index)] for index in range(streams.indices)]
        begins = TURNS + streams.indices + 1
        places = accumulate((3 * len(turns) for turns in some), initial=begins)
        rows = (fact for turns in some for turn in turns for fact in turn[2:])
        return np.array([self.kept, *places, *rows], np.int64)

    def build_transition(self, setting: Setting) -> Transition:
        """Return the same, item by item."""
        return Transition(self.start(setting), _arrive)

    def process(self, state: Whole, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        """Change all marks: by masking alone, 22 ns an item less, where no leg begins."""
        (batch,) = arrivals
        if batch.count:
            marks = batch.marks & np.uint32(self.kept)
            if self.turns:
                _write_turns(state, batch.at_ps, batch.connection, marks)
            batch = batch.with_marks(marks)
        return Step((batch,), (until_ps,))


@kernel
def _begin_leg(state: Whole, connection: int, marks: int, now_ps: int) -> int:
    """Return marks with the leg that an item begins, if it begins one."""
    leg = (marks & LEG_MASK) >> LEG_FIRST
    for place in range(state[TURNS + connection], state[TURNS + connection + 1], 3):
        if state[place] == leg and state[place + 2] <= now_ps:
            marks = marks & ~LEG_MASK | state[place + 1] << LEG_FIRST
    return marks


@kernel
def _write_turns(state: Whole, at_ps: Times, connection: Indices, marks: Bits) -> None:
    """Write the marks of items with the legs that they begin; all are (n,)."""
    for i in range(len(marks)):
        marks[i] = _begin_leg(state, connection[i], as_signed(marks[i]), at_ps[i])


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:  # noqa: ARG001
    """Change the marks and send the item on at once; see `engine.event.transition`."""
    marks = items[item, MARKS] & state[KEPT]
    items[item, MARKS] = _begin_leg(state, items[item, CONNECTION], marks, now_ps)
    send(out, 0, item, now_ps)
    return DONE
