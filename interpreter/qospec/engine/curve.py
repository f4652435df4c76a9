"""Curves of times over sizes, as the catalogue's `Curve` declares them, for kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import Curve
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole

COLUMNS = 2
"""Of a point: the size in bytes, the time in ps."""


def to_curve(times: int | Curve) -> Curve:
    """Return a field of that type as a curve; a single time, in ps, holds for all sizes."""
    return times if isinstance(times, Curve) else Curve(((0, times),))


@kernel
def find_time_ps(points: Whole, size_bytes: int) -> int:
    """Return the time of a size, in ps.

    It is on the line between two points, rounded to the nearest ps, a half up; beyond the first and
    the last point it is theirs. No product exceeds int64: times are at most 2^37, sizes 2^16.

    Args:
        points: (points, COLUMNS), sizes ascending.
        size_bytes: Of the packet.
    """
    last = len(points) - 1
    if size_bytes >= points[last, 0]:
        return points[last, 1]  # type: ignore[no-any-return]
    if size_bytes <= points[0, 0]:
        return points[0, 1]  # type: ignore[no-any-return]
    k = 1
    while points[k, 0] < size_bytes:
        k += 1
    width = points[k, 0] - points[k - 1, 0]
    rise = (points[k, 1] - points[k - 1, 1]) * (size_bytes - points[k - 1, 0])
    return points[k - 1, 1] + (2 * rise + width) // (2 * width)  # type: ignore[no-any-return]
