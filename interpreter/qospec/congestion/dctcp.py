"""DCTCP: the window falls by half of the share of bytes that met congestion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import congestion
from qospec.dataclass import dataclass
from qospec.engine.endpoint.congestion import CongestionControl, Hooks, list_own_fields
from qospec.engine.endpoint.tcp_connection import (
    ACKNOWLEDGED,
    CONGESTION_WINDOW,
    NEXT_BYTE,
    THRESHOLD,
)
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole

UNMARKED, COUNTED, MARKED, WINDOW_END = list_own_fields(4)
"""1 - DCTCP.Alpha, which begins as 0, in parts of WHOLE; DCTCP.BytesAcked, DCTCP.BytesMarked and
DCTCP.WindowEnd."""
WHOLE_BITS = 30
WHOLE = 1 << WHOLE_BITS
GAIN_BITS = 4
"""The weight of the last window in the estimate, g = 1/16. Source: RFC 8257, 4.2."""


@congestion(source="RFC 8257, 3.3 to 3.5 (DCTCP); RFC 5681, 3.1 (slow start, and losses)")
@dataclass(frozen=True)
class Dctcp(CongestionControl):
    """Reduce the window by half of the share of its bytes that was marked, on average.

    The average is over windows of data, of which each counts 1/16. Losses halve the window, and it
    grows, as by RFC 5681. The traffic has `ecn = true`; its server then tells of the marks of each
    segment.
    """

    counts_marks = True

    @property
    def hooks(self) -> Hooks:
        return Hooks("dctcp", on_mark=reduce, on_feedback=estimate)


@kernel
def estimate(
    table: Whole,
    row: int,
    mss: int,
    acknowledged_bytes: int,
    marked_bytes: int,
) -> None:
    """Count what is marked of a window of data, and estimate its share. Source: RFC 8257, 3.3."""
    table[row, COUNTED] += acknowledged_bytes
    table[row, MARKED] += marked_bytes
    if table[row, ACKNOWLEDGED] + acknowledged_bytes <= table[row, WINDOW_END]:
        return
    unmarked = table[row, COUNTED] - table[row, MARKED]
    share = (unmarked << WHOLE_BITS) // table[row, COUNTED]
    table[row, UNMARKED] += (share - table[row, UNMARKED]) >> GAIN_BITS
    table[row, WINDOW_END] = table[row, NEXT_BYTE]
    table[row, COUNTED] = table[row, MARKED] = 0


@kernel
def reduce(table: Whole, row: int, mss: int, under_way_bytes: int, now_ps: int) -> None:
    """Take the first mark of a window of data. Source: RFC 8257, 3.3, step 9."""
    window, alpha = table[row, CONGESTION_WINDOW], WHOLE - table[row, UNMARKED]
    table[row, THRESHOLD] = max(window - (window * alpha >> (WHOLE_BITS + 1)), 2 * mss)
