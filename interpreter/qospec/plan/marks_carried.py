"""Marks that a line does not carry: colours, and marks for which its frames have no field."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.engine.line.unmark import Unmark
from qospec.plan.assembly import Draft, Edge
from qospec.protocol.marks import ALL_BITS, MARKS, WITHIN

if TYPE_CHECKING:
    from qospec.engine.line.clock import Clock
    from qospec.plan.assembly import Drafts
    from qospec.plan.tables import Reach


def carried(clock: Clock) -> int:
    """Return the bits of marks that a line carries; all for cells."""
    frame = clock.encapsulation
    if frame is None:
        return ALL_BITS
    lost = (
        mark.mask for name, mark in MARKS.items() if name in WITHIN or not frame.carries_mark(name)
    )
    return ALL_BITS - sum(lost)


def insert_unmarks(drafts: Drafts, reach: Reach) -> None:
    """Insert an `Unmark` behind each line that items with other marks pass."""
    for index in list(reach.any):
        draft = drafts[index]
        if draft.clock is None or draft.edges[0].end != "element":
            continue
        kept = carried(draft.clock)
        if all(
            item_class.marks & kept == item_class.marks
            for _, item_class in reach.item_classes.get(index, ())
        ):
            continue
        place = max(drafts) + 1
        path = f"{draft.line or draft.instance.path} (marks)"
        behind = replace(draft.instance, path=path, element=Unmark(kept))
        (edge,) = draft.edges
        drafts[place] = Draft(behind, [replace(edge, output=0)], size_bytes=draft.size_bytes)
        draft.edges = [Edge(edge.output, "element", place, 0, edge.rank)]
        reach.any[place] = reach.any[index]
