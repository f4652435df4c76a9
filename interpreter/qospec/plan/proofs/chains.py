"""Chains of nodes that items pass together: their delay with bursts paid only once.

Here is decided which items stay together, and what goes between them at each node; `calculus.chain`
has the bound and its proof. The items of a chain are those that take its whole path, and no other:
at each of its nodes they come by one wire, into one input, and leave by one output.
"""

from __future__ import annotations

import functools
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Protocol

from qospec.calculus.chain import Stage, bound_delay_ps, find_leftover_service
from qospec.calculus.curve import cover_points
from qospec.calculus.guarantee import SILENCE, Arrival
from qospec.dataclass import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from qospec.calculus.guarantee import Guarantee
    from qospec.plan.proofs.places import Group, Key, Place

    Wire = tuple[int, int]
    """The number of a node, and of its output."""
    Ways = tuple[tuple[Wire, Place], ...]

MOST_PLACES = 32
"""A chain is no longer, so that paths of hundreds of nodes take no long time."""


class Followed(Protocol):
    """What is known of an experiment: where items pass, and what is proved node by node."""

    def get_guarantee(self, place: Place) -> Guarantee | None:
        """Return what is guaranteed at an input; None: nothing, or nothing that chains can use."""

    def list_inputs(self, node: int) -> Sequence[Place]:
        """Return the inputs of a node."""

    def list_groups(self, place: Place) -> list[Group]:
        """Return what arrives at an input."""

    def resizes(self, place: Place, key: Key) -> bool:
        """Return whether a node changes the sizes of items."""

    def list_onward(self, place: Place, key: Key) -> Sequence[tuple[Wire, Place]]:
        """Return the wires by which items leave a node, and where to."""

    def comes_only_by(self, wire: Wire, place: Place, key: Key) -> bool:
        """Return whether all such items that arrive at an input come by that wire."""


class Chain(NamedTuple):
    """A chain of at least two nodes.

    Attributes:
        places: The inputs that its items pass.
        most_ps: Their longest delay from the first of these to behind the last node.
    """

    places: tuple[Place, ...]
    most_ps: int


class _Bundle(NamedTuple):
    """Items that take the same path.

    Attributes:
        places: The inputs that they pass.
        keys: Whose they are.
    """

    places: tuple[Place, ...]
    keys: frozenset[Key]


class Chains:
    """The chains of an experiment; each is bounded once, whoever asks."""

    def __init__(self, followed: Followed) -> None:
        self._followed = followed
        self._beginning: dict[Place, _Bundle] = {}
        self._longer_known: dict[tuple[_Bundle, Ways], _Bundle] = {}
        self._most_ps: dict[_Bundle, int | None] = {}
        self._waiting: dict[Place, bool] = {}
        self._stages_known: dict[tuple[Place, frozenset[Key], int], tuple[Stage, ...]] = {}

    def list_from(self, place: Place, key: Key) -> Iterator[Chain]:
        """Yield the chains of the items of a key that begin at an input, the shortest first.

        They begin and end where something may wait: elsewhere a node by itself is bounded as well.
        """
        if place not in self._beginning:
            self._beginning[place] = _Bundle((place,), frozenset(self._list_arriving(place)))
        bundle = self._beginning[place]
        while key in bundle.keys and len(bundle.places) <= MOST_PLACES:
            guarantee = self._followed.get_guarantee(bundle.places[-1])
            if guarantee is None or (guarantee.server is None and guarantee.most_ps is None):
                return
            waits = self._waits(bundle.places[-1])
            if len(bundle.places) == 1 and not waits:
                return
            if len(bundle.places) > 1 and waits:
                most_ps = self._find_bound_ps(bundle)
                if most_ps is not None:
                    yield Chain(bundle.places, most_ps)
            bundle = self._extend(bundle, key)

    def _waits(self, place: Place) -> bool:
        """Return whether something may wait longer at a server than an item that comes alone."""
        if place not in self._waiting:
            self._waiting[place] = self._may_wait(place)
        return self._waiting[place]

    def _may_wait(self, place: Place) -> bool:
        guarantee = self._followed.get_guarantee(place)
        sizes = self._list_sizes(place, lambda _: True)
        if guarantee is None or guarantee.server is None or not sizes:
            return False
        server = guarantee.server
        longest_ps = server.costs(sizes).longest_ps
        alone_ps = min((late + longest_ps / rate for rate, late in server.service), default=None)
        if alone_ps is None or guarantee.most_ps is None:
            return alone_ps is not None
        return guarantee.most_ps > max(alone_ps, Fraction(0)) + server.after_ps

    def _list_arriving(self, place: Place) -> Iterator[Key]:
        for group in self._followed.list_groups(place):
            yield from (key for key in group.parts if key.kind == "user")

    def _extend(self, bundle: _Bundle, key: Key) -> _Bundle:
        """Return those that go on as all items of a key do; none if these part or end.

        Kept, since it takes a time that grows with the number of keys, and each of them asks.
        """
        ways = tuple(self._followed.list_onward(bundle.places[-1], key))
        if (bundle, ways) not in self._longer_known:
            self._longer_known[bundle, ways] = self._find_longer(bundle, ways)
        return self._longer_known[bundle, ways]

    def _find_longer(self, bundle: _Bundle, ways: Ways) -> _Bundle:
        place = bundle.places[-1]
        if len(ways) != 1 or ways[0][1].node < 0 or ways[0][1] in bundle.places:
            return _Bundle(bundle.places, frozenset())
        ((wire, to),) = ways
        keys = frozenset(
            other
            for other in bundle.keys
            if tuple(self._followed.list_onward(place, other)) == ways
            and self._followed.comes_only_by(wire, to, other)
        )
        return _Bundle((*bundle.places, to), keys)

    def _find_bound_ps(self, bundle: _Bundle) -> int | None:
        if bundle not in self._most_ps:
            self._most_ps[bundle] = self._bound_ps(bundle)
        return self._most_ps[bundle]

    def _bound_ps(self, bundle: _Bundle) -> int | None:
        arriving = self._bound_part(bundle.places[0], bundle.keys.__contains__)
        if not arriving.items.is_bounded or not arriving.sizes:
            return None
        stages, smallest_bytes = list[tuple[Stage, ...]](), 0
        for place in bundle.places:
            stages.append(self._get_stages(place, bundle.keys, smallest_bytes))
            if any(self._followed.resizes(place, key) for key in bundle.keys):
                smallest_bytes = arriving.sizes[0]
        found = bound_delay_ps(arriving, stages)
        return None if found is None else floor(found)

    def _get_stages(
        self, place: Place, keys: frozenset[Key], smallest_bytes: int
    ) -> tuple[Stage, ...]:
        asked = place, keys, smallest_bytes
        if asked not in self._stages_known:
            self._stages_known[asked] = tuple(self._build_stages(*asked))
        return self._stages_known[asked]

    def _build_stages(
        self, place: Place, keys: frozenset[Key], smallest_bytes: int
    ) -> Iterator[Stage]:
        """Yield what a node guarantees to some of what arrives.

        Args:
            place: The input of the node.
            keys: Whose items they are.
            smallest_bytes: The least size of an item where the chain begins, if sizes have changed
                since; else 0.
        """
        guarantee = self._followed.get_guarantee(place)
        assert guarantee is not None  # noqa: S101 -- or no chain were here
        if guarantee.most_ps is not None:
            yield Stage(Fraction(guarantee.most_ps))
        if guarantee.server is None:
            return
        service, costs, after_ps, shared, saves = guarantee.server
        others = self._bound_part(place, lambda key: key not in keys)
        for other in self._followed.list_inputs(place.node) if shared else ():
            others = (
                others if other == place else others.add(self._bound_part(other, lambda _: True))
            )
        mine = costs(self._list_sizes(place, keys.__contains__))
        above = cover_points([(mine.longest_ps, smallest_bytes)]) if smallest_bytes else mine.above
        for latency_ps, slower in find_leftover_service(service, others.measure_work(costs)):
            largest_ps = slower * mine.longest_ps
            alone_ps = latency_ps + after_ps + largest_ps
            yield Stage(alone_ps, largest_ps, above.scale_by(slower), saves)

    def _bound_part(self, place: Place, chosen: Callable[[Key], bool]) -> Arrival:
        """Return a bound of some of what arrives at an input."""
        parts = (group.bound_part(chosen) for group in self._followed.list_groups(place))
        return functools.reduce(Arrival.add, parts, SILENCE)

    def _list_sizes(self, place: Place, chosen: Callable[[Key], bool]) -> tuple[int, ...]:
        """Return the sizes that some of what arrives at an input may have."""
        found = {
            size
            for group in self._followed.list_groups(place)
            for key, arrival in group.parts.items()
            if chosen(key)
            for size in arrival.sizes
        }
        return tuple(sorted(found))
