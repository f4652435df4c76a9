"""A link whose delay was recorded over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from qospec.calculus.guarantee import Guarantee, Guarantees
from qospec.catalogue.kinds import Domain, ProfileFile, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element
from qospec.engine.event.transition import DONE, Transition, send
from qospec.engine.kernel import kernel
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.calculus.guarantee import Arrival
    from qospec.catalogue.kinds import Buffer
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.line.clock import Clock

File = Annotated[ProfileFile, Domain("delay profile")]

LAST, PLACE, TABLE = 0, 1, 2
"""The state: when the last item leaves; the place in the table; the table itself, of rows."""
SINCE, DELAY = 0, 1
"""From when on, in ps, and how long what comes then is delayed."""
WIDTH = 2


@element(source="RFC 2679, 3 (one-way delay), as a fault of a test; RFC 4180, 2 (CSV)")
@dataclass(frozen=True)
class DelayTrace(Element):
    """Delay each cell or packet as long as a link did whose delay was recorded over time.

    A CSV file whose first line is `time [s],delay [ms]` lists from when on what comes is delayed by
    how much; the last delay stays. What would overtake an item ahead of it, as the delay falls,
    leaves together with that. Times count from the beginning of the trial. Any number of items may
    be under way.

    Not modelled: delays between the lines of a file, and links on which items overtake each other.
    """

    file: File
    """The name of the CSV file, relative to the file that names it."""

    answers_at_once = True

    @property
    def _delays_ps(self) -> tuple[int, ...]:
        return tuple(round(delay * PS_PER_S) for _, delay in self.file.steps)

    def find_lookahead_ps(self, clock: Clock | None) -> int:
        return min(self._delays_ps)

    def guarantee_service(
        self, arriving: tuple[Arrival, ...], clock: Clock | None, limits: tuple[Buffer | None, ...]
    ) -> Guarantees:
        """Return its least and its greatest delay: nothing waits longer for one ahead of it."""
        return Guarantees((Guarantee(min(self._delays_ps), max(self._delays_ps)),))

    def build_transition(self, setting: Setting) -> Transition:
        since_ps = (at_ps for at_ps, _ in self.file.steps)
        table = [*zip(since_ps, self._delays_ps, strict=True)]
        return Transition(np.concatenate([[0, 0], np.ravel(table)]).astype(np.int64), _arrive)


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send an item on after the delay of the moment; see `engine.event.transition`."""
    while TABLE + (state[PLACE] + 1) * WIDTH < len(state):
        if now_ps < state[TABLE + (state[PLACE] + 1) * WIDTH + SINCE]:
            break
        state[PLACE] += 1
    state[LAST] = max(state[LAST], now_ps + state[TABLE + state[PLACE] * WIDTH + DELAY])
    send(out, 0, item, state[LAST])
    return DONE
