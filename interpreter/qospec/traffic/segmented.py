"""Cells of packets."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.calculus.curve import UNBOUNDED, Curve
from qospec.catalogue.kinds import PacketSizes, arrivals
from qospec.dataclass import dataclass
from qospec.engine.adaptation import AalField, EncapsulationField, Mtu, check_mtu, check_sizes
from qospec.engine.arrays import np
from qospec.engine.source import instants, periodic
from qospec.engine.source.arrivals import Arrivals
from qospec.engine.source.contract import FrameRate, Gaps, check_at_random
from qospec.engine.source.framing import count_in_cells
from qospec.protocol.aal import Adaptation
from qospec.protocol.atm import CELL_BYTES
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.engine.arrays import Indices, Times
    from qospec.engine.random import Draws
    from qospec.engine.source.sizes import Sizes


@arrivals(
    source="ITU-T I.363.5, 9, and I.363.3, 8 (segmentation); Gross and Harris, Fundamentals of"
    " Queueing Theory (1998), 3.1 (bulk input)",
    carries=("cell",),
)
@dataclass(frozen=True, kw_only=True)
class Segmented(Arrivals):
    """Emit the cells of a packet at once, packet after packet.

    Packets come at constant intervals or at random, as those of `constant` and `poisson` do. Their
    sizes are drawn independently, or repeat in order by connection. The line of the source sends
    the cells of a packet back to back.
    """

    rate: FrameRate
    """Packets/s of each connection."""
    size: PacketSizes
    """The size of all IP packets, or a mix: weighted by number of packets, or in order."""
    gaps: Gaps = "constant"
    """Whether packets come at constant intervals or at random."""
    aal: AalField = "aal5"
    """The ATM adaptation layer by which cells carry them."""
    encapsulation: EncapsulationField = "llc_snap"
    """What is put around each packet."""
    mtu: Mtu = None
    """The largest packet; by default that which is usual for the encapsulation."""

    def __post_init__(self) -> None:
        check_at_random(self.gaps, self.rate)
        adaptation = Adaptation(self.aal, self.encapsulation)
        check_mtu(adaptation, self.mtu)
        check_sizes(adaptation, self.size, self.mtu)

    @property
    def in_cells(self) -> Sizes:
        """Return the sizes of the packets in cells, in bytes."""
        return count_in_cells(self.size, Adaptation(self.aal, self.encapsulation))

    @property
    def _every_ps(self) -> Fraction:
        return PS_PER_S / Fraction(self.rate)

    def start(self, connections: int, phases: str, draws: Draws) -> Any:
        packets: Any
        if self.gaps == "poisson":
            packets = instants.start(connections * Fraction(self.rate), connections, draws)
        else:
            burst = periodic.Burst()
            packets = periodic.start_pattern(self._every_ps, burst, connections, phases, draws)
        return packets, self.in_cells.start(connections, draws)

    def emit(self, state: Any, until_ps: int) -> tuple[Times, Indices]:
        packets, sizes = state
        is_random = self.gaps == "poisson"
        ready_ps, sender = (
            instants.emit(packets, until_ps) if is_random else packets.take_before(until_ps)
        )
        counts = sizes.take_next(sender) // CELL_BYTES
        return np.repeat(ready_ps, counts), np.repeat(sender, counts)

    def compute_mean_rate(self, connections: int) -> Fraction:
        cells = self.in_cells.compute_mean(lambda size_bytes: size_bytes // CELL_BYTES)
        return connections * Fraction(self.rate) * cells

    def bound_items(self, connections: int, phases: str) -> Curve:
        if self.gaps == "poisson":
            return UNBOUNDED
        packets = periodic.bound_periods(self._every_ps, periodic.Burst(), connections, phases)
        return packets.scale_by(max(self.in_cells.size_bytes) // CELL_BYTES)

    def count_most_items(self, connections: int, length_ps: int) -> None:
        return None
