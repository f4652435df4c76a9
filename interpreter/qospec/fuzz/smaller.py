"""Smaller scenarios than one that breaks a promise: what is tried, from the most to the least.

Hypothesis removes choices and lowers them one by one. It cannot leave out a flow and let the other
run longer instead, so it would leave two where one would do.

A pass yields scenarios, is sent whether each breaks the same, and goes on from the smallest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from qospec.fuzz.scenario import MANY_ITEMS, MOST_ITEMS, Scenario, compute_line_rate
from qospec.fuzz.sending import SHARES, SIZES, TOLERANCES, Contract, Sending, Source
from qospec.fuzz.strategies import round_value
from qospec.shrink.rounding import count_digits
from qospec.units import COUNT, PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T")
Pass = Generator[Scenario, bool, None]
Change = Callable[[Scenario], "Iterator[Scenario]"]
SIMPLER = {"vbr_nrt": "vbr_rt", "ubr": "cbr"}
"""By kind of traffic, another one that has the same fields."""
MOST_TRIED = 10
"""Sizes of a burst that are tried one by one."""


def list_smaller(whole: Scenario) -> Pass:
    """Yield scenarios that are smaller than one, and than those that turn out to break the same."""
    before = None
    while before != whole:
        before = whole
        for change in CHANGES:
            whole = yield from _settle(whole, change)
        whole = yield from _find_shortest(whole)
        whole = yield from _settle(whole, _fill_lines)
        whole = yield from _find_shortest(whole)
        whole = yield from _settle(whole, _list_rounder)


def _settle(whole: Scenario, change: Change) -> Generator[Scenario, bool, Scenario]:
    """Make changes of a kind until none of them is left."""
    changed = True
    while changed:
        changed = False
        for scenario in change(whole):
            if (yield scenario):
                whole, changed = scenario, True
                break
    return whole


def _find_shortest(whole: Scenario) -> Generator[Scenario, bool, Scenario]:
    """Find the fewest items before and after a change or restart, or in all if there is none."""
    if not (whole.changes or whole.restarts):
        whole = whole._replace(items=whole.items + whole.later_items, later_items=0)
    for name in ("items", "later_items"):
        whole = yield from _find_fewest(whole, name)
    return whole


def _find_fewest(whole: Scenario, name: str) -> Generator[Scenario, bool, Scenario]:
    """Find the lowest of a number of items, as if with more of them it always broke."""
    low = 0
    while low + 1 < (most := getattr(whole, name)):
        some = whole._replace(**{name: (low + most) // 2})
        if (yield some):
            whole = some
        else:
            low = (low + most) // 2
    return whole


# ---- what surrounds the flows


def _leave_out_surroundings(whole: Scenario) -> Iterator[Scenario]:
    """Yield it without changes of flows, faults of links, restarts, bytes, and a second device."""
    if whole.changes:
        yield from _make_busier(_drop_changes(whole))
    if whole.fault is not None:
        yield from _make_busier(whole._replace(fault=None))
    if whole.restarts:
        yield from _make_busier(whole._replace(restarts=False))
    if whole.payload:
        yield whole._replace(payload=False)
    if whole.facing:
        yield from _without_peer(whole)
    for place in range(len(whole.speakers) if len(whole.speakers) > 1 else 0):
        yield whole._replace(speakers=_leave_out(whole.speakers, place))
    if whole.talk_ps > PS_PER_S // 10:
        yield whole._replace(talk_ps=PS_PER_S // 10)


def _make_busier(whole: Scenario) -> Iterator[Scenario]:
    """Yield it, and then with a flow that sends for long, which may do what a fault did."""
    yield whole
    for place in range(len(whole.flows)):
        yield from _list_at_shares(whole, place)


def _drop_changes(whole: Scenario) -> Scenario:
    """Return it with flows that send all the time what they send at first."""
    return whole._replace(flows=tuple(map(_make_steady, whole.flows)))


def _make_steady(flow: Sending) -> Sending:
    return flow._replace(source=flow.source._replace(later=Fraction(0)))


def _without_peer(whole: Scenario) -> Iterator[Scenario]:
    """Yield it with one of both devices, and a host in place of the other and all behind it."""
    half = len(whole.links) // 2
    facing = next(place for place, end in enumerate(whole.ends) if end.name == whole.facing)
    for kept in (range(half), range(half, 2 * half)):
        ends = [whole.find_end(host) if host in kept else facing for host in range(2 * half)]
        flows = tuple(
            flow._replace(origin=ends[flow.origin], target=ends[flow.target])
            for flow in whole.flows
        )
        if all(flow.origin != flow.target for flow in flows):
            yield whole._replace(facing="", flows=flows, fault=None)


def _leave_out_parameters(whole: Scenario) -> Iterator[Scenario]:
    """Yield it with parameters of the device left out."""
    if len(whole.arguments) > 1:
        yield whole._replace(arguments=())
    for place in range(len(whole.arguments)):
        yield whole._replace(arguments=_leave_out(whole.arguments, place))


def _leave_out_hosts(whole: Scenario) -> Iterator[Scenario]:
    """Yield it without a host that neither sends nor receives."""
    used = {host for flow in whole.flows for host in (flow.origin, flow.target)}
    for host in range(len(whole.ends) if not whole.facing and not whole.fault else 0):
        if host not in used and len(whole.ends) + len(whole.speakers) > 1:
            yield whole._replace(
                ends=_leave_out(whole.ends, host),
                media=_leave_out(whole.media, host),
                flows=tuple(
                    flow._replace(
                        origin=flow.origin - (flow.origin > host),
                        target=flow.target - (flow.target > host),
                    )
                    for flow in whole.flows
                ),
            )


# ---- flows


def _leave_out_flows(whole: Scenario) -> Iterator[Scenario]:
    """Yield it without a flow; with a longer run, or more of another, if that is needed then."""
    some = [whole._replace(flows=_leave_out(whole.flows, n)) for n in range(len(whole.flows))]
    some = [_with_fault_of_sender(scenario) for scenario in some if len(scenario.flows) > 0]
    yield from some
    for scenario in some:
        yield _as_long(scenario, whole)
        yield scenario._replace(items=MOST_ITEMS)
    for scenario in some:
        for place, flow in enumerate(scenario.flows):
            count = flow.contract.connections + 1
            twice = flow._replace(contract=flow.contract._replace(connections=count))
            yield _with_flow(scenario, place, twice)
            yield from _list_at_shares(scenario, place)


def _list_at_shares(whole: Scenario, place: int) -> Iterator[Scenario]:
    """Yield it with a flow that sends what it declares for long: some share of its line."""
    flow = whole.flows[place]
    for share in dict.fromkeys(SHARES):
        steady = _send_at_rate(flow, round_value(compute_line_rate(whole, flow) * share, COUNT))
        yield _with_flow(whole, place, steady)._replace(items=MOST_ITEMS)


def _list_steady(whole: Scenario) -> Iterator[Scenario]:
    """Yield it with a flow that sends what it declares, at another rate."""
    for place, flow in enumerate(whole.flows):
        if flow.source.kind or flow.contract.connections > 1:
            yield from _list_at_shares(whole, place)


def _with_flow(whole: Scenario, place: int, flow: Sending) -> Scenario:
    """Return it with another flow at a place."""
    return whole._replace(flows=(*whole.flows[:place], flow, *whole.flows[place + 1 :]))


def _with_fault_of_sender(whole: Scenario) -> Scenario:
    """Return it without a fault of the link of a host that sends nothing."""
    fault = whole.fault
    silent = fault is not None and fault.host not in (-1, *(flow.origin for flow in whole.flows))
    return whole._replace(fault=None) if silent else whole


def _as_long(whole: Scenario, other: Scenario) -> Scenario:
    """Return it with as many items as there are in the times of another."""
    lengths_ps = (other.changed_ps, other.measured_ps - other.changed_ps)
    items, later = (
        min(max(math.ceil(rate * length_ps / PS_PER_S), 1), MANY_ITEMS)
        for rate, length_ps in zip(whole.rates, lengths_ps, strict=True)
    )
    return whole._replace(items=items, later_items=later)


def _send_at_rate(flow: Sending, rate: Fraction) -> Sending:
    """Return a flow of one connection that sends what it declares, at a rate."""
    contract = flow.contract._replace(rate=rate, connections=1)
    if contract.slower is not None:
        contract = contract._replace(kind="cbr", slower=None, mbs=0)
    return flow._replace(contract=contract, source=Source(""))


def _list_plainer_flows(whole: Scenario) -> Iterator[Scenario]:
    """Yield it with a flow that has fewer fields."""
    for place, flow in enumerate(whole.flows):
        for plainer in _list_plainer(flow):
            yield _with_flow(whole, place, plainer)


def _list_plainer(flow: Sending) -> Iterator[Sending]:
    it, sent = flow.contract, flow.source
    sources = [Source(""), *([_make_constant(sent)] if sent.later else [])]
    for plain in (flow._replace(contract=_strip_contract(it), source=source) for source in sources):
        if plain != flow:
            yield plain
    yield from _list_plainer_sources(flow)
    if it.connections > 1:
        for by in (it.connections, 1):
            source = sent._replace(rate=sent.rate * by, later=sent.later * by)
            contract = it._replace(connections=1, rate=it.rate * by)
            yield flow._replace(contract=contract, source=source)
    if it.slower is not None:
        yield _send_at_rate(flow, it.rate)
        yield flow._replace(contract=it._replace(kind="cbr", slower=None, mbs=0))
    if it.kind in SIMPLER:
        yield flow._replace(contract=it._replace(kind=SIMPLER[it.kind]))
    for number in range(len(it.marks)):
        yield flow._replace(contract=it._replace(marks=_leave_out(it.marks, number)))
    for tolerance in TOLERANCES[: TOLERANCES.index(it.tolerance)]:
        yield flow._replace(contract=it._replace(tolerance=tolerance))


def _list_plainer_sources(flow: Sending) -> Iterator[Sending]:
    """Yield a flow that sends what it declares, or differs less from that."""
    it, source = flow.contract, flow.source
    if source.kind:
        sent = source.rate or it.rate
        yield from (_send_at_rate(flow, rate) for rate in dict.fromkeys((sent, it.rate)))
        yield flow._replace(source=Source(""))
    if source.later:
        yield _make_steady(flow)
    if source.kind in ("burst", "poisson"):
        yield flow._replace(source=_make_constant(source))
    for number in range(len(source.gaps_us) if len(source.gaps_us) > 1 else 0):
        yield flow._replace(source=source._replace(gaps_us=_leave_out(source.gaps_us, number)))


def _make_constant(source: Source) -> Source:
    """Return a source of the same rates that sends one item after another."""
    return source._replace(kind="constant", burst=0)


def _strip_contract(it: Contract) -> Contract:
    """Return what is left of a contract without all that may be left out."""
    kind = it.kind if it.kind == "packets" else "cbr"
    return Contract(kind, it.rate * it.connections, size=it.size)


# ---- numbers


def _use_usual_media(whole: Scenario) -> Iterator[Scenario]:
    """Yield it with usual links."""
    for place, (medium, usual) in enumerate(zip(whole.media, whole.usual_media, strict=True)):
        if medium != usual:
            yield whole._replace(media=(*whole.media[:place], usual, *whole.media[place + 1 :]))


def _fill_lines(whole: Scenario) -> Iterator[Scenario]:
    """Yield it with a flow that fills its line, and fewer items for it."""
    items = whole.items * 3 // 4
    for place, flow in enumerate(whole.flows if items else ()):
        for size in dict.fromkeys((flow.contract.size, SIZES[0] if flow.contract.size else 0)):
            sized = flow._replace(contract=flow.contract._replace(size=size))
            full = _send_at_rate(sized, round_value(compute_line_rate(whole, sized), COUNT))
            yield _with_flow(whole, place, full)._replace(items=items)


def _list_rounder(whole: Scenario) -> Iterator[Scenario]:
    """Yield it with a rounder number in a flow."""
    for place, flow in enumerate(whole.flows):
        for rounder in _list_rounder_flows(flow):
            yield _with_flow(whole, place, rounder)


def _list_rounder_flows(flow: Sending) -> Iterator[Sending]:
    it, source = flow.contract, flow.source
    for size in SIZES[: SIZES.index(it.size)] if it.size in SIZES else SIZES if it.size else ():
        yield flow._replace(contract=it._replace(size=size))
    for rate in _list_rounder_rates(it.rate):
        yield flow._replace(contract=it._replace(rate=rate))
    for rate in _list_rounder_rates(it.slower) if it.slower is not None else ():
        yield flow._replace(contract=it._replace(slower=rate))
    for rate in _list_rounder_rates(source.rate) if source.rate else ():
        yield flow._replace(source=source._replace(rate=rate))
    for rate in _list_rounder_rates(source.later) if source.later else ():
        yield flow._replace(source=source._replace(later=rate))
    for burst in range(2, source.burst) if source.burst <= MOST_TRIED else ():
        yield flow._replace(source=source._replace(burst=burst))
    for number, gap_us in enumerate(source.gaps_us[1:], 1):
        for rounder_us in (0, 1_000) if gap_us not in (0, 1_000) else (0,) if gap_us else ():
            gaps = (*source.gaps_us[:number], rounder_us, *source.gaps_us[number + 1 :])
            yield flow._replace(source=source._replace(gaps_us=gaps))


def _list_rounder_rates(rate: Fraction) -> Iterator[Fraction]:
    """Yield numbers near a rate with fewer digits, the roundest first."""
    power = Fraction(10) ** (math.floor(math.log10(rate)))
    near = (power, power * 10, math.floor(rate / power) * power, math.ceil(rate / power) * power)
    for number in dict.fromkeys(near):
        if number >= 1 and (count_digits(number), number > rate) < (count_digits(rate), False):
            yield number


def _leave_out(some: tuple[T, ...], place: int) -> tuple[T, ...]:
    return (*some[:place], *some[place + 1 :])


CHANGES: tuple[Change, ...] = (
    _leave_out_surroundings,
    _leave_out_flows,
    _leave_out_parameters,
    _list_plainer_flows,
    _list_steady,
    _leave_out_hosts,
    _use_usual_media,
)
"""Of which none needs to know how many items there are; see `list_smaller` for the others."""
