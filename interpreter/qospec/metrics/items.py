"""The number of cells or packets that pass a place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Metric

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Tally


@metric(source="none: a count")
class Items(Metric):
    """Count the cells or packets that pass a place inside the network within the window.

    A place is a side of a port, where items count when their last bit is at the far end of the
    link, or an output of an element. `router.east.tx.items` counts those of all flows, OAM cells
    included, `f.items.at(router.east.tx)` those of one.
    """

    dimension = "cells"
    measured_at = ("place",)
    better = "more"
    least = 0
    delivered = True
    exact = True

    def measure(self, tally: Tally, _statistic: str = "") -> int:
        """Return a number of cells or packets."""
        return tally.carried
