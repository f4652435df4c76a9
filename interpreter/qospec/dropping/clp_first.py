"""Low-priority cells first: partial buffer sharing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import Ratio, dropping
from qospec.dataclass import dataclass
from qospec.engine.queue.drop_policy import DropPolicy, Rule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.catalogue.kinds import Buffer


@dropping(
    source="ITU-T I.371 (selective cell discard); Kroener et al., IEEE JSAC 9 (1991)"
    " (partial buffer sharing)"
)
@dataclass(frozen=True)
class ClpFirst(DropPolicy):
    """Drop cells with CLP 1 once a share of the queue is occupied; the rest is reserved for CLP 0.

    A cell with CLP 1 is admitted if, with it, at most this share of the limit waits, rounded down.
    """

    at: Ratio
    """The share of the limit that all cells may use."""

    @property
    def mark(self) -> str:
        return "clp"

    def list_rules(self, limit: Buffer) -> Mapping[int, Rule]:
        return {1: Rule(int(self.at * limit.amount))}
