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
    """Drop items early and at random, with a probability that rises with the average queue length.

    Each arrival moves the average towards the queue that it finds; after an idle time, so does each
    typical item that could have been sent meanwhile. Below `low` nothing is dropped; from there the
    probability rises to `p` at `high`, above which everything is dropped. It grows with each item
    admitted, so that drops are evenly spaced: the number of items between two drops is uniform over
    1 … 1/p. The limit applies as well. The size of an arrival does not matter: a large packet is
    dropped as often as a small one (RFC 7141, 2.2). With `ecn` packets that are capable of it are
    marked where others are dropped, above `high`, too, and are lost only if there is no room.

    Not modelled: a probability by size.
    """

    low: Limit
    """The average from which some items are dropped."""
    high: Limit
    """The average from which all items are dropped; twice this if `gentle`."""
    p: Probability
    """The drop probability just below `high`, before it is spaced evenly; if a data sheet means the
    share that is lost there, let `spacing` be `geometric`."""

    def list_rules(self, limit: Buffer) -> Mapping[int, Rule]:
        return {0: Rule(curve=Curve(self.low, self.high, self.p, self.gentle))}
