"""Cells of packets as bytes: encapsulation, padding and trailer, each cell with its part of them.

Sources: ITU-T I.363.1, 2.4 (AAL1), I.363.5, 9.2.1 (AAL5), I.363.3, 8.2 (AAL3/4: SAR-PDU and
CPCS-PDU); RFC 2684, 5 and 6; RFC 2364, 4 and 5; RFC 2516, 4; af-lane-0084, 3 (LLC multiplexing);
af-mpoa-0114, 3 (tags).
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from qospec.capture.error import CaptureError
from qospec.ciphers.octets import encode_big_endian, iterate_rows, repeat_row
from qospec.dataclass import NamedTuple
from qospec.engine.adaptation import AdaptationEnd
from qospec.engine.arrays import np
from qospec.engine.items.piece import LENGTH_BITS, NUMBER_BITS
from qospec.payload.packets import IP_TYPES, build_ip_packets
from qospec.protocol.aal import AALS, CIRCUIT_BYTES, ENCAPSULATIONS, LEAST_FRAME_BYTES
from qospec.protocol.atm import CELL_PAYLOAD_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qospec.ciphers.octets import Numbers
    from qospec.engine.experiment import Experiment
    from qospec.payload.fill import Fill
    from qospec.payload.flight import Items
    from qospec.payload.packets import Bytes, Flow
    from qospec.protocol.aal import Adaptation

FAR_STATION, NEAR_STATION = bytes.fromhex("020000000002"), bytes.fromhex("020000000001")
LLC_SNAP, LLC_PPP = bytes.fromhex("aaaa03"), bytes.fromhex("fefe03cf")
ROUTED, BRIDGED, LAN_EMULATION = (
    bytes.fromhex(identifier) for identifier in ("000000", "0080c2", "00a03e")
)
TAGGED_TYPE, PPPOE_TYPE = bytes.fromhex("884c"), bytes.fromhex("8864")
PPP_TYPES = {"ipv4": bytes.fromhex("0021"), "ipv6": bytes.fromhex("0057")}
AHEAD_OF_FRAME: dict[str, bytes] = {
    "llc_snap_bridged": LLC_SNAP + BRIDGED + bytes.fromhex("0007 0000"),
    "llc_snap_bridged_fcs": LLC_SNAP + BRIDGED + bytes.fromhex("0001 0000"),
    "vc_multiplexed_bridged": bytes(2),
    "lane": bytes.fromhex("0001"),
    "lane_multiplexed": LLC_SNAP + LAN_EMULATION + bytes.fromhex("000c 00000001 0001"),
    "pppoe": bytes(2),
    "pppoe_llc_snap": LLC_SNAP + BRIDGED + bytes.fromhex("0007 0000"),
}
"""What precedes an Ethernet frame; of LAN emulation, the client and the emulated LAN 1."""
BEGINS, ENDS = 0b10, 0b01
"""The segment type of a first cell of AAL3/4 and of a last one; of one that is both, both."""


class Frames(NamedTuple):
    """How the packets of a trial are carried in cells.

    Attributes:
        adaptation: How; None if they are not, or each in another way.
        connections: How many there are.
        flows: All sources.
    """

    adaptation: Adaptation | None
    connections: int
    flows: Sequence[Flow]

    @classmethod
    def find(cls, experiment: Experiment, flows: Sequence[Flow]) -> Frames:
        """Return how they are carried in a trial."""
        elements = (node.element for node in experiment.nodes)
        known = {element.adaptation for element in elements if isinstance(element, AdaptationEnd)}
        return cls(known.pop() if len(known) == 1 else None, experiment.streams.count, flows)


def read_packet_bytes(pieces: Numbers) -> Numbers:
    """Return (n,) the sizes of the packets in which cells take part; 0 of cells without one."""
    return pieces >> NUMBER_BITS + 1 & (1 << LENGTH_BITS) - 1


def build_payloads(items: Items, frames: Frames, fill: Fill) -> Bytes:
    """Return (n, 48) the payloads of n cells of packets.

    Raises:
        CaptureError: The packets were encrypted or put into others, or each is in another AAL.
    """
    pieces, batch = items.batch.read_column("frame"), items.batch
    numbers = pieces >> 1 & (1 << NUMBER_BITS) - 1
    wholes = pieces >> NUMBER_BITS + 1
    lengths = read_packet_bytes(pieces)
    if frames.adaptation is None:
        raise CaptureError("a capture holds cells of packets only if all are of one AAL")
    if (lengths != items.sent_bytes).any():
        raise CaptureError(
            "these cells carry packets that were encrypted or put into others, and a capture holds"
            " none of them: take a link ahead of where they become cells"
        )
    is_part = batch.connection >= frames.connections
    user = (batch.connection % np.int32(frames.connections)).astype(np.int32)
    packets = items._replace(
        batch=batch._replace(connection=user, sent_ps=batch.sent_ps - numbers * is_part)
    )
    flow_of = np.searchsorted([flow.stop for flow in frames.flows], user, "right")
    found = np.empty((items.total, CELL_PAYLOAD_BYTES), np.uint8)
    keys = np.stack([user.astype(np.int64), wholes], axis=1)
    _, first, of = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    of = of.reshape(-1)
    alike = np.stack([flow_of[first], lengths[first]], axis=1)
    for flow, length in np.unique(alike, axis=0).tolist():
        mine = np.flatnonzero((alike == (flow, length)).all(axis=1))
        one = packets.select(first[mine])
        inside = build_ip_packets(one, frames.flows[flow], length, fill)
        sdus = encapsulate(inside, frames.adaptation.encapsulation, frames.flows[flow].family)
        cells = _CUTS[frames.adaptation.aal](sdus, wholes[first[mine]] >> LENGTH_BITS)
        rows = np.flatnonzero(np.isin(of, mine))
        found[rows] = cells[np.searchsorted(mine, of[rows]), numbers[rows]]
    return found


# ---- around a packet


def encapsulate(packets: Bytes, encapsulation: str, family: str) -> Bytes:
    """Return (n, size) the SDUs of packets of one size."""
    count, size = packets.shape
    kind = IP_TYPES[family].to_bytes(2, "big")
    ahead = {
        "llc_snap": LLC_SNAP + ROUTED + kind,
        "vc_multiplexed": b"",
        "mpoa_tagged": LLC_SNAP + ROUTED + TAGGED_TYPE + bytes(4),
        "ppp": PPP_TYPES[family],
        "ppp_llc": LLC_PPP + PPP_TYPES[family],
    }.get(encapsulation)
    if ahead is not None:
        return np.concatenate([repeat_row(ahead, count), packets], axis=1)
    if encapsulation.startswith("pppoe"):
        session = bytes.fromhex("1100 0001") + (size + 2).to_bytes(2, "big")
        kind = PPPOE_TYPE + session + PPP_TYPES[family]
    frame = np.concatenate([repeat_row(FAR_STATION + NEAR_STATION + kind, count), packets], axis=1)
    pad = np.zeros((count, max(0, LEAST_FRAME_BYTES - frame.shape[1])), np.uint8)
    parts = [repeat_row(AHEAD_OF_FRAME[encapsulation], count), frame, pad]
    if encapsulation.endswith("_fcs"):
        whole = iterate_rows(np.concatenate(parts[1:], axis=1))
        checks = [zlib.crc32(row).to_bytes(4, "little") for row in whole]
        parts.append(np.frombuffer(b"".join(checks), np.uint8).reshape(count, 4))
    sdus: Bytes = np.concatenate(parts, axis=1)
    assert sdus.shape[1] == ENCAPSULATIONS[encapsulation].count_sdu_bytes(size)  # type: ignore[index]  # noqa: S101
    return sdus


# ---- around an SDU


def cut_aal5(sdus: Bytes, _: Numbers) -> Bytes:
    """Return (n, cells, 48) the cells of SDUs of one size: pad, length and CRC-32 behind them."""
    count, size = sdus.shape
    cells = AALS["aal5"].count_cells(size)
    pad = np.zeros((count, cells * CELL_PAYLOAD_BYTES - size - 8), np.uint8)
    trailer = repeat_row(bytes(2) + size.to_bytes(2, "big"), count)
    whole = np.concatenate([sdus, pad, trailer], axis=1)
    check = encode_big_endian([compute_crc32(row) for row in iterate_rows(whole)], 4)
    return np.concatenate([whole, check], axis=1).reshape(count, cells, CELL_PAYLOAD_BYTES)


_MIRRORED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


def compute_crc32(content: bytes) -> int:
    """Return the CRC-32 of AAL5: that of Ethernet, with the first bit of each byte first."""
    return int(f"{zlib.crc32(content.translate(_MIRRORED)):032b}"[::-1], 2)


def cut_aal3_4(sdus: Bytes, numbers: Numbers) -> Bytes:
    """Return (n, cells, 48) the cells of SDUs of one size, given the numbers of their frames."""
    count, size = sdus.shape
    tag, length = encode_big_endian(numbers, 1), repeat_row(size.to_bytes(2, "big"), count)
    zeros = repeat_row(bytes(1), count)
    pad = np.zeros((count, -size % 4), np.uint8)
    whole = np.concatenate([zeros, tag, length, sdus, pad, zeros, tag, length], axis=1)
    cells, per_cell = AALS["aal3_4"].count_cells(size), AALS["aal3_4"].cell_bytes
    last = whole.shape[1] - (cells - 1) * per_cell
    unused = np.zeros((count, per_cell - last), np.uint8)
    parts = np.concatenate([whole, unused], axis=1).reshape(count, cells, per_cell)
    found = np.empty((count, cells, CELL_PAYLOAD_BYTES), np.uint8)
    for number in range(cells):
        kind = BEGINS * (number == 0) | ENDS * (number == cells - 1)
        header = (kind << 14 | number % 16 << 10).to_bytes(2, "big")
        said = last if number == cells - 1 else per_cell
        for row, part in zip(found[:, number], iterate_rows(parts[:, number]), strict=True):
            row[:] = np.frombuffer(with_crc10(header + part, said), np.uint8)
    return found


def cut_aal1(payloads: Bytes, numbers: Numbers, filling: Numbers) -> Bytes:
    """Return (n, 48) the cells of a circuit: a header, the bytes of the circuit, and zeros.

    Args:
        payloads: (n, 48) What is sent, of which the last byte has no room.
        numbers: (n,) Which of its connection each is, from 0.
        filling: (n,) How many bytes of the circuit each has.
    """
    headers = np.frombuffer(bytes(map(build_aal1_header, range(8))), np.uint8)
    content = payloads[:, :-1] * (np.arange(CIRCUIT_BYTES) < filling[:, np.newaxis])
    return np.concatenate([headers[numbers % 8, np.newaxis], content], axis=1)


def build_aal1_header(number: int) -> int:
    """Return the SAR-PDU header of a sequence number: CSI and a count of 3 bits, CRC-3, parity.

    The generator is x^3 + x + 1, and the parity is even. Source: ITU-T I.363.1, 2.4.2.
    """
    rest = number << 3
    for place in (6, 5, 4, 3):
        rest ^= (rest >> place & 1) * (0b1011 << place - 3)
    header = number << 4 | rest << 1
    return header | header.bit_count() % 2


_CUTS: dict[str, Callable[[Bytes, Numbers], Bytes]] = {"aal5": cut_aal5, "aal3_4": cut_aal3_4}


# ---- the check of 10 bits


_GENERATOR = 0b10_0011_0011
"""x^10 + x^9 + x^5 + x^4 + x + 1, without its first term."""


def with_crc10(content: bytes, last: int = 0) -> bytes:
    """Return 46 bytes, 6 bits more, by default reserved ones of 0, and the check of all these."""
    return content + (last << 10 | compute_crc10(content, last)).to_bytes(2, "big")


def compute_crc10(content: bytes, last: int = 0) -> int:
    """Return the remainder of a content and 6 bits behind it.

    Source: ITU-T I.610, 10.1; I.363.3, 8.2.1.2.
    """
    rest = 0
    for byte in content:
        rest = _divide(rest, byte, 8)
    return _divide(rest, last, 6)


def _divide(rest: int, value: int, bits: int) -> int:
    for place in reversed(range(bits)):
        first = (rest >> 9 ^ value >> place) & 1
        rest = (rest << 1 & 0x3FF) ^ (_GENERATOR * first)
    return rest
