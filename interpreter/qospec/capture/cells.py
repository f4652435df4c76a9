"""ATM cells as bytes: the header of 4 bytes without its check, and a payload of 48.

Each is in a record of the extensible record format (ERF, type 3), because of the link types that
decoders know it is the only one that keeps the payload type, and so shows OAM cells as such; that
of SunATM keeps neither it nor a VPI above 255. The header's check (HEC) belongs to the line and is
in neither.

Sources: ITU-T I.361, 2 (header; VCI 0 to 31 are not for users), I.610, 10.1 (OAM cells, their check
of 10 bits, and unused bytes of 6A hex), I.371, annex A (resource management cells); Endace ERF,
types 3 and 4 and record header.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.capture.adaptation import build_payloads, cut_aal1, read_packet_bytes, with_crc10
from qospec.capture.pcapng import LinkType
from qospec.ciphers.octets import encode_big_endian, iterate_rows
from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.items.piece import MORE_FOLLOW
from qospec.payload.fill import fill_payloads, tamper_rows
from qospec.protocol.atm import CELL_PAYLOAD_BYTES
from qospec.protocol.marks import CLP
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from qospec.capture.adaptation import Frames
    from qospec.capture.encryption import CellEncryption
    from qospec.payload.fill import Fill
    from qospec.payload.flight import Items
    from qospec.protocol.streams import KindName

LINK = LinkType(197)
"""LINKTYPE_ERF."""
ERF_BYTES, ERF_ATM, ERF_AAL5, ERF_VARYING_LENGTH = 16, 3, 4, 4
"""The header of a record; its types, of a cell without HEC and of a frame; its flag that lengths
vary."""
HEADER_BYTES = 4
MOST_CELLS = (0xFFFF - ERF_BYTES - HEADER_BYTES) // CELL_PAYLOAD_BYTES
"""Of a frame, whose record has a length of 16 bits."""
FIRST_USER_CHANNEL, HIGHEST_CHANNEL = 32, 0xFFFF
"""VCIs of users."""
PAYLOAD_TYPES: Mapping[KindName, int] = {
    "user": 0,
    "oam": 0b101,
    "rm": 0b110,
    "misinserted": 0,
    "cells": 0,
    "fragments": 0,
    "copies": 0,
    "notices": 0,
}
"""User data without congestion, end-to-end F5 flow, resource management."""
LAST = 0b001
"""In the payload type of user's cells, that it ends a frame of AAL5. Source: ITU-T I.361, 2.2.4."""
OF_MANAGEMENT = 0b100
UNUSED = 0x6A
CONTINUITY_CHECK = 0b0001_0100
"""OAM type fault management, function continuity check: the cell that carries nothing else."""
SECURITY = 0b1111_0010
"""OAM type system management, function security in real time."""
AVAILABLE_BIT_RATE = 1
"""The protocol of resource management cells."""


class Addresses(NamedTuple):
    """The cells of each connection index.

    Attributes:
        paths: (n,) The VPI.
        channels: (n,) The VCI.
        kinds: (n,) The number of the kind, in `names`.
        names: The kinds in use.
        circuit_bytes: (n,) Of a circuit, in each cell of AAL1; 0 if it is none.
        marks_last: (n,) Whether the last cell of a frame is marked, as by AAL5.
    """

    paths: NDArray[np.int64]
    channels: NDArray[np.int64]
    kinds: NDArray[np.int64]
    names: tuple[KindName, ...]
    circuit_bytes: NDArray[np.int64]
    marks_last: NDArray[np.bool_]


def build_cells(
    items: Items, addresses: Addresses, fill: Fill, encryption: CellEncryption, frames: Frames
) -> list[bytes]:
    """Return the record of each cell.

    Raises:
        CaptureError: They carry packets of which no bytes are made.
    """
    made = np.empty((items.total, ERF_BYTES + HEADER_BYTES + CELL_PAYLOAD_BYTES), np.uint8)
    made[:, :ERF_BYTES] = _record_headers(items)
    of, kind = items.batch.connection, addresses.kinds[items.batch.connection]
    types = np.array([PAYLOAD_TYPES[name] for name in addresses.names], np.int64)[kind]
    piece = items.batch.read_column("frame")
    types |= LAST * (addresses.marks_last[of] & (piece != 0) & (piece & MORE_FOLLOW == 0))
    header = addresses.paths[of] << 20 | addresses.channels[of] << 4 | types << 1
    header |= items.batch.marks & CLP
    made[:, ERF_BYTES : ERF_BYTES + HEADER_BYTES] = encode_big_endian(header, 4)
    body = made[:, ERF_BYTES + HEADER_BYTES :]
    for number, name in enumerate(addresses.names):
        mine = np.flatnonzero(kind == number)
        if name not in MANAGEMENT:
            plain = fill_payloads(items.select(mine), CELL_PAYLOAD_BYTES, fill)
            of_packets = np.flatnonzero(read_packet_bytes(piece[mine]))
            if len(of_packets):
                plain[of_packets] = build_payloads(items.select(mine[of_packets]), frames, fill)
            circuit_bytes = addresses.circuit_bytes[of[mine]]
            of_circuits = np.flatnonzero(circuit_bytes)
            plain[of_circuits] = cut_aal1(
                plain[of_circuits], items.number[mine[of_circuits]], circuit_bytes[of_circuits]
            )
            body[mine] = encryption.encrypt(items.select(mine), plain)
            continue
        body[mine] = np.frombuffer(MANAGEMENT[name](), np.uint8)
        which, announced = encryption.find_announced(items.select(mine))
        for cell, content in zip(mine[which].tolist(), announced, strict=True):
            body[cell] = np.frombuffer(build_security_payload(content.tobytes()), np.uint8)
    body[:] = tamper_rows(body, items.batch.read_column("seal") < 0, CELL_PAYLOAD_BYTES // 2)
    return iterate_rows(made)


class Reassembly:
    """Joins cells of AAL5 to their CPCS-PDUs as receivers do, by connection and payload type.

    A record has the header of the last cell and all payloads, whatever was lost or changed. What is
    too long for a record is left out, as receivers leave out what is longer than its AAL allows.
    """

    def __init__(self) -> None:
        self._payloads: dict[bytes, list[bytes]] = {}

    def join(self, cells: list[bytes]) -> list[tuple[int, bytes]]:
        """Return of each frame that ends the place of its last cell, and its record.

        Args:
            cells: Records of `build_cells`, in order.
        """
        joined = []
        for place, cell in enumerate(cells):
            header = cell[ERF_BYTES : ERF_BYTES + HEADER_BYTES]
            payload_type = header[3] >> 1 & 0b111
            if payload_type & OF_MANAGEMENT:
                continue
            payloads = self._payloads.setdefault(header[:3] + bytes([header[3] >> 4]), [])
            if len(payloads) <= MOST_CELLS:
                payloads.append(cell[ERF_BYTES + HEADER_BYTES :])
            if not payload_type & LAST:
                continue
            if len(payloads) <= MOST_CELLS:
                joined.append((place, _build_frame(cell[:ERF_BYTES], header, b"".join(payloads))))
            payloads.clear()
        return joined


def _build_frame(record_header: bytes, header: bytes, pdu: bytes) -> bytes:
    """Return the record of a frame, given the headers of that of its last cell."""
    size = HEADER_BYTES + len(pdu)
    lengths = (ERF_BYTES + size).to_bytes(2, "big") + bytes(2) + size.to_bytes(2, "big")
    return record_header[:8] + bytes([ERF_AAL5, ERF_VARYING_LENGTH]) + lengths + header + pdu


def build_oam_payload() -> bytes:
    """Return the payload of an OAM cell: the emulation gives it a time and no content."""
    return with_crc10(bytes([CONTINUITY_CHECK]) + bytes([UNUSED]) * 45)


def build_security_payload(content: bytes) -> bytes:
    """Return the payload of an OAM cell by which one encryptor announces something to another."""
    return with_crc10(bytes([SECURITY]) + content + bytes([UNUSED]) * (45 - len(content)))


def build_rm_payload() -> bytes:
    """Return the payload of a resource management cell, likewise: all of its fields are 0."""
    return with_crc10(bytes([AVAILABLE_BIT_RATE]) + bytes(45))


MANAGEMENT: Mapping[str, Callable[[], bytes]] = {"oam": build_oam_payload, "rm": build_rm_payload}
"""What cells of management carry."""


def _record_headers(items: Items) -> NDArray[np.uint8]:
    """Return (n, 16): time in units of 2^-32 s, little-endian; type, flags, lengths, big-endian."""
    made = np.zeros((items.total, ERF_BYTES), np.uint8)
    whole, part = np.divmod(items.batch.at_ps, PS_PER_S)
    # part * 2^32 exceeds 64 bits, so it is divided in two steps of 16 bits.
    high, rest = np.divmod(part << 16, PS_PER_S)
    low = (rest << 16) // PS_PER_S
    time = whole << 32 | high << 16 | low
    made[:, :8] = np.ascontiguousarray(time, "<i8").view(np.uint8).reshape(-1, 8)
    made[:, 8:10] = ERF_ATM, ERF_VARYING_LENGTH
    size = HEADER_BYTES + CELL_PAYLOAD_BYTES
    made[:, 10:12] = 0, ERF_BYTES + size
    made[:, 14:16] = 0, size
    return made
