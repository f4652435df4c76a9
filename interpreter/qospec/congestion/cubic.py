"""CUBIC: the window is a cubic function of the time since the last loss.

Times are in 1/1024 s, as in Linux, so that their cubes fit 64 bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import congestion
from qospec.dataclass import dataclass
from qospec.engine.endpoint.congestion import CongestionControl, Hooks, list_own_fields
from qospec.engine.endpoint.tcp_connection import CONGESTION_WINDOW, SMOOTHED, THRESHOLD
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole

BEGAN, ORIGIN, INFLECTION, FRIENDLY, GAINED, GAINED_FRIENDLY, BEFORE = list_own_fields(7)
"""Since when congestion is avoided (0: not yet), W_max, K, W_est, what is gained of the
next byte of the window and of W_est, and cwnd_prior. W_max is 0 after a timeout."""
UNIT_PS = 10**12 // 1024
UNITS_CUBED = 1 << 30
"""A cubic second."""
LONGEST = 1 << 17
"""Two minutes: no window takes longer to come back."""
BETA, OF_BETA = 7, 10
CURVE, OF_CURVE = 2, 5
"""The constant C, in segments per cubic second. Source: RFC 9438, 5."""
SLOPE, OF_SLOPE = 9, 17
"""3 (1 - beta) / (1 + beta), by which W_est has the mean of Reno's window. Source: 4.3."""


@congestion(source="RFC 9438 (CUBIC); RFC 5681, 3.1 (slow start)")
@dataclass(frozen=True)
class Cubic(CongestionControl):
    """Let the window rise as a cubic function of time, level where the last loss was.

    It is 70 % of the window after a loss. Where Reno's window would be larger, it is as large.

    Not modelled: HyStart++ (RFC 9406), the undoing of spurious reductions; that its clock stands
    still while a buffer limits (4.2, 5.8).
    """

    @property
    def hooks(self) -> Hooks:
        return Hooks("cubic", grow, reduce, begin_again)


@kernel
def grow(table: Whole, row: int, mss: int, acknowledged_bytes: int, now_ps: int) -> None:
    """Open the window. Source: RFC 9438, 4.2 to 4.5; of slow start, RFC 5681, 3.1."""
    window = table[row, CONGESTION_WINDOW]
    if window < table[row, THRESHOLD]:
        table[row, CONGESTION_WINDOW] = window + min(acknowledged_bytes, mss)
        return
    if table[row, BEGAN] == 0:
        _begin(table, row, mss, now_ps)
    passed = (now_ps - table[row, BEGAN]) // UNIT_PS
    round_trip = table[row, SMOOTHED] // UNIT_PS
    _grow_friendly(table, row, mss, acknowledged_bytes)
    if _compute_window(table, row, mss, passed) < table[row, FRIENDLY]:
        table[row, CONGESTION_WINDOW] = max(window, table[row, FRIENDLY])
        return
    target = _compute_window(table, row, mss, passed + round_trip)
    target = min(max(target, window), window + (window >> 1))
    gained = table[row, GAINED] + (target - window) * acknowledged_bytes
    table[row, CONGESTION_WINDOW] = window + gained // window
    table[row, GAINED] = gained % window


@kernel
def _begin(table: Whole, row: int, mss: int, now_ps: int) -> None:
    """Begin to avoid congestion: after a loss below W_max, else at W_max. Source: 4.2 and 4.8."""
    window = table[row, CONGESTION_WINDOW]
    table[row, BEGAN], table[row, FRIENDLY] = now_ps, window
    table[row, GAINED] = table[row, GAINED_FRIENDLY] = 0
    table[row, ORIGIN] = max(table[row, ORIGIN], window)
    below = (table[row, ORIGIN] - window) * OF_CURVE * UNITS_CUBED // (CURVE * mss)
    table[row, INFLECTION] = _compute_cube_root(below)


@kernel
def _compute_window(table: Whole, row: int, mss: int, passed: int) -> int:
    """Return W_cubic after a time. Source: RFC 9438, 4.2, figure 1."""
    apart = min(max(passed - table[row, INFLECTION], -LONGEST), LONGEST)
    # The cube has 51 bits: 10 of them go, so that it can be multiplied by a segment.
    more = ((apart * apart * apart) >> 10) * mss * CURVE // (OF_CURVE * (UNITS_CUBED >> 10))
    return table[row, ORIGIN] + more  # type: ignore[no-any-return]


@kernel
def _grow_friendly(table: Whole, row: int, mss: int, acknowledged_bytes: int) -> None:
    """Let W_est grow; as fast as Reno's window from where the last loss was. Source: 4.3."""
    window = table[row, CONGESTION_WINDOW]
    is_beyond = table[row, FRIENDLY] >= table[row, BEFORE]
    parts = OF_SLOPE if is_beyond else SLOPE
    gained = table[row, GAINED_FRIENDLY] + parts * mss * acknowledged_bytes // OF_SLOPE
    table[row, FRIENDLY] += gained // window
    table[row, GAINED_FRIENDLY] = gained % window


@kernel
def _compute_cube_root(number: int) -> int:
    """Return the cube root, rounded down, bit by bit."""
    root = 0
    for bit in range(20, -1, -1):
        larger = root + (1 << bit)
        if larger * larger * larger <= number:
            root = larger
    return root


@kernel
def reduce(table: Whole, row: int, mss: int, under_way_bytes: int, now_ps: int) -> None:
    """Take a loss: W_max is the window, or less if the last one was larger. Source: 4.6, 4.7."""
    window = table[row, CONGESTION_WINDOW]
    is_less = window < table[row, ORIGIN]
    table[row, ORIGIN] = window * (OF_BETA + BETA) // (2 * OF_BETA) if is_less else window
    table[row, BEFORE], table[row, BEGAN] = window, 0
    table[row, THRESHOLD] = max(under_way_bytes * BETA // OF_BETA, 2 * mss)


@kernel
def begin_again(table: Whole, row: int, mss: int, under_way_bytes: int, now_ps: int) -> None:
    """Take a timeout: behind slow start the function begins at W_max. Source: 4.8."""
    reduce(table, row, mss, under_way_bytes, now_ps)
    table[row, ORIGIN] = 0
