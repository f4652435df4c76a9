"""The base of traffic between endpoints: what they exchange, and the elements that do."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.element import Element
from qospec.engine.items.contract import Contract
from qospec.engine.source.headers import WithHeaders
from qospec.engine.source.traffic import SentPackets, Traffic

if TYPE_CHECKING:
    from collections.abc import Collection

    from qospec.engine.line.clock import Clock
    from qospec.engine.source.closed_loop import ClosedLoop
    from qospec.engine.source.sizes import Sizes
    from qospec.protocol.streams import KindName

RECEIVED = 1
"""The output for what has arrived, of both ends; 0 leads to the line of their host."""


Limits = tuple[int | None, int | None]
"""The MSS that a path lets connections announce for what requests carry, and answers; None: any."""


class Exchange(NamedTuple):
    """What the endpoints of a flow exchange between two hosts.

    The connections of requests are numbered in a row, those of answers too, and those of whole
    exchanges: the k-th of each are of one connection.

    Attributes:
        connections: How many connections there are.
        requests: The index of the first connection of requests.
        answers: Of answers.
        exchanges: Of whole exchanges; -1 if none are counted.
        sent: What requests are; `sent.answers`, what answers are. Of cells, None.
        carried: What they are on their path, if that limits segments; None: as they are sent.
    """

    connections: int
    requests: int
    answers: int
    exchanges: int
    sent: SentPackets
    carried: SentPackets | None = None


class Endpoint(Element):
    """An end of exchanges: what arrives leaves by `received`, what it makes by another output."""

    makes = True

    @property
    def outputs(self) -> tuple[str, ...]:
        """Return the output to the line of its host, and that of what has arrived."""
        return ("out", "received")

    def predict_output(self, number: int, *, kind: KindName) -> int:  # noqa: ARG002
        """Return the output of what has arrived."""
        return RECEIVED


class Endpoints(NamedTuple):
    """The two elements of a flow.

    Both take what arrives for their connections by their only input. Their first output, `out`,
    leads to the line of their host, the others to where items have arrived.
    """

    client: Endpoint
    server: Endpoint


class ExchangeTraffic(WithHeaders, Traffic):
    """Traffic of packets that endpoints exchange, decorated with `carries=("packet",)`."""

    is_answered = True
    own_parts = ("answers", "exchanges")
    takes_source = False

    @abstractmethod
    def describe_exchange(self, near: Clock, far: Clock) -> SentPackets:
        """Return the requests, with their answers, on the first links of clients and of servers.

        Raises:
            ValueError: They do not fit these links; in the author's words.
        """

    @abstractmethod
    def build_endpoints(self, exchange: Exchange) -> Endpoints:
        """Return the elements of one client's host and its server's."""

    @property
    def heeds_notices(self) -> bool:
        """Return whether what it sends follows from notices that packets are too large."""
        return False

    def limit_segments(
        self,
        sent: SentPackets,
        limits: Limits,  # noqa: ARG002
        told: Collection[int] = (),  # noqa: ARG002
    ) -> SentPackets:
        """Return requests with their answers, on a path that limits what is announced.

        `told` are the MTUs, in bytes, that the source of requests may learn there.
        """
        return sent

    def _fill_line(self, sizes: Sizes, clock: Clock, field: str) -> SentPackets:
        """Return packets of some sizes on a link, the largest as often as they fit.

        `field` is where their size was written.
        """
        link, headers = clock.encapsulation, self._headers
        assert link is not None  # noqa: S101 -- the checker knows it for a link of packets
        rate = Fraction(clock.bit_rate) / (8 * link.count_line_bytes(sizes.size_bytes[-1]))
        return SentPackets(
            Contract("packets", rate, 0),
            None,
            sizes,
            self._marks,
            headers.fields,
            link,
            headers.transport_bytes,
            size_field=field,
        )

    def _join(self, requests: SentPackets, answers: SentPackets, loop: ClosedLoop) -> SentPackets:
        """Return requests with the answers to them, both of a closed loop."""
        fields = self._headers.reversed.fields
        return requests._replace(
            loop=loop, answers=answers._replace(loop=loop, header_fields=fields)
        )
