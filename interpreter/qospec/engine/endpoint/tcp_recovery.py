"""The recovery of a sender of TCP: what acknowledgements of new data mean in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.endpoint.tcp_connection import (
    ACKNOWLEDGED,
    AFTER_FIRST,
    CONGESTION_WINDOW,
    DUPLICATE,
    EFFECTIVE_MSS,
    HIGHEST,
    PARTIAL,
    RECOVER,
    RECOVERING,
    SACK,
    THRESHOLD,
)
from qospec.engine.endpoint.tcp_output import send_again
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.endpoint.tcp_connection import Event


@kernel
def recover(state: Whole, table: Whole, row: int, bytes_acknowledged: int, event: Event) -> bool:
    """Take an acknowledgement of new data in recovery; return whether it leaves the timer alone.

    A partial one tells of another loss. The timer is set anew only for the first of them. Source:
    RFC 6582, 3.2, step 3; RFC 5681, 3.2, step 6, where any ends the recovery; RFC 6675, 5, step A.
    """
    mss = table[row, EFFECTIVE_MSS]
    if state[SACK]:
        if table[row, ACKNOWLEDGED] >= table[row, RECOVER]:
            table[row, RECOVERING], table[row, DUPLICATE] = 0, 0
        return False
    if table[row, ACKNOWLEDGED] >= table[row, RECOVER] or not state[PARTIAL]:
        under_way = table[row, HIGHEST] - table[row, ACKNOWLEDGED]
        whole = table[row, THRESHOLD]
        if state[PARTIAL]:
            whole = min(whole, max(under_way, mss) + mss)
        table[row, CONGESTION_WINDOW], table[row, RECOVERING], table[row, DUPLICATE] = whole, 0, 0
        return False
    window = max(0, table[row, CONGESTION_WINDOW] - bytes_acknowledged)
    table[row, CONGESTION_WINDOW] = window + (mss if bytes_acknowledged >= mss else 0)
    send_again(state, table, row, event)
    table[row, RECOVERING] += 1
    return table[row, RECOVERING] > AFTER_FIRST  # type: ignore[no-any-return]
