"""The number of cells or packets that the source had ready."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Metric

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Tally


@metric(
    source="RFC 2285, 3.5.1 (intended load), of packets; of cells likewise",
    carries=("cell", "packet", "frame"),
)
class Planned(Metric):
    """Count the cells or packets that the source emitted within the window.

    More than `sent` if the source's own line is too slow for them. A frame is emitted if all its
    cells are.
    """

    dimension = "cells"
    better = "more"
    least = 0
    when_absent = 0
    exact = True
    of_source = True
    needs = frozenset({"planned"})

    def measure(self, tally: Tally, _statistic: str = "") -> int:
        """Return a number of cells or packets."""
        return tally.planned
