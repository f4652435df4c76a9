"""The fabric of a router: each packet goes to the output that leads to its destination."""

from __future__ import annotations

from qospec.catalogue.kinds import Time, element
from qospec.dataclass import dataclass
from qospec.engine.items.arbitration import Arbitration
from qospec.engine.switching import Fabric, Ports


@element(
    source="RFC 1812, 5.2 (forwarding walk-through)",
    duty="router",
    carries=("packet",),
    renamed={"ways": "ports"},
)
@dataclass(frozen=True)
class Router(Fabric):
    """Forward each packet to the output of its destination after a constant time, in order.

    It receives a packet completely before it forwards it. Of packets that arrive in the same ps for
    the same output, `arbitration` decides which goes first, and so which finds the last place in
    the queue there. Queues are separate elements after the outputs.

    Not modelled: routing protocols, the planner fills the table with shortest paths; the time that
    a processor spends on packets.
    """

    ports: Ports
    """Number of inputs, and of outputs."""
    latency: Time = 0
    """Time from the last bit in until the packet is ready for the output."""
    arbitration: Arbitration = "fixed_order"
    """Which input goes first if several compete: the lowest, each in turn, or one at random."""
