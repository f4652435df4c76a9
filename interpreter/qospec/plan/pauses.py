"""Pause frames: who hears what a queue tells, and at which rate it counts.

A frame goes by wires and lines, as messages of machines do, to the nearest queue that obeys.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.diagnostics import Diagnostic
from qospec.engine.element import Told
from qospec.engine.items.contract import Contract
from qospec.plan.assembly import assemble
from qospec.plan.channels import ASKED
from qospec.plan.paths import Classes, MemberRouting, find_start
from qospec.plan.tables import Channel, Member
from qospec.protocol.encapsulation import PAUSE_BYTES
from qospec.protocol.streams import NO_FLOW, Stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.engine.experiment import Node
    from qospec.model.suite import Network
    from qospec.plan.assembly import Drafts
    from qospec.plan.lowering import Lowered
    from qospec.plan.tables import Table


def list_pause_members(network: Network) -> Iterator[Member]:
    """Yield a member for each queue that tells to stop, and the nearest one that obeys."""
    telling = [n for n, one in enumerate(network.elements) if one.element.tells_by]
    if not telling:
        return
    drafts = assemble(network)
    members = [_build_member(network, origin, (origin, 0)) for origin in telling]
    made: dict[int, Table] = {
        index: Classes(draft.instance, tuple(members))
        for index, draft in drafts.items()
        if draft.duty == "classifier"
    }
    for number, (origin, member) in enumerate(zip(telling, members, strict=True)):
        walk = MemberRouting(drafts, made, network.entries, number, member, {})
        ends = walk.list_machines(find_start(member, network))
        heard = next((end for end in ends if _is_heard(drafts, origin, *end)), None)
        if heard is not None:
            yield _build_member(network, origin, heard)


def _is_heard(drafts: Drafts, origin: int, element: int, number: int) -> bool:
    """Return whether what a queue tells stops something where it comes to an input.

    A queue that stops itself would stop nobody who sends to it, so it is none that hears it.
    """
    told, found = drafts[origin].element.pause_priorities, drafts[element].element
    obeys = origin != element and found.inputs[number] == found.hears_at
    return obeys and (not told or not told.isdisjoint(found.pause_priorities))


def _build_member(network: Network, origin: int, target: tuple[int, int]) -> Member:
    element = network.elements[origin].element
    output = element.outputs.index(element.tells_by)
    path, to = network.elements[origin].path, network.elements[target[0]].path
    return Member(
        f"{path}.{element.tells_by} -> {to}",
        -1,
        -1,
        Stream(NO_FLOW, "messages", 1),
        Contract("packets", Fraction(1), 0),
        0,
        ASKED["packet"],
        channel=Channel(origin, output, *target, "packet", PAUSE_BYTES),
    )


def with_pauses(lowered: Lowered, members: Sequence[Member], network: Network) -> Lowered:
    """Return the same network with its queues told by whom they are heard."""
    nodes = list(lowered.nodes)
    for member in members:
        channel = member.channel
        if channel is None or not network.elements[channel.origin].element.tells_by:
            continue
        path = network.elements[channel.origin].path
        hearing = network.elements[channel.target].path
        numbers = {node.path: number for number, node in enumerate(nodes)}
        bit_rate = _get_bit_rate(nodes[numbers[hearing]])
        number = numbers[path]
        nodes[number] = nodes[number]._replace(told=Told(member.stream.first, bit_rate))
    return replace(lowered, nodes=tuple(nodes))


def _get_bit_rate(node: Node) -> Fraction:
    """Return the rate of the line that a queue feeds, whose bits it counts while it is stopped."""
    clock = node.clock or next(clock for clock in node.clocks if clock is not None)
    return clock.bit_rate


def find_unheard_pauses(members: Sequence[Member], network: Network) -> Iterator[Diagnostic]:
    """Yield each queue that tells to stop, and that nobody hears."""
    heard = {member.channel.origin for member in members if member.channel is not None}
    for number, instance in enumerate(network.elements):
        if instance.element.tells_by and number not in heard and instance.span is not None:
            yield Diagnostic(
                "W0638",
                f"nobody stops when `{instance.path}` tells to",
                instance.span,
                notes=(f"what leaves by `{instance.path}.pause` comes to no queue that obeys",),
                help="let a `pause_queue` feed the line by which packets come, and"
                " lead what comes back to its input `heard`",
            )
