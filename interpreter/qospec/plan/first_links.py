"""What flows offer to the first links, the lines of hosts, which must carry all of it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.plan.forms import build_sent_form
from qospec.plan.offered import build_members, compute_asked_bps
from qospec.units import RATE, format_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.model.suite import Case, Flow, Instance


class Overload(NamedTuple):
    """A line of a host whose flows offer more than it carries.

    Attributes:
        line: Its element.
        flows: The names of the flows.
        total_bps: What they offer together, as the line counts bits.
        most_bps: What it carries.
        layer: Which bits it counts.
        change: From which change of the trial on, by its number from 1; 0 from the beginning.
    """

    line: Instance
    flows: tuple[str, ...]
    total_bps: Fraction
    most_bps: Fraction
    layer: str
    change: int

    @property
    def offered(self) -> str:
        """Return what is offered, in words."""
        names = " and ".join(f"`{name}`" for name in self.flows)
        return f"{names}: {format_value(self.total_bps, RATE)} @{self.layer}"

    @property
    def carried(self) -> str:
        """Return what is carried, in words."""
        return f"`{self.line.path}` carries {format_value(self.most_bps, RATE)} @{self.layer}"


def list_overloads(case: Case) -> Iterator[Overload]:
    """Yield each first link that is offered more than it carries, with the first time when."""
    found: dict[int, Overload] = {}
    for change, flows in enumerate(_list_over_time(case)):
        for line, shares in _sum_asked(case, flows).items():
            instance = case.networks[""].elements[line]
            clock = instance.element.build_clock(stamps=False)
            total = sum(shares.values(), Fraction(0))
            if total > clock.bit_rate and line not in found:
                names = tuple(flows[share].name for share in sorted(shares))
                most = Fraction(clock.bit_rate)
                found[line] = Overload(instance, names, total, most, clock.layer, change)
    for _, overload in sorted(found.items()):
        yield overload


def sum_offered_bps(case: Case, line: Instance, change: int) -> Fraction:
    """Return the bit/s that flows offer to a first link together, from a change on."""
    flows = list(_list_over_time(case))[change]
    elements = case.networks[""].elements
    its = (
        shares for element, shares in _sum_asked(case, flows).items() if elements[element] is line
    )
    return sum((share for shares in its for share in shares.values()), Fraction(0))


def is_growing(lower: Case, higher: Case, overload: Overload) -> bool:
    """Return whether one trial offers an overloaded line less than another, at a higher load."""
    line, change = overload.line, overload.change
    return sum_offered_bps(lower, line, change) < sum_offered_bps(higher, line, change)


def _list_over_time(case: Case) -> Iterator[tuple[Flow, ...]]:
    """Yield the flows as they are at the beginning of a trial, and after each of its changes."""
    yield case.flows
    for at_ps in case.run.changes_ps:
        yield tuple(_take_at(flow, at_ps) for flow in case.flows)


def _take_at(flow: Flow, at_ps: int) -> Flow:
    """Return a flow as it is at a time of the measurement."""
    return next((change.flow for change in reversed(flow.changes) if change.at_ps <= at_ps), flow)


def _sum_asked(case: Case, flows: Sequence[Flow]) -> dict[int, dict[int, Fraction]]:
    """Return the bit/s that each flow asks of each line that a host sends on."""
    network = case.networks[""]
    asked: dict[int, dict[int, Fraction]] = {}
    members = build_members(tuple(flows), network, case.run)
    for member in (member for member in members if member.stream.is_sent):
        host, flow = network.hosts[member.origin], flows[member.stream.flow]
        line = host.line
        if line >= 0 and member.stream.kind == "user" and flow.arrivals.compute_first_rate(1):
            clock = network.elements[line].element.build_clock(stamps=True)
            shares = asked.setdefault(line, {})
            share = (1 + host.tester.skew) * compute_asked_bps(flow, build_sent_form(member), clock)
            shares[member.stream.flow] = shares.get(member.stream.flow, Fraction(0)) + share
    return asked
