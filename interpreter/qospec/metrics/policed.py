"""The number of cells or packets that a policer discarded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Metric

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Tally


@metric(source="ITU-T I.371, 7 (usage parameter control); RFC 2475, 2.3.3.4 (droppers), of packets")
class Policed(Metric):
    """Count the cells or packets sent within the window that were discarded for not conforming.

    Those that a policer tagged or marked and passed on do not count.
    """

    dimension = "cells"
    least = 0
    exact = True

    def measure(self, tally: Tally, _statistic: str = "") -> int | None:
        """Return a number of cells or packets, or None if none were sent."""
        if not tally.sent:
            return None
        return tally.count_lost_for("policed")
