"""The fabric of a switch: each cell goes to the output that its connection is routed to."""

from __future__ import annotations

from typing import Annotated, Literal

from qospec.catalogue.kinds import Domain, Time, element
from qospec.dataclass import dataclass
from qospec.engine.switching import Fabric, Ports


@element(
    source="ITU-T I.311 (VC and VP switching)",
    duty="router",
    carries=("cell",),
    renamed={"ways": "ports"},
)
@dataclass(frozen=True)
class VcSwitch(Fabric):
    """Forward each cell to the output of its connection, a constant time later, in order.

    Cells that arrive in the same ps leave in the order of their inputs. Where they have to wait,
    place a queue behind the output.

    Not modelled: contention within the fabric; signalling, as the planner fills the table.
    """

    ports: Ports
    """The number of inputs, and of outputs."""
    latency: Time = 0
    """From the last bit in until the cell is ready for the output."""
    level: Annotated[Literal["vc", "vp"], Domain("choice", choices=("vc", "vp"))] = "vc"
    """Whether the table distinguishes connections by VPI and VCI, or by VPI alone."""
