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
    """Forward each packet to the output of its destination, a constant time later, in order.

    A packet is forwarded once it has arrived completely. Packets that arrive in the same ps leave
    in the order of their inputs. Where they have to wait, place a queue behind the output.

    Not modelled: routing protocols, as the planner fills the table with shortest paths; the
    processing time of packets.
    """

    ports: Ports
    """The number of inputs, and of outputs."""
    latency: Time = 0
    """From the last bit in until the packet is ready for the output."""
