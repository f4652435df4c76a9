"""What becomes of marks on a line: some its frames have no field for, and one counts links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Step
from qospec.engine.event.transition import CONNECTION, DONE, MARKS, Transition, send
from qospec.engine.kernel import kernel
from qospec.protocol.marks import LEG

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch

KEPT, STEPS = 0, 1
"""The state: the bits that are kept; then, by connection index, what is added to the marks."""


@dataclass(frozen=True)
class Relabel(Element):
    """Clears the bits of marks that a line does not carry, and counts the legs of a way.

    The engine's lines keep all bits. `named` are the first index, and that behind the last, of
    connections whose flows name the line in `via`; what follows their cells goes with them.
    """

    kept: int
    named: tuple[tuple[int, int], ...] = ()

    keeps_spacing = True

    def step(self, connection: int) -> int:
        """Return what it adds to the marks of items, by the connection that they follow."""
        return any(first <= connection < stop for first, stop in self.named) << LEG.first

    def start(self, setting: Setting) -> Whole:
        """Return what it keeps and adds."""
        streams = setting.streams
        steps = [self.step(streams.connection(index)) for index in range(streams.indices)]
        return np.array([self.kept, *steps], np.int64)

    def transition(self, setting: Setting) -> Transition:
        """Return the same, item by item."""
        return Transition(self.start(setting), _arrive)

    def process(self, state: Whole, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        """Change all marks."""
        (batch,) = arrivals
        if batch.count:
            marks = batch.marks & np.uint32(self.kept)
            if self.named:
                marks += state[STEPS + batch.connection].astype(np.uint32)
            batch = batch.with_marks(marks)
        return Step((batch,), (until_ps,))


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:  # noqa: ARG001
    """Change the marks and send the item on at once; see `engine.event.transition`."""
    items[item, MARKS] = (items[item, MARKS] & state[KEPT]) + state[STEPS + items[item, CONNECTION]]
    send(out, 0, item, now_ps)
    return DONE
