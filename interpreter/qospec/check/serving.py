"""Queues and schedulers: each leads to the line that empties it, straight or by schedulers."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from qospec.check.context import Context, wrong
from qospec.check.parts import End, Origin, Template

if TYPE_CHECKING:
    from qospec.check.parts import Part
    from qospec.source import Span

MOST_LEVELS = 16
"""So many schedulers may follow each other: each level takes its time for every packet."""


def verify_served(template: Template, context: Context) -> None:
    """Report what is not emptied by one line, or not alone at its place before it."""
    ways = Counter(template.wires.values())
    crowded = {end for end, count in ways.items() if count > 1}
    for index, part in enumerate(template.parts):
        if not part.kind.is_served or not part.outputs:
            continue
        if part.loose and len(part.outputs) != 1:
            continue
        origin = Origin(index, part.outputs[0])
        end = template.wires.get(origin)
        if end is None or end.kind == "discard":
            continue
        place = template.places[origin]
        if not _is_served(template, end):
            _tell_unserved(template, part, end, place, context)
        elif end in crowded and _is_known(template, end):
            _tell_crowded(template, part, end, place, context)
        elif part.kind.duty == "scheduler":
            _verify_levels(template, index, place, context)


def _is_served(template: Template, end: End) -> bool:
    if end.kind != "element":
        return end.kind == "port"
    return template.parts[end.part].kind.duty in ("line", "scheduler")


def _is_known(template: Template, end: End) -> bool:
    if end.kind == "port":
        return template.ports[end.port[0]].known
    return not template.parts[end.part].loose


def _tell_unserved(template: Template, part: Part, end: End, place: Span, context: Context) -> None:
    what = template.parts[end.part].path if end.kind == "element" else end.kind
    context.tell(
        wrong(
            "E0405",
            f"`{part.path}` must lead straight to a line, not to `{what}`",
            place,
            note="a queue is emptied by the line that it feeds, straight or by a scheduler",
            remedy=f"move `{what}` before `{part.path}`" if end.kind == "element" else "",
        )
    )


def _tell_crowded(template: Template, part: Part, end: End, place: Span, context: Context) -> None:
    what, remedy = "its line", "put a scheduler such as `strict` before the line"
    if end.kind == "element" and template.parts[end.part].kind.duty == "scheduler":
        what = f"`{template.parts[end.part].path}.{end.input}`"
        remedy = "give each an input of its own, or merge what comes before one queue"
    context.tell(wrong("E0406", f"`{part.path}` shares {what} with others", place, remedy=remedy))


def _verify_levels(template: Template, start: int, place: Span, context: Context) -> None:
    """Report schedulers that follow each other for too long, or in a circle."""
    path, index = [start], start
    while len(path) <= MOST_LEVELS:
        end = template.wires.get(Origin(index, template.parts[index].outputs[0]))
        if end is None or end.kind != "element":
            return
        index = end.part
        if template.parts[index].kind.duty != "scheduler":
            return
        if index in path:
            if index == start and start == min(path):
                _tell_circle([template.parts[each].path for each in path], place, context)
            return
        path.append(index)
    context.tell(
        wrong(
            "E0606",
            f"more than {MOST_LEVELS} schedulers follow each other from"
            f" `{template.parts[start].path}` on",
            place,
            remedy="let one scheduler choose among more inputs",
        )
    )


def _tell_circle(names: list[str], place: Span, context: Context) -> None:
    context.tell(
        wrong(
            "E0405",
            f"`{names[0]}` leads back to itself, and to no line",
            place,
            note=" -> ".join([*names, names[0]]),
            remedy="let the last scheduler lead to a port's `tx`",
        )
    )
