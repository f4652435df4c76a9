"""The retransmission timeout of a sender of TCP, by the round trips that it times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.endpoint.tcp_connection import (
    DEVIATION,
    LEAST_RTO,
    LONGEST_RTO_PS,
    RTO,
    SMOOTHED,
    TOLD_ROUND_TRIP,
)
from qospec.engine.endpoint.tcp_output import tell_quantity
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.endpoint.tcp_connection import Event


@kernel
def take_sample(state: Whole, table: Whole, row: int, sample_ps: int, event: Event) -> None:
    """Compute the retransmission timeout from a round trip. Source: RFC 6298, 2.2 to 2.5."""
    tell_quantity(state, row, TOLD_ROUND_TRIP, sample_ps, event)
    if table[row, SMOOTHED] == 0:
        table[row, SMOOTHED], table[row, DEVIATION] = sample_ps, sample_ps >> 1
    else:
        difference_ps = abs(table[row, SMOOTHED] - sample_ps)
        table[row, DEVIATION] = (3 * table[row, DEVIATION] + difference_ps) >> 2
        table[row, SMOOTHED] = (7 * table[row, SMOOTHED] + sample_ps) >> 3
    rto_ps = table[row, SMOOTHED] + max(1, 4 * table[row, DEVIATION])
    table[row, RTO] = max(state[LEAST_RTO], min(rto_ps, LONGEST_RTO_PS))
