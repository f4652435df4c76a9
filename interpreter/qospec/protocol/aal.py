"""ATM adaptation in numbers: how many cells a packet becomes.

Sources: ITU-T I.363.1 (AAL1), I.363.3 (AAL3/4), I.363.5 (AAL5); RFC 2684 (multiprotocol
encapsulation), RFC 2225 (Classical IP), RFC 2364 and RFC 2516 (PPP on a subscriber's line), af-
lane-0021 and af-lane-0084 (LAN emulation), af-mpoa-0114 (tagged packets).
"""

from __future__ import annotations

from typing import Literal

from qospec.dataclass import NamedTuple
from qospec.protocol.encapsulation import Framing
from qospec.protocol.ip import LARGEST_PACKET_BYTES

CIRCUIT_BYTES = 47
"""Of a circuit in a cell of AAL1, behind a header of one byte. Source: ITU-T I.363.1, 2.4.2."""
LARGEST_SDU_BYTES = 65_535
"""Of both AALs: their length field has 16 bits."""


class Aal(NamedTuple):
    """How an AAL carries an SDU in cells.

    Attributes:
        cell_bytes: Of the SDU and what is put around it, in each cell.
        around_bytes: Put around an SDU: header and trailer of its CPCS-PDU.
        is_sequenced: Whether each cell has a number, and says whether it begins its PDU. Without,
            a PDU begins behind the end of the one before it, whatever was lost between them.
    """

    cell_bytes: int
    around_bytes: int
    is_sequenced: bool

    def count_cells(self, sdu_bytes: int) -> int:
        """Return how many cells an SDU becomes."""
        return -(-(sdu_bytes + self.around_bytes) // self.cell_bytes)


AalName = Literal["aal5", "aal3_4"]
AALS: dict[AalName, Aal] = {
    # A trailer: CPCS-UU, CPI, length, CRC-32. Source: I.363.5, 9.2.1.
    "aal5": Aal(48, 8, is_sequenced=False),
    # SAR header and trailer of 2 B each in each cell; a CPCS header and trailer of 4 B each. The
    # pad makes the payload a multiple of 4 B, and needs no other cell, since 44 B are one, too.
    # Source: I.363.3, 8.2.1 and 8.2.2.
    "aal3_4": Aal(44, 8, is_sequenced=True),
}

ETHERNET_HEADER_BYTES = 14
LEAST_FRAME_BYTES = 60
"""Of an Ethernet frame without its check sequence."""


class Encapsulation(NamedTuple):
    """What is put around an IP packet to make an SDU.

    Attributes:
        header_bytes: Ahead of the packet, and behind it.
        least_bytes: The smallest SDU; shorter ones are padded, as Ethernet frames are.
        mtu_bytes: The usual largest packet.
        words: What it is, for help.
    """

    header_bytes: int
    least_bytes: int
    mtu_bytes: int
    words: str

    def count_sdu_bytes(self, packet_bytes: int) -> int:
        """Return the size of the SDU with a packet."""
        return max(packet_bytes + self.header_bytes, self.least_bytes)

    @property
    def largest_mtu_bytes(self) -> int:
        """Return the size of the largest packet that an SDU has room for."""
        return min(LARGEST_SDU_BYTES - self.header_bytes, LARGEST_PACKET_BYTES)


CLASSICAL_IP_MTU_BYTES = 9_180
"""Source: RFC 2225, 7."""
ETHERNET_MTU_BYTES = 1_500
LLC_SNAP_BYTES = 8
"""LLC, organisation and EtherType or protocol. Source: RFC 2684, 5."""


def _build_bridged(header_bytes: int, words: str, *, with_fcs: bool = False) -> Encapsulation:
    """Return the encapsulation of Ethernet frames, behind a header."""
    fcs_bytes = 4 if with_fcs else 0
    return Encapsulation(
        header_bytes + ETHERNET_HEADER_BYTES + fcs_bytes,
        header_bytes + LEAST_FRAME_BYTES + fcs_bytes,
        ETHERNET_MTU_BYTES,
        words,
    )


def _build_pppoe(header_bytes: int, words: str) -> Encapsulation:
    """Return that of PPP in bridged frames: 6 B of PPPoE, 2 B of PPP (RFC 2516, 4 and 7)."""
    bridged = _build_bridged(header_bytes, words)
    return bridged._replace(header_bytes=bridged.header_bytes + 8, mtu_bytes=1_492)


EncapsulationName = Literal[
    "llc_snap",
    "vc_multiplexed",
    "llc_snap_bridged",
    "llc_snap_bridged_fcs",
    "vc_multiplexed_bridged",
    "lane",
    "lane_multiplexed",
    "mpoa_tagged",
    "ppp",
    "ppp_llc",
    "pppoe",
    "pppoe_llc_snap",
]
ENCAPSULATIONS: dict[EncapsulationName, Encapsulation] = {
    "llc_snap": Encapsulation(
        LLC_SNAP_BYTES, 0, CLASSICAL_IP_MTU_BYTES, "routed, RFC 2684, 5.1; Classical IP"
    ),
    "vc_multiplexed": Encapsulation(0, 0, CLASSICAL_IP_MTU_BYTES, "routed, RFC 2684, 6.1"),
    # Two bytes pad the header to a multiple of 4 B. Source: RFC 2684, 5.2 and 6.2.
    "llc_snap_bridged": _build_bridged(LLC_SNAP_BYTES + 2, "bridged without FCS, RFC 2684, 5.2"),
    "llc_snap_bridged_fcs": _build_bridged(
        LLC_SNAP_BYTES + 2, "bridged with FCS, RFC 2684, 5.2", with_fcs=True
    ),
    "vc_multiplexed_bridged": _build_bridged(2, "bridged without FCS, RFC 2684, 6.2"),
    # The identifier of the LAN emulation client. Source: af-lane-0021, 4.1.1.
    "lane": _build_bridged(2, "LAN emulation, af-lane-0021"),
    # LLC/SNAP and the identifier of the emulated LAN, of 4 B. Source: af-lane-0084.
    "lane_multiplexed": _build_bridged(
        LLC_SNAP_BYTES + 4 + 2, "LAN emulation over LLC, af-lane-0084"
    ),
    "mpoa_tagged": Encapsulation(
        LLC_SNAP_BYTES + 4, 0, CLASSICAL_IP_MTU_BYTES, "MPOA with a tag, af-mpoa-0114"
    ),
    "ppp": Encapsulation(2, 0, ETHERNET_MTU_BYTES, "PPP over AAL5 with VC multiplexing, RFC 2364"),
    "ppp_llc": Encapsulation(6, 0, ETHERNET_MTU_BYTES, "PPP over AAL5 over LLC, RFC 2364"),
    "pppoe": _build_pppoe(2, "PPPoE bridged with VC multiplexing, RFC 2516"),
    "pppoe_llc_snap": _build_pppoe(LLC_SNAP_BYTES + 2, "PPPoE bridged over LLC/SNAP, RFC 2516"),
}


class Adaptation(NamedTuple):
    """How packets are carried in cells: what both ends of a connection agree on."""

    aal: AalName
    encapsulation: EncapsulationName

    def __str__(self) -> str:
        """Return it in words."""
        return f"`{self.aal}` and `{self.encapsulation}`"

    @property
    def framing(self) -> Framing:
        """Return the framing of a packet that is carried so."""
        around, aal = ENCAPSULATIONS[self.encapsulation], AALS[self.aal]
        header_bytes = around.header_bytes + aal.around_bytes
        least_bytes = around.least_bytes + aal.around_bytes
        return Framing(header_bytes, least_bytes, per_cell_bytes=aal.cell_bytes)

    def count_cells(self, packet_bytes: int) -> int:
        """Return how many cells a packet becomes."""
        sdu_bytes = ENCAPSULATIONS[self.encapsulation].count_sdu_bytes(packet_bytes)
        return AALS[self.aal].count_cells(sdu_bytes)
