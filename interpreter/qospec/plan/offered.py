"""What flows offer: their members, how much they ask of a line, and which begin together."""

from __future__ import annotations

import functools
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.diagnostics import Diagnostic
from qospec.engine.source.changing import compute_mean_items
from qospec.plan.channels import list_message_members
from qospec.plan.pauses import list_pause_members
from qospec.plan.tables import Member, Way
from qospec.protocol.atm import CELL_BYTES
from qospec.protocol.marks import set_marks
from qospec.protocol.streams import Stream, name_population, number_streams
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.catalogue.form import Form
    from qospec.engine.items.contract import Contract
    from qospec.engine.line.clock import Clock
    from qospec.engine.source.traffic import SentPackets
    from qospec.model.expression import Value
    from qospec.model.suite import Case, Flow, Network, Run
    from qospec.protocol.encapsulation import Encapsulation
    from qospec.protocol.streams import KindName


def compute_cell_rate(flow: Flow) -> Fraction:
    """Return the cells/s of one member of a flow."""
    return Fraction(flow.arrivals.compute_mean_rate(flow.connections))


MANY = 20
"""How many flows that begin together are hardly meant to."""
MOST_ITEMS = 10**9
"""How many items a trial may send, unless the user allows more."""


def count_items(case: Case) -> tuple[int, bool]:
    """Return how many items a trial sends at most, and true; on average, and false, if random.

    A call that is offered counts as one: it takes as long, even if it is refused.
    """
    length_ps = case.run.warmup_ps + case.run.measure_ps
    sent = [_count_sent(flow, length_ps) for flow in case.flows]
    return round(sum(count for count, _ in sent)), all(is_most for _, is_most in sent)


def list_counted(case: Case) -> list[str]:
    """Return what `count_items` counts, in words of one each."""
    found = {"cell" if flow.packets is None else "packet" for flow in case.flows}
    length_ps = case.run.warmup_ps + case.run.measure_ps
    offered = any(flow.arrivals.count_offered(length_ps) for flow in case.flows)
    return sorted(found) + ["call"] * offered


def _count_sent(flow: Flow, length_ps: int) -> tuple[Fraction, bool]:
    most = flow.arrivals.count_most_items(flow.connections, length_ps)
    mean = compute_mean_items(flow.arrivals, flow.connections, length_ps)
    items = mean if most is None else Fraction(most)
    if flow.traffic.is_answered:
        items *= 2  # an answer to each
    items += flow.arrivals.count_offered(length_ps)
    return len(flow.origins) * items, most is not None


def compute_asked_bps(flow: Flow, form: Form, clock: Clock) -> Fraction:
    """Return what a member of a flow asks of a line, its first or another, as it counts bits."""
    arrivals = flow.arrivals
    find_rate = arrivals.compute_first_rate if clock.stamps else arrivals.compute_mean_rate
    rate = Fraction(find_rate(flow.connections))
    return rate * 8 * _compute_line_bytes(form, clock.encapsulation)


@functools.cache
def _compute_line_bytes(form: Form, framed: Encapsulation | None) -> Fraction:
    """Return the mean number of bytes on a line for each item that the source sends."""
    # Cached: the cases of a sweep use the same few means, of mixes of up to hundreds of sizes.
    if framed is None:
        return form.compute_mean(lambda _: CELL_BYTES)
    is_uncounted = form.is_tagged and not form.tag_bytes  # as it is sent, ahead of its first line
    return form.compute_mean(framed.with_tag_settled(tagged=is_uncounted).count_line_bytes)


def build_members(flows: tuple[Flow, ...], network: Network, run: Run) -> Iterator[Member]:
    """Yield the members of all flows, messages of machines, and wholes, numbered in a row."""
    drafted = [draft for flow in enumerate(flows) for draft in _list_members(*flow, network, run)]
    drafted += [*list_message_members(network), *list_pause_members(network)]
    drafted.sort(key=lambda member: member.stream.place)
    numbered = number_streams(member.stream for member in drafted)
    for member, stream in zip(drafted, numbered, strict=True):
        yield replace(member, stream=stream)


def _list_members(number: int, flow: Flow, network: Network, run: Run) -> Iterator[Member]:
    """Yield the members of a flow; of one between endpoints, all of one kind after another."""
    kinds: tuple[KindName, ...] = ("user", *flow.traffic.own_parts)
    for kind in kinds:
        sent = flow.packets and (flow.packets.answers if kind == "answers" else flow.packets)
        contract, marks, asked = (
            _describe_sent(flow) if sent is None else _describe_sent_packets(sent)
        )
        ways = _list_ways(flow, network, run)
        for turn, ends in enumerate(zip(flow.origins, flow.targets, strict=True)):
            origin, target = map(network.find_host, ends[::-1] if kind == "answers" else ends)
            member = None if len(flow.origins) == 1 else turn
            name = name_population(flow.name, member, kind)
            stream = Stream(number, kind, flow.connections)
            yield Member(name, origin, target, stream, contract, marks, asked, sent, ways=ways)


def _list_ways(flow: Flow, network: Network, run: Run) -> tuple[Way, ...]:
    """Return the ways of items of a flow in a trial, the one at the beginning first."""
    named = {0: flow.via, **{run.warmup_ps + change.at_ps: change.paths for change in flow.ways}}
    avoided = {0: (), **{run.warmup_ps + change.at_ps: change.paths for change in run.detours}}
    found: dict[tuple[tuple[str, ...], tuple[str, ...]], list[int]] = {}
    ports, lines, before = flow.via, tuple[str, ...](), None
    for since_ps in sorted({*named, *avoided}):
        ports, lines = named.get(since_ps, ports), avoided.get(since_ps, lines)
        if (ports, lines) != before:
            found.setdefault((ports, lines), []).append(since_ps)
        before = ports, lines
    return tuple(
        Way(tuple(network.sides[f"{port}.tx"] for port in ports), frozenset(lines), tuple(times_ps))
        for (ports, lines), times_ps in found.items()
    )


def _describe_sent(flow: Flow) -> tuple[Contract, int, tuple[tuple[str, Value], ...]]:
    """Return the contract of a flow of cells, their marks, and what else a classifier asks."""
    contract = flow.traffic.build_contract()
    asked = (("category", contract.category), ("virtual_path", Fraction(flow.virtual_path)))
    return contract, set_marks(clp=flow.clp), asked


def _describe_sent_packets(
    packets: SentPackets,
) -> tuple[Contract, int, tuple[tuple[str, Value], ...]]:
    """Return the same of packets: their contract is that of their cells, if they have one."""
    contract = packets.cell_contract or packets.contract
    return contract, packets.marks, tuple(sorted(packets.header_fields.items()))


def find_begun_together(case: Case) -> Iterator[Diagnostic]:
    """Yield the first of many flows that send in the same instants, since all begin at once."""
    alike: dict[tuple[Fraction, int], list[Flow]] = {}
    for flow in case.flows if len(case.flows) >= MANY else ():
        is_random = flow.arrivals.count_most_items(1, PS_PER_S) is None  # whatever its phases
        if flow.phases == "even" and flow.connections * len(flow.origins) == 1 and not is_random:
            offset_ps = getattr(flow.traffic, "offset", 0)
            alike.setdefault((flow.item_rate, offset_ps), []).append(flow)
    for first, *others in (flows for flows in alike.values() if len(flows) >= MANY):
        yield Diagnostic(
            "W0636",
            f"`{first.name}` and {len(others)} other flows begin together, and send as one burst",
            first.places.get("phases", first.span),
            help=f"write one flow of `connections = {len(others) + 1}`, which are spread evenly,"
            " or `phases = random`, or give each another `offset`",
        )
