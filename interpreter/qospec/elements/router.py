"""The fabric of a router: each packet goes to the output that leads to its destination."""

from __future__ import annotations

from qospec.catalogue.kinds import Time, element
from qospec.dataclass import dataclass
from qospec.engine.switching import Fabric, Ports


@element(
    source="RFC 1812, 5.2 (forwarding walk-through)",
    duty="router",
    carries=("packet",),
    renamed={"ways": "ports"},
)
@dataclass(frozen=True)
class Router(Fabric):
    """Bring each packet to the output of its destination, a constant time later, in order of time.

    It has received a packet wholly before it forwards it. Packets that come in the same ps leave in
    the order of their inputs. Where they have to wait, a queue stands behind the output.

    Not modelled: routing of its own, the planner fills the table with shortest ways; the time that
    packets take of a processor.
    """

    ports: Ports
    """How many inputs, and as many outputs."""
    latency: Time = 0
    """From the last bit in to the packet's being ready for the output."""
