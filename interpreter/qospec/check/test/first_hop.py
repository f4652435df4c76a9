"""What a flow sends on the link at its origin: cells, or packets and how they are framed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qospec.check.device.body import build_element
from qospec.check.evaluate.context import join_mistakes, make_error
from qospec.dataclass import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qospec.catalogue.kinds import Kind
    from qospec.check.device.nodes import Node
    from qospec.check.evaluate.context import CheckError
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.records.record import Record
    from qospec.check.test.sources import Emitted
    from qospec.protocol.encapsulation import Encapsulation
    from qospec.source import Span
    from qospec.syntax import ast

HOST_PORT = ("", 0)
PLACES = {
    **dict.fromkeys(("priority", "vlan"), ("a VLAN tag", "vlan_tags = 1")),
    "inner_vlan": ("a second VLAN tag", "vlan_tags = 2"),
    "traffic_class": ("an MPLS label", "labels = 1"),
}
"""Marks that not every frame carries: their place in words, and the field of a line for it."""


class Sending(NamedTuple):
    """Traffic, built: its kind, what it declares, what it emits, and its arguments.

    `packets` is what is sent on the first link, None of cells. What emits packets is given by
    `emitted`, or by the traffic itself, and is not built before the rate of packets is known.
    """

    kind: Kind
    traffic: Any
    arrivals: Any
    arguments: dict[str, Any]
    emitted: Emitted | None = None
    packets: Any = None


def find_sent_on_links(
    record: Record,
    sending: Sending,
    flow: tuple[ast.Flow, str],
    ends: tuple[tuple[Node, ...], tuple[Node, ...]],
    evaluator: Evaluator,
) -> Sending | None:
    """Return what is sent on the links of the origins, and on those of the targets in answer.

    Args:
        record: The traffic of the flow.
        sending: What it declares.
        flow: Of which flow, with its name.
        ends: The origins and the targets.
        evaluator: For the arguments of lines.

    Returns:
        None after a mistake.

    Raises:
        CheckError: Another mistake.
    """
    near = _find_first_link(record, sending, flow, ("origins", ends[0]), evaluator)
    if "packet" not in sending.kind.carries:
        return sending
    traffic, far = sending.traffic, None
    if traffic.is_answered:
        far = _find_first_link(record, sending, flow, ("targets", ends[1]), evaluator)
    if near is None or (traffic.is_answered and far is None):
        return None
    linked = next(host.links[HOST_PORT] for host in ends[0] if HOST_PORT in host.links)
    begins = (linked, f"linked here, where `{flow[1]}` begins")
    try:
        packets = _build_packets(traffic, near, far)
    except ValueError as cause:
        raise record.find_mistakes(cause, begins) from cause
    return sending._replace(arrivals=_find_arrivals(sending, packets, evaluator), packets=packets)


def _build_packets(traffic: Any, near: Any, far: Any) -> Any:
    """Return what traffic sends on its first links; of those between endpoints, with answers.

    `near` and `far` are the clocks of their lines; without answers, `far` is None.

    Raises:
        ValueError: It does not fit them.
    """
    tagged = traffic.is_tagged
    near = near.with_tag_settled(tagged=tagged)
    if far is None:
        packets = traffic.describe_packets(near.encapsulation)
    else:
        packets = traffic.describe_exchange(near, far.with_tag_settled(tagged=tagged))
    answers = packets.answers and packets.answers._replace(is_tagged=tagged)
    return packets._replace(is_tagged=tagged, answers=answers)


def _find_first_link(
    record: Record,
    sending: Sending,
    flow: tuple[ast.Flow, str],
    end: tuple[str, tuple[Node, ...]],
    evaluator: Evaluator,
) -> Any:
    """Return the clock of the fastest line at some hosts, which frame alike.

    None after a mistake; for cells, in any case.
    """
    (node, name), (role, hosts) = flow, end
    packets = "packet" in sending.kind.carries
    lines = [_find_line(host, evaluator) for host in hosts if HOST_PORT in host.media]
    for line, host in zip(lines, hosts, strict=False):
        if line is not None and ("packet" in line.accepts) != packets:
            sent, taken = ("packets", "cells") if packets else ("cells", "packets")
            raise make_error(
                "E0309",
                f"`{name}` sends {sent}, but the link of `{host.path}` carries {taken}",
                node.span,
                secondary=(host.links[HOST_PORT], "linked here"),
                help=f"use a medium for {sent}, or traffic of another kind",
            )
    if not packets or not hosts:
        return None
    if not any(host.links for host in hosts):
        raise _explain_unlinked(node, name, hosts)
    if not lines or None in lines:
        return None
    clocks = [line.build_clock(stamps=False) for line in lines]
    if len({clock.encapsulation for clock in clocks}) > 1:
        raise make_error(
            "E0309",
            f"the links at the {role} of `{name}` frame packets differently",
            node.span,
            help="give them one medium, or make flows of their own",
        )
    fastest = max(clocks, key=lambda clock: clock.bit_rate)
    does = "begins" if role == "origins" else "is answered"
    linked = next(host.links[HOST_PORT] for host in hosts if HOST_PORT in host.links)
    begins = (linked, f"linked here, where `{name}` {does}")
    unborne = [
        _mark_not_carried(mark, record.given[mark].value.span, name, begins, fastest.encapsulation)
        for mark in PLACES
        if sending.arguments.get(mark) is not None and not fastest.encapsulation.carries_mark(mark)
    ]
    if unborne:
        raise join_mistakes(unborne)
    return fastest


def _find_arrivals(sending: Sending, packets: Any, evaluator: Evaluator) -> Any:
    if sending.arrivals is not None:
        return sending.arrivals
    if sending.traffic.is_answered:
        return packets.loop
    if sending.emitted is None:
        process, given = packets.source
        kind = evaluator.context.catalogue.find("arrivals", process)
        assert kind is not None  # noqa: S101 -- traffic names what is in the catalogue
        return kind.build(**given)
    kind, given = sending.emitted.kind, sending.emitted.arguments
    try:
        return kind.build.from_rate(packets.contract.peak_cell_rate, **given)
    except ValueError as cause:
        raise sending.emitted.record.find_mistakes(cause) from cause


def suggest_medium(mark: str, framings: Iterable[Encapsulation | None]) -> str:
    """Return the help for a mark that has no place in frames of some lines; None is one of cells.

    Where one tag is optional there cannot be more of them.
    """
    place, field = PLACES[mark]
    if any(framing is not None and framing.optional_tag for framing in framings):
        fields = f"optional_tag = false, {field}"
        return f"use a medium on which every frame has {place}: `{{ {fields} }}`"
    return f"use a medium with a field for it: `{{ {field} }}`"


def _mark_not_carried(
    mark: str, written: Span, name: str, begins: tuple[Span, str], framing: Encapsulation
) -> CheckError:
    place, _ = PLACES[mark]
    return make_error(
        "E0426",
        f"`{name}` marks packets with `{mark}`, but no frame on its link has {place}",
        written,
        secondary=begins,
        help=suggest_medium(mark, [framing]),
    )


def _explain_unlinked(node: ast.Flow, name: str, origins: tuple[Node, ...]) -> CheckError:
    return make_error(
        "E0308",
        f"no path for packets of `{name}` from `{origins[0].path}`",
        node.span,
        note="it has no link",
        help=f"add a `link`, or name other hosts for `{name}`",
    )


def _find_line(origin: Node, evaluator: Evaluator) -> Any:
    """Return the line of a host's link; None after a mistake."""
    medium = origin.media[HOST_PORT]
    line = medium.kept.get("line")
    if line is None:
        arguments, complete = medium.evaluate_arguments(evaluator)
        line = (
            build_element(medium, arguments, complete=True, evaluator=evaluator)
            if complete
            else None
        )
        if line is not None:
            medium.kept["line"] = line
    return line
