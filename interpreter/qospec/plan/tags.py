"""Lines on which some frames have a tag: packets are 4 bytes longer from their queues to their end.

Whether a frame has a tag follows from its flow. So nothing that computes with sizes has to know of
tags: an element ahead of what such a line serves adds them, and one behind the line takes them off.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.engine.line.tagging import Tagging
from qospec.plan.assembly import Draft, Edge

if TYPE_CHECKING:
    from collections.abc import Collection

    from qospec.model.suite import Instance
    from qospec.plan.assembly import Drafts

    Ranges = tuple[tuple[int, int], ...]
    """The connections of which frames have a tag; see `engine.line.tagging`."""


def has_optional_tag(draft: Draft) -> bool:
    """Return whether some frames have a tag on the line that serves an element, or that it is."""
    framed = None if draft.clock is None else draft.clock.encapsulation
    return framed is not None and framed.optional_tag


def insert_tags(drafts: Drafts, hosts: Collection[int], tagged: Ranges) -> None:
    """Insert what adds tags and what takes them off, at each line where some frames have one.

    Args:
        drafts: Updated; queues and schedulers have been joined with their lines.
        hosts: The lines on which hosts send: what adds tags there gets their numbers.
        tagged: The connections of which frames have a tag.
    """
    lines = [index for index, draft in drafts.items() if tagged and has_optional_tag(draft)]
    fed = {
        edge.to: (index, edge.output)
        for index, draft in drafts.items()
        for edge in draft.edges
        if draft.clocks and edge.end == "element"
    }
    for index in lines:
        draft = drafts[index]
        draft.tagged = tagged
        place, (edge,) = max(drafts) + 1, draft.edges
        drafts[place] = Draft(_build_tagging(draft, tagged, adds=False), [replace(edge, output=0)])
        draft.edges = [Edge(edge.output, "element", place, 0, edge.rank)]
        if index in hosts:
            place = max(drafts) + 1
            adding = Draft(_build_tagging(draft, tagged, adds=True), [Edge(0, "element", place, 0)])
            drafts[place], drafts[index] = draft, adding
        elif index in fed:
            queue, output = fed[index]
            element = drafts[queue].element
            inputs = range(len(element.inputs))
            numbers = {n for n in inputs if element.predict_output(n, kind="user") == output}
            _insert_ahead(drafts, queue, numbers, _build_tagging(draft, tagged, adds=True))
        else:
            numbers = {e.input for d in drafts.values() for e in d.edges if e.to == index}
            _insert_ahead(drafts, index, numbers, _build_tagging(draft, tagged, adds=True))


def _build_tagging(draft: Draft, tagged: Ranges, *, adds: bool) -> Instance:
    """Return what adds tags ahead of a line, or takes them off behind it."""
    kind = replace(draft.instance.kind, duty="element", build=Tagging, parameters={})
    path = f"{draft.line or draft.instance.path} ({'tags' if adds else 'no tags'})"
    element = Tagging(tagged, adds)
    return replace(draft.instance, path=path, kind=kind, element=element, predicates=())


def _insert_ahead(drafts: Drafts, index: int, numbers: Collection[int], instance: Instance) -> None:
    """Insert an element ahead of each of some inputs of another."""
    for number in sorted(numbers):
        place = max(drafts) + 1
        old = "element", index, number
        for draft in drafts.values():
            draft.edges = [
                replace(edge, to=place, input=0) if (edge.end, edge.to, edge.input) == old else edge
                for edge in draft.edges
            ]
        path = f"{instance.path} {number}" if len(numbers) > 1 else instance.path
        drafts[place] = Draft(replace(instance, path=path), [Edge(0, "element", index, number)])
