"""Packets and cells of one size as the rows of an array of bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Octets = NDArray[np.uint8]
    """(n, size) n items of one size."""
    Numbers = NDArray[np.int64]
    """(n,) A number of each item."""
    Truths = NDArray[np.bool_]
    """(n,) Whether something is so."""


def encode_big_endian(values: Numbers | Sequence[int], width: int) -> Octets:
    """Return (n, width) the last `width` bytes of each number, most significant first; up to 8."""
    whole = np.asarray(values, np.int64).astype(">i8").view(np.uint8)
    return whole.reshape(-1, 8)[:, 8 - width :]


def read_numbers(rows: Octets) -> Numbers:
    """Return (n,) the numbers of which rows of up to 7 bytes are the big-endian form."""
    whole = np.zeros((len(rows), 8), np.uint8)
    whole[:, 8 - rows.shape[1] :] = rows
    return whole.view(">i8").ravel().astype(np.int64)


def read_rows(packets: Sequence[bytes]) -> Octets:
    """Return (n, size) packets of one size, at least one, as rows."""
    return np.frombuffer(b"".join(packets), np.uint8).reshape(len(packets), -1)


def iterate_rows(rows: Octets) -> list[bytes]:
    """Return the rows one by one."""
    count, width = rows.shape
    if not width:
        return [b""] * count
    found: list[bytes] = np.ascontiguousarray(rows).view(f"V{width}").ravel().tolist()
    return found


def repeat_row(row: bytes, count: int) -> Octets:
    """Return (count, size) one row several times; read-only."""
    return np.broadcast_to(np.frombuffer(row, np.uint8), (count, len(row)))
