"""Random early detection by class: one average, a curve for each class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import LimitsByMark, RatiosByMark, dropping
from qospec.dataclass import dataclass
from qospec.engine.queue.admission import Averaging
from qospec.engine.queue.drop_policy import (
    ClassMark,
    Curve,
    DropPolicy,
    Rule,
    list_values,
    verify_keys,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.catalogue.kinds import Buffer


@dropping(
    source="RFC 2597, 2 (drop precedence within a class) and 4 (random drop by an average);"
    " S. Floyd, V. Jacobson, IEEE/ACM Trans. Networking 1 (1993)"
)
@dataclass(frozen=True)
class Wred(Averaging, DropPolicy):
    """Drop items early and at random, by the average of the whole queue and the item's class.

    See `red`: here each class has its own `low`, `high` and `p`, and counts its own drops. Items
    with a mark that has none are subject to the queue's limit only, but move the average.
    """

    by: ClassMark
    """The mark that determines the class."""
    low: LimitsByMark
    """The average from which some items are dropped, by value of the mark."""
    high: LimitsByMark
    """The average from which all items are dropped, twice this if `gentle`; of the same values."""
    p: RatiosByMark
    """The drop probability just below `high`; of the same values."""

    def __post_init__(self) -> None:
        super().__post_init__()
        verify_keys(self.by, low=self.low, high=self.high, p=self.p)
        known = {key for key, _ in self.low}
        for field, entries in (("high", self.high), ("p", self.p)):
            if {key for key, _ in entries} != known:
                raise ValueError(f"{field}: its classes differ from those of `low`")
        for key, share in self.p:
            if share == 0:
                raise ValueError(
                    f"p: no item of class `{key}` would be lost early; write more than 0"
                )

    @property
    def mark(self) -> str:
        return self.by

    def list_rules(self, limit: Buffer) -> Mapping[int, Rule]:
        high, p = dict(self.high), dict(self.p)
        marks = list_values(self.by, self.low)
        return {
            mark: Rule(curve=Curve(low, high[key], p[key], self.gentle))
            for mark, (key, low) in zip(marks, self.low, strict=True)
        }
