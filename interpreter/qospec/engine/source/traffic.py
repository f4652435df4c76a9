"""The bases of traffic kinds: what a flow declares, apart from when it sends.

A `Stream` is what a flow of packets sends on its first link, as the engine takes it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from qospec.engine.items.connections import Contract
    from qospec.engine.source.sizes import Sizes
    from qospec.protocol.encapsulation import Encapsulation


class Stream(NamedTuple):
    """Packets of one flow.

    Attributes:
        contract: What stands for a contract: the rate that is planned.
        source: The arrival process, by name and arguments.
        sizes: Of IP packets.
        marks: Of all of them.
        asked: What a classifier may ask for that no element changes, by name.
        encapsulation: That of the first link.
        transport_bytes: Headers in each packet, besides the 20 bytes of IPv4's.
    """

    contract: Contract
    source: tuple[str, Mapping[str, object]]
    sizes: Sizes
    marks: int
    asked: Mapping[str, Fraction | str]
    encapsulation: Encapsulation
    transport_bytes: int


class CellTraffic(ABC):
    """Traffic of cells: a frozen dataclass of its parameters, decorated with `carries=("cell",)`.

    Flows ask it for `connections` and `phases`, and for `clp` and `virtual_path` if it has them.
    """

    @abstractmethod
    def contract(self) -> Contract:
        """Return the contract that it declares."""

    @abstractmethod
    def conforming_source(self) -> tuple[str, Mapping[str, object]]:
        """Return the arrival process, by name and arguments, that uses the contract to the full."""


class PacketTraffic(ABC):
    """Traffic of packets: likewise, decorated with `carries=("packet",)`."""

    rate_field: ClassVar[str] = "rate"
    """The field that says how many packets come, if no source does: the checker asks for one."""

    @abstractmethod
    def stream(self, link: Encapsulation) -> Stream:
        """Return what is sent on a first link.

        Raises:
            ValueError: It does not fit the link, or its rate cannot be kept exactly; with words
                for the author.
        """
