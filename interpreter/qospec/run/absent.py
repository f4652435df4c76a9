"""What a plan refuses of marks: one that is written or read where no frame has a place for it.

Between two lines a mark is what the frame bore that came, or what was written since; behind the
next line it is gone if its frames have no place for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.check.device import predicates
from qospec.check.test.first_hop import PLACES
from qospec.diagnostics import Diagnostic, Label

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qospec.model.suite import Case, Instance
    from qospec.run.draft import Draft, Drafts
    from qospec.run.tables import Passing

WRITING, ASKING, DROPPING = ("writes", "leaves"), ("asks for", "comes"), ("drops by", "comes")

Wires = dict[int, set[int]]


def marks(case: Case, drafts: Drafts, passing: Passing) -> Iterator[Diagnostic]:
    """Yield what packets pass and what cannot work on its links: markers and readers of marks."""
    onward = _wires(drafts, passing)
    backward: Wires = {index: set() for index in drafts}
    for index, ends in onward.items():
        for end in ends:
            backward[end].add(index)
    for index in sorted(passing.any):
        for name in PLACES:
            draft = drafts[index]
            if name in getattr(draft.instance.element, "writes", ()):
                ends = _ends(index, onward, drafts)
                if not any(_bears(drafts[n], name) or _reads(drafts[n], name) for n in ends):
                    yield _refused(case, draft.instance, name, WRITING, _lines(ends, drafts))
            for reader, does in _readers(draft, name):
                ends = _ends(index, backward, drafts)
                if not any(_bears(drafts[n], name) or _writes(drafts[n], name) for n in ends):
                    yield _refused(case, reader, name, does, _lines(ends, drafts))


def _wires(drafts: Drafts, passing: Passing) -> Wires:
    return {
        index: {w.to for w in drafts[index].ways if w.end == "element" and w.to in passing.any}
        if index in passing.any
        else set()
        for index in drafts
    }


def _ends(start: int, wires: Mapping[int, set[int]], drafts: Drafts) -> set[int]:
    """Return the elements on the ways from or to `start`, up to the next lines, these included."""
    found: set[int] = set()
    waiting = list(wires[start])
    while waiting:
        index = waiting.pop()
        if index not in found:
            found.add(index)
            if drafts[index].clock is None:
                waiting += wires[index]
    return found


def _bears(draft: Draft, name: str) -> bool:
    frame = None if draft.clock is None else draft.clock.encapsulation
    return frame is not None and frame.bears(name)


def _writes(draft: Draft, name: str) -> bool:
    return name in getattr(draft.instance.element, "writes", ())


def _reads(draft: Draft, name: str) -> bool:
    return next(_readers(draft, name), None) is not None


def _readers(draft: Draft, name: str) -> Iterator[tuple[Instance, tuple[str, str]]]:
    """Yield what reads a mark here, the queues before a scheduler too, and how that is called."""
    if any(name in predicates.attributes(each) for each in draft.instance.predicates):
        yield draft.instance, ASKING
    for each in (draft.instance, *draft.queues):
        policy = None if each is None else getattr(each.element, "drop", None)
        if each is not None and getattr(policy, "mark", "") == name:
            yield each, DROPPING


def _lines(ends: set[int], drafts: Drafts) -> list[str]:
    """Return the paths of the lines among some elements."""
    found = (drafts[index] for index in sorted(ends) if drafts[index].clock is not None)
    return [draft.line or draft.instance.path for draft in found]


def _refused(
    case: Case, instance: Instance, name: str, verbs: tuple[str, str], lines: list[str]
) -> Diagnostic:
    place, field = PLACES[name]
    does, moves = verbs
    article = "an" if place.startswith("M") else "a"
    return Diagnostic(
        "E0426",
        f"`{instance.path}` {does} `{predicates.spelt(name)}`, and no frame that {moves} "
        f"has {article} {place}",
        instance.span or case.flows[0].span,
        others=(Label(case.flows[0].span, "packets pass there"),),
        notes=(f"{'lines' if len(lines) > 1 else 'line'}: {', '.join(lines[:4])}",)
        if lines
        else (),
        help=f"take a medium with room for it: `{{ {field} }}`",
    )
