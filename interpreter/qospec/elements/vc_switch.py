"""The fabric of a switch: each cell goes to the output that its connection is routed to."""

from __future__ import annotations

from typing import Annotated, Literal

from qospec.catalogue.kinds import Domain, Time, element
from qospec.dataclass import dataclass
from qospec.engine.items.arbitration import Arbitration
from qospec.engine.items.partition import MAX_OUTPUTS
from qospec.engine.switching import Fabric, Ports


@element(
    source="ITU-T I.311 (VC and VP switching)",
    duty="router",
    carries=("cell",),
    renamed={"ways": "ports"},
)
@dataclass(frozen=True)
class VcSwitch(Fabric):
    """Switch each cell to the output of its connection after a constant time, in order.

    Of cells that arrive in the same ps for the same output, `arbitration` decides which goes first,
    and so which finds the last place in the queue there. Queues are separate elements after the
    outputs.

    Not modelled: contention for the fabric itself, which is a queue and a line ahead of a switch
    with one entry; signalling, the planner fills the table.
    """

    ports: Ports
    """Number of outputs, and of inputs."""
    latency: Time = 0
    """Time from the last bit in until the cell is ready for the output."""
    level: Annotated[Literal["vc", "vp"], Domain("choice", choices=("vc", "vp"))] = "vc"
    """Whether cells are switched by VPI and VCI, or by VPI alone."""
    arbitration: Arbitration = "fixed_order"
    """Which input goes first if several compete: the lowest, each in turn, or one at random."""
    entries: Annotated[int | None, Domain("integer", 1, MAX_OUTPUTS)] = None
    """Number of inputs, if another: one, behind a bus that all cells take."""
