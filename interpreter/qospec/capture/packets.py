"""Packets as frames: with their headers and check sequences, exactly as long as emulated.

Sources: IEEE 802.3, 3.2 (frame, check sequence), IEEE 802.1Q, 9 (tag), RFC 3032, 2.1 (label), RFC
1662, 3.1 (PPP in HDLC-like framing).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from qospec.capture.error import CaptureError
from qospec.capture.pcapng import LinkType
from qospec.ciphers import headers
from qospec.ciphers.fragments import cut_fragment
from qospec.ciphers.octets import encode_big_endian, iterate_rows, repeat_row
from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.items.piece import MORE_FOLLOW
from qospec.engine.security.seal import (
    FAILED,
    INDEX_BITS,
    SIZE_BITS,
    TAMPERED,
    UNTAMPERED,
    size_in,
)
from qospec.payload.fill import tamper_rows
from qospec.payload.packets import IP_TYPES, build_ip_packets, read_mark
from qospec.protocol.encapsulation import LABEL_BYTES, TAG_BYTES
from qospec.protocol.fragments import UNIT_BYTES
from qospec.protocol.ip import IPV4_HEADER_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.payload.fill import Fill
    from qospec.payload.flight import Items
    from qospec.payload.packets import Bytes, Flow
    from qospec.protocol.encapsulation import Encapsulation

    Wrap = Callable[[Items, Bytes, int], Bytes]
    """What puts so many bytes more around packets of one size, as an element between did."""

ETHERNET, PPP, RAW = LinkType(1, 4), LinkType(50, 2), LinkType(101)
"""LINKTYPE_ETHERNET, LINKTYPE_PPP_HDLC, and LINKTYPE_RAW: an IP packet alone."""
ETHERNET_BYTES, PPP_BYTES = 18, 6
"""What each adds to a packet."""
ETHERNET_CHECK_BYTES = 4
NEAR_STATION, FAR_STATION = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")
"""Addresses of the two ends of a link, administered locally."""
TAG_TYPE, SERVICE_TAG_TYPE, LABEL_TYPE = 0x8100, 0x88A8, 0x8847
PPP_ADDRESS_AND_CONTROL = b"\xff\x03"
PPP_TYPES = {"ipv4": 0x0021, "ipv6": 0x0057}
FIRST_LABEL = 16
"""Labels below are reserved."""


def link_type(framed: Encapsulation) -> LinkType:
    """Return what the frames of a line are, by the number of bytes that they add to a packet."""
    around = framed.header_bytes - framed.vlan_tags * TAG_BYTES - framed.labels * LABEL_BYTES
    if around == ETHERNET_BYTES:
        return ETHERNET
    return PPP if around == PPP_BYTES and not framed.vlan_tags else RAW


class Cutting(NamedTuple):
    """What tells a fragment's packet.

    Attributes:
        indices: The connection indices of fragments, in order of connections.
        sealed_bytes: Given a seal, returns how long the packet is that was encrypted so.
    """

    indices: range = range(0)
    sealed_bytes: Callable[[int], int] = lambda _: 0


def build_frames(
    items: Items,
    framed: Encapsulation,
    flows: Sequence[Flow],
    fill: Fill,
    wrap: Wrap,
    cutting: Cutting = Cutting(),  # noqa: B008 -- it cannot be changed
) -> list[bytes]:
    """Return the frame of each packet on a line.

    Args:
        items: What passed.
        framed: The framing of the line.
        flows: All sources.
        fill: Of payloads.
        wrap: What elements ahead of the line put around packets.
        cutting: What tells a fragment's packet.
    """
    items = _as_packets(items, cutting.indices)
    found: list[bytes] = [b""] * items.total
    flow_of = np.searchsorted([flow.stop for flow in flows], items.batch.connection, "right")
    seal = items.batch.read_column("seal")
    within = seal & ((1 << INDEX_BITS + SIZE_BITS) - 1)  # all but the number
    more = items.batch.read_column("fragment") & MORE_FOLLOW
    sizes = items.sent_bytes, items.batch.size_bytes
    kinds = np.stack([flow_of, *sizes, within, items.fragment, more], axis=1)
    each_kind, kind_of = np.unique(kinds, axis=0, return_inverse=True)
    for number, kind in enumerate(each_kind.tolist()):
        flow, sent_bytes, size_bytes, inside, fragment, more_follow = kind
        mine = np.flatnonzero(kind_of.reshape(-1) == number)
        alike = items.select(mine)
        inner = build_ip_packets(alike, flows[flow], sent_bytes, fill)
        around = size_bytes - sent_bytes
        if more_follow or fragment:
            whole = _cut_part(alike, inner, wrap, cutting)
        else:
            whole = wrap(alike, inner, around) if around > 0 else inner
        if not inside:
            whole = tamper_rows(whole, seal[mine] < 0, whole.shape[1] - 1)
        version_6 = whole[0, 0] >> 4 == headers.VERSIONS["ipv6"]
        family = "ipv6" if version_6 else "ipv4"
        vlans = tuple(int(flows[flow].fields.get(name, 0)) for name in ("vlan", "inner_vlan"))
        own = framed.with_tag_settled(tagged=flows[flow].is_tagged)
        frames = _frame_packets(alike, whole, own, family, vlans)
        for place, frame in zip(mine.tolist(), frames, strict=True):
            found[place] = frame
    return found


def _as_packets(items: Items, fragments: range) -> Items:
    """Return fragments with the connection and the time of their packets.

    What was decrypted though its check had failed is no longer sealed, and is a changed packet.
    """
    batch, is_part = items.batch, items.fragment > 0
    seal = batch.read_column("seal")
    if (seal == FAILED).any():
        batch = batch.with_column("seal", np.where(seal == FAILED, TAMPERED, seal))
    connection = batch.connection - np.int32(fragments.start) * is_part
    sent_ps = batch.sent_ps - items.fragment
    return items._replace(
        batch=batch._replace(connection=connection.astype(np.int32), sent_ps=sent_ps)
    )


def _cut_part(items: Items, packets: Bytes, wrap: Wrap, cutting: Cutting) -> Bytes:
    """Return the same fragment of packets of one size, cut before encryption or after it."""
    seal, size_bytes = (
        int(items.batch.read_column("seal")[0] & UNTAMPERED),
        int(items.batch.size_bytes[0]),
    )
    sealed_bytes = cutting.sealed_bytes(seal) if seal else 0
    if sealed_bytes > size_bytes:
        packets = wrap(items, packets, sealed_bytes - packets.shape[1])
        return _cut(items, packets, size_bytes)
    within_bytes = size_in(seal) if seal else size_bytes
    part = _cut(items, packets, within_bytes)
    return wrap(items, part, size_bytes - within_bytes) if size_bytes > within_bytes else part


def _cut(items: Items, packets: Bytes, size_bytes: int) -> Bytes:
    """Return the same fragment of packets, of this size.

    Raises:
        CaptureError: They were not cut as they are here.
    """
    number, carried_bytes = int(items.fragment[0]), size_bytes - IPV4_HEADER_BYTES
    left_bytes = packets.shape[1] - size_bytes
    follow = items.batch.read_column("fragment")[0] & MORE_FOLLOW
    start_bytes = number * carried_bytes if follow else left_bytes
    if packets[0, 0] != headers.WITHOUT_OPTIONS:
        raise CaptureError("a capture holds fragments of IPv4 alone")
    if start_bytes % UNIT_BYTES or not 0 <= start_bytes <= left_bytes:
        raise CaptureError(
            "packets on this link were put into others and then cut, and a capture holds no such"
            " fragments"
        )
    return cut_fragment(packets, start_bytes, carried_bytes)


def _frame_packets(
    items: Items, packets: Bytes, framed: Encapsulation, family: str, vlans: tuple[int, ...]
) -> list[bytes]:
    kind = link_type(framed)
    if kind is RAW:
        return iterate_rows(packets)
    if kind is PPP:
        head = PPP_ADDRESS_AND_CONTROL + PPP_TYPES[family].to_bytes(2, "big")
        return [with_ppp_check(head + row) for row in iterate_rows(packets)]
    parts = [repeat_row(FAR_STATION + NEAR_STATION, items.total)]
    parts += _build_tags(items, framed.vlan_tags, vlans)
    parts.append(
        repeat_row(
            (LABEL_TYPE if framed.labels else IP_TYPES[family]).to_bytes(2, "big"), items.total
        )
    )
    parts += _build_labels(items, framed.labels)
    parts.append(packets)
    size = sum(part.shape[1] for part in parts) + ETHERNET_CHECK_BYTES
    parts.append(np.zeros((items.total, max(0, framed.least_bytes - size)), np.uint8))
    whole = iterate_rows(np.concatenate(parts, axis=1))
    return [frame + zlib.crc32(frame).to_bytes(ETHERNET_CHECK_BYTES, "little") for frame in whole]


def _build_tags(items: Items, count: int, vlans: tuple[int, ...]) -> list[Bytes]:
    """Return the tags of frames, with their VLANs from the outer on, which has their priority."""
    parts = []
    for place in range(count):
        kind = SERVICE_TAG_TYPE if place < count - 1 else TAG_TYPE
        vlan = vlans[place] if place < len(vlans) else 0
        priority = read_mark(items, "priority") if place == 0 else np.zeros(items.total, np.int64)
        parts.append(encode_big_endian(kind << 16 | priority << 13 | vlan, TAG_BYTES))
    return parts


def _build_labels(items: Items, count: int) -> list[Bytes]:
    """Return the labels ahead of packets, the outer one with their traffic class."""
    parts = []
    for place in range(count):
        none = np.zeros(items.total, np.int64)
        group = read_mark(items, "traffic_class") if place == 0 else none
        entry = (
            (FIRST_LABEL + place) << 12 | (place == count - 1) << 8 | headers.DEFAULT_TIME_TO_LIVE
        )
        parts.append(encode_big_endian(entry | group << 9, LABEL_BYTES))
    return parts


def with_ppp_check(frame: bytes) -> bytes:
    """Return a frame with its check sequence of 16 bits. Source: RFC 1662, C.2."""
    rest = 0xFFFF
    for byte in frame:
        rest ^= byte
        for _ in range(8):
            rest = rest >> 1 ^ (0x8408 if rest & 1 else 0)
    return frame + (rest ^ 0xFFFF).to_bytes(2, "little")
