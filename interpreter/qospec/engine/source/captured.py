"""The packets of a capture file, pcap or pcapng: when each was there, its size, marks and headers.

One pass lists where packets begin; what is in them is read of all at once. Nothing of a payload is
read. Sources: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng, the list of link types at
tcpdump.org; IEEE 802.1Q, 9; RFC 3032, 2.1; RFC 791, 3.1; RFC 8200, 3.
"""

from __future__ import annotations

import functools
import struct
from array import array
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.catalogue.kinds import LONGEST_PS, MOST_CAPTURE_BYTES, CaptureFile, UnfitError
from qospec.dataclass import NamedTuple, dataclass
from qospec.engine.arrays import np
from qospec.protocol.marks import MARKS
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.engine.arrays import Bits, Indices, Sizes, Times, Truths, Whole

MOST_PACKETS = 2_000_000
"""Of a file: what is read of them takes 100 bytes each."""
MOST_PACKET_BYTES = 10**6
"""Of a packet as it was captured: those that Linux puts together have up to 512 KiB."""
MOST_AT_ONCE = 65_536
"""Packets whose headers are read together."""
PCAP = {  # by its first bytes: the order of bytes, and the units of time in a second
    b"\xd4\xc3\xb2\xa1": ("<", 10**6),
    b"\xa1\xb2\xc3\xd4": (">", 10**6),
    b"\x4d\x3c\xb2\xa1": ("<", 10**9),
    b"\xa1\xb2\x3c\x4d": (">", 10**9),
}
PCAPNG = b"\n\r\r\n"
PCAP_HEAD_BYTES, PCAP_RECORD_BYTES = 24, 16
PCAP_VERSION, PCAPNG_VERSION = 2, 1
"""The major versions of both formats."""
HAS_CHECK_SEQUENCE, CHECK_SEQUENCE_SHIFT = 0x04000000, 28
"""In the word of the type of link: if that is known, and where the number of its 2 bytes is."""
SECTION, INTERFACE, SIMPLE_PACKET, OLD_PACKET, PACKET = 0x0A0D0D0A, 1, 3, 2, 6
"""Types of blocks."""
LEAST_BLOCK_BYTES = 12
"""Its type, and its length twice."""
LEAST_BYTES = {SECTION: 28, INTERFACE: 20, PACKET: 32}
"""And what else blocks of a type have."""
APPLICATION, SPEED, RESOLUTION, CHECK_SEQUENCE, OFFSET = 4, 8, 9, 13, 14
"""Codes of options."""
OPTION_BYTES = {SPEED: 8, RESOLUTION: 1, CHECK_SEQUENCE: 1, OFFSET: 8}
MOST_DIGITS = 19
"""Of a time in ps."""
OURS = b"qospec"
"""What the application's name begins with in captures of `qos pcap`."""
ETHERNET, PPP, RAW, COOKED, COOKED_2 = 1, 50, 101, 113, 276
LINK_BYTES = {ETHERNET: 14, PPP: 4, RAW: 0, COOKED: 16, COOKED_2: 20}
"""By type of link, what is ahead of a packet, or of the tags ahead of it."""
TYPE_AT = {ETHERNET: 12, COOKED: 14, COOKED_2: 0}
"""Where the type of what follows is."""
TAGS, LABELS = (0x8100, 0x88A8, 0x9100), (0x8847, 0x8848)
MOST_SHIMS = 8
"""Tags and labels ahead of a packet."""
CHECK_SEQUENCE_BYTES, SMALLEST_FRAME_BYTES = 4, 64
IPV4, IPV6 = 4, 6
IP_BYTES = {IPV4: 20, IPV6: 40}
ADDRESS_AT = {IPV4: (12, 16, 4), IPV6: (8, 24, 16)}
"""By version: where both addresses are, and how long they are."""
PROTOCOLS = {6: "tcp", 17: "udp"}
REMEDY = "write the capture anew, or take the packets that are whole: `editcap IN OUT 1-1000`"


class Interface(NamedTuple):
    """What a file says of the packets of an interface: where their bytes begin, and their times."""

    link: int
    ticks: int = 10**6
    bit_rate: int = 0
    check_sequence_bytes: int = 0
    offset_ps: int = 0


class Records:
    """Where the packets of a file are, in order."""

    def __init__(self, name: str) -> None:
        """Begin with none; `name` is that of the file."""
        self.name = name
        self.at_ps, self.place = array("q"), array("q")
        self.held, self.length, self.interface = array("i"), array("i"), array("i")
        self.interfaces: list[Interface] = []
        self._first_ps: int | None = None

    def add(self, at_ps: int, place: int, held: int, length: int, interface: int) -> None:
        """Add a packet: its time, where its bytes are, how many there are, and how many it had."""
        if self._first_ps is None:
            self._first_ps = at_ps
        if len(self.at_ps) == MOST_PACKETS:
            raise UnfitError(
                f"file: `{self.name}` has more than {MOST_PACKETS:_} packets",
                f"take a part of it: `editcap -r IN OUT 1-{MOST_PACKETS}`",
            )
        if max(held, length) > MOST_PACKET_BYTES:
            raise self.describe_error("is damaged")
        since_ps = at_ps - self._first_ps
        if self.at_ps and since_ps < self.at_ps[-1]:
            raise UnfitError(
                f"file: in `{self.name}` packet {len(self.at_ps) + 1} was there before the one"
                " ahead of it",
                "put them in order: `reordercap IN OUT`",
            )
        if since_ps > LONGEST_PS:
            raise self.describe_error(
                "goes on for more than 11 days", "take a part of it: `editcap -B STOP IN OUT`"
            )
        self.at_ps.append(since_ps)
        self.place.append(place)
        self.held.append(held)
        self.length.append(length)
        self.interface.append(interface)

    def describe_error(self, what: str, help_text: str = REMEDY) -> UnfitError:
        """Return the error of what is wrong behind the last packet."""
        return UnfitError(f"file: `{self.name}` {what} behind packet {len(self.at_ps)}", help_text)


COLUMNS = ("at_ps", "frame_bytes", "size_bytes", "marks", "interface")
"""What `Packets` has of each, besides headers."""


@dataclass(frozen=True, eq=False)
class Packets:
    """The IP packets of a capture, in order.

    Attributes:
        at_ps: (n,) When each was there, as the file says, since the first packet of all.
        frame_bytes: (n,) How long its frame was.
        size_bytes: (n,) How long it is, with its IP header.
        marks: (n,) DSCP and ECN, and those of the outer tag and label.
        interface: (n,) On which of the interfaces it was.
        headers: By name, (n,) a number, or of addresses (n, 4) or (n, 16) bytes.
        interfaces: All of them.
    """

    at_ps: Times
    frame_bytes: Sizes
    size_bytes: Sizes
    marks: Bits
    interface: Indices
    headers: dict[str, Any]
    interfaces: tuple[Interface, ...] = ()

    def select(self, which: Truths) -> Packets:
        """Return some of them."""
        if which.all():
            return self
        columns = {name: getattr(self, name)[which] for name in COLUMNS}
        headers = {name: column[which] for name, column in self.headers.items()}
        return Packets(**columns, headers=headers, interfaces=self.interfaces)

    def begin(self, bit_rate: Fraction | None) -> Times:
        """Return when the first bit of each was there.

        Args:
            bit_rate: That of the line: times are of last bits. None: only if the file says so.
        """
        begun_ps = self.at_ps.copy()
        for number, interface in enumerate(self.interfaces):
            rate = bit_rate or interface.bit_rate
            if rate:
                mine = self.interface == number
                lengths, of = np.unique(self.frame_bytes[mine], return_inverse=True)
                times = [int(length * 8 * PS_PER_S / Fraction(rate)) for length in lengths.tolist()]
                begun_ps[mine] -= np.array(times, np.int64)[of.reshape(-1)]
        return begun_ps


@functools.lru_cache(maxsize=2)
def read_packets(file: CaptureFile) -> Packets:
    """Return the IP packets of a file; all others are left out.

    Raises:
        UnfitError: It is no capture, is cut, or has no IP packets; in the author's words.
    """
    records = Records(file.name)
    with open(file.path, "rb") as opened:  # noqa: PTH123 -- it was found by its path
        data = opened.read(MOST_CAPTURE_BYTES)  # unlike a map, it may be cut meanwhile
    if not data:
        raise UnfitError(f"file: `{file.name}` is empty", "name a pcap or pcapng file")
    if data[:4] in PCAP:
        _list_pcap(data, records)
    elif data[:4] == PCAPNG:
        _list_pcapng(data, records)
    else:
        raise UnfitError(
            f"file: `{file.name}` is no capture",
            "name a pcap or pcapng file, uncompressed, as tcpdump and Wireshark write",
        )
    return _read_headers(data, records)


def _list_pcap(data: bytes, records: Records) -> None:
    order, ticks = PCAP[data[:4]]
    unpack, tick_ps = struct.Struct(f"{order}IIII").unpack_from, PS_PER_S // ticks
    if len(data) < PCAP_HEAD_BYTES:
        raise records.describe_error("is cut")
    _verify_version(data, order, 4, PCAP_VERSION, records)
    (link,) = struct.unpack_from(f"{order}I", data, PCAP_HEAD_BYTES - 4)
    checked = 2 * (link >> CHECK_SEQUENCE_SHIFT) if link & HAS_CHECK_SEQUENCE else 0
    records.interfaces.append(Interface(link & 0xFFFF, check_sequence_bytes=checked))
    place, end = PCAP_HEAD_BYTES, len(data)
    while place < end:
        if place + PCAP_RECORD_BYTES > end:
            raise records.describe_error("is cut")
        seconds, part, held, length = unpack(data, place)
        place += PCAP_RECORD_BYTES
        if place + held > end:
            raise records.describe_error("is cut")
        records.add(seconds * PS_PER_S + part * tick_ps, place, held, length, 0)
        place += held


def _verify_version(data: bytes, order: str, place: int, known: int, records: Records) -> None:
    """Refuse a file of another major version: what its records are is not known."""
    (major,) = struct.unpack_from(f"{order}H", data, place)
    if major != known:
        raise records.describe_error(
            f"has version {major} of its format, which is not known, or is damaged", REMEDY
        )


def _list_pcapng(data: bytes, records: Records) -> None:
    place, end, order, is_ours, first = 0, len(data), "<", False, 0
    while place < end:
        if place + LEAST_BLOCK_BYTES > end:
            raise records.describe_error("is cut")
        if data[place : place + 4] == PCAPNG:
            order = "<" if data[place + 8 : place + 12] == b"\x4d\x3c\x2b\x1a" else ">"
        kind, size = struct.unpack_from(f"{order}II", data, place)
        if size < LEAST_BYTES.get(kind, LEAST_BLOCK_BYTES) or size % 4 or place + size > end:
            raise records.describe_error("is cut, or damaged")
        if struct.unpack_from(f"{order}I", data, place + size - 4) != (size,):
            raise records.describe_error("is damaged")
        if kind == SECTION:
            _verify_version(data, order, place + 12, PCAPNG_VERSION, records)
            options = dict(_list_options(data, order, place + 24, place + size - 4))
            is_ours, first = options.get(APPLICATION, b"").startswith(OURS), len(records.interfaces)
        elif kind == INTERFACE:
            block = place, size
            records.interfaces.append(_read_interface(data, order, block, records, is_ours=is_ours))
        elif kind == PACKET:
            _add_packet(data, order, (place, size), records, first, is_ours=is_ours)
        elif kind in (SIMPLE_PACKET, OLD_PACKET):
            raise records.describe_error(
                "has a packet in a block without a time", "write it with Wireshark"
            )
        place += size


def _read_interface(
    data: bytes, order: str, block: tuple[int, int], records: Records, *, is_ours: bool
) -> Interface:
    place, size = block
    (link,) = struct.unpack_from(f"{order}H", data, place + 8)
    options = dict(_list_options(data, order, place + 16, place + size - 4))
    if any(len(options[code]) != OPTION_BYTES[code] for code in options.keys() & OPTION_BYTES):
        raise records.describe_error("is damaged")
    resolution = options.get(RESOLUTION, b"\x06")[0]
    ticks = 2 ** (resolution & 0x7F) if resolution & 0x80 else 10**resolution
    (speed,) = struct.unpack(f"{order}Q", options.get(SPEED, bytes(8)))
    (offset_s,) = struct.unpack(f"{order}q", options.get(OFFSET, bytes(8)))
    checked = options.get(CHECK_SEQUENCE, b"\0")[0]
    return Interface(link, ticks, speed if is_ours else 0, checked, offset_s * PS_PER_S)


def _add_packet(
    data: bytes,
    order: str,
    block: tuple[int, int],
    records: Records,
    first: int,
    *,
    is_ours: bool,
) -> None:
    place, size = block
    number, high, low, held, length = struct.unpack_from(f"{order}IIIII", data, place + 8)
    if 32 + held > size or first + number >= len(records.interfaces):
        raise records.describe_error("is damaged")
    interface, begins = records.interfaces[first + number], place + 28
    at_ps = (high << 32 | low) * PS_PER_S // interface.ticks + interface.offset_ps
    if is_ours:  # in whole ps
        comment = data[begins + held : place + size].rpartition(b"here at ")[2]
        digits = comment.partition(b" ps")[0]
        at_ps = int(digits) if digits.isdigit() and len(digits) <= MOST_DIGITS else at_ps
    records.add(at_ps, begins, held, length, first + number)


def _list_options(data: bytes, order: str, place: int, end: int) -> Iterator[tuple[int, bytes]]:
    while place + 4 <= end:
        code, length = struct.unpack_from(f"{order}HH", data, place)
        if code == 0:
            return
        yield code, data[place + 4 : min(place + 4 + length, end)]
        place += 4 + length + -length % 4


class Reader:
    """Reads numbers at a place of each packet, of bytes in the order of networks."""

    def __init__(self, data: Any, end: Whole) -> None:
        """Take the bytes of a file, and where those of each packet end."""
        self._data, self.end = data, end

    def read(self, at: Whole, count: int) -> Whole:
        """Return (n,) numbers of so many bytes, of 0 beyond the end of a packet."""
        number = np.zeros(len(at), np.int64)
        for byte in range(count):
            inside = at + byte < self.end
            number = number << 8 | np.where(inside, self._data[np.where(inside, at + byte, 0)], 0)
        return number

    def read_addresses(self, ip: Whole, version: Whole, number: int) -> Any:
        """Return (n, 4) bytes of an address, 0 the source's, or (n, 16) if any is of IPv6."""
        found = np.zeros((len(ip), 16 if (version == IPV6).any() else 4), np.uint8)
        for family, places in ADDRESS_AT.items():
            rows = np.flatnonzero((version == family) & (ip + IP_BYTES[family] <= self.end))
            if len(rows):
                columns = np.arange(places[2])
                found[rows[:, None], columns] = self._data[
                    ip[rows, None] + places[number] + columns
                ]
        return found


def _read_headers(data: bytes, records: Records) -> Packets:
    """Return the IP packets of a file with what their headers say, read some at a time."""
    count, parts = len(records.at_ps), list[Packets]()
    for start in range(0, count, MOST_AT_ONCE):
        stop = min(start + MOST_AT_ONCE, count)
        parts.append(_read_some(data, records, start, stop))
    if not sum(len(part.at_ps) for part in parts):
        raise UnfitError(
            f"file: `{records.name}` has no IP packet", "capture the traffic that is to be sent"
        )
    columns = {name: _join([getattr(part, name) for part in parts]) for name in COLUMNS}
    headers = {name: _join([part.headers[name] for part in parts]) for name in parts[0].headers}
    return Packets(**columns, headers=headers, interfaces=tuple(records.interfaces))


def _join(parts: Sequence[Any]) -> Any:
    """Return columns as one; addresses as wide as the longest."""
    widest = max(part.shape[1:] for part in parts)
    missing = [[(0, 0)] + [(0, wide - part.shape[1]) for wide in widest] for part in parts]
    return np.concatenate([np.pad(part, more) for part, more in zip(parts, missing, strict=True)])


def _read_some(data: bytes, records: Records, start: int, stop: int) -> Packets:
    """Return the IP packets among some packets of a file."""
    columns = (records.place, records.held, records.length, records.interface)
    place, held, length, interface = (
        np.frombuffer(column, column.typecode)[start:stop].astype(np.int64) for column in columns
    )
    links = np.array([known.link for known in records.interfaces], np.int64)[interface]
    unknown = sorted({*links.tolist()} - LINK_BYTES.keys())
    if unknown:
        raise UnfitError(
            f"file: `{records.name}` has packets of link type {unknown[0]}",
            "capture Ethernet (1), PPP (50), IP alone (101) or Linux's cooked frames (113, 276)",
        )
    reader = Reader(np.frombuffer(data, np.uint8), place + held)
    ip, marks, vlans = _find_ip(links, place, reader)
    version = np.where(ip < reader.end, reader.read(ip, 1) >> 4, 0)
    is_ip, six = np.isin(version, list(IP_BYTES)), version == IPV6
    short = is_ip & (ip + np.where(six, IP_BYTES[IPV6], IP_BYTES[IPV4]) > reader.end)
    if short.any():
        first = start + int(short.argmax()) + 1
        raise UnfitError(
            f"file: `{records.name}` holds less of packet {first} than its headers",
            "capture at least 96 bytes of each packet: `tcpdump -s 96`",
        )
    said = np.where(six, IP_BYTES[IPV6] + reader.read(ip + 4, 2), reader.read(ip + 2, 2))
    size_bytes = np.where(said > six * IP_BYTES[IPV6], said, length - (ip - place))
    group = np.where(six, reader.read(ip, 2) >> 4 & 0xFF, reader.read(ip + 1, 1))
    marks |= group >> 2 << MARKS["dscp"].first | (group & 3) << MARKS["ecn"].first
    is_ethernet = links == ETHERNET
    checked = np.array([known.check_sequence_bytes for known in records.interfaces])[interface]
    frame_bytes = length + np.where(is_ethernet & (checked == 0), CHECK_SEQUENCE_BYTES, 0)
    whole = Packets(
        np.frombuffer(records.at_ps, np.int64)[start:stop],
        np.maximum(frame_bytes, np.where(is_ethernet, SMALLEST_FRAME_BYTES, 0)).astype(np.int32),
        size_bytes.astype(np.int32),
        marks.astype(np.uint32),
        interface.astype(np.int32),
        {
            "family": version.astype(np.uint8),
            "vlan": vlans[0].astype(np.uint16),
            "inner_vlan": vlans[1].astype(np.uint16),
            **_read_transport(ip, version, reader),
        },
    )
    return whole.select(is_ip)


def _read_transport(ip: Whole, version: Whole, reader: Reader) -> dict[str, Any]:
    """Return the addresses, the protocol of transport, 0 for others, and its ports."""
    six = version == IPV6
    protocol = np.where(six, reader.read(ip + 6, 1), reader.read(ip + 9, 1))
    protocol = np.where(np.isin(protocol, list(PROTOCOLS)), protocol, 0)
    behind = ip + np.where(six, IP_BYTES[IPV6], (reader.read(ip, 1) & 15) * 4)
    has_ports = (protocol > 0) & (six | (reader.read(ip + 6, 2) & 0x1FFF == 0))
    return {
        "protocol": protocol.astype(np.uint8),
        "source_port": np.where(has_ports, reader.read(behind, 2), 0).astype(np.uint16),
        "destination_port": np.where(has_ports, reader.read(behind + 2, 2), 0).astype(np.uint16),
        "source_address": reader.read_addresses(ip, version, 0),
        "destination_address": reader.read_addresses(ip, version, 1),
    }


def _find_ip(links: Whole, place: Whole, reader: Reader) -> tuple[Whole, Whole, Whole]:
    """Return where the IP header of each packet is, and what the tags and labels ahead say.

    That is the marks of the outer ones, and (2, n) the identifiers of the outer VLAN and the next.
    """
    ip, marks, vlans = (
        place.copy(),
        np.zeros(len(place), np.int64),
        np.zeros((2, len(place)), np.int64),
    )
    kind = np.zeros(len(place), np.int64)
    for link, link_bytes in LINK_BYTES.items():
        ip[links == link] += link_bytes
        if link in TYPE_AT:
            kind = np.where(links == link, reader.read(place + TYPE_AT[link], 2), kind)
    tags, labels = 0, 0
    for _ in range(MOST_SHIMS):
        tagged, labelled = np.isin(kind, TAGS), np.isin(kind, LABELS)
        if tagged.any():
            word = reader.read(ip, 2)
            if not tags:
                marks |= np.where(tagged, word >> 13 << MARKS["priority"].first, 0)
            if tags < len(vlans):
                vlans[tags] = np.where(tagged, word & 0xFFF, 0)
            kind, tags = np.where(tagged, reader.read(ip + 2, 2), kind), tags + 1
        if labelled.any():
            word = reader.read(ip, 4)
            if not labels:
                group = (word >> 9 & 7) << MARKS["traffic_class"].first
                marks |= np.where(labelled, group, 0)
            kind, labels = np.where(labelled & (word >> 8 & 1 == 1), 0, kind), labels + 1
        if not (tagged.any() or labelled.any()):
            break
        ip += np.where(tagged | labelled, 4, 0)
    return ip, marks, vlans
