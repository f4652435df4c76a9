"""Drops by class under congestion: while other items wait for the line, at whatever queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import LimitsByMark, UnfitError, dropping
from qospec.dataclass import dataclass
from qospec.engine.queue.drop_policy import (
    UNITS,
    ClassMark,
    DropPolicy,
    Rule,
    list_values,
    verify_keys,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.catalogue.kinds import Buffer


@dropping(source="RFC 3290, 7.1.3 (droppers)")
@dataclass(frozen=True)
class Congested(DropPolicy):
    """Drop arrivals of a class while so much waits for the line, in all queues before it together.

    Behind a meter that marks what exceeds, as in `{ red: 1 pkt }`, it makes a policer that acts
    only under congestion, as low-latency queueing has one: what exceeds passes a line for which
    nothing waits. The item that is being sent does not wait. Items with a mark that is not listed
    have the queue's limit.
    """

    by: ClassMark
    """The mark that determines the class."""
    at: LimitsByMark
    """How many items must wait, without the one that comes, for it to be dropped, by value of the
    mark."""

    def __post_init__(self) -> None:
        verify_keys(self.by, at=self.at)

    @property
    def mark(self) -> str:
        return self.by

    def list_rules(self, limit: Buffer) -> Mapping[int, Rule]:
        items = self.carries or "packet"
        unit = "cell" if items == "cell" else "pkt"
        for _, amount in self.at:
            if amount.unit != items:
                raise UnfitError(
                    f"at: expected {UNITS[items]}, as those of all queues count together, found"
                    f" {UNITS[amount.unit]}",
                    f"write how many of them, such as `1 {unit}`",
                )
        marks = list_values(self.by, self.at)
        ends = zip(marks, self.at, strict=True)
        return {mark: Rule(congested_from=amount.amount) for mark, (_, amount) in ends}
