"""What a plan refuses, in words: too many cells, no way, no time round a loop, overload."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.diagnostics import Diagnostic, Label
from qospec.units import RATE, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.model import Case, Flow, Network, Test
    from qospec.run.network import Lowered
    from qospec.run.tables import Member, NoWayError


def overloads(
    case: Case, lowered: Lowered, members: Sequence[Member], asked_bps: Sequence[Fraction]
) -> Iterator[Diagnostic]:
    """Yield each line that its flows ask for more than it carries; `asked_bps` is by member."""
    for node, passing in zip(lowered.nodes, lowered.offered, strict=True):
        asked = sum((asked_bps[number] for number in passing), Fraction(0))
        if node.clock is not None and asked > node.clock.bit_rate:
            flows = [case.flows[flow] for flow in sorted({members[n].flow for n in passing})]
            yield _overload(case, flows, asked, (node.path, node.clock.bit_rate))


def _overload(
    case: Case, flows: list[Flow], asked_bps: Fraction, line: tuple[str, Fraction]
) -> Diagnostic:
    path, carries_bps = line
    names = ", ".join(f"`{flow.name}`" for flow in flows)
    asks = "asks" if len(flows) == 1 else "ask"
    return Diagnostic(
        "E0305",
        "these flows ask for more than the line can carry",
        flows[-1].span,
        label=f"case {case.name}: {names} {asks} for {text_of(asked_bps, RATE)} @cell",
        others=tuple(Label(flow.span) for flow in flows[:-1]),
        notes=(f"`{path}` sends {text_of(carries_bps, RATE)} @cell",),
        help="overload on purpose? write `overload = true` in `run`",
    )


def no_way(case: Case, network: Network, error: NoWayError) -> Diagnostic:
    """Return that some cells of a member do not get to its target."""
    member, flow = error.member, case.flows[error.member.flow]
    origin, target = network.hosts[member.origin].path, network.hosts[member.target].path
    cells = _cells(error, flow)
    if error.host >= 0:
        message = f"{cells} arrive at `{network.hosts[error.host].path}`, not at `{target}`"
        remedy = "wire every class of cells so that it leads to the target, or discard it"
    else:
        message = f"no way leads {cells} from `{origin}` to `{target}`"
        remedy = f"add the missing `link`, or name other hosts for `{flow.name}`"
    note = f"in topology `{network.name}`, following links and the devices' wires"
    return Diagnostic("E0308", message, flow.span, notes=(note,), help=remedy)


def _cells(error: NoWayError, flow: Flow) -> str:
    if error.sort.oam:
        return f"OAM cells of `{flow.name}`"
    tagged = error.sort.clp != error.member.clp
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
    return Diagnostic(
        "E0609",
        f"a trial of `{case.name}` would send {cells:_} cells; the limit is {most_cells:_}",
        test.span,
        notes=("the rate of all flows times warmup and measure",),
        help=f"measure for a shorter time, or allow it with `--max-cells {cells}`",
    )
