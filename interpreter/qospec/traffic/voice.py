"""Calls: speech, coded and sent by RTP."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import Boolean, Domain, Duration, SizeMix, Time, UnfitError, traffic
from qospec.dataclass import dataclass
from qospec.engine.items.contract import Contract
from qospec.engine.source.changing import begin_later
from qospec.engine.source.contract import Count, Phases, check_exact
from qospec.engine.source.headers import (
    Address,
    CodePoint,
    Family,
    Port,
    PriorityCode,
    TrafficClass,
    Vlan,
    WithHeaders,
    convert_sizes,
)
from qospec.engine.source.traffic import PacketTraffic, SentPackets
from qospec.protocol.ip import IPV4_HEADER_BYTES
from qospec.units import PS_PER_S
from qospec.voice.calls import Call
from qospec.voice.codecs import CODECS, LEAST_ROBUSTNESS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.engine.source.arrivals import Arrivals
    from qospec.engine.source.sizes import Sizes
    from qospec.protocol.encapsulation import Encapsulation
    from qospec.voice.codecs import Codec

CodecName = Annotated[str, Domain("choice", choices=tuple(CODECS))]
"""A codec, by its name in the table."""
PacketTime = Annotated[int | None, Domain("time", 125 * 10**6, 10**12)]
"""What a packet lasts, in ps; None: the default of the codec."""
Impairment = Annotated[int | None, Domain("integer", 0, 40)]
"""Ie."""
Robustness = Annotated[Fraction | None, Domain("ratio", LEAST_ROBUSTNESS / 100, Fraction(40, 100))]
"""Bpl, as a share of packets."""

RTP_HEADER_BYTES = 12
"""Without contributing sources. Source: RFC 3550, 5.1."""
USUAL_PACKET_PS = 20 * 10**9
"""Source: RFC 3551, 4.2 (20 ms, or one frame if that is longer)."""
TALKSPURT = Duration(1_004 * 10**9, "exponential")
PAUSE = Duration(1_587 * 10**9, "exponential")
"""Their means in conversational speech. Source: ITU-T P.59, 4, table 1."""


@traffic(
    source="RFC 3550, 5.1 (RTP); RFC 3551, 4 (frames and packets of speech); ITU-T G.113, Appendix"
    " I (impairment by codecs); ITU-T P.59 (talkspurts and pauses)",
    carries=("packet",),
)
@dataclass(frozen=True, kw_only=True)
class Voice(WithHeaders, PacketTraffic):
    """Calls in one direction: the frames of a codec, in RTP packets over UDP.

    Each connection sends a packet every `packet_time`, with 12 bytes of RTP header and the frames
    of that time, which together are its `@payload`. The other direction of a call is a flow of its
    own. A call is rated by `r_factor` and `mean_opinion_score`, for which its receiver has a fixed
    de-jitter buffer: see there.

    Not modelled: RTCP and signalling; comfort noise in pauses; the time that coding takes; a buffer
    that adapts.
    """

    rate_field = ""
    takes_source = False
    is_call = True
    rating_field = "equipment_impairment"
    protocol = "udp"

    codec: CodecName
    """How speech is coded."""
    packet_time: PacketTime = None
    """How much speech a packet holds; by default 20 ms, or one frame if that is longer."""
    silence_suppression: Boolean = False
    """Whether nothing is sent in pauses: talkspurts of 1.004 s and pauses of 1.587 s on average,
    both exponential."""
    playout_delay: Time = 60 * 10**9
    """How long the receiver keeps the packet with the least delay; what is later by more is lost.
    """
    equipment_impairment: Impairment = None
    """Ie, for the rating; by default that of the codec in G.113."""
    packet_loss_robustness: Robustness = None
    """Bpl, for the rating; by default that of the codec in G.113, or else 4.3 %, the default of
    G.107."""
    dscp: CodePoint = 0
    """The code point in the IP header."""
    priority: PriorityCode = None
    """The priority code point of the VLAN tag, 802.1p; requires tags on the first link."""
    vlan: Vlan = None
    """The VLAN of the outer tag, of two a provider's; requires tags on the first link."""
    inner_vlan: Vlan = None
    """That of the inner one, a customer's; requires two tags on the first link."""
    traffic_class: TrafficClass = None
    """The traffic class of the MPLS label, EXP; requires labels on the first link."""
    family: Family = "ipv4"
    """The version of IP: its header has 20 bytes (ipv4) or 40 (ipv6)."""
    source_port: Port = 0
    """Source port of UDP."""
    destination_port: Port = 0
    """Destination port of UDP."""
    source_address: Address = None
    """Source address in the IP header; by default unspecified."""
    destination_address: Address = None
    """Destination address in the IP header; by default unspecified. It does not affect the path.
    """
    connections: Count = 1
    """Number of calls."""
    phases: Phases = "random"
    """Whether they start at random, or evenly spread over a packet's time."""
    offset: Time = 0
    """How long after the trial begins that is, to shift flows to each other."""

    def __post_init__(self) -> None:
        if self._packet_ps % self._codec.frame_ps:
            raise _explain_broken_frame(self.codec, self._codec, self._packet_ps)
        self._headers.verify()

    @property
    def unrated(self) -> str:
        """Return why R cannot be worked out: it is on the scale of narrowband speech."""
        if self._impairment is not None:
            return ""
        return f"G.113 gives no impairment of `{self.codec}` on the scale of narrowband speech"

    def begin(self, process: Arrivals) -> Arrivals:
        return begin_later(process, self.offset)

    def describe_packets(self, link: Encapsulation) -> SentPackets:
        """Return the packets that are sent on a first link.

        Raises:
            UnfitError: A packet does not fit the link.
            ValueError: The rate cannot be kept exactly.
        """
        headers = self._headers
        packet_rate = Fraction(PS_PER_S, self._packet_ps)
        check_exact("packet_time", packet_rate, self.connections)
        source: tuple[str, Mapping[str, object]] = ("constant", {"rate": packet_rate})
        if self.silence_suppression:
            source = ("on_off", {"on": TALKSPURT, "off": PAUSE, "at": packet_rate})
        return SentPackets(
            Contract("packets", packet_rate, 0),
            source,
            self._compute_sizes_on(link),
            self._marks,
            headers.fields,
            link,
            headers.transport_bytes,
            size_field="packet_time",
            call=self._call,
        )

    def _compute_sizes_on(self, link: Encapsulation) -> Sizes:
        codec, transport_bytes = self._codec, self._headers.transport_bytes
        frames = self._packet_ps // codec.frame_ps
        mix = SizeMix(((RTP_HEADER_BYTES + frames * codec.frame_bytes, 1),), "payload")
        try:
            return convert_sizes(link, mix, transport_bytes, "packet_time")
        except UnfitError as cause:
            room = link.largest_bytes - IPV4_HEADER_BYTES - transport_bytes - RTP_HEADER_BYTES
            most = _write_ms(room // codec.frame_bytes * codec.frame_ps)
            help_text = f"the longest that fits is `{most}`" if room >= codec.frame_bytes else ""
            raise UnfitError(str(cause), help_text) from cause

    @property
    def _codec(self) -> Codec:
        return CODECS[self.codec]

    @property
    def _packet_ps(self) -> int:
        return self.packet_time or max(USUAL_PACKET_PS, self._codec.frame_ps)

    @property
    def _impairment(self) -> Fraction | None:
        given = self.equipment_impairment
        return self._codec.equipment_impairment if given is None else Fraction(given)

    @property
    def _call(self) -> Call | None:
        """Return how its calls are rated; None if they cannot be."""
        if self._impairment is None:
            return None
        robustness = self._codec.packet_loss_robustness or LEAST_ROBUSTNESS
        if self.packet_loss_robustness is not None:
            robustness = 100 * self.packet_loss_robustness
        coding_ps = self._packet_ps + self._codec.look_ahead_ps
        return Call(self._impairment, robustness, coding_ps, self.playout_delay)


def _explain_broken_frame(name: str, codec: Codec, packet_ps: int) -> UnfitError:
    """Return the error for a time that is not a whole number of frames."""
    below = packet_ps // codec.frame_ps * codec.frame_ps
    whole = [f"`{_write_ms(time_ps)}`" for time_ps in (below, below + codec.frame_ps) if time_ps]
    return UnfitError(
        f"packet_time: {_write_ms(packet_ps)} is not a whole number of frames of `{name}`,"
        f" of {_write_ms(codec.frame_ps)} each",
        "write " + " or ".join(whole),
    )


def _write_ms(time_ps: int) -> str:
    return f"{float(Fraction(time_ps, 10**9)):g} ms"
