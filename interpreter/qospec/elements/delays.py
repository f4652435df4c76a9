"""A delay for each cell or packet, from a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import LONGEST_PS, Domain, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.varying_delay import Delaying, VaryingDelay, give_in_turn

if TYPE_CHECKING:
    from qospec.engine.element import Setting

Times = Annotated[tuple[int, ...], Domain("times", 0, LONGEST_PS)]
"""Whole picoseconds."""
AT_A_TIME = 1_000
"""About so many delays are written out at a time, so that a short list is not asked for often."""


@element(source="RFC 4737, 3 (reordering), by delays that are written out")
@dataclass(frozen=True)
class Delays(VaryingDelay):
    """Delay the k-th cell or packet by the k-th time of a list; after the last, start again.

    An item may be overtaken by one with a shorter delay. Of those that leave at the same time, the
    one that arrived first goes first. Any number may wait.
    """

    each: Times
    """The delays, in order of arrival."""

    def __post_init__(self) -> None:
        if not self.each:
            raise ValueError("each: at least one delay is needed")

    @property
    def shortest_ps(self) -> int:
        return min(self.each)

    @property
    def longest_ps(self) -> int:
        return max(self.each)

    def start_delays(self, setting: Setting) -> Delaying:
        often = np.tile(np.array(self.each, np.int64), -(-AT_A_TIME // len(self.each)))
        return give_in_turn(lambda: often)
