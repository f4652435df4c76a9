"""Partial packet discard: the rest of a frame of which a cell found no room is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from qospec.catalogue.kinds import dropping
from qospec.dataclass import dataclass
from qospec.engine.queue.drop_policy import DropPolicy, Rule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.catalogue.kinds import Buffer


@dropping(
    source="A. Romanow, S. Floyd, Dynamics of TCP Traffic over ATM Networks, IEEE JSAC 13 (1995)"
    " (partial packet discard); G. Armitage, K. Adams, Packet Reassembly during Cell Loss, IEEE"
    " Network 7 (1993)",
)
@dataclass(frozen=True)
class Ppd(DropPolicy):
    """Drop the rest of a frame once one of its cells finds no room: partial packet discard.

    The last cell is admitted if it finds room, as it tells where the next frame begins: without it
    a receiver of AAL5 takes both for one, and loses both. Cells of no frame are subject to the
    queue's limit only.
    """

    @property
    def carries(self) -> Literal["cell"]:
        return "cell"

    def list_rules(self, limit: Buffer) -> Mapping[int, Rule]:
        return {0: Rule(rest=True)}
