"""Tail drop: items that find no room are lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import dropping
from qospec.dataclass import dataclass
from qospec.engine.queue.drop_policy import DropPolicy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.catalogue.kinds import Buffer
    from qospec.engine.queue.drop_policy import Rule


@dropping(source="RFC 3290, 7.1.3 (tail drop)")
@dataclass(frozen=True)
class Tail(DropPolicy):
    """Drop only items that find the queue full; the default of every queue."""

    def list_rules(self, limit: Buffer) -> Mapping[int, Rule]:
        return {}
