"""A trial as the Open Traffic Generator model has it: ports, and flows of frames between them.

Source: Open Traffic Generator API 1.62 (Config, Port, Layer1, Flow).
"""

from __future__ import annotations

import math
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.source.headers import UNSPECIFIED
from qospec.engine.source.periodic import Periodic
from qospec.exporter import leave_out, refuse
from qospec.model.expression import Measured, list_observed
from qospec.protocol.encapsulation import TAG_BYTES
from qospec.protocol.marks import MARKS
from qospec.units import PACKETS, PS_PER_S, RATE, TIME, format_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from qospec.diagnostics import Problems
    from qospec.engine.source.traffic import SentPackets
    from qospec.exporter import Document
    from qospec.model.expression import Counted
    from qospec.model.suite import Case, Flow

SPEEDS = {
    10 * 10**6: "speed_10_fd_mbps",
    100 * 10**6: "speed_100_fd_mbps",
    **{
        number * 10**9: f"speed_{number}_gbps" for number in (1, 10, 25, 40, 50, 100, 200, 400, 800)
    },
}
"""The speeds of ports, in full duplex, by bit/s."""
ETHERNET = (8, 18, 12)
"""The bytes of a frame's preamble, of its header and check sequence, and of the gap behind it."""
LOWEST_BPS = 672
"""Of a flow: one frame of 64 bytes each second with what is around it, so bits are of the line."""
MOST_STREAMS = 256
"""Of one flow: connections at random phases are flows of their own."""
STORE_FORWARD, CUT_THROUGH = MODES = ("store_forward", "cut_through")
"""From which bit on a latency is measured, of which a flow has one; see docs/generators.md."""
READINGS: Mapping[str, Mapping[str, str]] = {
    "sent": {"": ""},
    "received": {"": ""},
    "throughput": {"": ""},
    "bit_rate": {"line": "", "frame": ""},
    "lost": {"": "loss"},
    "loss_ratio": {"": "loss"},
    "latency": dict.fromkeys(("min", "mean", "max"), STORE_FORWARD),
    "transfer_delay": dict.fromkeys(("min", "mean", "max"), CUT_THROUGH),
}
"""By metric and statistic that a generator tells: what it must be asked for."""


def list_needs(case: Case, problems: Problems) -> Mapping[str, set[str]]:
    """Return by flow what a generator must be asked for, and report what none can tell."""
    needs: dict[str, set[str]] = {flow.name: set() for flow in case.flows}
    for statement in case.statements:
        if statement.every_ps is not None and not statement.idle:
            leave_out(
                problems,
                statement.span,
                f"a generator tells nothing by interval: `{statement.text}`",
                "leave `every` out",
            )
        for leaf in () if statement.idle else list_observed(statement.expression):
            need = _find_need(leaf)
            if need is None:
                leave_out(
                    problems,
                    statement.span,
                    f"a generator of the model does not tell `{leaf.text}`",
                    "it tells `sent`, `received`, `lost`, `loss`, `throughput`, `bit_rate.line`,"
                    " and `min`, `mean` and `max` of `latency` or `delay`, at the ends of flows",
                )
            elif isinstance(leaf, Measured) and need:
                needs[leaf.flow].add(need)
    return needs


def _find_need(leaf: Measured | Counted) -> str | None:
    """Return what a value needs, "" for nothing; None if it is none that a generator tells."""
    if not isinstance(leaf, Measured) or leaf.network or leaf.place or leaf.part != "user":
        return None
    return READINGS.get(leaf.metric, {}).get(leaf.statistic)


class Port(NamedTuple):
    """A port of a generator, at which a host is.

    Attributes:
        location: As the generator names its ports.
        address: Of its MAC; "" for that of the generator.
        next_address: Of the MAC to which it sends; "" for that of the model, which is all zero.
    """

    location: str
    address: str = ""
    next_address: str = ""


class Stream(NamedTuple):
    """A flow of the model: of one member of a flow, all of its connections or one of them."""

    name: str
    member: int
    number: int


def list_streams(flow: Flow) -> list[Stream]:
    """Return what a flow is in the model: connections at random phases are a flow each."""
    count = count_streams(flow)
    found = []
    for member, _ in enumerate(flow.origins):
        name = flow.name if len(flow.origins) == 1 else f"{flow.name}[{member}]"
        for number in range(count):
            whole = name if count == 1 else f"{name} connection {number}"
            found.append(Stream(whole, member, number))
    return found


def count_streams(flow: Flow) -> int:
    """Return how many flows of the model a member of a flow is."""
    return int(flow.connections) if flow.phases == "random" else 1


class Configuration:
    """Describes the flows of a trial, and adds up what they offer to ports."""

    def __init__(
        self,
        case: Case,
        needs: Mapping[str, set[str]],
        problems: Problems,
        ports: Mapping[str, Port] = MappingProxyType({}),
    ) -> None:
        """Take a case, what flows must be asked for, and where hosts are, if that is known."""
        self._network = case.networks[""]
        self._ports = ports
        self._seconds = Fraction(case.run.warmup_ps + case.run.measure_ps, PS_PER_S)
        self._needs = needs
        self._problems = problems
        self._offered_bps: dict[str, Fraction] = {}

    def describe_flow(self, flow: Flow) -> Iterator[Document]:
        """Yield the flows that a flow is in the model, none if it cannot be said."""
        packets = flow.packets
        if packets is None:
            refuse(
                self._problems,
                flow.span,
                f"`{flow.name}` sends cells, and the frames of the model are of Ethernet",
                "send `packets`, where a device takes them",
            )
        elif self._verify_source(flow, packets) and self._verify_link(flow, packets):
            yield from self._write_streams(flow, packets)

    def _verify_source(self, flow: Flow, packets: SentPackets) -> bool:
        """Return whether the model can say when a flow sends; report it if not."""
        message, place = "", "gaps"
        remedy = "send at `gaps = constant`, with a `rate` and without a `source`"
        if flow.traffic.is_answered:
            message = "sends what depends on what arrives, and a flow of the model sends by itself"
            remedy, place = "write `packets { rate = …, size = … }`", ""
        elif packets.call is not None:
            message = "consists of calls, and the model has neither RTP nor a rating of speech"
            remedy, place = f"send what one is on the wire: `{_write_packets(flow, packets)}`", ""
        elif getattr(flow.traffic, "offset", 0):
            message, place = "begins later than others, which is not written", "offset"
            remedy = "leave out `offset`"
        elif not isinstance(flow.arrivals, Periodic) or flow.arrivals.burst.size > 1:
            message = "has random gaps or bursts, and the rate of a flow of the model is constant"
        elif flow.phases == "random" and flow.connections > MOST_STREAMS:
            message = f"has more than {MOST_STREAMS} connections at random phases"
            remedy, place = "write `phases = even`: then they are one stream", "connections"
        elif packets.sizes.in_order and len(packets.sizes.size_bytes) > 1:
            message = "sends sizes in order, and the model draws them by weight"
            remedy, place = "give the mix weights: `mix { 64 B: 7, 1_518 B: 1 } @frame`", "size"
        if message:
            refuse(
                self._problems,
                flow.places.get(place, flow.places.get("source", flow.span)),
                f"`{flow.name}` {message}",
                remedy,
            )
        return not message

    def _verify_link(self, flow: Flow, packets: SentPackets) -> bool:
        """Return whether a flow leaves by the Ethernet of a port; report it if not."""
        framed = packets.encapsulation
        preamble, header, gap = ETHERNET
        around = (framed.preamble_bytes, framed.header_bytes, framed.gap_bytes)
        plain = around == (preamble, header + TAG_BYTES * framed.vlan_tags, gap)
        odd = [origin for origin in flow.origins if self.find_speed(origin) is None]
        if not plain or framed.per_cell_bytes:
            refuse(
                self._problems,
                flow.span,
                f"`{flow.name}` leaves by a link with other frames than those of Ethernet",
                "let hosts send by `media.gigabit_ethernet`, or a tagged one",
            )
        elif odd:
            refuse(
                self._problems,
                flow.span,
                f"`{odd[0]}` sends at a rate that is no speed of a port",
                "give the host's own link the speed of a port, and the rate to one behind it",
            )
        return plain and not framed.per_cell_bytes and not odd

    def _write_streams(self, flow: Flow, packets: SentPackets) -> Iterator[Document]:
        streams = count_streams(flow)
        rate = compute_stream_rate(flow)
        sizes = self._count_frames(flow, packets)
        line_bps = rate * _compute_line_bits(packets)
        for origin in flow.origins:
            self._add_load(flow, origin, streams * line_bps)
        for stream in list_streams(flow):
            origin, target = flow.origins[stream.member], flow.targets[stream.member]
            ends = {"tx_name": origin, "rx_names": [target]}
            seconds = {"seconds": float(self._seconds)}
            yield {
                "name": stream.name,
                "tx_rx": {"choice": "port", "port": ends},
                "packet": list(_list_headers(packets, self._ports.get(origin, Port("")))),
                "size": _describe_sizes(sizes),
                "rate": _describe_rate(rate, line_bps, self.find_speed(origin) or Fraction(1)),
                "duration": {"choice": "fixed_seconds", "fixed_seconds": seconds},
                "metrics": _describe_metrics(self._needs[flow.name]),
            }

    def _count_frames(self, flow: Flow, packets: SentPackets) -> dict[int, int]:
        """Return the weight of each size of frames, and report packets that grow by padding."""
        framed, weights = packets.encapsulation, dict[int, int]()
        for size_bytes, weight in zip(packets.sizes.size_bytes, packets.sizes.weights, strict=True):
            frame_bytes = framed.count_frame_bytes(size_bytes)
            weights[frame_bytes] = weights.get(frame_bytes, 0) + weight
            grown_bytes = frame_bytes - framed.header_bytes
            if grown_bytes > size_bytes:
                leave_out(
                    self._problems,
                    flow.places.get(packets.size_field, flow.span),
                    f"a packet of {size_bytes} B in a frame of {frame_bytes} B is padded, and a"
                    f" generator fills it up with payload: the packet has {grown_bytes} B",
                    f"send packets of at least {grown_bytes} B @ip",
                )
        return weights

    def _add_load(self, flow: Flow, origin: str, line_bps: Fraction) -> None:
        """Add up what a port is offered, and report the flow that is too much for it."""
        speed_bps = self.find_speed(origin) or Fraction(0)
        before_bps = self._offered_bps.get(origin, Fraction(0))
        self._offered_bps[origin] = before_bps + line_bps
        if before_bps <= speed_bps < self._offered_bps[origin]:
            refuse(
                self._problems,
                flow.places.get("rate", flow.span),
                f"with `{flow.name}` the port `{origin}` is to send"
                f" {format_value(self._offered_bps[origin], RATE)} @line, and its speed is"
                f" {format_value(speed_bps, RATE)}",
                "give the host a faster link, or send less",
            )

    def find_speed(self, path: str) -> Fraction | None:
        """Return the bit/s of the port that a host is; None if no port has the rate of its line."""
        host = self._network.hosts[self._network.find_host(path)]
        if host.line < 0:
            return None
        rate = self._network.elements[host.line].element.build_clock(stamps=False).bit_rate
        return Fraction(rate) if rate in SPEEDS else None

    def describe_ports(self, flows: Sequence[Flow]) -> Document:
        """Return the ports of flows, and their speeds."""
        ends = {path: None for flow in flows for path in (*flow.origins, *flow.targets)}
        by_speed: dict[str, list[str]] = {}
        for path in ends:
            speed_bps = self.find_speed(path)
            if speed_bps is not None:
                by_speed.setdefault(SPEEDS[int(speed_bps)], []).append(path)
        layer1 = [
            {"name": speed.removeprefix("speed_"), "port_names": names, "speed": speed}
            for speed, names in by_speed.items()
        ]
        ports = [
            {"location": self._ports[path].location, "name": path}
            if path in self._ports
            else {"name": path}
            for path in ends
        ]
        return {"ports": ports, "layer1": layer1}


def compute_stream_rate(flow: Flow) -> Fraction:
    """Return the packets/s of each flow of the model that a flow is."""
    mean = Fraction(flow.arrivals.compute_mean_rate(flow.connections))
    return mean / count_streams(flow)


def _write_packets(flow: Flow, packets: SentPackets) -> str:
    """Return what sends as a connection of a flow does, as an author writes it."""
    rate = format_value(Fraction(flow.arrivals.compute_mean_rate(1)), PACKETS / TIME)
    (size_bytes, *_), dscp = packets.sizes.size_bytes, MARKS["dscp"].read(packets.marks)
    return f"packets {{ rate = {rate}, size = {size_bytes} B @ip, dscp = {dscp} }}"


def _compute_line_bits(packets: SentPackets) -> Fraction:
    """Return the mean bits on the line of a packet, preamble and gap included."""
    sizes = tuple(zip(packets.sizes.size_bytes, packets.sizes.weights, strict=True))
    line_bytes = sum(
        weight * packets.encapsulation.count_line_bytes(size) for size, weight in sizes
    )
    return Fraction(8 * line_bytes, sum(weight for _, weight in sizes))


def _describe_sizes(weights: Mapping[int, int]) -> Document:
    """Return one size of frames, check sequence included, or several by weight."""
    if len(weights) == 1:
        return {"choice": "fixed", "fixed": next(iter(weights))}
    common = math.gcd(*weights.values())
    custom = [
        {"size": size_bytes, "weight": float(weight // common)}
        for size_bytes, weight in sorted(weights.items())
    ]
    return {"choice": "weight_pairs", "weight_pairs": {"choice": "custom", "custom": custom}}


def _describe_rate(rate: Fraction, line_bps: Fraction, port_bps: Fraction) -> Document:
    """Return a rate: in packets/s or bit/s if it is whole, else as a share of the port's speed."""
    if rate.denominator == 1:
        return {"choice": "pps", "pps": int(rate)}
    if line_bps.denominator == 1 and line_bps >= LOWEST_BPS:
        return {"choice": "bps", "bps": int(line_bps)}
    return {"choice": "percentage", "percentage": float(100 * line_bps / port_bps)}


def _describe_metrics(needs: set[str]) -> Document:
    metrics: Document = {"enable": True, "loss": "loss" in needs}
    for mode in needs.intersection(MODES):
        metrics["latency"] = {"enable": True, "mode": mode}
    return metrics


def _list_headers(packets: SentPackets, port: Port) -> Iterator[Document]:
    """Yield the headers of a packet, from the outside in; what is not given has its default."""
    fields, marks = packets.header_fields, packets.marks
    addresses = {"src": port.address, "dst": port.next_address}
    given = {name: _set(address) for name, address in addresses.items() if address}
    yield {"choice": "ethernet", "ethernet": given}
    for tag in range(packets.encapsulation.vlan_tags):
        outer = {"priority": MARKS["priority"].read(marks), "id": int(fields["vlan"])}
        inner = {"id": int(fields["inner_vlan"])} if fields["inner_vlan"] and tag == 1 else {}
        given = {name: _set(value) for name, value in (inner if tag else outer).items()}
        yield {"choice": "vlan", "vlan": given}
    family, dscp, ecn = str(fields["family"]), MARKS["dscp"].read(marks), MARKS["ecn"].read(marks)
    ends = {"src": fields["source_address"], "dst": fields["destination_address"]}
    header = {name: _set(end) for name, end in ends.items() if end != UNSPECIFIED[family]}
    if family == "ipv6":
        header["traffic_class"] = _set(dscp << 2 | ecn)
    else:
        field = {"phb": _set(dscp), "ecn": _set(ecn)}
        header["priority"] = {"choice": "dscp", "dscp": field}
    yield {"choice": family, family: header}
    protocol = str(fields["protocol"])
    if protocol != "none":
        ports = {"src_port": fields["source_port"], "dst_port": fields["destination_port"]}
        given = {name: _set(int(port)) for name, port in ports.items() if port}
        yield {"choice": protocol, protocol: given}


def _set(value: object) -> Document:
    """Return a field with one value for all packets."""
    return {"choice": "value", "value": value}
