"""What every kind of traffic is: what is declared of a flow, apart from when it sends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.engine.items.connections import Contract
    from qospec.engine.source.contract import Stream
    from qospec.protocol.encapsulation import Encapsulation


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
