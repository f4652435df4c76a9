"""What of a specification has a counterpart on a kernel of Linux, whose time it has or its own.

Disciplines and filters are those of `disciplines` and `layout`. Nothing of this needs a kernel.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.backend import refuse
from qospec.check.device.predicates import list_size_bounds
from qospec.model.expression import Counted, Measured, list_observed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from qospec.diagnostics import Problems
    from qospec.model.suite import Case, Flow, Instance, Network
    from qospec.source import Span

    Unfit = tuple[str, str, str]
    """A field, "" for none; what is wrong; what to write."""

LARGEST_BYTES = 2_000
"""Of an IP packet: above this, a policer of the kernel takes all as exceeding."""
SMALLEST_BYTES = 46
"""Of an IP packet: one that fills a frame of 64 bytes, since disciplines count no padding."""
LEAST_FRAME_BYTES = 64
LEAST_MTU_BYTES = 82
"""Of a queue: an interface has at least 68 B (RFC 791, 3.2), and 14 B around a packet."""
PS_PER_US = 10**6
MOST_BANDS = 16
"""Priorities of `prio`."""
BITS_PER_BYTE = 8
OF_KERNEL = "the kernel"


def verify_counterparts(case: Case, span: Span, problems: Problems) -> None:
    """Report what of a case has no counterpart on a kernel."""
    _verify_course(case, span, problems)
    for name, network in case.networks.items():
        used = find_used(network)
        found: set[tuple[Span | None, str]] = set()
        for number, instance in enumerate(network.elements):
            if number in used:
                _verify_element(instance, span, problems, found)
        _verify_schedulers(network, used, span, problems)
        if not name:
            for flow in case.flows:
                _verify_flow(flow, network, span, problems)
    _verify_values(case, problems)


def _verify_course(case: Case, span: Span, problems: Problems) -> None:
    """Report what a trial on a kernel cannot be."""
    for change in case.run.changes:
        remedy = "write a test of the time before, and one of the time after"
        message = f"nothing changes during a trial on {OF_KERNEL}: `{change.text}`"
        refuse(problems, change.span, span, message, remedy)
    for asked, words in ((case.run.payload, "payload"), (case.run.promises, "promises")):
        if asked:
            message = f"`{words} = true` is of the emulation: {OF_KERNEL} has no counterpart"
            refuse(problems, None, span, message, f"leave `{words}` out of `run`")
    if case.chosen is not None:
        refuse(problems, None, span, f"{OF_KERNEL} tests no properties", "write a test")


def find_used(network: Network) -> set[int]:
    """Return the elements that anything can reach from a host."""
    onward: dict[int, list[int]] = {}
    for wire in network.wires:
        if wire.end == "element":
            onward.setdefault(wire.element, []).append(wire.to)
    waiting = [host.line for host in network.hosts if host.line >= 0]
    found: set[int] = set()
    while waiting:
        number = waiting.pop()
        if number not in found:
            found.add(number)
            waiting += onward.get(number, [])
    return found


def _verify_schedulers(network: Network, used: set[int], test: Span, problems: Problems) -> None:
    """Report each scheduler that chooses for another one."""
    schedulers = {n for n in used if network.elements[n].kind.duty == "scheduler"}
    wires = (wire for wire in network.wires if wire.end == "element" and wire.to in schedulers)
    for number in sorted(schedulers & {wire.element for wire in wires}):
        instance = network.elements[number]
        message = f"`{instance.path}` chooses for another scheduler, and {OF_KERNEL} has one here"
        remedy = "put all classes into one scheduler"
        refuse(problems, instance.span, test, message, remedy)


# ---- elements


def _verify_element(
    instance: Instance, test: Span, problems: Problems, found: set[tuple[Span | None, str]]
) -> None:
    """Report an element that has no counterpart, or a field of one, once where it is written."""
    verify = ELEMENTS.get(instance.kind.name)
    if verify is None:
        if (instance.span, "") in found:
            return
        found.add((instance.span, ""))
        known = ", ".join(f"`{name}`" for name in sorted(ELEMENTS))
        message = f"`{instance.path}` has no counterpart on {OF_KERNEL}: `{instance.kind.name}`"
        refuse(problems, instance.span, test, message, f"it carries out {known}")
        return
    for field, message, remedy in (*verify(instance.element), *_verify_conditions(instance)):
        if (instance.span, field) in found:
            continue  # of the other direction of a link, or of another port
        found.add((instance.span, field))
        named = f"`{instance.path}`, {field}: " if field else f"`{instance.path}` "
        refuse(problems, instance.span, test, f"{named}{message}", remedy)


def _verify_conditions(instance: Instance) -> Iterator[Unfit]:
    if list_size_bounds(instance.predicates):
        message = f"filters of {OF_KERNEL} are set up by address and DSCP, and not by size"
        yield "pkt.size", message, "write a flow for each size, and tell them apart by DSCP"


def _verify_line(line: Any) -> Iterator[Unfit]:
    if line.carries == "cell" or line.aal is not None:
        yield "carries", f"{OF_KERNEL} sends frames, and no cells", "use a medium of packets"
    fields = (name for name in ("vlan_tags", "optional_tag", "labels") if getattr(line, name))
    if field := next(fields, ""):
        yield field, f"{OF_KERNEL} sends neither tags nor labels here", "use a plain medium"
    if line.min_frame > LEAST_FRAME_BYTES:
        message = f"{OF_KERNEL} does not count what fills up a frame"
        yield "min_frame", message, f"write at most {LEAST_FRAME_BYTES} B"
    yield from _verify_rate("rate", line.rate)


def _verify_rate(field: str, bits_per_s: Fraction | int) -> Iterator[Unfit]:
    if Fraction(bits_per_s) % BITS_PER_BYTE:
        whole = int(bits_per_s) // BITS_PER_BYTE * BITS_PER_BYTE
        message = f"{OF_KERNEL} has rates in whole bytes per second"
        yield field, message, f"write a multiple of 8 bit/s, such as {whole} bit/s"


def _verify_fifo(fifo: Any) -> Iterator[Unfit]:
    if fifo.drop is not None:
        message = "only the tail is dropped on the kernel"
        yield "drop", message, "leave `drop` out"
    yield from _verify_limit(fifo.limit)


def _verify_codel(codel: Any) -> Iterator[Unfit]:
    if codel.limit.unit != "packet":
        yield "limit", f"`codel` of {OF_KERNEL} counts packets", "give the limit in packets"
    if codel.mtu < LEAST_MTU_BYTES:
        yield "mtu", f"{OF_KERNEL} has larger ones", f"write at least {LEAST_MTU_BYTES} B"
    for field in ("target", "interval"):
        time_ps = getattr(codel, field)
        if time_ps % PS_PER_US:
            message = f"`codel` of {OF_KERNEL} has times in whole us"
            remedy = f"write whole us, such as {max(1, round(time_ps / PS_PER_US))} us"
            yield field, message, remedy


def _verify_limit(limit: Any) -> Iterator[Unfit]:
    if limit.unit == "cell":
        yield "limit", f"{OF_KERNEL} has no cells", "give the limit in packets or bytes"
    elif limit.unit == "byte" and limit.amount < LARGEST_BYTES:
        message = f"{OF_KERNEL} drops a packet that is longer than the limit even if none waits"
        yield "limit", message, f"write at least {LARGEST_BYTES} B"


def _verify_bucket(rate: Any, size: Any, names: tuple[str, str]) -> Iterator[Unfit]:
    if not rate.layer or size.unit != "byte":
        message = f"buckets of {OF_KERNEL} hold bytes"
        yield names[0] if not rate.layer else names[1], message, "give bit/s @ip, and bytes"
        return
    yield from _verify_rate(names[0], rate.amount)


def _verify_police(police: Any) -> Iterator[Unfit]:
    rate, size = police.committed_information_rate, police.committed_burst_size
    yield from _verify_bucket(rate, size, ("cir", "cbs"))
    if police.exceed != "drop":
        message = f"{OF_KERNEL} drops what exceeds, and has no colour for it"
        yield "exceed", message, "write `exceed = drop`"


def _verify_shape(shape: Any) -> Iterator[Unfit]:
    yield from _verify_bucket(shape.rate, shape.burst_size, ("rate", "burst"))
    yield from _verify_limit(shape.limit)
    if shape.limit.unit == "byte" and (shape.rate.layer != "ip" or shape.overhead):
        message = f"{OF_KERNEL} counts what waits as the rate does, and not bytes of IP"
        yield "limit", message, "give the limit in packets"
    if shape.refill:
        yield "refill", f"tokens on {OF_KERNEL} come all the time", "leave `refill` out"


def _verify_delay(delay: Any) -> Iterator[Unfit]:
    if delay.limit is not None:
        yield "limit", f"a delay on {OF_KERNEL} has none", "leave `limit` out"


def _verify_remark(remark: Any) -> Iterator[Unfit]:
    for field in ("priority", "traffic_class", "colour"):
        if getattr(remark, field) is not None:
            message = f"packets on {OF_KERNEL} have neither tags nor labels nor colours"
            yield field, message, "write the `dscp`, or the `precedence`"
    if not {*remark.marks_read} <= {"dscp", "precedence"}:
        message = f"{OF_KERNEL} knows of `{remark.key}` nothing"
        field = next(name for name in ("dscp", "precedence") if getattr(remark, name))
        yield field, message, "write a value for all packets, or one for each DSCP"


def _verify_nothing(_element: Any) -> Iterator[Unfit]:
    yield from ()


def _verify_strict(strict: Any) -> Iterator[Unfit]:
    if len(strict.inputs) > MOST_BANDS:
        message = f"{OF_KERNEL} has at most {MOST_BANDS} priorities"
        yield "order", message, "put classes together"


def _verify_ports(element: Any) -> Iterator[Unfit]:
    if element.arbitration != "fixed_order":
        message = f"{OF_KERNEL} takes packets in the order in which they come"
        yield "arbitration", message, "leave `arbitration` out"


ELEMENTS: Mapping[str, Callable[[Any], Iterator[Unfit]]] = {
    "classify": _verify_nothing,
    "codel": _verify_codel,
    "delay": _verify_delay,
    "drr": _verify_nothing,
    "fifo": _verify_fifo,
    "line": _verify_line,
    "merge": _verify_ports,
    "police": _verify_police,
    "remark": _verify_remark,
    "router": _verify_ports,
    "shape": _verify_shape,
    "strict": _verify_strict,
}
"""What has a counterpart, and what must hold of its fields."""


# ---- flows, and what is measured


def _verify_flow(flow: Flow, network: Network, test: Span, problems: Problems) -> None:
    for field, message, remedy in _list_unfit(flow, network):
        place = flow.places.get(field, flow.span)
        refuse(problems, place, test, f"`{flow.name}` {message}", remedy)


def _list_unfit(flow: Flow, network: Network) -> Iterator[Unfit]:
    """Yield what of a flow has no counterpart."""
    packets = flow.packets
    if packets is None:
        yield "", f"sends cells, and {OF_KERNEL} has none", "send `packets`"
        return
    if flow.traffic.is_answered:
        message = f"is answered, and programs on {OF_KERNEL} only send by a schedule"
        remedy = 'write `program { command = ["…"] }`, a program of your own that sends so'
        yield "", message, f"{remedy}, or `packets {{ rate = …, size = … }}`"
        return
    if flow.traffic.is_program:
        yield from _list_unlinked(flow, network)
        return
    fields = packets.header_fields
    if fields["family"] != "ipv4" or fields["protocol"] not in ("none", "udp"):
        message = f"is not of UDP and IPv4, of which packets on {OF_KERNEL} are"
        yield "protocol", message, "leave `family` and `protocol` out"
    if packets.mark_order:
        yield "", "has packets with different marks", "write a flow for each of them"
    if not SMALLEST_BYTES <= min(packets.sizes.size_bytes) <= LARGEST_BYTES:
        message = "sends packets of which the smallest do not fill a frame"
        remedy = f"send packets of {SMALLEST_BYTES} B @ip to {LARGEST_BYTES} B @ip"
        yield packets.size_field, message, remedy
    elif max(packets.sizes.size_bytes) > LARGEST_BYTES:
        message = f"sends packets that are too large for policers of {OF_KERNEL}"
        yield packets.size_field, message, f"send packets of at most {LARGEST_BYTES} B @ip"
    yield from _list_unlinked(flow, network)


def _list_unlinked(flow: Flow, network: Network) -> Iterator[Unfit]:
    """Yield the origins of a flow that have no link."""
    for origin in flow.origins:
        if network.hosts[network.find_host(origin)].line < 0:
            yield "", f"leaves `{origin}`, which has no link", "link the host"


def _verify_values(case: Case, problems: Problems) -> None:
    """Report what is measured inside of devices, where nothing is seen on the kernel."""
    for statement in case.statements:
        for leaf in () if statement.idle else list_observed(statement.expression):
            inside = isinstance(leaf, Measured) and leaf.place is not None
            waits = isinstance(leaf, Counted) and bool(leaf.observed)
            if inside or waits:
                message = f"`{leaf.text}` is seen inside of a device, and on {OF_KERNEL} only ends"
                remedy = "measure a flow, or what an element lost"
                refuse(problems, statement.span, statement.span, message, remedy)
