"""What arrives at an element at most, and what the element guarantees."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from qospec.calculus.curve import NOTHING, UNBOUNDED, Curve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

TOO_MUCH = "more may arrive than it serves"
NO_SHARE = "no share of the line is proved for its input"
UNKNOWN = "nothing bounds what arrives"


class Arrival(NamedTuple):
    """A bound of what arrives.

    Attributes:
        items: How many items.
        size_bytes: How many bytes they have together.
        sizes: The sizes in bytes that an item may have; none if nothing arrives.
    """

    items: Curve
    size_bytes: Curve
    sizes: tuple[int, ...]

    def plus(self, other: Arrival) -> Arrival:
        """Return the bound of both together."""
        sizes = tuple(sorted({*self.sizes, *other.sizes}))
        return Arrival(self.items.plus(other.items), self.size_bytes.plus(other.size_bytes), sizes)

    def least(self, other: Arrival) -> Arrival:
        """Return the bound of what keeps within both; the sizes are its own."""
        items, size_bytes = self.items.least(other.items), self.size_bytes.least(other.size_bytes)
        return self._replace(items=items, size_bytes=size_bytes)

    def widened(self, time_ps: Fraction | int) -> Arrival:
        """Return the bound of the same behind delays that differ by at most a time."""
        return self._replace(
            items=self.items.widened(time_ps), size_bytes=self.size_bytes.widened(time_ps)
        )

    def work(self, time_ps: Callable[[int], Fraction]) -> Curve:
        """Return how much time the items take of a server, given the time of each size."""
        if not self.sizes:
            return NOTHING
        longest = max(map(time_ps, self.sizes))
        dearest = max(time_ps(size) / size for size in self.sizes)
        return self.items.times(longest).least(self.size_bytes.times(dearest))


def of_items(items: Curve, sizes: Iterable[int]) -> Arrival:
    """Return the bound of items of these sizes."""
    known = tuple(sorted(sizes))
    return Arrival(items, items.times(known[-1]) if known else NOTHING, known)


def unbounded(sizes: Iterable[int]) -> Arrival:
    """Return what is said of items of which only the sizes are known."""
    return of_items(UNBOUNDED, sizes)


SILENCE = Arrival(NOTHING, NOTHING, ())


class Guarantee(NamedTuple):
    """What an element guarantees of the items of one of its inputs.

    Attributes:
        least_ps: The shortest time through it.
        most_ps: The longest one of what is not lost; None if none can be proved.
        waiting: How many items wait for it at most; None if that is not known, or nothing waits.
        why: Why there is no longest one.
    """

    least_ps: int
    most_ps: int | None
    waiting: int | None = None
    why: str = ""


class Guarantees(NamedTuple):
    """What an element guarantees: by input, and a bound of all that leaves it, if it has one."""

    inputs: tuple[Guarantee, ...]
    leaves: Arrival | None = None


def least_known(*values: Fraction | int | None) -> Fraction | int | None:
    """Return the least of some bounds; None if there is none."""
    return min((each for each in values if each is not None), default=None)
