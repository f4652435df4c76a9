"""A merge of several inputs into one output."""

from __future__ import annotations

from typing import Annotated

from qospec.catalogue.kinds import Domain, element
from qospec.dataclass import dataclass
from qospec.engine.items.arbitration import Arbitration
from qospec.engine.switching import Multiplexer


@element(source="ITU-T I.321 (cell multiplexing)", renamed={"ways": "ports"})
@dataclass(frozen=True)
class Merge(Multiplexer):
    """Merge the cells or packets of several inputs in order of time.

    It takes no time and has no rate: several may leave in the same ps, to wait in a queue. Of those
    `arbitration` decides which goes first, and so which finds the last place there.
    """

    ports: Annotated[int, Domain("integer", 1, 2**16)]
    """Number of inputs."""
    arbitration: Arbitration = "fixed_order"
    """Which input goes first if several compete: the lowest, each in turn, or one at random."""
