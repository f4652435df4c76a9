"""NewReno: every loss of a window is repaired in one recovery."""

from __future__ import annotations

from qospec.catalogue.kinds import congestion
from qospec.dataclass import dataclass
from qospec.engine.endpoint.congestion import CongestionControl


@congestion(source="RFC 5681, 3.1 (slow start, congestion avoidance); RFC 6582 (NewReno)")
@dataclass(frozen=True)
class Newreno(CongestionControl):
    """Add a segment in each round trip, halve the window at a loss, and repair one after the other.

    While it recovers, an acknowledgement of some of what was under way tells of another loss.
    """
