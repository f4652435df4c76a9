"""The number of keys with which the items of a flow were encrypted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Metric

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Tally


@metric(
    source="ATM Forum Security Specification 1.1 (af-sec-0100.002), a session key for each VC;"
    " EANTC 2006, signalling (all SVCs encrypted)"
)
class Keys(Metric):
    """Count the different keys with which cells or packets sent within the window were encrypted.

    A test asks for bytes by `payload = true` in `run`. Keys are compared by their bytes, so that
    connections which share a key have one. What is encrypted at one device after another has a key
    at each.

    Not modelled: keys of integrity, and those that protect other keys.
    """

    dimension = "count"
    better = "more"
    least = 0
    exact = True
    needs = frozenset({"payload"})

    def measure(self, tally: Tally, _statistic: str = "") -> int | None:
        """Return a number of keys; None if no bytes were made."""
        return tally.keys
