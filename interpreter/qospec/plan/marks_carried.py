"""Marks that stay behind: no line carries a colour, nor a mark that no frame of it has room for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Step
from qospec.plan.assembly import Draft, Way
from qospec.protocol.marks import MARKS, VALUES, WITHIN

if TYPE_CHECKING:
    from qospec.engine.items.batch import Batch
    from qospec.engine.line.clock import Clock
    from qospec.plan.assembly import Drafts
    from qospec.plan.tables import Passing


@dataclass(frozen=True)
class Unmark(Element):
    """What a line does to marks: `kept` of their bits stay. The engine's lines leave them alone."""

    kept: int

    def process(self, state: None, arrivals: tuple[Batch, ...], until_ps: int) -> Step:  # noqa: ARG002
        """Keep some bits of all marks."""
        (batch,) = arrivals
        if batch.count:
            batch = batch._replace(marks=batch.marks & np.uint16(self.kept))
        return Step((batch,), (until_ps,))


def carried(clock: Clock) -> int:
    """Return the bits of marks that are there behind a line: of cells, all."""
    frame = clock.encapsulation
    if frame is None:
        return VALUES - 1
    gone = (mark.mask for name, mark in MARKS.items() if name in WITHIN or not frame.bears(name))
    return VALUES - 1 - sum(gone)


def put_in(drafts: Drafts, passing: Passing) -> None:
    """Let marks that a line does not carry end behind it, where somebody may read them."""
    for index in list(passing.any):
        draft = drafts[index]
        if draft.clock is None or draft.ways[0].end != "element":
            continue
        kept = carried(draft.clock)
        if all(sort.marks & kept == sort.marks for _, sort in passing.sorts.get(index, ())):
            continue
        place = max(drafts) + 1
        path = f"{draft.line or draft.instance.path} (marks)"
        behind = replace(draft.instance, path=path, element=Unmark(kept))
        (way,) = draft.ways
        drafts[place] = Draft(behind, [replace(way, output=0)])
        draft.ways = [Way(way.output, "element", place, 0, way.rank)]
        passing.any[place] = passing.any[index]
