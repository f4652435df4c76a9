"""Early packet discard: frames of cells that begin at a long queue are lost whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from qospec.catalogue.kinds import Boolean, Limit, dropping
from qospec.dataclass import dataclass
from qospec.engine.queue.drop_policy import DropPolicy, Rule, verify_threshold

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.catalogue.kinds import Buffer


@dropping(
    source="A. Romanow, S. Floyd, Dynamics of TCP Traffic over ATM Networks, IEEE JSAC 13 (1995)"
    " (early packet discard); ATM Forum af-tm-0121.000 (TM 4.1) (frame discard)",
)
@dataclass(frozen=True)
class Epd(DropPolicy):
    """Drop whole frames of cells that begin while so much waits: early packet discard.

    Their cells are dropped with the first of them to the last, by connection. A frame that began
    before keeps its places: what finds no room is lost by itself, or with the rest if `partial`.
    Cells of no frame are subject to the queue's limit only. A frame begins behind the last cell of
    the one before: if that was lost ahead of the queue, both are one.

    Not modelled: a threshold for each connection; fair shares.
    """

    at: Limit
    """What must wait, without the cell that comes, for its frame to be dropped."""
    partial: Boolean = False
    """Whether the rest of a frame is dropped once one of its cells finds no room, as by `ppd`."""

    @property
    def carries(self) -> Literal["cell"]:
        return "cell"

    def list_rules(self, limit: Buffer) -> Mapping[int, Rule]:
        verify_threshold("at", self.at, limit)
        return {0: Rule(frames_from=self.at.amount, rest=self.partial)}
