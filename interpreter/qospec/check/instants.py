"""Loops that take no time: in them, the emulation would turn for ever at one instant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.check.context import Context, wrong
from qospec.check.parts import Part, Template

if TYPE_CHECKING:
    from collections.abc import Iterator


def verify_time(template: Template, context: Context) -> None:
    """Report a circle of elements that take no time: it would turn for ever at one instant."""
    after: dict[int, list[int]] = {}
    for origin, end in template.wires.items():
        if origin.part >= 0 and end.kind == "element":
            after.setdefault(origin.part, []).append(end.part)
    instant = {index for index, part in enumerate(template.parts) if not _takes_time(part)}
    done: set[int] = set()
    for start in sorted(instant):
        circle = _circle(start, after, instant, done)
        if circle:
            names = " -> ".join(template.parts[index].path for index in (*circle, circle[0]))
            context.tell(
                wrong(
                    "E0409",
                    f"this loop takes no time: {names}",
                    template.parts[circle[0]].span,
                    remedy="put an element into it that takes time, such as `delay`",
                )
            )
            return


def _circle(
    start: int, after: dict[int, list[int]], instant: set[int], done: set[int]
) -> list[int]:
    path: list[int] = []
    stack: list[tuple[int, Iterator[int]]] = []
    if start in done:
        return []
    path.append(start)
    above = {start}
    stack.append((start, iter(after.get(start, ()))))
    while stack:
        index, following = stack[-1]
        step = next((each for each in following if each in instant and each not in done), None)
        if step is None:
            done.add(index)
            stack.pop()
            above.discard(path.pop())
        elif step in above:
            return path[path.index(step) :]
        else:
            path.append(step)
            above.add(step)
            stack.append((step, iter(after.get(step, ()))))
    return []


def _takes_time(part: Part) -> bool:
    if part.kind.is_served or part.kind.duty == "line" or part.element is None:
        return True
    return bool(part.element.least_delay_ps(None) > 0)
