"""ESP packets: those of one direction of a security association are sealed, and opened again.

Source: RFC 4303, 2 and 3; RFC 4301, 5.1.2 (the outer header); RFC 3948 (in UDP). Addresses of the
outer header are those of the association; its DSCP, congestion notification and DF flag are those
of the packet; its identification is the sequence number.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from qospec.ciphers import headers
from qospec.ciphers.encryption import make_row_cipher
from qospec.ciphers.integrity import RowHmac
from qospec.ciphers.numbering import Numbering
from qospec.ciphers.octets import encode_big_endian, read_numbers
from qospec.dataclass import NamedTuple
from qospec.protocol.esp import HEADER_BYTES, TRAILER_BYTES
from qospec.protocol.ip import IPV4_HEADER_BYTES, LARGEST_PACKET_BYTES

if TYPE_CHECKING:
    from qospec.ciphers.key import Key
    from qospec.ciphers.octets import Numbers, Octets, Truths
    from qospec.protocol.esp import Esp

NAT_TRAVERSAL_PORT = 4_500
"""Source: RFC 3948, 2.1."""
LEAST_SPI, HIGHEST_SPI = 256, 2**32 - 1
"""Those below are reserved. Source: RFC 4303, 2.1."""
FAULTS = ("", "malformed", "tampered", "padding")
"""What is wrong with a packet, in the order in which it is found; nothing is the first."""
GENUINE, MALFORMED, TAMPERED, PADDING = range(4)
HIGHEST_NUMBER = 2**32 - 1
"""The last sequence number of an association. Source: RFC 4303, 2.2."""


class Rows(NamedTuple):
    """Packets of one size.

    Attributes:
        numbers: (n,) The sequence number of each.
        packets: (n, size) From the IP header on.
    """

    numbers: Numbers
    packets: Octets


class Opened(NamedTuple):
    """What was in packets of one size.

    Attributes:
        packets: (n, width) The packets, each with its own size; what follows it is meaningless.
        size_bytes: (n,) Their sizes; 0 of one with a fault.
        faults: (n,) What is wrong with each, as an index into FAULTS.
    """

    packets: Octets
    size_bytes: Numbers
    faults: Octets


class Association:
    """One direction of a security association, which counts what it seals.

    Attributes:
        esp: The format.
        numbering: The sequence numbers that it has used.
    """

    def __init__(
        self,
        esp: Esp,
        spi: int,
        encryption_key: Key,
        integrity_key: Key | None = None,
        ends: bytes = b"",
    ) -> None:
        """Set it up; `ends` are the addresses of a tunnel's source and destination.

        Raises:
            KeyLengthError: A key does not fit its transform.
            ValueError: A key is missing or not used, the addresses are not of the family, or the
                index is reserved.
        """
        if not LEAST_SPI <= spi <= HIGHEST_SPI:
            raise ValueError(f"an SPI is from {LEAST_SPI} to {HIGHEST_SPI}, not {spi}")
        if (esp.integrity is None) != (integrity_key is None):
            raise ValueError("a key of integrity belongs to a transform of integrity")
        addresses_bytes = {"ipv4": 8, "ipv6": 32}[esp.family] if esp.mode == "tunnel" else 0
        if len(ends) != addresses_bytes:
            raise ValueError(
                f"two addresses for {esp.mode} mode over {esp.family} are {addresses_bytes} bytes,"
                f" not {len(ends)}"
            )
        self.esp = esp
        self.numbering = Numbering(esp.encryption.name, HIGHEST_NUMBER)
        self._spi = spi.to_bytes(4, "big")
        self._cipher = make_row_cipher(esp.encryption, encryption_key)
        self._integrity = (
            RowHmac(esp.integrity, integrity_key) if esp.integrity and integrity_key else None
        )
        self._ends = ends

    def renew(self) -> Association:
        """Return the same association with no number used, for packets that are made again."""
        made = copy(self)
        made.numbering = Numbering(self.esp.encryption.name, HIGHEST_NUMBER)
        return made

    def seal(self, *batches: Rows) -> list[Octets]:
        """Return each batch sealed, (n, esp.count_protected_bytes(size)).

        Raises:
            NonceError: A sequence number was used before, or occurs twice.
            ExhaustedError: A sequence number is above the highest.
            ValueError: A packet would be larger than an IP packet can be; or, in transport mode, is
                of another family or has options.
        """
        shapes = [
            (len(batch.numbers), self.esp.count_protected_bytes(batch.packets.shape[1]))
            for batch in batches
        ]
        largest_bytes = max(size for _, size in shapes)
        if largest_bytes > LARGEST_PACKET_BYTES:
            raise ValueError(
                f"a packet would have {largest_bytes} B in ESP, and {LARGEST_PACKET_BYTES} B is the"
                " most that IP carries"
            )
        if self.esp.mode == "transport":
            for batch in batches:
                self._check_own(batch.packets)
        self.numbering.claim(np.concatenate([batch.numbers for batch in batches]))
        # In one array: a large one gets larger pages of memory, which costs less than many small.
        ends = np.cumsum([count * size for count, size in shapes])
        parts = np.split(np.empty(int(ends[-1]), np.uint8), ends[:-1])
        sealed = [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
        for batch, rows in zip(batches, sealed, strict=True):
            if len(rows):
                self._seal(batch, rows)
        return sealed

    def protect(
        self,
        payload: Octets,
        next_header: Octets | int,
        numbers: Numbers,
        into: Octets,
        vectors: Octets | None = None,
    ) -> None:
        """Write payloads in ESP, from the SPI on, without a look at the numbers.

        The vectors of initialisation follow from the numbers unless they are given, as for the
        examples of standards.
        """
        if vectors is None:
            vectors = self._cipher.make_vectors(numbers)
        encrypted_bytes = self.esp.count_ciphertext_bytes(payload.shape[1])
        trailer = np.empty((len(payload), encrypted_bytes - payload.shape[1]), np.uint8)
        padding = trailer.shape[1] - TRAILER_BYTES
        trailer[:, :-1] = *range(1, padding + 1), padding
        trailer[:, -1] = next_header
        known = self._list_authenticated(numbers)
        behind = HEADER_BYTES + vectors.shape[1]
        end = behind + encrypted_bytes + self.esp.encryption.icv_bytes
        self._cipher.encrypt((payload, trailer), vectors, known, into[:, behind:end])
        into[:, :HEADER_BYTES] = known
        into[:, HEADER_BYTES:behind] = vectors
        if self._integrity:
            into[:, end:] = self._integrity.compute_values(into[:, :end])

    def _list_authenticated(self, numbers: Numbers) -> Octets:
        """Return the SPI and the number, which a cipher authenticates besides (RFC 4106, 5)."""
        # As one number, since copies of a few bytes for each row cost most here.
        start = int.from_bytes(self._spi + bytes(4), "big", signed=True)
        return encode_big_endian(start | numbers, HEADER_BYTES)

    def _seal(self, batch: Rows, into: Octets) -> None:
        """Write packets of one size sealed."""
        esp, (numbers, packets) = self.esp, batch
        start = esp.clear_bytes - esp.encryption.iv_bytes - HEADER_BYTES
        if esp.mode == "tunnel":
            payload, inside = packets, headers.PROTOCOLS_OF_VERSIONS[packets[:, 0] >> 4]
        else:
            payload, inside = (
                packets[:, esp.ip_bytes :],
                packets[:, headers.find_protocol(esp.family)],
            )
        self.protect(payload, inside, numbers, into[:, start:])
        into[:, : esp.ip_bytes] = self._build_ip(packets, into.shape[1], numbers)
        if esp.in_udp:
            self._put_in_udp(into)

    def _put_in_udp(self, into: Octets) -> None:
        """Write the headers of UDP: over IPv4 without a checksum, which over IPv6 has to be there.

        Source: RFC 3948, 2.1; RFC 8200, 8.1.
        """
        start = self.esp.ip_bytes
        datagrams = into[:, start:]
        header = headers.build_udp(datagrams.shape[1], NAT_TRAVERSAL_PORT)
        datagrams[:, : len(header)] = header
        if self.esp.family == "ipv6":
            ends = into[:, headers.IPV6_ADDRESSES : start]
            found = encode_big_endian(
                headers.compute_transport_checksum(ends, headers.UDP, datagrams), 2
            )
            datagrams[:, headers.UDP_CHECKSUM : len(header)] = found

    def _check_own(self, packets: Octets) -> None:
        """Check that all packets have the header of transport mode: of its family, no options."""
        if self.esp.family == "ipv4":
            own = packets[:, 0] == headers.WITHOUT_OPTIONS
        else:
            own = packets[:, 0] >> 4 == headers.VERSIONS["ipv6"]
        if not own.all():
            raise ValueError(
                f"transport mode over {self.esp.family} takes packets of that family, and without"
                " options"
            )

    def _build_ip(self, packets: Octets, size_bytes: int, numbers: Numbers) -> Octets:
        """Return the IP headers of sealed packets: in transport mode, their own changed."""
        esp = self.esp
        protocol = headers.UDP if esp.in_udp else headers.ESP
        if esp.mode == "transport":
            sizes = np.full(len(packets), size_bytes)
            return headers.rewrite_headers(packets[:, : esp.ip_bytes], sizes, protocol)
        carried = headers.list_carried(packets, numbers)
        make = headers.build_ipv4 if esp.family == "ipv4" else headers.build_ipv6
        return make(size_bytes, protocol, self._ends, carried)

    def read_numbers(self, packets: Octets) -> Numbers:
        """Return (n,) the sequence numbers in packets."""
        start = self.esp.clear_bytes - self.esp.encryption.iv_bytes - 4
        return read_numbers(packets[:, start : start + 4])

    def open(self, packets: Octets) -> Opened:
        """Return what is in sealed packets of one size.

        Whether a number was seen before is not this function's question.
        """
        esp = self.esp
        count, size_bytes = packets.shape
        nothing = np.empty((count, 0), np.uint8), np.zeros(count, np.int64)
        width = size_bytes - esp.clear_bytes - esp.icv_bytes
        if not count or width <= 0 or width % esp.encryption.block_bytes:
            return Opened(*nothing, np.full(count, MALFORMED, np.uint8))
        protected = packets[:, esp.clear_bytes - HEADER_BYTES - esp.encryption.iv_bytes :]
        plain, genuine = self._unprotect(protected, self.read_numbers(packets))
        faults, length = _check_trailers(plain)
        faults[~genuine] = TAMPERED
        faults[~self._is_ours(packets)] = MALFORMED
        length[faults != GENUINE] = 0
        if esp.mode == "tunnel":
            return Opened(plain[:, :-TRAILER_BYTES], length, faults)
        sizes = np.where(faults == GENUINE, length + esp.ip_bytes, 0)
        own = headers.rewrite_headers(packets[:, : esp.ip_bytes], sizes, plain[:, -1])
        return Opened(np.concatenate([own, plain[:, :-TRAILER_BYTES]], axis=1), sizes, faults)

    def _unprotect(self, protected: Octets, numbers: Numbers) -> tuple[Octets, Truths]:
        """Return the plaintext with its trailer, and which is genuine."""
        start = HEADER_BYTES + self.esp.encryption.iv_bytes
        vectors = protected[:, HEADER_BYTES:start]
        if not self._integrity:
            return self._cipher.decrypt(
                protected[:, start:], vectors, self._list_authenticated(numbers)
            )
        covered, icv = np.split(protected, [-self.esp.icv_bytes], axis=1)
        genuine = (self._integrity.compute_values(covered) == icv).all(axis=1)
        plain, _ = self._cipher.decrypt(
            covered[:, start:], vectors, self._list_authenticated(numbers)
        )
        return plain, genuine

    def _is_ours(self, packets: Octets) -> Truths:
        """Return (n,) whether the headers are those of this association, and undamaged."""
        esp = self.esp
        ip_bytes, said_bytes = esp.ip_bytes, packets.shape[1]
        ours: Truths
        if esp.family == "ipv4":
            length, addresses = headers.TOTAL_LENGTH, headers.ADDRESSES
            ours = packets[:, 0] == headers.WITHOUT_OPTIONS
            ours &= headers.compute_checksum(packets[:, :IPV4_HEADER_BYTES]) == 0
        else:
            length, addresses = headers.IPV6_PAYLOAD_LENGTH, headers.IPV6_ADDRESSES
            ours = packets[:, 0] >> 4 == headers.VERSIONS["ipv6"]
            said_bytes -= ip_bytes
        ours &= packets[:, headers.find_protocol(esp.family)] == (
            headers.UDP if esp.in_udp else headers.ESP
        )
        ours &= read_numbers(packets[:, length : length + 2]) == said_bytes
        if esp.mode == "tunnel":
            ends = np.frombuffer(self._ends, np.uint8)
            ours &= (packets[:, addresses:ip_bytes] == ends).all(axis=1)
        if esp.in_udp:
            udp_bytes = packets.shape[1] - ip_bytes
            # The checksum is not looked at: what authenticates sees more (RFC 3948, 2.1).
            expected = headers.build_udp(udp_bytes, NAT_TRAVERSAL_PORT)[: headers.UDP_CHECKSUM]
            ours &= (packets[:, ip_bytes : ip_bytes + len(expected)] == expected).all(axis=1)
        spi = esp.clear_bytes - esp.encryption.iv_bytes - HEADER_BYTES
        ours &= (packets[:, spi : spi + 4] == np.frombuffer(self._spi, np.uint8)).all(axis=1)
        return ours


def _check_trailers(plain: Octets) -> tuple[Octets, Numbers]:
    """Return whether the padding of each row counts from 1, and the length of its payload."""
    width = plain.shape[1] - TRAILER_BYTES
    length = width - plain[:, -2].astype(np.int64)
    # Before the longest padding there is none.
    first = max(int(length.min()), 0)
    places = np.arange(first, width)
    counted = plain[:, first:width] == places - length[:, None] + 1
    wrong = ~counted & (places >= length[:, None])
    return np.where(wrong.any(axis=1) | (length < 0), PADDING, GENUINE).astype(np.uint8), length
