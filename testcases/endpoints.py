"""Random endpoints at the hosts of a network: clients that ask, and servers that answer."""

from fractions import Fraction
from typing import Any, NamedTuple

from hypothesis import strategies as st

from qospec.catalogue.kinds import SizeMix
from qospec.engine.element import Element
from qospec.engine.endpoint.host import Host
from qospec.engine.endpoint.traffic import Exchange
from qospec.engine.experiment import END, Node, Source, Wire
from qospec.engine.items.contract import Contract
from qospec.engine.line.clock import Clock
from qospec.traffic.echo import Echo

HostPort = tuple[int, int]
"""A host, by its router and the port there."""
Path = tuple[HostPort, HostPort]
"""From which host a connection leads to which."""
US = 10**6
ROUTED = Contract("packets", Fraction(1_000), 0)


class Conversation(NamedTuple):
    """What a client at one host and a server at another exchange."""

    echo: Echo
    client: HostPort
    server: HostPort
    exchange: Exchange

    @property
    def paths(self) -> list[Path]:
        """Return the paths of requests, then those of answers, by connection."""
        there = (self.client, self.server)
        return [there] * self.exchange.connections + [there[::-1]] * self.exchange.connections


sizes = st.sampled_from([SizeMix(((size, 1),), "ip") for size in (46, 200, 1_500)])
echoes = st.builds(
    Echo,
    size=sizes,
    answer_size=st.none() | sizes,
    window=st.integers(1, 3),
    timeout=st.sampled_from([60 * US, 400 * US, 3_000 * US]),
    retries=st.integers(0, 3),
    connections=st.integers(1, 3),
    spread=st.sampled_from([0, 1, 70 * US]),
)
"""Some timeouts are shorter than a round trip, so answers come too late, and twice."""


@st.composite
def conversations(
    draw: st.DrawFn, pairs: st.SearchStrategy[Path], first: int, clock: Clock
) -> list[Conversation]:
    """Draw flows between endpoints, each with arrays of hosts.

    Args:
        draw: Draws.
        pairs: Of hosts.
        first: The index of the first connection; 0: there is at least one flow.
        clock: Of the line of each host.
    """
    flow = st.tuples(echoes, st.lists(pairs, min_size=1, max_size=3))
    flows = draw(st.lists(flow, min_size=first == 0, max_size=2))
    members = [(echo, *pair) for echo, array in flows for pair in array]
    whole = first + sum(2 * echo.connections for echo, _, _ in members)
    found = []
    for echo, client, server in members:
        n, sent = echo.connections, echo.describe_exchange(clock, clock)
        found.append(Conversation(echo, client, server, Exchange(n, first, first + n, whole, sent)))
        first, whole = first + 2 * n, whole + n
    return found


def endpoints_at(
    host: HostPort, conversations: list[Conversation]
) -> list[tuple[Element, tuple[int, int]]]:
    """Return the endpoints at a host, and the connections whose items each takes."""
    found: list[tuple[Element, tuple[int, int]]] = []
    for conversation in conversations:
        client, server = conversation.echo.build_endpoints(conversation.exchange)
        exchange = conversation.exchange
        answers, requests, n = exchange.answers, exchange.requests, exchange.connections
        if host == conversation.client:
            found.append((client, (answers, answers + n)))
        if host == conversation.server:
            found.append((server, (requests, requests + n)))
    return found


def place(
    nodes: list[Node],
    wires: list[Wire],
    name: str,
    line: int,
    endpoints: list[tuple[Element, tuple[int, int]]],
    arriving: int,
) -> int:
    """Put endpoints at a host, as the planner does; return the node at which its items arrive.

    Args:
        nodes: Of the network; more are appended.
        wires: Likewise.
        name: The host's.
        line: The node of its line.
        endpoints: What `endpoints_at` returns.
        arriving: The number of connections that arrive, for endpoints or not.
    """
    if not endpoints:
        return END
    start = len(nodes)
    for number, (element, _) in enumerate(endpoints, start):
        nodes.append(Node(f"{name}.{number}", element))
        wires.append(Wire(number, 0, line))
        wires += [Wire(number, output, END) for output in range(1, len(element.outputs))]
    if len(endpoints) == 1 and arriving == sum(stop - first for _, (first, stop) in endpoints):
        return start
    nodes.append(Node(name, Host(tuple(taken for _, taken in endpoints))))
    host = len(nodes) - 1
    wires.append(Wire(host, 0, END))
    wires += [Wire(host, 1 + k, start + k) for k in range(len(endpoints))]
    return host


def sources_of(conversations: list[Conversation], lines: dict[Any, int]) -> list[Source]:
    """Return the sources of requests and of answers, which have nothing ready by themselves."""
    found = []
    for number, conversation in enumerate(conversations):
        sent, answers = conversation.exchange.sent, conversation.exchange.sent.answers
        assert answers is not None
        for name, stream, first, host in (
            (f"ask{number}", sent, conversation.exchange.requests, conversation.client),
            (f"answer{number}", answers, conversation.exchange.answers, conversation.server),
        ):
            loop, n = stream.loop, conversation.exchange.connections
            assert loop is not None
            found.append(Source(name, loop, first, n, "even", stream.sizes, 0, lines[host]))
    return found
