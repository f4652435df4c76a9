"""What arrives at an element at most, and what the element guarantees."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.calculus.curve import NOTHING, UNBOUNDED, Curve, cover_points
from qospec.dataclass import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qospec.calculus.service import ServiceCurve

TOO_MUCH = "more may arrive than it serves"
NO_SHARE = "no share of the line is proved for its input"
UNKNOWN = "nothing bounds what arrives"


class Costs(NamedTuple):
    """How much time items take of a server, over all sizes that they may have.

    Attributes:
        shortest_ps: The least of an item.
        longest_ps: The most of an item.
        cheapest_ps: The least of an item for each of its bytes.
        dearest_ps: The most.
        whole: Whether all items take whole ps.
        above: By the size of an item, the least concave bound of what it costs: each of its lines
            is a time for the item, and one for each byte.
    """

    shortest_ps: Fraction
    longest_ps: Fraction
    cheapest_ps: Fraction
    dearest_ps: Fraction
    whole: bool
    above: Curve


CostsOf = Callable[[tuple[int, ...]], Costs]
"""Returns the costs of items of some sizes, of which there is one at least."""


def compute_costs(
    sizes: Sequence[int], amount: Callable[[int], Fraction | int], each_ps: Fraction
) -> Costs:
    """Return the costs of items of some sizes, given how many units of a time each takes."""
    amounts = [*map(amount, sizes)]
    shares = [Fraction(one, size) for size, one in zip(sizes, amounts, strict=True)]
    return Costs(
        min(amounts) * each_ps,
        max(amounts) * each_ps,
        min(shares) * each_ps,
        max(shares) * each_ps,
        all(one % each_ps.denominator == 0 for one in amounts),
        cover_points(zip(amounts, sizes, strict=True)).scale_by(each_ps),
    )


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

    def add(self, other: Arrival) -> Arrival:
        """Return the bound of both together."""
        sizes = tuple(sorted({*self.sizes, *other.sizes}))
        return Arrival(self.items.add(other.items), self.size_bytes.add(other.size_bytes), sizes)

    def intersect(self, other: Arrival) -> Arrival:
        """Return the bound of what keeps within both; the sizes are its own."""
        items, size_bytes = (
            self.items.intersect(other.items),
            self.size_bytes.intersect(other.size_bytes),
        )
        return self._replace(items=items, size_bytes=size_bytes)

    def widen(self, time_ps: Fraction | int) -> Arrival:
        """Return the bound of the same behind delays that differ by at most a time."""
        return self._replace(
            items=self.items.widen(time_ps), size_bytes=self.size_bytes.widen(time_ps)
        )

    def measure_work(self, of: CostsOf) -> Curve:
        """Return how much time the items take of a server, given what they cost it."""
        if not self.sizes:
            return NOTHING
        return self.bound_work(of(self.sizes).above)

    def bound_work(self, above: Curve) -> Curve:
        """Return how much time the items take, given a bound of what one costs by its size.

        Each line of it holds of every item, so of all of them: so long for each, and for each byte.
        """
        found = UNBOUNDED
        for item_ps, byte_ps in above.lines:
            by_items = self.items.scale_by(item_ps) if item_ps else NOTHING
            by_bytes = self.size_bytes.scale_by(byte_ps) if byte_ps else NOTHING
            found = found.intersect(by_items.add(by_bytes))
        return found


def bound_items(items: Curve, sizes: Iterable[int]) -> Arrival:
    """Return the bound of items of these sizes."""
    known = tuple(sorted(sizes))
    return Arrival(items, items.scale_by(known[-1]) if known else NOTHING, known)


def describe_unbounded(sizes: Iterable[int]) -> Arrival:
    """Return what is said of items of which only the sizes are known."""
    return bound_items(UNBOUNDED, sizes)


SILENCE = Arrival(NOTHING, NOTHING, ())


class Server(NamedTuple):
    """How an element serves the items of one of its inputs, in order: see `calculus.chain`.

    Attributes:
        service: The service, of work in the time that it takes.
        costs: What items cost, by their sizes.
        after_ps: What is added to every departure.
        shared: Whether it is that of all inputs together, in order of arrival.
        saves: Whether it may let an item go at once, since it saves up what it does not use: then
            the latency of its service is below 0, by what it may have saved.
    """

    service: ServiceCurve
    costs: CostsOf
    after_ps: int = 0
    shared: bool = False
    saves: bool = False


class Share(NamedTuple):
    """The service that an input of a scheduler has at least.

    Attributes:
        service: The service, of work in the time that it takes.
        costs: What items cost, by their sizes.
        always: Whether it holds from any instant on at which something waits at the input, and not
            only from when it began to: then what an item finds ahead of it, within a limit, bounds
            its delay too.
    """

    service: ServiceCurve
    costs: CostsOf
    always: bool = False


class Guarantee(NamedTuple):
    """What an element guarantees of the items of one of its inputs.

    Attributes:
        least_ps: The shortest time through it.
        most_ps: The longest one of what is not lost; None if none can be proved.
        waiting: How many items wait for it at most; None if that is not known, or nothing waits.
        why: Why there is no longest one.
        server: How it serves them, if it serves a rate; for all paths that it is on together.
    """

    least_ps: int
    most_ps: int | None
    waiting: int | None = None
    why: str = ""
    server: Server | None = None


class Guarantees(NamedTuple):
    """What an element guarantees: by input, and a bound of all that leaves it, if it has one."""

    inputs: tuple[Guarantee, ...]
    leaves: Arrival | None = None


def choose_best(guarantees: Iterable[Guarantee]) -> Guarantee:
    """Return the one of several that hold with the least delay, or else the first."""
    found = [*guarantees]
    least = min(
        found, key=lambda guarantee: math.inf if guarantee.most_ps is None else guarantee.most_ps
    )
    waiting = find_least_known(*(guarantee.waiting for guarantee in found))
    return least._replace(waiting=None if waiting is None else int(waiting))


def find_least_known(*values: Fraction | int | None) -> Fraction | int | None:
    """Return the least of some bounds; None if there is none."""
    return min((value for value in values if value is not None), default=None)
