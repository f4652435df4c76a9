"""The 1-point cell delay variation of each connection, cell by cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.arrays import np
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qospec.engine.arrays import Rows, Times, Whole
    from qospec.engine.items.contract import Contract

DUE, FRACTION, INTERVAL, REST, BELOW, LARGEST, LEAST = range(7)
"""Columns of a row. The reference clock c is at DUE + FRACTION/BELOW ps, and the peak cell rate's
interval T is INTERVAL + REST/BELOW ps."""

UNSEEN_PS = -1
"""`DUE` before the first cell."""


def create_rows(contracts: Sequence[Contract]) -> Whole:
    """Return (count, 7) rows: one per VC, before its first cell."""
    rows = np.zeros((len(contracts), 7), np.int64)
    for row, contract in zip(rows, contracts, strict=True):
        interval = contract.peak_interval_ps
        whole, rest = divmod(interval.numerator, interval.denominator)
        row[:] = UNSEEN_PS, 0, whole, rest, interval.denominator, 0, 0
    return rows


def combine_rows(points: Iterable[Whole] | None, count: int) -> Whole | None:
    """Return (count, 2) the largest and the least of each VC at all points, given their rows."""
    if points is None:
        return None
    both = np.zeros((count, 2), np.int64)
    for rows in points:
        both[:, 0] = np.maximum(both[:, 0], rows[:, LARGEST])
        both[:, 1] = np.minimum(both[:, 1], rows[:, LEAST])
    return both


def pool(both: Whole | None, received: Whole, part: slice) -> tuple[int | None, int | None]:
    """Return the largest and the least of those connections of a part of which cells arrived."""
    if both is None:
        return None, None
    seen = both[part][received[part][: len(both[part])] > 0]
    return (int(seen[:, 0].max()), int(seen[:, 1].min())) if len(seen) else (None, None)


@kernel
def follow(at_ps: Times, connection: Rows, rows: Whole) -> None:
    """Compare the cells of each VC with a reference clock at its peak cell rate.

    y_k = c_k - a_k in whole ps, rounded down: above zero a cell is early (a clump), below it late
    (a gap). c_0 = a_0; c_(k+1) = c_k + T where c_k >= a_k, else a_k + T.

    Source: ITU-T I.356, 6.5.2.

    Args:
        at_ps: (n,) When cells passed this point.
        connection: (n,) The row of each; OAM cells have none and are skipped.
        rows: (VCs, 7) Updated.
    """
    count = len(rows)
    for i in range(len(at_ps)):
        c = connection[i]
        if c >= count:
            continue
        now_ps = at_ps[i]
        due_ps = now_ps if rows[c, DUE] == UNSEEN_PS else rows[c, DUE]
        fraction = rows[c, FRACTION]
        rows[c, LARGEST] = max(rows[c, LARGEST], due_ps - now_ps)
        rows[c, LEAST] = min(rows[c, LEAST], due_ps - now_ps)
        # The fraction is never negative, so the whole picoseconds alone decide.
        if due_ps < now_ps:
            due_ps, fraction = now_ps, 0
        due_ps += rows[c, INTERVAL]
        fraction += rows[c, REST]
        if fraction >= rows[c, BELOW]:
            fraction -= rows[c, BELOW]
            due_ps += 1
        rows[c, DUE], rows[c, FRACTION] = due_ps, fraction
