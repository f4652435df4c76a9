"""What a plan refuses: too many cells, no way, overload, links and marks that do not fit.

A link may not take packets, or frame them in another way. A mark that is written or read needs a
frame with a place for it: between two lines a mark is what the frame bore that came, or what was
written since; behind the next line it is gone if its frames have no place for it. And what is
checked and planned but cannot be executed yet is refused when it is to run, by name.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.check.device import predicates
from qospec.check.test.first_hop import PLACES
from qospec.diagnostics import Diagnostic, Label
from qospec.protocol.marks import CLP
from qospec.units import RATE, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from qospec.engine.line.clock import Clock
    from qospec.model.suite import Case, Flow, Instance, Network, Property, Test
    from qospec.plan.assembly import Draft, Drafts
    from qospec.plan.tables import Member, NoWayError, Passing, TwoWaysError
    from qospec.source import Span


def overloads(
    case: Case,
    network: Network,
    drafts: Drafts,
    passing: Passing,
    members: Sequence[Member],
    asks: Callable[[Flow, Clock], Fraction],
) -> Iterator[Diagnostic]:
    """Yield each line that its flows ask for more than it carries, in bit/s as `asks` says."""
    for index, through in sorted(passing.offered.items()):
        draft = drafts[index]
        clock = draft.clock
        if clock is None:
            continue
        asked_bps = {n: asks(case.flows[members[n].flow], clock) for n in through}
        if sum(asked_bps.values(), Fraction(0)) > clock.bit_rate:
            layer = "cell" if clock.encapsulation is None else "line"
            shares: dict[int, Fraction] = {}
            for number in sorted(through):
                flow = members[number].flow
                shares[flow] = shares.get(flow, Fraction(0)) + asked_bps[number]
            line = draft.line or draft.instance.path
            carries = f"`{line}` carries {text_of(clock.bit_rate, RATE)} @{layer}"
            span = next(each.span for each in network.elements if each.path == line)
            place = f" ({span.source.name}:{span.source.position(span.start)[0]})" if span else ""
            yield _overload(case, shares, carries + place, layer)


def _overload(case: Case, shares: dict[int, Fraction], carries: str, layer: str) -> Diagnostic:
    """Return that flows, with what each asks for in bit/s, are too much for a line."""
    *others, last = sorted(shares)
    flows = case.flows
    plus = "".join(f", plus `{flows[n].name}` {text_of(shares[n], RATE)}" for n in others)
    _, _, point = case.name.partition(":")
    where = f"case {point}: " if point else ""
    return Diagnostic(
        "E0305",
        f"{'these flows ask' if others else 'this flow asks'} for more than the link can carry",
        flows[last].span,
        label=f"{where}{text_of(shares[last], RATE)} @{layer}{plus}",
        others=tuple(Label(flows[n].span) for n in others),
        notes=(carries,),
        help="overload on purpose? write `overload = true` in `run`",
    )


def no_way(case: Case, network: Network, error: NoWayError) -> Diagnostic:
    """Return that some cells of a member do not get to its target."""
    member, flow = error.member, case.flows[error.member.flow]
    origin, target = network.hosts[member.origin].path, network.hosts[member.target].path
    cells = _cells(error, flow)
    if error.host >= 0:
        message = f"{cells} arrive at `{network.hosts[error.host].path}`, not at `{target}`"
        help_text = "wire every class so that it leads to the target, or discard it"
    else:
        message = f"no way leads {cells} from `{origin}` to `{target}`"
        help_text = f"add the missing `link`, or name other hosts for `{flow.name}`"
    note = f"in topology `{network.name}`, following links and the devices' wires"
    return Diagnostic("E0308", message, flow.span, notes=(note,), help=help_text)


def two_ways(case: Case, network: Network, error: TwoWaysError) -> Diagnostic:
    """Return that a classifier cannot treat some items by the port that they come by."""
    flow, classifier = case.flows[error.member.flow], network.elements[error.element]
    return Diagnostic(
        "E0310",
        f"packets of `{flow.name}` come to `{classifier.path}` by two ports",
        flow.span,
        others=() if classifier.span is None else (Label(classifier.span, "asked here"),),
        notes=("it is told by flow which way a class sends packets",),
        help="put a classifier behind each port, or make flows of their own",
    )


def _cells(error: NoWayError, flow: Flow) -> str:
    if flow.stream is not None:
        return f"packets of `{flow.name}`"
    if error.sort.oam:
        return f"OAM cells of `{flow.name}`"
    tagged = error.sort.marks & CLP > error.member.marks & CLP
    return f"{'tagged ' if tagged else ''}cells of `{flow.name}`"


def loop(paths: tuple[str, ...], network: Network, case: Case) -> Diagnostic:
    """Return that cells could go round these elements in no time."""
    spans = (e.span for e in network.elements if e.path in paths and e.span is not None)
    return Diagnostic(
        "E0409",
        "cells can go round this loop in no time",
        next(spans, case.flows[0].span),
        notes=(" -> ".join((*paths, paths[0])),),
        help="put an element that takes time into the loop, such as a line or a delay",
    )


def too_many_cells(test: Test, case: Case, cells: int, most_cells: int) -> Diagnostic:
    """Return that a trial is beyond the limit, and the flag that raises it."""
    carried = {"cells" if flow.stream is None else "packets" for flow in case.flows}
    return Diagnostic(
        "E0609",
        f"a trial of `{case.name}` would send {cells:_} {' and '.join(sorted(carried))}; "
        f"the limit is {most_cells:_}",
        test.span,
        notes=("the rate of all flows times warmup and measure",),
        help=f"measure for a shorter time, or allow it with `--max-cells {cells}`",
    )


FRAMING = "E0309"


def unlike_framing(
    case: Case, name: str, drafts: Drafts, passing: Passing, members: Sequence[Member]
) -> Iterator[Diagnostic]:
    """Yield each flow that a network's lines do not carry as it was worked out; once for a flow."""
    told: set[int] = set()
    for number, member in enumerate(members):
        flow = case.flows[member.flow]
        first = drafts[case.networks[name].hosts[member.origin].line].clock
        assert first is not None  # noqa: S101 -- a host's line has one
        wanted = None if flow.stream is None else flow.stream.encapsulation
        if member.flow not in told and first.encapsulation != wanted:
            told.add(member.flow)
            yield _other_framing(flow, name)
        if member.flow not in told and flow.stream is not None:
            largest = max(flow.stream.sizes.size_bytes)
            for index, through in sorted(passing.any.items()):
                clock = drafts[index].clock
                framed = None if clock is None else clock.encapsulation
                if number in through and framed is not None and largest > framed.largest_bytes:
                    told.add(member.flow)
                    # A queue or a scheduler has run together with its line.
                    path = drafts[index].line or drafts[index].instance.path
                    link = next(e for e in case.networks[name].elements if e.path == path)
                    yield _too_large(flow, link, largest, framed.largest_bytes)
                    break


def _other_framing(flow: Flow, network: str) -> Diagnostic:
    return Diagnostic(
        FRAMING,
        f"the link at the origin of `{flow.name}` is of another kind on the control `{network}`",
        flow.span,
        help="give the control's topology a link there that carries and frames the same",
    )


def _too_large(flow: Flow, link: Instance, largest_bytes: int, most_bytes: int) -> Diagnostic:
    return Diagnostic(
        FRAMING,
        f"`{flow.name}` sends packets of {largest_bytes} B @ip, "
        f"and `{link.path}` takes {most_bytes} B",
        flow.span,
        others=() if link.span is None else (Label(link.span, "linked here"),),
        notes=("packets are not fragmented",),
        help="send smaller ones, or take a medium that they fit",
    )


WRITING, ASKING, DROPPING = ("writes", "leaves"), ("asks for", "comes"), ("drops by", "comes")

Wires = dict[int, set[int]]


def marks_without_place(case: Case, drafts: Drafts, passing: Passing) -> Iterator[Diagnostic]:
    """Yield what packets pass and what cannot work on its links: markers and readers of marks."""
    onward = _wires(drafts, passing)
    backward: Wires = {index: set() for index in drafts}
    for index, ends in onward.items():
        for end in ends:
            backward[end].add(index)
    for index in sorted(passing.any):
        for name in PLACES:
            draft = drafts[index]
            if name in draft.element.writes:
                ends = _ends(index, onward, drafts)
                if not any(_bears(drafts[n], name) or _reads(drafts[n], name) for n in ends):
                    yield _refused(case, draft.instance, name, WRITING, _lines(ends, drafts))
            for reader, does in _readers(draft, name):
                ends = _ends(index, backward, drafts)
                if not any(
                    _bears(drafts[n], name) or name in drafts[n].element.writes for n in ends
                ):
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


def _reads(draft: Draft, name: str) -> bool:
    return next(_readers(draft, name), None) is not None


def _readers(draft: Draft, name: str) -> Iterator[tuple[Instance, tuple[str, str]]]:
    """Yield what reads a mark here, the queues before a scheduler too, and how that is called."""
    if any(name in predicates.attributes(each) for each in draft.instance.predicates):
        yield draft.instance, ASKING
    for each in (draft.instance, *draft.queues):
        policy = None if each is None else each.element.drop_policy
        if each is not None and policy is not None and policy.mark == name:
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


NOTHING_IGNORED = "nothing is ignored: a test that leaves something out is worse than none"


def unsupported(test: Test, case: Case) -> Diagnostic | None:
    """Return why a case cannot be run, if it cannot."""
    for network in case.networks.values():
        for path, machine in network.machines:
            what = f"the machine `{machine.name}` of `{path}`"
            return _not_executed(what, machine.span, f"leave it out, or leave out `{test.name}`")
    if case.search is not None:
        what = f"the search for `{case.search.name}`"
        return _not_executed(what, case.search.span, "give the load by a `sweep` for now")
    return None


def unsupported_properties(properties: tuple[Property, ...]) -> Iterator[Diagnostic]:
    """Yield that properties are not attacked yet."""
    for each in properties:
        what = f"the property `{each.name}`"
        yield _not_executed(what, each.span, "name the tests to run: `FILE::test`")


def _not_executed(what: str, span: Span, help_text: str) -> Diagnostic:
    message = f"{what} is checked, and cannot be executed yet"
    return Diagnostic("E0590", message, span, notes=(NOTHING_IGNORED,), help=help_text)
