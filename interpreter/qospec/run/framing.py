"""What a plan refuses of packets: links that do not take them, or frame them in another way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.diagnostics import Diagnostic, Label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.model.suite import Case, Flow, Instance
    from qospec.run.draft import Drafts
    from qospec.run.tables import Member, Passing

CODE = "E0309"


def misfits(
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
        CODE,
        f"the link at the origin of `{flow.name}` is of another kind on the control `{network}`",
        flow.span,
        help="give the control's topology a link there that carries and frames the same",
    )


def _too_large(flow: Flow, link: Instance, largest_bytes: int, most_bytes: int) -> Diagnostic:
    return Diagnostic(
        CODE,
        f"`{flow.name}` sends packets of {largest_bytes} B @ip, "
        f"and `{link.path}` takes {most_bytes} B",
        flow.span,
        others=() if link.span is None else (Label(link.span, "linked here"),),
        notes=("packets are not fragmented",),
        help="send smaller ones, or take a medium that they fit",
    )
