"""What both ends of a path of cells share that carries packets."""

from __future__ import annotations

from typing import Annotated, Any

from qospec.catalogue.kinds import OF_PACKETS, Domain, SizeMix, UnfitError
from qospec.dataclass import dataclass
from qospec.engine.element import Element
from qospec.protocol.aal import AALS, ENCAPSULATIONS, Adaptation
from qospec.protocol.fragments import LEAST_MTU_BYTES
from qospec.protocol.ip import IPV4_HEADER_BYTES

AalField = Annotated[Any, Domain("choice", choices=tuple(AALS))]
EncapsulationField = Annotated[Any, Domain("choice", choices=tuple(ENCAPSULATIONS))]
Mtu = Annotated[int | None, Domain("data", LEAST_MTU_BYTES, layers=OF_PACKETS)]
"""Whole bytes; how many at most depends on the encapsulation, see `check_mtu`. None: its usual."""


def choose_mtu(adaptation: Adaptation, mtu_bytes: int | None) -> int:
    """Return the size of the largest packet, in bytes."""
    return mtu_bytes or ENCAPSULATIONS[adaptation.encapsulation].mtu_bytes


def check_mtu(adaptation: Adaptation, mtu_bytes: int | None) -> None:
    """Raise ValueError, worded for an author, if packets of an MTU have no room in an SDU."""
    most_bytes = ENCAPSULATIONS[adaptation.encapsulation].largest_mtu_bytes
    if mtu_bytes is not None and mtu_bytes > most_bytes:
        raise UnfitError(
            f"mtu: an SDU of `{adaptation.aal}` has room for packets of {most_bytes} B with"
            f" `{adaptation.encapsulation}`, not of {mtu_bytes} B",
            f"write at most {most_bytes} B @ip",
        )


def check_sizes(adaptation: Adaptation, mix: SizeMix, mtu_bytes: int | None) -> None:
    """Raise ValueError, worded for an author, if some sizes are of no IP packets in cells."""
    if mix.layer != "ip":
        raise ValueError(f"size: packets in frames of cells are counted @ip, not @{mix.layer}")
    sizes, most_bytes = (
        [size_bytes for size_bytes, _ in mix.parts],
        choose_mtu(adaptation, mtu_bytes),
    )
    if min(sizes) < IPV4_HEADER_BYTES:
        raise UnfitError(
            f"size: an IP packet has at least its header of {IPV4_HEADER_BYTES} B",
            f"write at least {IPV4_HEADER_BYTES} B @ip",
        )
    if max(sizes) > most_bytes:
        room_bytes = ENCAPSULATIONS[adaptation.encapsulation].largest_mtu_bytes
        larger = f", or write `mtu = {max(sizes)} B @ip`" if max(sizes) <= room_bytes else ""
        raise UnfitError(
            f"size: {max(sizes)} B exceed the MTU of {most_bytes} B",
            f"write at most {most_bytes} B @ip{larger}",
        )


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
        return choose_mtu(self.adaptation, self.mtu)

    @property
    def adaptation(self) -> Adaptation:
        """Return what both ends agree on."""
        return Adaptation(self.aal, self.encapsulation)
