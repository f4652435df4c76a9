"""Marks and identifiers for which no frame on the way has a field.

A mark that is written or read needs a frame with a field for it: between two lines a mark is what
the last frame carried or what was written since; behind the next line it is gone if its frames have
no field for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.check.device import predicates
from qospec.check.test.first_hop import PLACES, suggest_medium
from qospec.diagnostics import Diagnostic, Label
from qospec.plan.tables import State
from qospec.plan.tags import has_optional_tag
from qospec.protocol.marks import MARKS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from qospec.model.suite import Case, Flow, Instance
    from qospec.plan.assembly import Draft, Drafts
    from qospec.plan.forms import Survey
    from qospec.plan.tables import Hop, Reach

WRITING, READING, DROPPING = ("writes", "leaves"), ("reads", "arrives"), ("drops by", "arrives")

WITH_TAG = (
    "give the flow a `priority` of its own, such as `priority = 0`, and its frames have a tag"
)
TAG_KEPT = "let some frames on `{}` have a tag, too: `{{ optional_tag = true }}`"
TAG_MAY_COME = (
    "use a medium whose frames may have a tag: `{ optional_tag = true }`, as"
    " `media.mixed_fast_ethernet` has"
)

Wires = dict[int, set[int]]


def find_uncarried_marks(case: Case, drafts: Drafts, reach: Reach) -> Iterator[Diagnostic]:
    """Yield each element with a mark for which no frame on its links has a field."""
    onward = _list_wires(drafts, reach)
    backward: Wires = {index: set() for index in drafts}
    for index, ends in onward.items():
        for end in ends:
            backward[end].add(index)
    for index in sorted(reach.any):
        for name in PLACES:
            draft = drafts[index]
            if name in draft.element.marks_written:
                ends = _ends(index, onward, drafts)
                if not any(_carries_mark(drafts[n], name) or _reads(drafts[n], name) for n in ends):
                    yield _report_refused(case, draft.instance, name, WRITING, drafts, ends)
            for reader, does in _list_readers(draft, name):
                ends = _ends(index, backward, drafts)
                if not any(
                    _carries_mark(drafts[n], name) or name in drafts[n].element.marks_written
                    for n in ends
                ):
                    yield _report_refused(case, reader, name, does, drafts, ends)


def find_lost_identifiers(case: Case, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each classifier by VLAN behind a line that did not carry it."""
    lines = [n for n, draft in survey.drafts.items() if draft.clock is not None]
    for name in predicates.VLANS:
        lost = {n for n in lines if not _carries_mark(survey.drafts[n], name)}
        for number, hops in sorted(survey.reach.hops.items()):
            sent, behind, before = survey.members[number].packets, set[State](), -1
            while sent is not None and sent.header_fields[name] and len(behind) > before:
                before = len(behind)
                behind |= {h.after for h in hops if h.before.element in lost or h.before in behind}
            for draft in (survey.drafts[n] for n in sorted({state.element for state in behind})):
                if _reads(draft, name):
                    passed = {hop.before.element for hop in hops} & lost
                    yield _report_refused(
                        case, draft.instance, name, READING, survey.drafts, passed
                    )


def find_misplaced_tags(case: Case, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each flow whose frames cannot be told to have a tag, or none, on a line where some do.

    Of one without a tag something on the way writes the priority; of one with a tag, a line on the
    way has none. Each flow once.
    """
    drafts, priority = survey.drafts, MARKS["priority"]
    lines = {index for index, draft in drafts.items() if has_optional_tag(draft)}
    bare = {
        index
        for index, draft in drafts.items()
        if draft.clock is not None and not _carries_mark(draft, "priority")
    }
    written = {
        number: index
        for index in lines
        for number, item_class in survey.reach.item_classes.get(index, ())
        if priority.read(item_class.marks) and not survey.members[number].is_tagged
    }
    reported = set[int]()
    for number, hops in sorted(survey.reach.hops.items()) if lines else ():
        member, flow = survey.members[number], survey.members[number].stream.flow
        if flow in reported or member.channel is not None:
            continue
        stripped = _find_stripped(hops, lines, bare) if member.is_tagged else None
        if number in written:
            (line,) = _list_lines({written[number]}, drafts)
            message = (
                f"something writes the `priority` of `{member.name}`, whose frames have no tag"
            )
            yield _report_tag(case.flows[flow], f"{message} on `{line}`", WITH_TAG)
        elif stripped is not None:
            last, first = (_list_lines({index}, drafts)[0] for index in stripped)
            message = f"frames of `{member.name}` have a tag on `{last}`, and had none on `{first}`"
            yield _report_tag(case.flows[flow], message, TAG_KEPT.format(first))
        else:
            continue
        reported.add(flow)


def _find_stripped(hops: Sequence[Hop], lines: set[int], bare: set[int]) -> tuple[int, int] | None:
    """Return a line behind one without tags, and that one; None if there is none such."""
    behind: dict[State, int] = {}
    before = -1
    while len(behind) > before:
        before = len(behind)
        for hop in hops:
            if hop.before.element in bare:
                behind.setdefault(hop.after, hop.before.element)
            elif hop.before in behind:
                behind.setdefault(hop.after, behind[hop.before])
    found = ((state.element, line) for state, line in behind.items() if state.element in lines)
    return next(found, None)


def _report_tag(flow: Flow, message: str, remedy: str) -> Diagnostic:
    return Diagnostic("E0426", message, flow.span, help=remedy)


def _list_wires(drafts: Drafts, reach: Reach) -> Wires:
    return {
        index: {w.to for w in drafts[index].edges if w.end == "element" and w.to in reach.any}
        if index in reach.any
        else set()
        for index in drafts
    }


def _ends(start: int, wires: Mapping[int, set[int]], drafts: Drafts) -> set[int]:
    """Return the elements on paths from or to `start`, up to and including the next lines."""
    found: set[int] = set()
    waiting = list(wires[start])
    while waiting:
        index = waiting.pop()
        if index not in found:
            found.add(index)
            if drafts[index].clock is None:
                waiting += wires[index]
    return found


def _carries_mark(draft: Draft, name: str) -> bool:
    frame = None if draft.clock is None else draft.clock.encapsulation
    return frame is not None and frame.carries_mark(name)


def _reads(draft: Draft, name: str) -> bool:
    return next(_list_readers(draft, name), None) is not None


def _list_readers(draft: Draft, name: str) -> Iterator[tuple[Instance, tuple[str, str]]]:
    """Yield what reads a mark here, with the verbs of the message; queues of a scheduler too."""
    if any(
        name in predicates.list_attributes(predicate) for predicate in draft.instance.predicates
    ):
        yield draft.instance, READING
    if name in draft.element.marks_read:
        yield draft.instance, READING
    for queue in (draft.instance, *draft.queues):
        policy = None if queue is None else queue.element.drop_policy
        if queue is not None and policy is not None and policy.mark == name:
            yield queue, DROPPING


def _list_lines(ends: set[int], drafts: Drafts) -> list[str]:
    """Return the paths of the lines among some elements."""
    found = (drafts[index] for index in sorted(ends) if drafts[index].clock is not None)
    return [draft.line or draft.instance.path for draft in found]


def _report_refused(
    case: Case,
    instance: Instance,
    name: str,
    verbs: tuple[str, str],
    drafts: Drafts,
    ends: set[int],
) -> Diagnostic:
    """Return the mistake of an element that does something with a mark, between some lines."""
    place, _ = PLACES[name]
    lines = _list_lines(ends, drafts)
    clocks = (drafts[index].clock for index in sorted(ends))
    framings = [clock.encapsulation for clock in clocks if clock is not None]
    does, moves = verbs
    return Diagnostic(
        "E0426",
        f"`{instance.path}` {does} `{predicates.spell_attribute(name)}`, but no frame that {moves} "
        f"has {place}",
        instance.span or case.flows[0].span,
        secondary=(Label(case.flows[0].span, "packets pass there"),),
        notes=(f"{'lines' if len(lines) > 1 else 'line'}: {', '.join(lines[:4])}",)
        if lines
        else (),
        help=TAG_MAY_COME
        if verbs == READING and name in ("priority", "vlan")
        else suggest_medium(name, framings),
    )
