"""What a line does not carry: marks for which its frames have no field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Step
from qospec.engine.event.transition import DONE, MARKS, Transition, send
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch


@dataclass(frozen=True)
class Unmark(Element):
    """Clears the bits of marks that a line does not carry; the engine's lines keep all of them."""

    kept: int

    keeps_spacing = True

    def transition(self, setting: Setting) -> Transition:  # noqa: ARG002
        """Return the same, item by item."""
        return Transition(np.array([self.kept]), _arrive)

    def process(self, state: None, arrivals: tuple[Batch, ...], until_ps: int) -> Step:  # noqa: ARG002
        """Clear the other bits of all marks."""
        (batch,) = arrivals
        if batch.count:
            batch = batch.with_marks(batch.marks & np.uint32(self.kept))
        return Step((batch,), (until_ps,))


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:  # noqa: ARG001
    """Clear the bits and send the item on at once; see `engine.event.transition`."""
    items[item, MARKS] &= state[0]
    send(out, 0, item, now_ps)
    return DONE
