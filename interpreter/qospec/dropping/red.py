"""Random early detection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import Limit, dropping
from qospec.dataclass import dataclass
from qospec.engine.queue.admission import Averaging
from qospec.engine.queue.drop_policy import Curve, DropPolicy, Probability, Rule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.catalogue.kinds import Buffer


@dropping(
    source="S. Floyd, V. Jacobson, Random Early Detection Gateways for Congestion Avoidance,"
    " IEEE/ACM Trans. Networking 1 (1993); S. Floyd, Recommendation on using the gentle variant of"
    " RED (2000)"
)
@dataclass(frozen=True)
class Red(Averaging, DropPolicy):
    """Lose some arrivals early, at random; more, the longer the queue is on average.

    Each arrival moves the average towards the amount that it finds waiting; so do, after an idle
    time, as many typical items as could have been sent in it. Below `low` none is lost early; from
    there the probability rises to `p` at `high`, and beyond all are lost. It grows with each item
    that is admitted, so that losses are spread evenly: the distance between two is uniform over 1 …
    1/p. The limit applies as well. The size of an arrival does not count: a large packet is lost as
    often as a small one (RFC 7141, 2.2).

    Not modelled: marking instead of loss (ECN); a probability by size.
    """

    low: Limit
    """The average from which some are lost."""
    high: Limit
    """The average from which all are lost; from twice that if `gentle`."""
    p: Probability
    """The probability of loss just below `high`, apart from the even spread."""

    def rules(self, limit: Buffer) -> Mapping[int, Rule]:
        return {0: Rule(curve=Curve(self.low, self.high, self.p, self.gentle))}
