"""IP packets as bytes: headers of IP and transport with their checks, and a payload.

What a specification does not say is filled in: a flow without addresses gets some of the ranges for
benchmarks, one per connection, so that decoders tell connections apart.

Sources: RFC 791, 3.1, RFC 8200, 3 and 8.1, RFC 768, RFC 9293, 3.1, RFC 1071 (checksum), RFC 2003
(IP in IP), RFC 2784, 2 (GRE), RFC 3692 (protocol 253), RFC 2544, C.2.2 and RFC 5180, 8 (addresses).
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from qospec.ciphers import headers
from qospec.ciphers.octets import encode_big_endian, repeat_row
from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.payload.fill import fill_payloads
from qospec.protocol.ip import FAMILY_EXTRA_BYTES, IPV4_HEADER_BYTES, TRANSPORT_HEADER_BYTES
from qospec.protocol.marks import MARKS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from qospec.engine.experiment import Experiment
    from qospec.model import suite
    from qospec.payload.fill import Fill
    from qospec.payload.flight import Items

    Bytes = NDArray[np.uint8]
    """(n, size) n packets of one size."""

IP_TYPES = {"ipv4": 0x0800, "ipv6": 0x86DD}
TCP, GRE, EXPERIMENT = 6, 47, 253
PROTOCOLS = {"udp": headers.UDP, "tcp": TCP, "none": EXPERIMENT}
SOURCES = {"ipv4": ipaddress.ip_address("198.18.0.0"), "ipv6": ipaddress.ip_address("2001:2::")}
DESTINATIONS = {
    "ipv4": ipaddress.ip_address("198.19.0.0"),
    "ipv6": ipaddress.ip_address("2001:2:0:1::"),
}
GATEWAYS = {
    "ipv4": (ipaddress.ip_address("198.18.255.1"), ipaddress.ip_address("198.18.255.2")),
    "ipv6": (ipaddress.ip_address("2001:2::ff01"), ipaddress.ip_address("2001:2::ff02")),
}
"""Addresses of the ends of a tunnel."""
TCP_CHECKSUM = 16
"""Where it begins in a header of TCP."""
GRE_BYTES = 4
MOST_HOSTS = 2**16
"""Addresses in a range."""
ANSWERS = ".answers"
"""Ends the names of sources of answers; the rest is that of their requests."""


class Flow(NamedTuple):
    """The packets of one source.

    Attributes:
        first: The index of its first connection.
        stop: One beyond that of its last.
        fields: What its headers hold, by name, as `SentPackets.header_fields`.
        answered: Of answers, the index of the first connection whose requests they answer.
        is_tagged: Whether their frames have a tag, on a link where this depends on the flow.
    """

    first: int
    stop: int
    fields: Mapping[str, Fraction | str]
    answered: int | None = None
    is_tagged: bool = False

    @property
    def family(self) -> str:
        """Return the version of IP."""
        return str(self.fields["family"])


def describe_flows(experiment: Experiment, flows: Sequence[suite.Flow]) -> list[Flow]:
    """Return what the packets of each source hold; of one of cells, nothing."""
    found = []
    first_of = {source.name: source.first for source in experiment.sources}
    for source in experiment.sources:
        name, first = source.name, source.first
        sent, answered = flows[experiment.streams.find_stream(first)[0].flow].packets, None
        if sent is not None and name.endswith(ANSWERS):
            sent, answered = sent.answers, first_of[name.removesuffix(ANSWERS)]
        fields = {} if sent is None else sent.header_fields
        tagged = sent is not None and sent.is_tagged
        found.append(Flow(first, source.indices.stop, fields, answered, tagged))
    return found


def build_ip_packets(items: Items, flow: Flow, size_bytes: int, fill: Fill) -> Bytes:
    """Return the packets of a flow, all of one size, before anything was put around them."""
    protocol, family = str(flow.fields["protocol"]), flow.family
    ip_bytes = IPV4_HEADER_BYTES + FAMILY_EXTRA_BYTES[family]
    carried = fill_payloads(items, size_bytes - ip_bytes - TRANSPORT_HEADER_BYTES[protocol], fill)
    ends, number = _ends(items, flow), PROTOCOLS[protocol]
    if protocol != "none":
        carried = _with_transport(items, flow, carried, ends)
    return _with_ip(items, carried, family, number, ends)


def _with_ip(items: Items, carried: Bytes, family: str, protocol: int, ends: Bytes) -> Bytes:
    """Put an IP header ahead of what packets carry; `ends` are their addresses."""
    type_of_service = read_mark(items, "dscp") << 2 | read_mark(items, "ecn")
    said = headers.Carried(type_of_service, np.zeros(items.total, np.bool_), items.number)
    own_bytes = IPV4_HEADER_BYTES + FAMILY_EXTRA_BYTES[family]
    make, start = {
        "ipv4": (headers.build_ipv4, headers.ADDRESSES),
        "ipv6": (headers.build_ipv6, headers.IPV6_ADDRESSES),
    }[family]
    size_bytes = own_bytes + carried.shape[1]
    header = make(size_bytes, protocol, bytes(own_bytes - start), said)
    header[:, start:] = ends
    header = headers.rewrite_headers(header, np.full(items.total, size_bytes), protocol)
    return np.concatenate([header, carried], axis=1)


def _with_transport(items: Items, flow: Flow, carried: Bytes, ends: Bytes) -> Bytes:
    ports = b"".join(
        int(flow.fields[f"{end}_port"]).to_bytes(2, "big") for end in ("source", "destination")
    )
    start = repeat_row(ports, items.total)
    check = headers.UDP_CHECKSUM if flow.fields["protocol"] == "udp" else TCP_CHECKSUM
    if flow.fields["protocol"] == "udp":
        head = [
            start,
            _pair(items, TRANSPORT_HEADER_BYTES["udp"] + carried.shape[1]),
            _pair(items, 0),
        ]
    else:
        sequence = encode_big_endian(items.number * carried.shape[1] & 0xFFFFFFFF, 4)
        acknowledgement = repeat_row(bytes.fromhex("00000000 5010 ffff 0000 0000"), items.total)
        head = [start, sequence, acknowledgement]
    whole = np.concatenate([*head, carried], axis=1)
    found = headers.compute_transport_checksum(ends, PROTOCOLS[str(flow.fields["protocol"])], whole)
    whole[:, check : check + 2] = encode_big_endian(found, 2)
    return whole


def _ends(items: Items, flow: Flow) -> Bytes:
    """Return the source and destination addresses, one behind the other.

    Those of answers are those of the requests, the other way round.
    """
    numbers, ranges = items.batch.connection.astype(np.int64), [SOURCES, DESTINATIONS]
    if flow.answered is not None:
        numbers, ranges = numbers - flow.first + flow.answered, ranges[::-1]
    ends = []
    for end, addresses in zip(("source", "destination"), ranges, strict=True):
        given = ipaddress.ip_address(str(flow.fields[f"{end}_address"]))
        base = addresses[flow.family] if given.is_unspecified else given
        made = repeat_row(base.packed, items.total).copy()
        if given.is_unspecified:
            made[:, -2:] = encode_big_endian(numbers % MOST_HOSTS, 2)
        ends.append(made)
    return np.concatenate(ends, axis=1)


def read_mark(items: Items, name: str) -> NDArray[np.int64]:
    """Return (n,) the value of a mark."""
    mark = MARKS[name]
    values = items.batch.marks & np.uint32(mark.mask)
    return (values >> np.uint32(mark.first)).astype(np.int64)


def _pair(items: Items, value: int) -> Bytes:
    return repeat_row(value.to_bytes(2, "big"), items.total)


def prepend_header(items: Items, inner: Bytes, size_bytes: int) -> Bytes:
    """Put the header of an outer IPv4 packet around packets.

    Of 20 bytes it is IP in IP, of 24 GRE; of more, an unknown protocol, and bytes of 0 behind the
    outer header. Fewer than 20 cannot be: they are bytes of 0 ahead of the packet.
    """
    behind, version = size_bytes - IPV4_HEADER_BYTES, int(inner[0, 0] >> 4)
    if behind < 0:
        return np.concatenate([repeat_row(bytes(size_bytes), items.total), inner], axis=1)
    family = "ipv6" if version == headers.VERSIONS["ipv6"] else "ipv4"
    protocol, more = {
        0: (int(headers.PROTOCOLS_OF_VERSIONS[version]), b""),
        GRE_BYTES: (GRE, b"\0\0" + IP_TYPES[family].to_bytes(2, "big")),
    }.get(behind, (EXPERIMENT, bytes(behind)))
    ends = repeat_row(b"".join(gateway.packed for gateway in GATEWAYS["ipv4"]), items.total)
    packets = np.concatenate([repeat_row(more, items.total), inner], axis=1)
    return _with_ip(items, packets, "ipv4", protocol, ends)
