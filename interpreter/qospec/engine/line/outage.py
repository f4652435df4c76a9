"""What becomes of items on a line that is down at times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element
from qospec.engine.event.transition import DONE, SIZE, Transition, lose, send
from qospec.engine.kernel import kernel, view_part
from qospec.engine.line.clock import Clock
from qospec.engine.line.transmission import FIELDS, PROPAGATION, build_line, compute_service_time

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting

SPANS = FIELDS
"""The state: that of the line; then, for each time that it is down, since when and until when."""


@dataclass(frozen=True)
class Outage(Element):
    """Loses what is on a line while it is down; it stands behind the line.

    An item is on it from its first bit that is sent to its last that arrives.
    """

    clock_of_line: Clock
    spans_ps: tuple[tuple[int, int], ...]

    answers_at_once = True
    causes = ("link_down",)
    keeps_spacing = True

    def build_transition(self, setting: Setting) -> Transition:  # noqa: ARG002  draws nothing
        """Return the line and when it is down."""
        spans = np.array(self.spans_ps, np.int64).ravel()
        state = np.concatenate([build_line(self.clock_of_line), spans])
        return Transition(state, _arrive, losses=(("", "link_down"),))


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:  # noqa: ARG001
    """Lose an item or send it on at once; see `engine.event.transition`."""
    line = view_part(state, 0, FIELDS)
    whole_ps, _ = compute_service_time(line, items[item, SIZE])
    began_ps = now_ps - line[PROPAGATION] - whole_ps
    for place in range(SPANS, len(state), 2):
        if began_ps < state[place + 1] and state[place] <= now_ps:
            lose(out, 0, item)
            return DONE
    send(out, 0, item, now_ps)
    return DONE
