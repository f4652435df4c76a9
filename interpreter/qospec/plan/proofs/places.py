"""Where items are that are followed through an experiment, and bounds of what arrives there."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from qospec.calculus.guarantee import SILENCE, Arrival, describe_unbounded
from qospec.dataclass import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qospec.protocol.streams import KindName


class Key(NamedTuple):
    """The items of a source in one kind: what is followed."""

    source: int
    kind: KindName


class Place(NamedTuple):
    """An input of a node."""

    node: int
    input: int


class Group(NamedTuple):
    """What comes by one wire: a bound of each part, and of all together."""

    parts: dict[Key, Arrival]
    together: Arrival

    def bound_all(self) -> Arrival:
        """Return the bound of all of it."""
        return self.bound_part(lambda _: True)

    def bound_part(self, chosen: Callable[[Key], bool]) -> Arrival:
        """Return the bound of some of it."""
        parts = [part for key, part in self.parts.items() if chosen(key)]
        if not parts:
            return SILENCE
        return functools.reduce(Arrival.add, parts).intersect(self.together)


def build_group(key: Key, arrival: Arrival) -> Group:
    """Return a group of one part."""
    return Group({key: arrival}, describe_unbounded(arrival.sizes))


def join_groups(groups: Sequence[Group], leaves: Arrival) -> Group:
    """Return several groups as one, of which together no more leaves than `leaves` says."""
    parts: dict[Key, Arrival] = {}
    for group in groups:
        for key, arrival in group.parts.items():
            parts[key] = parts[key].add(arrival) if key in parts else arrival
    total = functools.reduce(Arrival.add, (group.bound_all() for group in groups))
    sizes = tuple(sorted({size for part in parts.values() for size in part.sizes}))
    return Group(parts, total.intersect(leaves)._replace(sizes=sizes))
