"""Packets as bytes, read by Scapy: lengths as emulated, and checks that hold."""

import zlib
from fractions import Fraction

import numpy as np
import pytest
from scapy.contrib.mpls import MPLS
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import GRE, Dot1AD, Dot1Q, Ether
from scapy.layers.ppp import HDLC
from scapy.packet import Packet

from qospec.capture.packets import build_frames, link_type
from qospec.engine.items.batch import allocate_batch
from qospec.engine.source.headers import UNSPECIFIED
from qospec.payload.fill import Fill
from qospec.payload.flight import Items
from qospec.payload.packets import Flow, prepend_header
from qospec.protocol.encapsulation import Encapsulation
from qospec.protocol.marks import set_marks

ETHERNET = Encapsulation(8, 18, 64, 12)
MARKS = set_marks(dscp=46, priority=5, traffic_class=3, ecn=3)
TYPE_OF_SERVICE = 0b101110_11
"""EF and CE: RFC 2474, 3, and RFC 3168, 5."""


def flow(**fields: Fraction | str) -> Flow:
    usual: dict[str, Fraction | str] = {
        "family": "ipv4",
        "protocol": "udp",
        "source_address": UNSPECIFIED["ipv4"],
        "destination_address": "192.0.2.1",
        "source_port": Fraction(1_024),
        "destination_port": Fraction(7),
    }
    return Flow(0, 4, {**usual, **fields})


def items(sizes: list[int], grown: int = 0) -> Items:
    n = len(sizes)
    sent = np.array(sizes, np.int32)
    batch = allocate_batch(n)._replace(
        at_ps=np.arange(n),
        sent_ps=np.arange(n),
        connection=np.arange(n, dtype=np.int32) % 4,
        size_bytes=sent + np.int32(grown),
        marks=np.full(n, MARKS, np.uint32),
    )
    return Items(batch, np.arange(n), sent, *[np.zeros(n, np.int64)] * 2)


def made(of: Flow, sizes: list[int], link: Encapsulation, grown: int = 0) -> list[bytes]:
    return build_frames(items(sizes, grown), link, [of], Fill(5), prepend_header)


def checked(layer: Packet, field: str) -> bool:
    """Return whether Scapy computes the checksum that the packet has."""
    copy = layer.copy()
    delattr(copy, field)
    return bool(getattr(type(copy)(bytes(copy)), field) == getattr(layer, field))


@pytest.mark.parametrize("protocol", ["udp", "tcp", "none"])
@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_frames_have_the_emulated_lengths_and_right_checks(family: str, protocol: str) -> None:
    address = {"source_address": "::", "destination_address": "2001:db8::1"}
    of = flow(family=family, protocol=protocol, **(address if family == "ipv6" else {}))
    sizes = [60, 61, 100, 1_500, 46 + 20, 1_499]
    found = made(of, sizes, ETHERNET)
    assert [len(frame) for frame in found] == [ETHERNET.count_frame_bytes(size) for size in sizes]
    for size, frame in zip(sizes, found, strict=True):
        assert int.from_bytes(frame[-4:], "little") == zlib.crc32(frame[:-4])
        ether = Ether(frame[:-4])
        if family == "ipv4":
            ip = ether[IP]
            assert ip.len == size
            assert ip.tos == TYPE_OF_SERVICE
            assert checked(ip, "chksum")
        else:
            ip = ether[IPv6]
            assert ip.plen == size - 40
            assert ip.tc == TYPE_OF_SERVICE
        if protocol == "udp":
            assert checked(ip, "chksum") if family == "ipv4" else True
            assert (ip[UDP].sport, ip[UDP].dport) == (1_024, 7)
            assert bytes(ip[UDP].payload)[:4] == b"QOS1"[: size - (28 if family == "ipv4" else 48)]
        if protocol == "tcp":
            assert (ip[TCP].sport, ip[TCP].dport) == (1_024, 7)
        if protocol != "none":
            assert transport_is_right(ip)


def transport_is_right(ip: Packet) -> bool:
    """Return whether Scapy computes the checksum of the transport header likewise."""
    layer = ip[UDP] if UDP in ip else ip[TCP]
    was = layer.chksum
    copy = ip.copy()
    of = copy[UDP] if UDP in copy else copy[TCP]
    of.chksum = None
    again = type(ip)(bytes(copy))
    return bool((again[UDP] if UDP in again else again[TCP]).chksum == was)


@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_a_checksum_of_0_is_sent_as_all_ones(family: str) -> None:
    """As 0 it would say that there is none, which IPv6 forbids: RFC 768, RFC 8200, 8.1.

    What fits a packet is its label alone, whose number (64 bits) is added to the sum: with the
    checksum of the packet numbered 0 as its number, the sum of a packet is all ones.
    """
    address = {"source_address": "2001:db8::2", "destination_address": "2001:db8::1"}
    ipv4 = {"source_address": "192.0.2.7"}
    of = flow(family=family, **(address if family == "ipv6" else ipv4))
    size_bytes = (20 if family == "ipv4" else 40) + 8 + 24

    def numbered(number: int) -> UDP:
        one = items([size_bytes])._replace(number=np.array([number]))
        (frame,) = build_frames(one, ETHERNET, [of], Fill(5), prepend_header)
        udp: UDP = Ether(frame[:-4])[UDP]
        return udp

    first = numbered(0).chksum
    assert numbered(1).chksum == first - 1
    assert numbered(first).chksum == 0xFFFF


def test_short_frames_are_filled_up() -> None:
    (found,) = made(flow(), [28], ETHERNET)
    assert len(found) == 64
    assert Ether(found)[IP].len == 28
    assert found[14 + 28 : 60] == bytes(18)


def test_tags_and_labels_carry_the_marks_of_the_outermost() -> None:
    link = Encapsulation(8, 18 + 8 + 8, 64, 12, vlan_tags=2, labels=2)
    (found,) = made(flow(vlan=Fraction(100), inner_vlan=Fraction(4_094)), [100], link)
    assert len(found) == 100 + 18 + 16
    ether = Ether(found[:-4])
    assert (ether[Dot1AD].prio, ether[Dot1AD].vlan) == (5, 100)
    assert ether[Dot1Q].vlan == 4_094
    assert (ether[Dot1Q].prio, ether[Dot1Q].type) == (0, 0x8847)
    outer = MPLS(bytes(ether[Dot1Q].payload))
    assert (outer.label, outer.cos, outer.s) == (16, 3, 0)
    assert (outer.payload.label, outer.payload.cos, outer.payload.s) == (17, 0, 1)
    assert IP(bytes(outer.payload.payload)).len == 100


def test_connections_without_addresses_are_told_apart() -> None:
    found = [Ether(frame)[IP] for frame in made(flow(), [100] * 3, ETHERNET)]
    assert [packet.src for packet in found] == ["198.18.0.0", "198.18.0.1", "198.18.0.2"]
    assert {packet.dst for packet in found} == {"192.0.2.1"}


def test_answers_go_back_to_where_requests_came_from() -> None:
    requests = flow(source_address="192.0.2.7", destination_address=UNSPECIFIED["ipv4"])
    answers = flow(destination_address="192.0.2.7", source_address=UNSPECIFIED["ipv4"])
    asked, answered = items([100] * 2), items([100] * 2)
    answered.batch.connection[:] += 2
    both = [requests._replace(stop=2), answers._replace(first=2, answered=0)]
    there, back = (
        [
            Ether(build_frame)[IP]
            for build_frame in build_frames(of, ETHERNET, both, Fill(5), prepend_header)
        ]
        for of in (asked, answered)
    )
    assert [(packet.src, packet.dst) for packet in there] == [
        ("192.0.2.7", "198.19.0.0"),
        ("192.0.2.7", "198.19.0.1"),
    ]
    assert [(packet.dst, packet.src) for packet in back] == [
        (packet.src, packet.dst) for packet in there
    ]


@pytest.mark.parametrize(("grown", "protocol"), [(20, 4), (24, 47), (60, 253)])
def test_a_tunnel_is_around_the_packet_that_was_sent(grown: int, protocol: int) -> None:
    (found,) = made(flow(), [100], ETHERNET, grown)
    outer = Ether(found[:-4])[IP]
    assert (outer.len, outer.proto, outer.tos) == (100 + grown, protocol, TYPE_OF_SERVICE)
    assert checked(outer, "chksum")
    inner = IP(bytes(outer)[grown:])
    assert inner.len == 100
    assert checked(inner, "chksum")
    assert (GRE in outer) == (protocol == 47)


def test_the_protocol_in_a_tunnel_is_the_version_that_it_carries() -> None:
    six = flow(family="ipv6", source_address="::", destination_address="2001:db8::1")
    (found,) = made(six, [100], ETHERNET, 20)
    outer = Ether(found[:-4])[IP]
    assert (outer.proto, outer[IPv6].plen, outer[IPv6].dst) == (41, 60, "2001:db8::1")


def test_ppp_frames_have_their_check_sequence() -> None:
    link = Encapsulation(1, 6, 0, 0)
    assert link_type(link) == (50, 2)  # LINKTYPE_PPP_HDLC of tcpdump.org
    (found,) = made(flow(), [50], link)
    assert len(found) == 56
    assert HDLC(found)[IP].len == 50
    rest = 0xFFFF
    for bit in (byte >> place & 1 for byte in found for place in range(8)):
        rest = rest >> 1 ^ (0x8408 if (rest ^ bit) & 1 else 0)
    assert rest == 0xF0B8  # RFC 1662, C.2: what a good frame leaves


def test_another_framing_is_left_out() -> None:
    link = Encapsulation(0, 9, 0, 0)
    assert link_type(link) == (101, 0)  # LINKTYPE_RAW
    (found,) = made(flow(), [50], link)
    assert len(found) == 50
    assert IP(found).len == 50
