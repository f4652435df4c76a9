"""What both ends of a path of cells share that carries packets."""

from __future__ import annotations

from typing import Annotated, Any

from qospec.catalogue.kinds import OF_PACKETS, Domain, SizeMix
from qospec.dataclass import dataclass
from qospec.engine.element import Element
from qospec.protocol.aal import AALS, ENCAPSULATIONS, Adaptation
from qospec.protocol.fragments import LEAST_MTU_BYTES
from qospec.protocol.ip import IPV4_HEADER_BYTES, LARGEST_PACKET_BYTES

AalField = Annotated[Any, Domain("choice", choices=tuple(AALS))]
EncapsulationField = Annotated[Any, Domain("choice", choices=tuple(ENCAPSULATIONS))]
Mtu = Annotated[
    int | None, Domain("data", LEAST_MTU_BYTES, LARGEST_PACKET_BYTES, layers=OF_PACKETS)
]


def check_mtu(adaptation: Adaptation, mtu_bytes: int | None) -> None:
    """Raise ValueError, worded for an author, if packets of an MTU have no room in an SDU."""
    most_bytes = ENCAPSULATIONS[adaptation.encapsulation].largest_mtu_bytes
    if mtu_bytes is not None and mtu_bytes > most_bytes:
        raise ValueError(
            f"mtu: an SDU of `{adaptation.aal}` has room for packets of {most_bytes} B with"
            f" `{adaptation.encapsulation}`, not of {mtu_bytes} B"
        )


def check_sizes(adaptation: Adaptation, mix: SizeMix) -> None:
    """Raise ValueError, worded for an author, if there are no IP packets of some sizes in cells."""
    if mix.layer != "ip":
        raise ValueError(f"size: packets in frames of cells are counted @ip, not @{mix.layer}")
    most_bytes = ENCAPSULATIONS[adaptation.encapsulation].largest_mtu_bytes
    for size_bytes, _ in mix.parts:
        if not IPV4_HEADER_BYTES <= size_bytes <= most_bytes:
            around = f"with `{adaptation.encapsulation}` packets have"
            raise ValueError(f"size: {around} {IPV4_HEADER_BYTES} B to {most_bytes} B")


@dataclass(frozen=True)
class AdaptationEnd(Element):
    """One end of such a path: where packets become cells, or packets again."""

    aal: AalField = "aal5"
    """The ATM adaptation layer; both ends have the same."""
    encapsulation: EncapsulationField = "llc_snap"
    """What is put around each packet; both ends have the same."""
    mtu: Mtu = None
    """The largest packet; by default that which is usual for the encapsulation: 9,180 B of routed
    packets (RFC 2225), 1,500 B in Ethernet frames and over PPP, 1,492 B over PPPoE."""

    def __post_init__(self) -> None:
        """Raise ValueError if such packets have no room in an SDU."""
        check_mtu(self.adaptation, self.mtu)

    @property
    def mtu_bytes(self) -> int:
        """Return the size of the largest packet."""
        return self.mtu or ENCAPSULATIONS[self.encapsulation].mtu_bytes

    @property
    def adaptation(self) -> Adaptation:
        """Return what both ends agree on."""
        return Adaptation(self.aal, self.encapsulation)
