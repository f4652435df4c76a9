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
    """Lose some early, at random, the more the longer the queue is on average.

    Each newcomer moves the average towards what it finds waiting; so do, after an idle time, as
    many typical items as it would have taken to send. Below `low` nobody is lost, from there the
    probability rises to `p` at `high`, and beyond all are lost. It grows with each that is let in,
    so that drops come at even distances: those between two are distributed uniformly over 1 … 1/p.
    The limit holds besides. What a newcomer takes of it does not count: a large packet is lost as
    often as a small one (RFC 7141, 2.2).

    Not modelled: marking instead of loss (ECN); a probability by size.
    """

    low: Limit
    """The average from which on some are lost."""
    high: Limit
    """The average from which on all are lost, or twice which if `gentle`."""
    p: Probability
    """Which share is lost just below `high`, but for the even distances."""

    def rules(self, limit: Buffer) -> Mapping[int, Rule]:
        return {0: Rule(curve=Curve(self.low, self.high, self.p, self.gentle))}
