"""A link whose losses were recorded over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import Domain, ProfileFile, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element
from qospec.engine.event.transition import CONNECTION, DONE, Transition, lose, send
from qospec.engine.kernel import as_signed, kernel
from qospec.engine.random import WORD, draw_threefry

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting

File = Annotated[ProfileFile, Domain("loss profile")]

KEY, KEY_2, PLACE, SEEN, TABLE = range(5)
"""The state: the key of the draws; the place in the table; where, behind the table, the number of
items of each connection index begins that have come; the table itself, of rows."""
SINCE, BELOW = 0, 1
"""From when on, in ps, and below which draw of WORD bits what comes then is lost."""
WIDTH = 2


@element(source="RFC 7680, 2 (one-way loss), as a fault of a test; RFC 4180, 2 (CSV)")
@dataclass(frozen=True)
class LossTrace(Element):
    """Lose cells or packets with the probability that a link had whose losses were recorded.

    A CSV file whose first line is `time [s],loss [%]` lists from when on what comes is lost with
    which probability, each item by itself, as `injected`; the last one stays. Times count from the
    beginning of the trial. What is drawn for an item depends on its connection and number alone.

    Not modelled: losses in runs shorter than the lines of the file; see `lose`.
    """

    file: File
    """The name of the CSV file, relative to the file that names it."""

    answers_at_once = True
    causes = ("injected",)
    keeps_spacing = True

    def build_transition(self, setting: Setting) -> Transition:
        key = setting.draws.open_stream().integers(0, 1 << WORD, 2)
        table = [(at_ps, int(loss * (1 << WORD))) for at_ps, loss in self.file.steps]
        begins = [0, TABLE + WIDTH * len(table)]
        counts = np.zeros(setting.streams.indices, np.int64)
        state = np.concatenate([key, begins, np.ravel(table), counts]).astype(np.int64)
        return Transition(state, _arrive, losses=(("", "injected"),))


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Lose an item or send it on at once; see `engine.event.transition`."""
    while TABLE + (state[PLACE] + 1) * WIDTH < state[SEEN]:
        if now_ps < state[TABLE + (state[PLACE] + 1) * WIDTH + SINCE]:
            break
        state[PLACE] += 1
    connection = items[item, CONNECTION]
    state[state[SEEN] + connection] += 1
    number = state[state[SEEN] + connection]
    word, _ = draw_threefry((state[KEY], state[KEY_2]), as_signed(connection) << WORD | number)
    if word < state[TABLE + state[PLACE] * WIDTH + BELOW]:
        lose(out, 0, item)
    else:
        send(out, 0, item, now_ps)
    return DONE
