"""How many cells did not arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue import metric

if TYPE_CHECKING:
    from qospec.engine.tally import Tally


@metric(source="ITU-T I.356, 6 (lost cell outcome)")
class Lost:
    """Count the cells sent within the window that ended on the way, whatever the cause."""

    dimension = "cells"
    least = 0
    statistics: tuple[str, ...] = ()
    exact = True
    needs: frozenset[str] = frozenset()

    def measure(self, tally: Tally, _statistic: str = "") -> int | None:
        """Return a number of cells, or None if none were sent."""
        if not tally.sent:
            return None
        return tally.lost_count
