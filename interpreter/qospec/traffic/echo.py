"""Requests and answers: a window of packets, each answered, and repeated until it is."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import LONGEST_PS, Domain, PacketSizes, SizeMix, Time, traffic
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.endpoint.deadlines import (
    DEADLINE,
    DUE,
    clear_deadlines,
    compute_begin_ps,
    find_earliest,
    meet_deadline,
    set_deadline,
)
from qospec.engine.endpoint.traffic import RECEIVED, Endpoint, Endpoints, ExchangeTraffic
from qospec.engine.event.transition import (
    CONNECTION,
    DONE,
    NUMBER,
    SPARE,
    Transition,
    lose,
    make,
    send,
    wake_at,
)
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.kernel import get_function, kernel, view_rows
from qospec.engine.source.closed_loop import ClosedLoop
from qospec.engine.source.contract import Count
from qospec.engine.source.headers import (
    Address,
    CodePoint,
    Family,
    Port,
    PriorityCode,
    Protocol,
    TrafficClass,
    Vlan,
    convert_sizes,
)
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.endpoint.traffic import Exchange
    from qospec.engine.line.clock import Clock
    from qospec.engine.source.traffic import SentPackets

AnswerSize = Annotated[SizeMix | None, Domain("size mix")]
"""A size in bytes of one layer."""
Window = Annotated[int, Domain("integer", 1, 2**16)]
"""A number of exchanges at a time."""
Timeout = Annotated[int, Domain("time", 10**3, LONGEST_PS)]
"""A time in ps, of at least 1 ns."""
Retries = Annotated[int, Domain("integer", 0, 1_000)]
"""How often a request is sent again."""


@traffic(
    source="RFC 862 (echo); RFC 5357, 4 (a reflector of test packets); RFC 1122, 4.2.3 (giving up"
    " after a number of retransmissions)",
    carries=("packet",),
)
@dataclass(frozen=True, kw_only=True)
class Echo(ExchangeTraffic):
    """Requests of a client, each answered by the server.

    Each connection keeps a window of exchanges under way: as one ends, the next begins, so the
    packets sent follow from the time that a round trip takes. A request is made again when its
    timeout expires before an answer arrives; after the last retry the exchange is given up, and the
    next begins. The server answers each request that arrives, at once, and so twice if it arrives
    twice. At the end of a trial no exchange begins, and those under way come to their end.

    The flow itself is its requests. What answers it is measured as `FLOW.answers`, whole exchanges
    as `FLOW.exchanges`: their delay is the time from making a request to the first answer, retries
    and the wait for the client's own line included.

    Not modelled: a timeout that adapts, a window that adapts, the server's own time.
    """

    causes = ("timed_out",)

    size: PacketSizes
    """The size of requests: one size."""
    answer_size: AnswerSize = None
    """The size of answers; by default that of requests."""
    window: Window = 1
    """How many exchanges of a connection are under way at a time."""
    timeout: Timeout
    """How long to wait for an answer before a request is sent again."""
    retries: Retries = 3
    """How often a request is sent again before its exchange is given up."""
    dscp: CodePoint = 0
    """The code point in the IP header, of requests and answers."""
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
    protocol: Protocol = "udp"
    """The transport protocol: its header has 8 bytes (udp), 20 (tcp) or none."""
    source_port: Port = 0
    """Source port of requests, and destination port of answers."""
    destination_port: Port = 0
    """Destination port of requests, and source port of answers."""
    source_address: Address = None
    """The client's address; by default unspecified."""
    destination_address: Address = None
    """The server's address; by default unspecified. It does not affect the path."""
    connections: Count = 1
    """Number of identical connections, each with its own window."""
    spread: Time = 0
    """The connections begin one after the other, evenly spread over this time."""

    def __post_init__(self) -> None:
        for name, mix in (("size", self.size), ("answer_size", self.answer_size)):
            if mix is not None and len(mix.parts) > 1:
                raise ValueError(f"{name}: expected one size, found a mix")
        self._headers.verify()

    def describe_exchange(self, near: Clock, far: Clock) -> SentPackets:
        """Return the requests and their answers on the first links of clients and of servers.

        No faster than requests and answers fit their links, an exchange follows another; besides,
        each request of a window may be sent again once in a timeout.

        Raises:
            UnfitError: A size does not fit its link.
        """
        requests = self._build_packets("size", self.size, near)
        answers = self._build_packets(
            "answer_size" if self.answer_size else "size", self.answer_size or self.size, far
        )
        rate = min(sent_packets.contract.peak_cell_rate for sent_packets in (requests, answers))
        again = Fraction(self.window * PS_PER_S, self.timeout)
        at_once = self.window * (1 + self.retries)
        return self._join(requests, answers, ClosedLoop(at_once, rate, again, self.timeout))

    def _build_packets(self, field: str, size: SizeMix, clock: Clock) -> SentPackets:
        """Return packets of one size on a link, as often as they fit."""
        link = clock.encapsulation
        assert link is not None  # noqa: S101 -- the checker knows it for a link of packets
        sizes = convert_sizes(link, size, self._headers.transport_bytes, field)
        return self._fill_line(sizes, clock, field)

    def build_endpoints(self, exchange: Exchange) -> Endpoints:
        """Return the client and the server."""
        return Endpoints(Client(self, exchange), Server(exchange))


# ---- the client: `state` is a few numbers, then the deadlines of requests, a row each

(FIRST_REQUEST, FIRST_ANSWER, FIRST_EXCHANGE, SIZE_BYTES, MARKS, WINDOW, TIMEOUT, RETRIES, STOP) = (
    range(9)
)
(SPREAD, CONNECTIONS, BEGUN, CLIENT) = range(9, 13)
"""What the client is, how many rows have begun, and the length of all that."""
EXCHANGE, CURRENT, RETRIED, COLUMNS = range(DEADLINE, DEADLINE + 4)
"""The columns of a row behind those of a deadline: the item of the exchange, its number, and how
often its request was sent again."""
ENDED = 2
"""The output for exchanges that have ended."""
TIMED_OUT = 0
"""The cause of loss."""


@dataclass(frozen=True)
class Client(Endpoint):
    """Keep a window of exchanges under way."""

    causes = Echo.causes

    echo: Echo
    exchange: Exchange

    @property
    def outputs(self) -> tuple[str, ...]:
        """Return the output to the line, and those of answers and of exchanges."""
        return ("out", "received", "ended")

    def build_transition(self, setting: Setting) -> Transition:
        """Return the client before its first request."""
        echo, exchange = self.echo, self.exchange
        slots = exchange.connections * echo.window
        state = np.zeros(CLIENT + (1 + slots) * COLUMNS, np.int64)
        state[:CLIENT] = (
            exchange.requests,
            exchange.answers,
            exchange.exchanges,
            exchange.sent.sizes.size_bytes[0],
            exchange.sent.marks,
            echo.window,
            echo.timeout,
            echo.retries,
            setting.stop_ps,
            echo.spread,
            exchange.connections,
            0,
        )
        slot = get_function(view_rows)(state, CLIENT, 1 + slots, COLUMNS)
        clear_deadlines(slot)
        slot[1:, CURRENT] = np.arange(slots) % echo.window
        return Transition(state, _receive_answer, _wake, (("", *self.causes),), first_alarm_ps=0)


@kernel
def _receive_answer(
    state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole
) -> int:
    """End the exchange of the first answer, and begin the next; others come too late.

    Slot s of a window holds the exchanges s, s + window, s + 2 window, and so on, one at a time: so
    the number of an answer names its row.
    """
    slots = view_rows(state, CLIENT, 1 + state[CONNECTIONS] * state[WINDOW], COLUMNS)
    connection, number = items[item, CONNECTION] - state[FIRST_ANSWER], items[item, NUMBER]
    slot = 1 + connection * state[WINDOW] + number % state[WINDOW]
    send(out, RECEIVED, item, now_ps)
    if number == slots[slot, CURRENT]:
        send(out, ENDED, slots[slot, EXCHANGE], now_ps)
        _end(state, slots, slot)
        _begin(state, slots, slot, items, now_ps, out)
    return DONE


@kernel
def _wake(state: Whole, items: Whole, now_ps: int, out: Whole) -> int:
    """Begin what begins now, and repeat or give up the requests whose time has run out.

    The alarm is not set anew for each answer: it goes off for a deadline that may have been met.
    """
    slots = view_rows(state, CLIENT, 1 + state[CONNECTIONS] * state[WINDOW], COLUMNS)
    while items[0, SPARE] > 1:  # each makes two items at most; else it goes on at this moment
        late = find_earliest(slots)
        if _find_next_begin_ps(state) <= now_ps:
            state[BEGUN] += 1
            _begin(state, slots, state[BEGUN], items, now_ps, out)
        elif slots[late, DUE] > now_ps:
            break
        elif slots[late, RETRIED] < state[RETRIES]:
            meet_deadline(slots, late)
            slots[late, RETRIED] += 1
            _send_request(state, slots, late, items, now_ps, out)
        else:
            lose(out, TIMED_OUT, slots[late, EXCHANGE])
            _end(state, slots, late)
            _begin(state, slots, late, items, now_ps, out)
    due_ps = min(_find_next_begin_ps(state), slots[find_earliest(slots), DUE])
    if due_ps < FOREVER_PS:
        wake_at(out, max(due_ps, now_ps))
    return DONE


@kernel
def _find_next_begin_ps(state: Whole) -> int:
    """Return when the next slot begins its first exchange."""
    connection = state[BEGUN] // state[WINDOW]
    if connection == state[CONNECTIONS]:
        return FOREVER_PS
    return compute_begin_ps(connection, state[CONNECTIONS], state[SPREAD])


@kernel
def _begin(state: Whole, slots: Whole, slot: int, items: Whole, now_ps: int, out: Whole) -> None:
    """Begin the next exchange of a slot, unless the trial is over."""
    if now_ps < state[STOP]:
        connection = state[FIRST_EXCHANGE] + (slot - 1) // state[WINDOW]
        slots[slot, EXCHANGE] = make(items, out, connection, state[SIZE_BYTES], 0, now_ps)
        slots[slot, RETRIED] = 0
        _send_request(state, slots, slot, items, now_ps, out)


@kernel
def _send_request(
    state: Whole, slots: Whole, slot: int, items: Whole, now_ps: int, out: Whole
) -> None:
    """Send the request of a slot, which is due to be answered within the timeout."""
    connection = state[FIRST_REQUEST] + (slot - 1) // state[WINDOW]
    request = make(items, out, connection, state[SIZE_BYTES], state[MARKS], now_ps)
    items[request, NUMBER] = slots[slot, CURRENT]
    send(out, 0, request, now_ps)
    set_deadline(slots, slot, now_ps + state[TIMEOUT], 0)


@kernel
def _end(state: Whole, slots: Whole, slot: int) -> None:
    """End the exchange of a slot: its next one has another number."""
    meet_deadline(slots, slot)
    slots[slot, CURRENT] += state[WINDOW]


# ---- the server: `state` is what its answers are

(ANSWERS_LESS_REQUESTS, ANSWER_BYTES, ANSWER_MARKS) = range(3)


@dataclass(frozen=True)
class Server(Endpoint):
    """Answer each request at once."""

    exchange: Exchange

    def build_transition(self, setting: Setting) -> Transition:
        """Return the server, which remembers nothing."""
        exchange, answers = self.exchange, self.exchange.sent.answers
        assert answers is not None  # noqa: S101 -- an exchange has them
        more = exchange.answers - exchange.requests
        state = np.array([more, answers.sizes.size_bytes[0], answers.marks], np.int64)
        return Transition(state, _receive_request)


@kernel
def _receive_request(
    state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole
) -> int:
    """Receive a request, and send an answer of the same number."""
    connection = items[item, CONNECTION] + state[ANSWERS_LESS_REQUESTS]
    answer = make(items, out, connection, state[ANSWER_BYTES], state[ANSWER_MARKS], now_ps)
    items[answer, NUMBER] = items[item, NUMBER]
    send(out, RECEIVED, item, now_ps)
    send(out, 0, answer, now_ps)
    return DONE
