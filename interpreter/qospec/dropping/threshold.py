"""Tail drop by class: one queue, a threshold for each class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import LimitsByMark, dropping
from qospec.dataclass import dataclass
from qospec.engine.queue.drop_policy import (
    ClassMark,
    DropPolicy,
    Rule,
    list_values,
    verify_keys,
    verify_threshold,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.catalogue.kinds import Buffer


@dropping(source="RFC 2597, 2 (drop precedence); RFC 3290, 7.1.3 (droppers)")
@dataclass(frozen=True)
class Threshold(DropPolicy):
    """Drop arrivals once the queue reaches a threshold, which each class has of its own.

    An item is admitted if, with it, no more than the threshold of its class waits, of all classes
    together. Items with a mark that has no threshold have the queue's limit. Only what waits in
    this queue counts: `congested` drops a class while anything waits for the line.
    """

    by: ClassMark
    """The mark that determines the class."""
    at: LimitsByMark
    """How much may wait, by value of the mark."""

    def __post_init__(self) -> None:
        verify_keys(self.by, at=self.at)

    @property
    def mark(self) -> str:
        return self.by

    def list_rules(self, limit: Buffer) -> Mapping[int, Rule]:
        for _, amount in self.at:
            verify_threshold("at", amount, limit)
        marks = list_values(self.by, self.at)
        return {mark: Rule(amount.amount) for mark, (_, amount) in zip(marks, self.at, strict=True)}
