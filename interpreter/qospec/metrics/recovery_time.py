"""How long losses go on after a change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Metric

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Tally


@metric(source="RFC 2544, 26.5 (system recovery: from the change of the rate to the last loss)")
class RecoveryTime(Metric):
    """Find the time from the last change of the trial to when its last lost item was sent, in ps.

    The changes are those of `at`; the items are those sent within the window. It is 0 if no item
    that was sent after the change was lost: a trial without any loss has recovered from nothing,
    so ask for losses before the change as well.
    """

    dimension = "time"
    least = 0
    needs = frozenset({"outages"})

    def measure(self, tally: Tally, _statistic: str = "") -> int | None:
        """Return ps; None if nothing changed or was sent, or it was not recorded."""
        seen = tally.outages
        if seen is None or seen.changed_ps is None or not tally.sent:
            return None
        return max(0, (seen.lost_ps or 0) - seen.changed_ps)
