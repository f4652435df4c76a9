"""The number of packets that are too late to be played."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Metric

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Tally


@metric(
    source="RFC 5481, 3.2 (a fixed de-jitter buffer); RFC 7002, 3 (packets discarded there)",
    carries=("packet",),
)
class Late(Metric):
    """Count the packets of calls that arrive too late to be played.

    Of those sent within the window: packets whose transfer delay exceeds the least one of their
    call by more than `playout_delay`. They count as received, and as lost for `r_factor`.
    """

    dimension = "cells"
    least = 0
    exact = True
    of_calls = True
    needs = frozenset({"calls"})

    def measure(self, tally: Tally, _statistic: str = "") -> int | None:
        """Return a number of packets; None if none was sent, or they were not recorded."""
        if tally.calls is None or not tally.sent:
            return None
        return sum(call.heard.late for call in tally.calls)
