"""How many cells were sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue import metric

if TYPE_CHECKING:
    from qospec.engine.tally import Tally


@metric(source="ITU-T I.356, 4.2 (cell exit event)")
class Sent:
    """Count the cells whose first bit left the source's own line within the window, in cells.

    OAM cells count where they are inserted. In the words of I.356: cell exit events at the first
    measurement point.
    """

    dimension = "cells"
    better = "more"
    least = 0
    statistics: tuple[str, ...] = ()
    exact = True
    needs: frozenset[str] = frozenset()

    def measure(self, tally: Tally, _statistic: str = "") -> int:
        """Return a number of cells."""
        return tally.sent
