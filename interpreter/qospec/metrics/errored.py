"""The number of cells or packets that arrived with other bytes than they were sent with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Counting, Metric

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Tally


@metric(source="ITU-T I.356, 5 (errored cell outcome); ITU-T Y.1540, 5 (errored packet outcome)")
class Errored(Metric):
    """Count the cells or packets sent within the window that arrived with another payload.

    A test asks for bytes by `payload = true` in `run`: payloads are then drawn, encrypted and
    decrypted as on their way, and compared. What nothing encrypts, and no fault touches, arrives as
    it was sent.
    """

    dimension = "cells"
    counting = Counting("errored", "received")
    least = 0
    exact = True
    sized = True
    needs = frozenset({"payload"})

    def measure(self, tally: Tally, _statistic: str = "") -> int | None:
        """Return a number of cells or packets; None if none arrived, or no bytes were made."""
        return tally.errored if tally.received else None
