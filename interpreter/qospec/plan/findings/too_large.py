"""Packets that are too large for an element and lost there: all of a flow, or full segments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.diagnostics import Diagnostic, Label
from qospec.protocol.streams import NO_FLOW

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.engine.element import Element
    from qospec.model.suite import Case, Flow
    from qospec.plan.forms import Survey
    from qospec.plan.tables import Member

NO_LIMIT = 2**30
"""More than any packet."""


def find_all_too_large(case: Case, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each element that loses all packets of a flow, since they may not be cut."""
    for index, numbers in sorted(survey.reach.any.items()) if survey.forms.changed else ():
        element, instance = survey.drafts[index].element, survey.drafts[index].instance
        reported = {NO_FLOW}
        for number in sorted(numbers):
            flow = survey.members[number].stream.flow
            forms = [form for form in survey.forms.list_at(index, number) if form.sizes]
            if flow in reported or any(element.predict_form(form).sizes for form in forms):
                continue
            if forms:
                reported.add(flow)
                least = min(form.smallest_bytes for form in forms)
                note, way = _explain_loss(element)
                yield Diagnostic(
                    "W0619",
                    f"`{instance.path}` loses every packet of `{case.flows[flow].name}`",
                    instance.span or case.flows[flow].span,
                    label=f"({', '.join(element.discards_for)})",
                    secondary=(Label(case.flows[flow].span, f"at least {least} B @ip there"),),
                    notes=(f"they are too large, and {note}",),
                    help=f"send smaller packets, give it a larger `mtu`, or {way}",
                )


def _explain_loss(element: Element) -> tuple[str, str]:
    """Return why it cuts no packets, and what would."""
    if element.list_told_bytes(NO_LIMIT):
        return (
            "it cuts none",
            "put a `fragment` of the same `mtu` ahead of it and a `reassemble` behind it",
        )
    return "may not be cut into fragments", "allow it to cut them"


def find_full_segments(case: Case, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each flow of TCP whose full segments are lost where it could be told of it, once.

    It does not discover the MTU of its path. The handshake passes, so that nothing else shows it.
    """
    reported = {NO_FLOW}
    for index, numbers in sorted(survey.reach.any.items()) if survey.forms.changed else ():
        element, instance = survey.drafts[index].element, survey.drafts[index].instance
        for number in sorted(numbers):
            member = survey.members[number]
            if member.stream.flow in reported or not _is_never_told(case, member):
                continue
            flow = case.flows[member.stream.flow]
            arrives = survey.forms.find_largest_bytes(index, number)  # less if some were cut
            largest = min(arrives, _find_full_bytes(member, flow))
            if element.list_told_bytes(largest):
                reported.add(member.stream.flow)
                yield Diagnostic(
                    "W0619",
                    f"`{instance.path}` loses every full segment of `{flow.name}`",
                    flow.places.get("mss", flow.span),
                    label=f"{largest} B @ip there",
                    secondary=(Label(instance.span, f"({', '.join(element.discards_for)})"),)
                    if instance.span
                    else (),
                    notes=("it tells only sources that discover the MTU of their path",),
                    help=_describe_ways(flow),
                )


def _is_never_told(case: Case, member: Member) -> bool:
    """Return whether it is TCP that heeds no notices."""
    packets = case.flows[member.stream.flow].packets
    is_tcp = packets is not None and packets.size_field == "mss"
    return is_tcp and member.packets is not None and not packets.dont_fragment


def _find_full_bytes(member: Member, flow: Flow) -> int:
    """Return the size of the largest packets that a member of TCP sends."""
    assert member.packets is not None  # noqa: S101 -- of TCP
    sizes = member.packets.sizes.size_bytes
    names = ("response",) if member.stream.kind == "answers" else ("transfer", "request")
    given: list[int | None] = [getattr(flow.traffic, name) for name in names]
    return min([sizes[-1], *(sizes[0] + data_bytes for data_bytes in given if data_bytes)])


def _describe_ways(flow: Flow) -> str:
    clamp = "lower by a `clamp_mss` what both its ends announce"
    if flow.traffic.request is None and flow.traffic.family == "ipv4":
        return f"write `path_mtu_discovery = true`, or {clamp}"
    return f"write a smaller `mss`, or {clamp}"
