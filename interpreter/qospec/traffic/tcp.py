"""TCP: connections that send in bulk, as fast as acknowledgements and losses let them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Literal

from qospec.catalogue.kinds import LONGEST_PS, Boolean, Domain, Time, UnfitError, traffic
from qospec.dataclass import dataclass
from qospec.engine.endpoint.congestion import CongestionControl
from qospec.engine.endpoint.tcp_connection import (
    AS_SAID,
    BLOCK_BYTES,
    BLOCK_OPTION_BYTES,
    BLOCKS,
    STAMP_BYTES,
)
from qospec.engine.endpoint.tcp_dialogue import Speaker
from qospec.engine.endpoint.tcp_receiver import Receiver, WindowRule
from qospec.engine.endpoint.tcp_sender import Sender
from qospec.engine.endpoint.traffic import Endpoints, ExchangeTraffic
from qospec.engine.source.closed_loop import ClosedLoop
from qospec.engine.source.contract import Count
from qospec.engine.source.headers import (
    Address,
    CodePoint,
    Family,
    Headers,
    Port,
    PriorityCode,
    TrafficClass,
    Vlan,
)
from qospec.engine.source.sizes import Sizes
from qospec.protocol.ip import IPV4_HEADER_BYTES, LARGEST_PACKET_BYTES
from qospec.protocol.marks import CAPABLE
from qospec.protocol.path_mtu import NOTICE_BYTES
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Collection

    from qospec.engine.endpoint.traffic import Exchange, Limits
    from qospec.engine.line.clock import Clock
    from qospec.engine.source.traffic import SentPackets

SegmentSize = Annotated[int | None, Domain("data", 1, LARGEST_PACKET_BYTES, layers=())]
"""Whole bytes of data."""
Window = Annotated[int, Domain("data", 1, 2**30, layers=())]
"""Whole bytes, up to the largest window. Source: RFC 7323, 2.3."""
Segments = Annotated[int | None, Domain("integer", 1, 1_000)]
"""A number of segments."""
Begins = Annotated[Literal["even", "random"], Domain("choice", choices=("even", "random"))]
"""How times are chosen."""
Every = Annotated[int, Domain("integer", 1, 100)]
"""Of how many segments an acknowledgement is."""
Timer = Annotated[int, Domain("time", 10**3, LONGEST_PS)]
"""A time in ps, of at least 1 ns."""
Retries = Annotated[int, Domain("integer", 0, 1_000)]
"""How often something is sent again."""
Size = Annotated[int | None, Domain("data", 1, 2**30, layers=())]
"""Whole bytes of data."""
Pause = Annotated[int | None, Domain("time", 10**3, LONGEST_PS)]
"""A time in ps, of at least 1 ns."""
Windows = Annotated[Literal["standard", "bsd"], Domain("choice", choices=("standard", "bsd"))]
"""By which rules a window is announced."""
Algorithm = Annotated[CongestionControl | None, Domain("congestion", implied="newreno")]
"""A congestion control."""

MOST_SEGMENTS = 2**22
"""Of all connections of a flow under way at once: 44 bytes of state for each, and 112 in flight."""
REDISCOVER_PS = 600 * PS_PER_S
"""Source: RFC 1191, 6.3."""
NEVER_BYTES = 2**40
"""More than a window moves by."""


@traffic(
    source="RFC 9293 (TCP); RFC 5681, 3 (slow start, congestion avoidance, fast retransmit) and 4.2"
    " (acknowledgements); RFC 6582 (NewReno); RFC 6298 (timeout); RFC 6928 (initial window);"
    " RFC 1122, 4.2.3.3, 4.2.3.4 (silly windows, Nagle's algorithm); RFC 2018, RFC 6675 (SACK);"
    " RFC 3042 (limited transmit); RFC 7323, 3 and 4 (time stamps);"
    " RFC 3168, 6 (ECN); RFC 1191 (path MTU discovery)",
    carries=("packet",),
)
@dataclass(frozen=True, kw_only=True)
class Tcp(ExchangeTraffic):
    """Connections of TCP, each of which sends until the end of the trial, or so many bytes.

    The client opens each connection and sends as many segments as the congestion window and the
    buffers allow. They are full unless the application writes in pieces: then Nagle's algorithm
    has a short one wait for what is under way. The server keeps what comes out of order, reads,
    and acknowledges by packets without data, which use the path back and announce how much it takes
    from then on. A window that stays closed is probed. Losses are noticed by three duplicate
    acknowledgements or a timeout, and made good. After `retries` timeouts in a row a connection is
    given up. At the end of a trial no connection begins and nothing new is sent, but for the rest
    of a `transfer`; what is under way is sent again until it is acknowledged.

    The flow itself is its segments, each as often as it is sent, with what opens the connection.
    Its acknowledgements are measured as `FLOW.answers`, and as `FLOW.exchanges` its segments, each
    once: their delay is the time from first sending one until it is acknowledged. Of a `transfer`
    the exchange is the whole of it.

    Not modelled: the options of a SYN but for its MSS (windows above 65,535 bytes are scaled); path
    MTU discovery by probes (RFC 4821), of IPv6, and of what a server responds; that a server whose
    FIN is not acknowledged sends it again; a fourth range of `sack`; the longer history of the
    timeout that more samples in a round trip ask for (RFC 7323, 4.2); an octet of data in the probe
    of a window (RFC 9293, 3.8.6.1). Sequence numbers have 64 bits. Captures show options as data.
    """

    causes = ("timed_out",)
    is_connection = True

    mss: SegmentSize = None
    """The data of a segment, in bytes; by default as much as the first links carry."""
    send_buffer: Window = 65_535
    """How much data may be written and not acknowledged."""
    receive_buffer: Window = 65_535
    """How much data the server keeps until it is read: the receive window, in bytes."""
    write_size: Size = None
    """The size of the application's writes, each of which waits until all of it fits the send
    buffer; TCP sends what it may before each. By default it has always written ahead, so that the
    buffer is full."""
    transfer: Size = None
    """How much each connection sends. Its exchange is then the whole transfer, from the SYN until
    the last byte is acknowledged. That segment and its acknowledgement close the connection. By
    default it sends until the end of the trial."""
    request: Size = None
    """How much each connection asks with, of a server that responds: then it asks again. Its
    exchanges are these, from asking until all of the `response` has come."""
    response: Size = None
    """How much the server responds with."""
    think: Time = 0
    """How long the client waits behind a response before it asks again."""
    nagle: Boolean = True
    """Whether a segment that is not full waits until nothing is under way."""
    read_every: Pause = None
    """How long the server waits until it reads what has come, again and again; by default it reads
    at once."""
    read_size: Size = None
    """How much it reads then at most; by default all there is."""
    windows: Windows = "standard"
    """When the window moves. By RFC 1122 its edge moves by a segment or half of the buffer, the
    smaller, with the next acknowledgement, or at once if the window held less. `bsd` announces all
    room with each acknowledgement, unless it is less than a segment and a quarter of the buffer,
    and at once if it moves by two segments or half of the buffer."""
    initial_window: Segments = None
    """The first congestion window, in segments; by default 10, or as many as 14,600 bytes hold,
    but at least 2."""
    algorithm: Algorithm = None
    """The congestion control; by default `newreno`."""
    sack: Boolean = False
    """Whether acknowledgements report what came out of order, up to three ranges, by which losses
    of a window are repaired in one round trip."""
    time_stamps: Boolean = False
    """Whether all packets have time stamps, 12 bytes more, by which each round trip is timed, also
    of what was sent again."""
    limited_transmit: Boolean = False
    """Whether each of the first two duplicate acknowledgements lets a new segment be sent."""
    ecn: Boolean = False
    """Whether congestion is noticed by marks: data is sent as ECT(0), but for what is sent again,
    acknowledgements echo CE, and the window is reduced for it as for a loss, once in a window."""
    path_mtu_discovery: Boolean = False
    """Whether segments may not be cut, and become smaller as a `tell_mtu` on the path says. What is
    under way then is cut anew; the congestion window stays, and one segment is sent until an
    acknowledgement comes."""
    rediscover_after: Pause = None
    """How long that is believed; then larger segments are tried. By default 10 min."""
    ack_every: Every = 2
    """Of the data of how many full segments in order an acknowledgement is."""
    ack_timer: Timer = PS_PER_S // 5
    """How long an acknowledgement waits for so many."""
    min_rto: Timer = PS_PER_S
    """The lower limit of the retransmission timeout."""
    retries: Retries = 15
    """How often in a row a timeout may expire before the connection is given up."""
    dscp: CodePoint = 0
    """The code point in the IP header, of segments and acknowledgements."""
    priority: PriorityCode = None
    """The priority code point of the VLAN tag, 802.1p; requires tags on the first links."""
    vlan: Vlan = None
    """The VLAN of the outer tag, of two a provider's; requires tags on the first links."""
    inner_vlan: Vlan = None
    """That of the inner one, a customer's; requires two tags on the first links."""
    traffic_class: TrafficClass = None
    """The traffic class of the MPLS label, EXP; requires labels on the first links."""
    family: Family = "ipv4"
    """The version of IP: its header has 20 bytes (ipv4) or 40 (ipv6)."""
    source_port: Port = 0
    """Source port of segments, and destination port of acknowledgements."""
    destination_port: Port = 0
    """Destination port of segments, and source port of acknowledgements."""
    source_address: Address = None
    """The client's address; by default unspecified."""
    destination_address: Address = None
    """The server's address; by default unspecified. It does not affect the path."""
    connections: Count = 1
    """Number of identical connections."""
    spread: Time = 0
    """The connections begin one after the other within this time."""
    begins: Begins = "even"
    """How they are spread over it: `even`, or `random`, as a Poisson process of so many."""

    def __post_init__(self) -> None:
        self._headers.verify()
        if self._control.counts_marks and not self.ecn:
            raise ValueError("algorithm: it goes by marks of congestion; write `ecn = true`, too")
        if self.read_size is not None and self.read_every is None:
            raise ValueError("read_size: it is read at once; write `read_every` too, or neither")
        if self.transfer is not None and self.read_every is not None:
            raise ValueError(
                "transfer: it would end when the last of it is read, so it has no `read_every`: "
                "leave one out"
            )
        self._verify_dialogue()
        self._verify_discovery()
        if self.write_size is not None and self.write_size > self.send_buffer:
            raise ValueError(
                f"write_size: {self.write_size} B never fit the send buffer of"
                f" {self.send_buffer} B; write at most that"
            )

    def _verify_dialogue(self) -> None:
        if (self.request is None) != (self.response is None):
            raise ValueError("response: it answers a `request`; write both, or neither")
        if self.request is None and self.think:
            raise ValueError("think: it is between exchanges; write `request` and `response`, too")
        for name in ("transfer", "read_every"):
            if self.request is not None and getattr(self, name):
                raise ValueError(f"request: not with `{name}`; leave one out")

    def _verify_discovery(self) -> None:
        if not self.path_mtu_discovery:
            if self.rediscover_after is not None:
                raise ValueError(
                    "rediscover_after: nothing is discovered; write `path_mtu_discovery = true`,"
                    " too"
                )
            return
        if self.family != "ipv4":
            raise ValueError(
                "path_mtu_discovery: by messages of IPv4 alone; write `family = ipv4`, or leave"
                " one out"
            )
        if self.request is not None:
            raise ValueError(
                "path_mtu_discovery: not with `request`, of which both ends send; leave one out"
            )

    @property
    def heeds_notices(self) -> bool:
        return self.path_mtu_discovery

    @property
    def _control(self) -> CongestionControl:
        return self.algorithm or CongestionControl()

    @property
    def _headers(self) -> Headers:
        given = {name: getattr(self, name) for name in Headers._fields if name != "protocol"}
        return Headers(protocol="tcp", **given)

    @property
    def _header_bytes(self) -> int:
        stamp = STAMP_BYTES if self.time_stamps else 0
        return IPV4_HEADER_BYTES + self._headers.transport_bytes + stamp

    def describe_exchange(self, near: Clock, far: Clock) -> SentPackets:
        """Return the segments and their acknowledgements on the first links of both ends.

        Raises:
            UnfitError: A segment does not fit these links, or a buffer, or too many are under way.
        """
        mss = self._fit_segment(near, far)
        header_bytes, segments = self._header_bytes, self._count_places(mss)
        sent = self._fill_line(Sizes((header_bytes, mss + header_bytes), (1, 1)), near, "mss")
        sent = sent._replace(dont_fragment=self.path_mtu_discovery)
        answers = self._fill_line(sent.sizes if self.request else Sizes((header_bytes,)), far, "")
        if self.ecn:
            capable = (self._marks | CAPABLE,)
            sent = sent._replace(other_marks=capable)
            answers = answers._replace(other_marks=capable if self.request else ())
        if self.sack:
            least = header_bytes + BLOCK_OPTION_BYTES
            blocks = tuple(least + (1 + k) * BLOCK_BYTES for k in range(BLOCKS))
            found = tuple(sorted({*answers.sizes.size_bytes, *blocks}))
            answers = answers._replace(sizes=Sizes(found, (1,) * len(found)))
        rate = min(sent.contract.peak_cell_rate, answers.contract.peak_cell_rate)
        if self.write_size is not None:  # each write may end with what is shorter still
            short = Sizes((min(mss, self.write_size) + header_bytes,))
            rate = 2 * self._fill_line(short, near, "").contract.peak_cell_rate
        again = Fraction(segments * PS_PER_S, self.min_rto)
        at_once = (max(segments, (self.transfer or 0) // mss) + 4) * (1 + self.retries)
        # It never waits in vain: RFC 6298 has the timeout follow the round trip.
        loop = ClosedLoop(at_once, rate, again, LONGEST_PS)
        return self._join(sent, answers, loop)

    @property
    def _limit_bytes(self) -> int:
        return min(self.send_buffer, self.receive_buffer)

    def _fit_segment(self, near: Clock, far: Clock) -> int:
        """Return the MSS on these links; UnfitError if something does not fit."""
        ends = (near.encapsulation, far.encapsulation)
        most = min(end.largest_bytes for end in ends if end is not None) - self._header_bytes
        mss = most if self.mss is None else self.mss
        if mss > most:
            raise UnfitError(
                f"mss: {mss} B do not fit; a packet of these links has room for {most} B of data",
                f"write at most `{most} B`",
            )
        for name in ("send_buffer", "receive_buffer"):
            if getattr(self, name) < mss:
                held = getattr(self, name)
                raise UnfitError(
                    f"{name}: {held} B hold no segment of {mss} B, so nothing could be sent",
                    f"write at least `{mss} B`, or a smaller `mss`",
                )
        self._verify_segments(mss)
        return mss

    def _verify_segments(self, mss: int) -> None:
        """UnfitError if more segments of a size may be under way than are followed."""
        under_way = self.connections * self._count_segments(mss)
        if under_way > MOST_SEGMENTS:
            raise UnfitError(
                f"connections: {under_way:_} segments may be under way at once, of all connections;"
                f" at most {MOST_SEGMENTS:_} are followed",
                "write fewer connections, or smaller buffers",
            )

    def _count_segments(self, mss: int) -> int:
        """Return how many segments of a connection may be under way, with those that are short."""
        shortest = mss if self.nagle or self.write_size is None else min(mss, self.write_size)
        return self._limit_bytes // shortest

    def _count_places(self, mss: int) -> int:
        """Return the places for these, and for short ones between them: a power of two."""
        return 1 << (self._count_segments(mss) + 2).bit_length()

    def limit_segments(
        self, sent: SentPackets, limits: Limits, told: Collection[int] = ()
    ) -> SentPackets:
        (answers, loop), (there, back) = (sent.answers, sent.loop), limits
        assert answers is not None and loop is not None  # noqa: S101, PT018 -- of an exchange
        mss = self._find_mss(sent)
        if self.request and back is not None:
            answers = self._limit_sizes(answers, mss, back)
        if there is not None:
            sent = self._limit_sizes(sent, mss, there)
        least = min(self._limit_mss(mss, limit) for limit in limits)
        self._verify_segments(least)
        scaled = loop.split_items(Fraction(mss, least))
        limited = sent._replace(loop=scaled, answers=answers._replace(loop=scaled))
        return self._limit_by_notices(limited, told) if self.path_mtu_discovery else limited

    def _limit_by_notices(self, sent: SentPackets, told: Collection[int]) -> SentPackets:
        """Return what is sent if a source may learn of these MTUs: packets of their sizes, too.

        Each time what is under way may be sent again. Notices are among the answers.
        """
        (answers, loop), full = (sent.answers, sent.loop), sent.sizes.size_bytes[-1]
        assert answers is not None and loop is not None  # noqa: S101, PT018 -- of an exchange
        lower = sorted(mtu for mtu in {*told} if mtu < full)
        if not lower:
            return sent
        least = lower[0] - self._header_bytes
        self._verify_segments(least)
        loop = loop.split_items(Fraction(full - self._header_bytes, least))
        again = Fraction(self._count_places(least) * PS_PER_S, self._rediscover_ps)
        loop = replace(
            loop,
            at_once=loop.at_once * (1 + len(lower)),
            again=loop.again + again * len(lower),
        )
        sizes = sorted({*sent.sizes.size_bytes, *lower})
        back = sorted({*answers.sizes.size_bytes, NOTICE_BYTES})
        return sent._replace(
            loop=loop,
            sizes=Sizes(tuple(sizes), (1,) * len(sizes)),
            answers=answers._replace(
                loop=loop, sizes=Sizes(tuple(back), (1,) * len(back)), heeded=True
            ),
        )

    @property
    def _rediscover_ps(self) -> int:
        return self.rediscover_after or REDISCOVER_PS

    def _limit_sizes(self, sent: SentPackets, mss: int, limit: int) -> SentPackets:
        """Return what is sent with smaller segments."""
        full, least = (self._header_bytes + data for data in (mss, self._limit_mss(mss, limit)))
        sizes = tuple(sorted({least if size == full else size for size in sent.sizes.size_bytes}))
        return sent._replace(sizes=Sizes(sizes, (1,) * len(sizes)))

    def _limit_mss(self, mss: int, limit: int | None) -> int:
        """Return the MSS of a path that lets so much be announced."""
        stamp = STAMP_BYTES if self.time_stamps else 0
        return mss if limit is None else max(1, min(mss, limit - stamp))

    def _find_mss(self, sent: SentPackets) -> int:
        return sent.sizes.size_bytes[-1] - self._header_bytes

    def _find_least_mss(self, exchange: Exchange) -> int:
        """Return the MSS that connections may come down to on their path."""
        sent = exchange.carried or exchange.sent
        if self.path_mtu_discovery:  # else there is one, and in a dialogue acknowledgements
            return sent.sizes.size_bytes[1] - self._header_bytes
        return self._find_mss(sent)

    def build_endpoints(self, exchange: Exchange) -> Endpoints:
        """Return the client and the server."""
        mss = self._find_mss(exchange.sent)
        sender, receiver = self._make_sender(exchange, mss), self._make_receiver(exchange, mss)
        if self.request is None or self.response is None:
            return Endpoints(sender, receiver)
        carried = exchange.carried and exchange.carried.answers
        back = exchange._replace(
            requests=exchange.answers, answers=exchange.requests, carried=carried
        )
        responds = replace(self._make_sender(back, mss), write_bytes=0, is_drawn=False)
        hears = self._make_receiver(back, mss)
        asked, answered = self.request, self.response
        return Endpoints(
            Speaker(sender, hears, asked, answered, is_client=True, think_ps=self.think),
            Speaker(responds, receiver, answered, asked, is_client=False, think_ps=0),
        )

    def _make_sender(self, exchange: Exchange, mss: int) -> Sender:
        return Sender(
            exchange,
            mss=mss,
            send_buffer=self.send_buffer,
            limit_bytes=self._limit_bytes,
            write_bytes=self.write_size or 0,
            transfer_bytes=AS_SAID if self.request else self.transfer or 0,
            holds_short=self.nagle,
            places=self._count_places(self._find_least_mss(exchange)),
            initial_window=self.initial_window or 0,
            least_rto_ps=self.min_rto,
            retries=self.retries,
            control=self._control,
            sack=self.sack,
            is_stamped=self.time_stamps,
            prompts=self.limited_transmit,
            ecn=self.ecn,
            rediscover_ps=self._rediscover_ps if self.path_mtu_discovery else 0,
            spread_ps=self.spread,
            is_drawn=self.begins == "random",
            header_bytes=self._header_bytes,
        )

    def _make_receiver(self, exchange: Exchange, mss: int) -> Receiver:
        return Receiver(
            exchange,
            buffer_bytes=self.receive_buffer,
            ranges=self._count_places(self._find_least_mss(exchange)) // 2 + 1,
            mss=mss,
            ack_every=self.ack_every,
            transfer_bytes=self.transfer or 0,
            patience_ps=self.ack_timer,
            rule=self._make_window_rule(mss),
            sacks=self.sack,
            is_stamped=self.time_stamps,
            ecn=self.ecn,
            tells_of_each=self._control.counts_marks,
            read_bytes=self.read_size or NEVER_BYTES,
            read_every_ps=self.read_every or 0,
            header_bytes=self._header_bytes,
        )

    def _make_window_rule(self, mss: int) -> WindowRule:
        """Return when the window moves.

        Source: RFC 1122, 4.2.3.3; of BSD: G. R. Wright, W. R. Stevens, TCP/IP Illustrated, volume 2
        (1995), 26.3.
        """
        half, quarter = (-(-self.receive_buffer // parts) for parts in (2, 4))
        if self.windows == "bsd":
            return WindowRule(1, min(mss, quarter), 0, min(2 * mss, half))
        least = min(mss, half)
        return WindowRule(least, 0, least, 0)
