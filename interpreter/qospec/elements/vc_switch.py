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
    """Bring each cell to the output of its connection, a constant time later, in order of time.

    Cells that come in the same ps leave in the order of their inputs. Where they have to wait, a
    queue stands behind the output.

    Not modelled: contention within the fabric; routing of its own, the planner fills the table.
    """

    ports: Ports
    """How many inputs, and as many outputs."""
    latency: Time = 0
    """From the last bit in to the cell's being ready for the output."""
    level: Annotated[Literal["vc", "vp"], Domain("choice", choices=("vc", "vp"))] = "vc"
    """Whether the table tells connections apart by VPI and VCI, or by VPI alone."""
