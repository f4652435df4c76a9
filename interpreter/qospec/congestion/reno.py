"""Reno: a recovery repairs one loss; others need duplicates of their own, or a timeout."""

from __future__ import annotations

from qospec.catalogue.kinds import congestion
from qospec.dataclass import dataclass
from qospec.engine.endpoint.congestion import CongestionControl


@congestion(source="RFC 5681, 3.1 (slow start, congestion avoidance) and 3.2 (fast recovery)")
@dataclass(frozen=True)
class Reno(CongestionControl):
    """Add a segment in each round trip, halve the window at a loss, and repair the first of it.

    Any acknowledgement of new data ends the recovery; three duplicates behind it begin another.
    """

    repairs_all = False
