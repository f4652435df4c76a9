"""What a plan refuses, in words: too many cells, no way, no time round a loop, overload."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.diagnostics import Diagnostic, Label
from qospec.engine.marks import CLP
from qospec.units import RATE, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from qospec.engine.line.clock import Clock
    from qospec.model.suite import Case, Flow, Network, Test
    from qospec.run.draft import Drafts
    from qospec.run.tables import Member, NoWayError, Passing, TwoWaysError


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
        remedy = "wire every class so that it leads to the target, or discard it"
    else:
        message = f"no way leads {cells} from `{origin}` to `{target}`"
        remedy = f"add the missing `link`, or name other hosts for `{flow.name}`"
    note = f"in topology `{network.name}`, following links and the devices' wires"
    return Diagnostic("E0308", message, flow.span, notes=(note,), help=remedy)


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
