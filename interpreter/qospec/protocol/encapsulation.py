"""What a medium puts around a packet, and so the length of a packet in each layer.

An item's own size is that of its IP packet. A link knows its encapsulation, so a size or a rate of
one layer becomes that of another here, and nowhere else.
"""

from __future__ import annotations

from dataclasses import replace

from qospec.dataclass import NamedTuple, dataclass
from qospec.protocol.atm import CELL_BYTES
from qospec.protocol.ip import IPV4_HEADER_BYTES, LARGEST_PACKET_BYTES

PACKET_LAYERS = ("line", "frame", "ip", "payload")
"""Where the bits of a packet are counted, from the outside in."""
LAYERS = (*PACKET_LAYERS, "cell")
"""Where bits are counted. Source: spec/2-quantities.md."""

TAG_BYTES = 4
"""Of a VLAN tag. Source: IEEE 802.1Q, 9."""
HIGHEST_VLAN = 4_094
"""The greatest identifier of a VLAN. Source: the same, 9.6."""
RESERVED_VLANS = (
    "a tag with the identifier 0 has a priority alone, and 4,095 is reserved (IEEE 802.1Q, 9.6)"
)
PAUSE_BYTES = 46
"""What a pause frame, of 64 bytes, holds between its header and its check sequence: the size of a
packet in it. Source: IEEE 802.3, annex 31B.
"""
LABEL_BYTES = 4
"""Of an entry of the label stack. Source: RFC 3032, 2.1."""


class Framing(NamedTuple):
    """How a packet's size becomes bytes on the line: max(packet + header, least) + extra.

    If `per_cell_bytes` is above 0, a frame is the cells that max(packet + header, least) bytes fill
    with as much of them in each.
    """

    header_bytes: int = 0
    least_bytes: int = 0
    extra_bytes: int = 0
    per_cell_bytes: int = 0

    def count_bytes(self, packet_bytes: int) -> int:
        """Return the bytes that a packet takes."""
        framed_bytes = max(packet_bytes + self.header_bytes, self.least_bytes)
        if self.per_cell_bytes:
            framed_bytes = -(-framed_bytes // self.per_cell_bytes) * CELL_BYTES
        return framed_bytes + self.extra_bytes

    def count_at(self, layer: str) -> Framing:
        """Return what is counted of a packet in its own layer, in that of frames or of the line."""
        if layer == "ip":
            return Framing()
        return self if layer == "line" else self._replace(extra_bytes=0)


@dataclass(frozen=True)
class Encapsulation:
    """What a line adds to each packet, in bytes.

    Attributes:
        preamble_bytes: Ahead of a frame.
        header_bytes: In a frame around the packet, check sequence, tags and labels included.
        least_bytes: Of a frame; a shorter one is filled up.
        gap_bytes: Behind a frame, before the next.
        largest_bytes: Of a packet.
        vlan_tags: How many tags a frame has; the outermost carries the priority.
        labels: How many MPLS labels precede the packet; the outermost carries the traffic class.
        per_cell_bytes: How much of a frame each cell has, if frames are carried in cells: then a
            frame is all of its cells.
        optional_tag: Whether frames of flows with a tag have one more than others, which
            `header_bytes` and `vlan_tags` do not count.
    """

    preamble_bytes: int = 0
    header_bytes: int = 0
    least_bytes: int = 0
    gap_bytes: int = 0
    largest_bytes: int = LARGEST_PACKET_BYTES
    vlan_tags: int = 0
    labels: int = 0
    per_cell_bytes: int = 0
    optional_tag: bool = False

    def with_tag_settled(self, *, tagged: bool) -> Encapsulation:
        """Return what the line adds to packets of a flow, given whether it has a tag."""
        if not self.optional_tag:
            return self
        header_bytes = self.header_bytes + TAG_BYTES * tagged
        tags = self.vlan_tags + tagged
        return replace(self, header_bytes=header_bytes, vlan_tags=tags, optional_tag=False)

    def carries_mark(self, mark: str) -> bool:
        """Return whether a frame has a place for a mark of `protocol.marks`, or for a VLAN."""
        most_tags = self.vlan_tags + self.optional_tag
        tags = dict.fromkeys(("priority", "vlan"), most_tags)
        tags["inner_vlan"] = max(0, most_tags - 1)
        places = {**tags, "traffic_class": self.labels}
        return bool(places.get(mark, 1))

    @property
    def framing(self) -> Framing:
        """Return the framing, as a line computes with it."""
        extra_bytes = self.preamble_bytes + self.gap_bytes
        return Framing(self.header_bytes, self.least_bytes, extra_bytes, self.per_cell_bytes)

    def count_frame_bytes(self, packet_bytes: int) -> int:
        """Return the length of a packet's frame."""
        return self.framing.count_at("frame").count_bytes(packet_bytes)

    def count_line_bytes(self, packet_bytes: int) -> int:
        """Return how many bytes of time a packet takes of the line."""
        return self.framing.count_bytes(packet_bytes)

    def count_layer_bytes(self, packet_bytes: int, layer: str, transport_bytes: int) -> int:
        """Return the length of a packet in a layer; `transport` are headers besides IPv4's."""
        if layer in ("line", "cell"):
            return self.count_line_bytes(packet_bytes)
        if layer == "frame":
            return self.count_frame_bytes(packet_bytes)
        inner_bytes = IPV4_HEADER_BYTES + transport_bytes
        return packet_bytes - inner_bytes if layer == "payload" else packet_bytes

    def count_packet_bytes(self, size_bytes: int, layer: str, transport_bytes: int) -> int:
        """Return the packet's length of a size in a layer.

        Of a frame, which may be given shorter than the least: what it holds before it is filled up.
        """
        outside_bytes = self.header_bytes if layer in ("line", "frame") else 0
        if layer == "line":
            outside_bytes += self.preamble_bytes + self.gap_bytes
        inner_bytes = IPV4_HEADER_BYTES + transport_bytes if layer == "payload" else 0
        return size_bytes - outside_bytes + inner_bytes
