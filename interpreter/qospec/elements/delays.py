"""A delay for each cell or packet, from a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import LONGEST_PS, Domain, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Step
from qospec.engine.items.batch import FOREVER_PS, Batch, empty, joined

if TYPE_CHECKING:
    from qospec.engine.arrays import Times
    from qospec.engine.element import Setting
    from qospec.engine.line.clock import Clock

Delaying = Annotated[tuple[int, ...], Domain("times", 0, LONGEST_PS)]
"""Whole picoseconds."""


@dataclass
class State:
    """The state that is kept from batch to batch.

    Attributes:
        each_ps: The delays, in order.
        passed: The number of items that have arrived.
        waiting: Items that have not left yet, in order of departure.
    """

    each_ps: Times
    passed: int
    waiting: Batch


@element(source="RFC 4737, 3 (reordering), by delays that are written out")
@dataclass(frozen=True)
class Delays(Element):
    """Delay the k-th cell or packet by the k-th time of a list; after the last, start again.

    An item may be overtaken by one with a shorter delay. Of those that leave at the same time, the
    one that arrived first goes first. Any number may wait.
    """

    each: Delaying
    """The delays, in order of arrival."""

    def __post_init__(self) -> None:
        if not self.each:
            raise ValueError("each: at least one delay is needed")

    def lookahead_ps(self, clock: Clock | None) -> int:
        return min(self.each)

    def start(self, setting: Setting) -> State:
        return State(np.array(self.each, np.int64), 0, empty())

    def process(self, state: State, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        leaving_ps = min(until_ps + self.lookahead_ps(None), FOREVER_PS)
        if batch.count:
            turn = np.arange(state.passed, state.passed + batch.count) % len(state.each_ps)
            state.passed += batch.count
            state.waiting = _in_order(state.waiting, batch.moved(batch.at_ps + state.each_ps[turn]))
        count = int(state.waiting.at_ps.searchsorted(leaving_ps))
        left = state.waiting.part(0, count)
        state.waiting = state.waiting.part(count, state.waiting.count)
        return Step((left,), (leaving_ps,))


def _in_order(waiting: Batch, late: Batch) -> Batch:
    """Merge by departure time; items that waited already precede new ones at equal times."""
    both = joined(waiting, late)
    return both.select(np.argsort(both.at_ps, kind="stable"))
