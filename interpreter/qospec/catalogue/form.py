"""The form of items at a place: cells or packets, and of which sizes.

It belongs to a place and not to a flow: an element may lengthen packets, or cut them into others.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.catalogue.kinds import Carried


class Form(NamedTuple):
    """What the items of a flow are at one place.

    Attributes:
        carries: Whether they are cells or packets.
        sizes: Each size in bytes, ascending, with the mean number of items of that size for each
            item that the source sends; none if only the kind is known.
    """

    carries: Carried
    sizes: tuple[tuple[int, Fraction], ...] = ()

    @property
    def smallest_bytes(self) -> int:
        """Return the smallest size; 0 if none is known."""
        return self.sizes[0][0] if self.sizes else 0

    @property
    def largest_bytes(self) -> int:
        """Return the largest size; 0 if none is known."""
        return self.sizes[-1][0] if self.sizes else 0

    def mean_of(self, length: Callable[[int], int]) -> Fraction:
        """Return the mean sum of a length that depends on the size, for each item sent."""
        return sum((length(size) * count for size, count in self.sizes), Fraction(0))

    def resized(self, size_after: Callable[[int], int]) -> Form:
        """Return the form of as many items of other sizes."""
        counts: dict[int, Fraction] = {}
        for size, count in self.sizes:
            after = size_after(size)
            counts[after] = counts.get(after, Fraction(0)) + count
        return self._replace(sizes=tuple(sorted(counts.items())))
