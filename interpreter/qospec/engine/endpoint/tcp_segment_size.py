"""How large the segments are that an end of TCP sends, by what the other one announces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.endpoint.tcp_connection import (
    EFFECTIVE_MSS,
    INITIAL_WINDOW,
    LARGEST_FIRST_BYTES,
    LEAST_FIRST_SEGMENTS,
    MOST_FIRST_SEGMENTS,
    MSS,
    STAMP_BYTES,
    STAMPED,
    WINDOW_BITS,
)
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole


@kernel
def find_announced(state: Whole) -> int:
    """Return the MSS that a SYN announces: options are not taken off. Source: RFC 9293, 3.7.1."""
    return state[MSS] + STAMP_BYTES * state[STAMPED]  # type: ignore[no-any-return]


@kernel
def note_mss(state: Whole, table: Whole, row: int, window: int) -> None:
    """Send no more in a segment than the other end takes, by the column of its SYN.

    Source: RFC 9293, 3.7.1.
    """
    most = (window >> WINDOW_BITS) - STAMP_BYTES * state[STAMPED]
    table[row, EFFECTIVE_MSS] = max(1, min(state[MSS], most))


@kernel
def compute_initial_window(state: Whole, mss: int) -> int:
    """Return the first congestion window, in bytes. Source: RFC 6928, 2."""
    segments = state[INITIAL_WINDOW]
    if segments == 0:
        segments = min(MOST_FIRST_SEGMENTS, LARGEST_FIRST_BYTES // mss)
        segments = max(LEAST_FIRST_SEGMENTS, segments)
    return segments * mss  # type: ignore[no-any-return]
