"""The parts of a flow, each of which is measured by itself: the planes of its cells, or exchanges.

A flow itself is its user cells, or its packets. Of packets that endpoints exchange, it is the
requests, and besides there are their answers, and whole exchanges.
"""

from __future__ import annotations

from typing import Literal

Part = Literal[
    "user", "oam", "rm", "misinserted", "fragments", "copies", "answers", "exchanges", "messages"
]

OF_CELLS: tuple[Part, ...] = ("oam", "misinserted")
"""The parts of a flow of cells that a specification can name, besides the flow itself."""
OF_PACKETS: tuple[Part, ...] = ("fragments", "copies")
"""Those of a flow of packets: their fragments but the first, and copies that a fault made."""
OF_EXCHANGES: tuple[Part, ...] = ("answers", "exchanges")
"""The parts of a flow between endpoints, besides the flow itself."""


def items_of(population: str, carries: str) -> tuple[str, str]:
    """Return what a part of a flow consists of, in the singular, and of what it is a part.

    Of `ask.exchanges` that is `exchange` and `ask`; of `user.oam`, `cell` and `user.oam` itself.
    """
    flow, _, part = population.rpartition(".")
    return (part.removesuffix("s"), flow) if part in OF_EXCHANGES else (carries, population)
