"""The base of traffic between endpoints: what they exchange, and the elements that do."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, NamedTuple

from qospec.engine.source.traffic import Traffic

if TYPE_CHECKING:
    from qospec.engine.element import Element
    from qospec.engine.line.clock import Clock
    from qospec.engine.source.traffic import SentPackets


class Exchange(NamedTuple):
    """What the endpoints of a flow exchange between two hosts.

    The connections of requests are numbered in a row, those of answers too, and those of whole
    exchanges: the k-th of each are of one connection.

    Attributes:
        connections: How many connections there are.
        requests: The index of the first connection of requests.
        answers: Of answers.
        exchanges: Of whole exchanges.
        sent: What requests are; `sent.answers`, what answers are.
    """

    connections: int
    requests: int
    answers: int
    exchanges: int
    sent: SentPackets


class Endpoints(NamedTuple):
    """The two elements of a flow.

    Both take what arrives for their connections by their only input. Their first output, `out`,
    leads to the line of their host, the others to where items have arrived.
    """

    client: Element
    server: Element


class ExchangeTraffic(Traffic):
    """Traffic of packets that endpoints exchange, decorated with `carries=("packet",)`."""

    is_answered = True
    takes_source = False

    @abstractmethod
    def exchanged(self, near: Clock, far: Clock) -> SentPackets:
        """Return the requests, with their answers, on the first links of clients and of servers.

        Raises:
            ValueError: They do not fit these links; in the author's words.
        """

    @abstractmethod
    def endpoints(self, exchange: Exchange) -> Endpoints:
        """Return the elements of one client's host and its server's."""
