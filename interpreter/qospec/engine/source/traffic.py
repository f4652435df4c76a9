"""The bases of traffic kinds: what a flow declares, apart from when it sends.

A `SentPackets` is what a flow of packets sends on its first link, as the engine takes it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from qospec.dataclass import NamedTuple
from qospec.protocol.streams import KindName

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from qospec.engine.items.contract import Contract
    from qospec.engine.source.arrivals import Arrivals
    from qospec.engine.source.closed_loop import ClosedLoop
    from qospec.engine.source.sizes import Sizes
    from qospec.protocol.encapsulation import Encapsulation
    from qospec.voice.calls import Call


class SentPackets(NamedTuple):
    """Packets of one flow.

    Attributes:
        contract: The planned rate, in place of a contract.
        source: The arrival process, by name and arguments; None if endpoints exchange them.
        sizes: The sizes of its IP packets.
        marks: The marks of all of them, but for `other_marks`.
        header_fields: Those that classifiers can test and no element changes, by name.
        encapsulation: The framing of the first link.
        transport_bytes: Headers in each packet, besides the 20 bytes of IPv4's.
        loop: If endpoints exchange them, what bounds how many are sent.
        answers: Likewise, of requests: the packets that answer them.
        size_field: The field of the traffic that says their sizes.
        call: How speech is coded and played, if each connection is a call.
        cell_contract: The contract of each connection where its packets become cells, if any.
        other_marks: Those that some of them have instead.
        mark_order: Of each the marks, as uint32, in the order in which a connection repeats them;
            empty if all have the same, or if endpoints exchange them.
        is_tagged: Whether their frames have a tag, on a link where this depends on the flow.
        heeded: Whether notices of routers to their target may come to be among them.
        dont_fragment: Whether their headers forbid to cut them, by the flag DF.
    """

    contract: Contract
    source: tuple[str, Mapping[str, object]] | None
    sizes: Sizes
    marks: int
    header_fields: Mapping[str, Fraction | str]
    encapsulation: Encapsulation
    transport_bytes: int
    loop: ClosedLoop | None = None
    answers: SentPackets | None = None
    size_field: str = "size"
    call: Call | None = None
    cell_contract: Contract | None = None
    other_marks: tuple[int, ...] = ()
    mark_order: bytes = b""
    is_tagged: bool = False
    heeded: bool = False
    dont_fragment: bool = False


class Traffic(ABC):  # noqa: B024 -- each of its own bases has other methods
    """Traffic of any kind: a frozen dataclass of its parameters."""

    is_answered: ClassVar[bool] = False
    """Whether endpoints exchange it, so that what it sends follows from what arrives."""
    own_parts: ClassVar[tuple[KindName, ...]] = ()
    """The streams that it has beside what elements insert into it: answers, exchanges, frames."""
    is_framed: ClassVar[bool] = False
    """Whether its cells form frames, which are counted beside them."""
    causes: ClassVar[tuple[str, ...]] = ()
    """All causes of loss at its endpoints; sources have none."""
    takes_source: ClassVar[bool] = True
    """Whether an arrival process may say when it is sent, for the checker."""
    is_connection: ClassVar[bool] = False
    """Whether its sender tells of its connections, for metrics that are measured only of these."""
    is_program: ClassVar[bool] = False
    """Whether a program of the user's own sends it, which runs on kernels alone."""
    is_call: ClassVar[bool] = False
    """Whether each connection is a call, for metrics that are measured only of calls."""
    rating_field: ClassVar[str] = ""
    """The field that rates calls which are `unrated` without it."""

    def begin(self, process: Arrivals) -> Arrivals:
        """Return an arrival process as flows of it have it: by default from the beginning on."""
        return process

    @property
    def is_tagged(self) -> bool:
        """Return whether frames have a tag, on a link where this depends on the flow."""
        return False

    @property
    def circuit_bytes(self) -> int:
        """Return how many bytes of a circuit each cell has behind the header of AAL1, or 0."""
        return 0

    @property
    def unrated(self) -> str:
        """Return why such calls cannot be rated, in the author's words; "" if they can."""
        return ""


class CellTraffic(Traffic):
    """Traffic of cells, decorated with `carries=("cell",)`.

    Flows read its `connections` and `phases`, and `clp` and `virtual_path` if it has them.
    """

    @abstractmethod
    def build_contract(self) -> Contract:
        """Return the contract that it declares."""

    @abstractmethod
    def describe_conforming_source(self) -> tuple[str, Mapping[str, object]]:
        """Return the arrival process, by name and arguments, that uses the contract to the full."""


class PacketTraffic(Traffic):
    """Traffic of packets that sources send: likewise, decorated with `carries=("packet",)`."""

    rate_field: ClassVar[str] = "rate"
    """The field that holds the rate if no source has one; the checker requires it then."""

    @abstractmethod
    def describe_packets(self, link: Encapsulation) -> SentPackets:
        """Return the packets that are sent on a first link.

        Raises:
            ValueError: It does not fit the link, or its rate cannot be kept exactly; in the
                author's words.
        """
