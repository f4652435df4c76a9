"""The packets of a capture, sent again."""

from __future__ import annotations

import ipaddress
from array import array
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from qospec.catalogue.kinds import LONGEST_PS, CaptureFile, Domain, UnfitError, traffic
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.items.contract import Contract
from qospec.engine.source.captured import PROTOCOLS, read_packets
from qospec.engine.source.contract import Count
from qospec.engine.source.headers import Address, Headers, Protocol, Vlan
from qospec.engine.source.sizes import Sizes
from qospec.engine.source.traffic import PacketTraffic, SentPackets
from qospec.protocol.ip import HIGHEST_PORT, IPV4_HEADER_BYTES
from qospec.protocol.marks import MARKS
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.engine.source.captured import Packets
    from qospec.protocol.encapsulation import Encapsulation

File = Annotated[CaptureFile, Domain("capture")]
Speed = Annotated[Fraction, Domain("ratio", Fraction(1, 1_000_000), 1_000_000)]
Rounds = Annotated[int, Domain("integer", 1, 1_000_000)]
LineRate = Annotated[Fraction | None, Domain("rate", 1_000, 10**14, layers=("line",))]
OfPort = Annotated[int | None, Domain("integer", 0, HIGHEST_PORT)]
OfCodePoint = Annotated[int | None, Domain("integer", 0, MARKS["dscp"].highest)]
OfProtocol = Annotated[Protocol | None, Domain("choice", choices=("udp", "tcp", "none"))]
MOST_SENT = 10_000_000
"""Packets of all rounds."""
FILTERS = (
    *("protocol", "source_port", "destination_port", "source_address", "destination_address"),
    *("dscp", "vlan", "inner_vlan"),
)
"""The fields that choose packets."""

SENT_MARKS = ("dscp", "ecn", "priority", "traffic_class")
"""What the headers of a packet say, if frames of the link have a place for it."""


@traffic(
    source="draft-ietf-opsawg-pcapng; draft-ietf-opsawg-pcap (what a file says of packets)",
    carries=("packet",),
)
@dataclass(frozen=True, kw_only=True)
class Capture(PacketTraffic):
    """The IP packets of a capture, sent again with their sizes, marks and gaps.

    The first is sent when the trial begins, and the others as far behind it as they were. Fields of
    headers choose packets, such as those of one flow; without any all are sent. What all of these
    agree about, classifiers know. A file of `qos pcap` says when the last bit of a packet was there
    and at which rate: its packets are sent as their first bits were, to the picosecond.

    Not modelled: what is no IP packet, which is left out; a receiver that responds.
    """

    file: File
    """The name of a pcap or pcapng file, relative to the file that names it."""
    speed: Speed = Fraction(1)
    """How much faster they are sent: with 2 all gaps are halved."""
    rounds: Rounds = 1
    """How often all are sent: the next round begins a mean gap behind the last packet.

    If there is no gap, because all are sent at one time, it begins a second behind it.
    """
    line_rate: LineRate = None
    """The rate of the line that was captured, if times in the file are those of last bits."""
    protocol: OfProtocol = None
    """Only packets with this transport protocol."""
    source_port: OfPort = None
    """Only those from this port."""
    destination_port: OfPort = None
    """Only those to this port."""
    source_address: Address = None
    """Only those from this address."""
    destination_address: Address = None
    """Only those to this address."""
    dscp: OfCodePoint = None
    """Only those with this code point."""
    vlan: Vlan = None
    """Only those of this VLAN, by the outer tag."""
    inner_vlan: Vlan = None
    """Only those of this one, by the tag behind it."""
    connections: Count = 1
    """How many connections send all of it, at the same times."""

    takes_source: ClassVar[bool] = False

    @property
    def is_tagged(self) -> bool:
        return self.vlan is not None

    def describe_packets(self, link: Encapsulation) -> SentPackets:
        """Return the packets that are sent on a first link.

        Raises:
            UnfitError: The file cannot be sent there.
        """
        chosen = self._choose(read_packets(self.file))
        headers = _find_common(chosen)
        largest_bytes, least_bytes = link.largest_bytes, IPV4_HEADER_BYTES
        unfit = np.flatnonzero(
            (chosen.size_bytes > largest_bytes) | (chosen.size_bytes < least_bytes)
        )
        if len(unfit):
            raise UnfitError(
                f"file: a packet of `{self.file.name}` has {chosen.size_bytes[unfit[0]]} B @ip;"
                " on this link one has"
                f" {least_bytes} to {largest_bytes} B",
                "use a medium for such packets, or capture them without offloads, as they are on"
                " the line: `ethtool -K DEVICE gro off gso off tso off`",
            )
        at_ps = self._schedule_packets(chosen)
        span_ps = at_ps[-1] - at_ps[0]
        gaps = (len(at_ps) - 1) if span_ps else len(at_ps)
        rate = Fraction(gaps * PS_PER_S, span_ps or PS_PER_S)
        mask = sum(MARKS[name].mask for name in SENT_MARKS if link.carries_mark(name))
        marks = chosen.marks & np.uint32(mask)
        size_bytes, counts = np.unique(chosen.size_bytes, return_counts=True)
        different = [int(mark) for mark in np.unique(marks)]
        return SentPackets(
            Contract("packets", rate, 0),
            ("replay", {"at": at_ps}),
            Sizes(
                tuple(size_bytes.tolist()),
                tuple(counts.tolist()),
                in_order=True,
                order=chosen.size_bytes.tobytes(),
            ),
            different[0],
            headers.fields,
            link,
            headers.transport_bytes,
            other_marks=tuple(different[1:]),
            mark_order=marks.tobytes() if different[1:] else b"",
        )

    def _choose(self, captured: Packets) -> Packets:
        """Return the packets with the given headers; raises UnfitError if there are none."""
        which = np.ones(len(captured.at_ps), np.bool_)
        for name in FILTERS:
            if getattr(self, name) is not None:
                which &= self._compare(captured, name)
        if not which.any():
            given = ", ".join(
                f"{name} = {getattr(self, name)}"
                for name in FILTERS
                if getattr(self, name) is not None
            )
            raise UnfitError(
                f"file: `{self.file.name}` has no packet with {given}",
                f"look what it has: `tshark -q -z conv,udp -z conv,tcp -r {self.file.name}`",
            )
        return captured.select(which)

    def _compare(self, captured: Packets, name: str) -> Any:
        """Return (n,) of which packets have the given value of a header."""
        value: Any = getattr(self, name)
        if name == "dscp":
            mark = MARKS["dscp"]
            return captured.marks & np.uint32(mark.mask) == mark.put(0, value)
        column = captured.headers[name]
        if name == "protocol":
            numbers = {word: number for number, word in PROTOCOLS.items()}
            return column == numbers.get(value, 0)
        if name.endswith("address"):
            address = ipaddress.ip_address(value)
            octets = np.frombuffer(address.packed.ljust(column.shape[1], b"\0"), np.uint8)
            same = (column == octets[: column.shape[1]]).all(axis=1)
            return same & (captured.headers["family"] == address.version)
        return column == value

    def _schedule_packets(self, chosen: Packets) -> array[int]:
        """Return when packets are sent, in all rounds; raises UnfitError."""
        begun_ps = chosen.begin(self.line_rate)
        early = np.flatnonzero(np.diff(begun_ps) < 0)
        if len(early):
            field, rate = ("line_rate", "the") if self.line_rate else ("file", "as `line_rate` the")
            raise UnfitError(
                f"{field}: in `{self.file.name}` packet {int(early[0]) + 2} would have begun before"
                " the one ahead of it",
                f"give {rate} rate of the line that was captured, if times are of last bits",
            )
        if len(begun_ps) * self.rounds > MOST_SENT:
            raise UnfitError(
                f"rounds: more than {MOST_SENT:_} packets in all",
                f"at most {MOST_SENT // len(begun_ps)} rounds fit, more if fields choose packets",
            )
        speed = Fraction(self.speed)
        last_ps = int(begun_ps[-1] - begun_ps[0]) * speed.denominator // speed.numerator
        period_ps = last_ps + (last_ps // max(len(begun_ps) - 1, 1) or PS_PER_S)
        if period_ps * (self.rounds - 1) + last_ps > LONGEST_PS:
            raise UnfitError(
                f"{'rounds' if self.rounds > 1 else 'speed'}: all of it takes more than 11 days",
                "give fewer `rounds` or a higher `speed`",
            )
        since_ps = array("q", (begun_ps - begun_ps[0]).tobytes())
        if speed != 1:
            shorter = (at_ps * speed.denominator // speed.numerator for at_ps in since_ps)
            since_ps = array("q", shorter)
        each_ps = np.arange(self.rounds).repeat(len(since_ps)) * period_ps
        return array("q", (each_ps + np.tile(since_ps, self.rounds)).tobytes())


def _find_common(chosen: Packets) -> Headers:
    """Return the headers that all packets have; what they differ in is as of packets without."""
    common: dict[str, Any] = {}
    for name, column in chosen.headers.items():
        common[name] = column[0] if (column == column[0]).all() else None
    family = common["family"] or 4
    addresses = {
        name: None
        if common[name] is None or common["family"] is None
        else _write_address(common[name], family)
        for name in ("source_address", "destination_address")
    }
    return Headers(
        family=f"ipv{family}",
        protocol=PROTOCOLS.get(int(common["protocol"] or 0), "none"),
        source_port=int(common["source_port"] or 0),
        destination_port=int(common["destination_port"] or 0),
        vlan=int(common["vlan"] or 0) or None,
        inner_vlan=int(common["inner_vlan"] or 0) or None,
        **addresses,
    )


def _write_address(octets: Any, family: int) -> str:
    return str(ipaddress.ip_address(octets.tobytes()[: 4 if family == 4 else 16]))  # noqa: PLR2004
