"""The range of sizes in which a packet is, as a mark: so that a table by marks decides by sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element
from qospec.engine.event.transition import DONE, MARKS, SIZE, Transition, send
from qospec.engine.kernel import kernel
from qospec.protocol.marks import SIZE_RANGE

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.contract import Contract

MOST_BOUNDS = SIZE_RANGE.highest
RANGE_MASK = SIZE_RANGE.mask
RANGE_FIRST = SIZE_RANGE.first


@dataclass(frozen=True)
class NoteSizeRange(Element):
    """Note in the marks of each packet how many of the bounds it reaches; ahead of a classifier.

    The planner follows packets of all ranges. Bounds are bytes of IP, ascending.
    """

    bounds: tuple[int, ...]

    answers_at_once = True
    keeps_spacing = True

    def predict_marks(self, marks: int, contract: Contract) -> tuple[int, ...]:  # noqa: ARG002
        """Return those of all ranges."""
        return tuple(SIZE_RANGE.put(marks, number) for number in range(len(self.bounds) + 1))

    def build_transition(self, setting: Setting) -> Transition:  # noqa: ARG002
        """Return the same, item by item."""
        return Transition(np.array(self.bounds, np.int64), _arrive)


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:  # noqa: ARG001
    """Note the range and send the packet on at once; see `engine.event.transition`."""
    number = 0
    while number < len(state) and items[item, SIZE] >= state[number]:
        number += 1
    items[item, MARKS] = items[item, MARKS] & ~RANGE_MASK | number << RANGE_FIRST
    send(out, 0, item, now_ps)
    return DONE
