"""A host at which flows with endpoints begin or end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element
from qospec.engine.event.transition import CONNECTION, DONE, Transition, send
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.protocol.streams import KindName

RECEIVED = 0
"""The output for items that no endpoint waits for: they have arrived."""


@dataclass(frozen=True)
class Host(Element):
    """Hand each item that arrives to the endpoint of its connection.

    A notice goes to the endpoint of the connection that it is of; a copy that a fault made has
    arrived.

    Attributes:
        endpoints: In order of the outputs from 1 on, the connections of each: the first, and the
            one behind the last.
    """

    endpoints: tuple[tuple[int, int], ...]

    @property
    def outputs(self) -> tuple[str, ...]:
        """Return `received`, and one for each endpoint."""
        return ("received", *(f"endpoint[{number}]" for number in range(len(self.endpoints))))

    def predict_outputs(self, number: int, *, kind: KindName) -> tuple[int, ...]:  # noqa: ARG002
        """Return all outputs: its own table decides."""
        return tuple(range(len(self.outputs)))

    def build_transition(self, setting: Setting) -> Transition:
        """Return how it looks up the output of a connection."""
        outputs = np.full(setting.streams.indices, RECEIVED, np.int64)
        notices = setting.streams.start("notices")
        for number, (first, stop) in enumerate(self.endpoints):
            outputs[first:stop] = RECEIVED + 1 + number
            outputs[notices + first : notices + stop] = RECEIVED + 1 + number
        return Transition(outputs, _arrive)


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:  # noqa: ARG001
    """Hand an item on; see `engine.event.transition`."""
    send(out, state[items[item, CONNECTION]], item, now_ps)
    return DONE
