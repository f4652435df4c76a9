"""Cycles of the graph: how they are found, and the errors that they may be.

The strongly connected components come from Tarjan's algorithm (SIAM J. Comput. 1 (1972) 146), with
an explicit stack instead of recursion, since a graph may be a long chain.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qospec.engine.experiment import Node, Wire


class ZeroDelayError(ValueError):
    """A cycle that takes no time: no order of events in it is defined.

    Attributes:
        paths: The nodes on the cycle, in order.
    """

    def __init__(self, paths: tuple[str, ...]) -> None:
        super().__init__(f"a cycle without delay: {' -> '.join((*paths, paths[0]))}")
        self.paths = paths


class BudgetError(ValueError):
    """Endpoints have made more items than their traffic says that they can.

    Attributes:
        path: The one that made the last of them.
        budget: The number of items that they may make in the trial.
    """

    def __init__(self, path: str, budget: int) -> None:
        super().__init__(f"`{path}` floods the network: endpoints may make {budget:_} items")
        self.path = path
        self.budget = budget


class Budget:
    """How many items the endpoints of a trial may make, all together."""

    def __init__(self, endpoints: frozenset[str] = frozenset(), items: int = 0) -> None:
        """Take the paths of the endpoints, and the number."""
        self._endpoints, self._items, self._left = endpoints, items, items

    def spend(self, path: str, count: int) -> None:
        """Count items that were made; raises BudgetError if an endpoint made too many.

        Other elements, which change what arrives into something else, have no budget.
        """
        if path in self._endpoints:
            self._left -= count
            if self._left < 0:
                raise BudgetError(path, self._items)


def find_zero_delay_cycle(nodes: Sequence[Node], wires: Sequence[Wire]) -> tuple[str, ...] | None:
    """Return the paths of a cycle of nodes without lookahead, in order, if there is one."""
    instant = {i for i, node in enumerate(nodes) if not node.element.find_lookahead_ps(node.clock)}
    onward: list[list[int]] = [[] for _ in nodes]
    for wire in wires:
        if wire.node in instant and wire.to in instant:
            onward[wire.node].append(wire.to)
    for component in find_components(onward):
        if is_cyclic(component, onward):
            return tuple(nodes[i].path for i in _find_cycle(component, onward))
    return None


def find_cycle_in_batches(nodes: Sequence[Node], wires: Sequence[Wire]) -> tuple[str, ...] | None:
    """Return the paths of a cycle, in order, if one begins with an element without a transition."""
    onward = find_onward(nodes, wires)
    for number, node in enumerate(nodes):
        if node.element.build_transition is None:
            cycle = _find_shortest_cycle(number, onward)
            if cycle:
                return tuple(nodes[i].path for i in cycle)
    return None


def find_onward(nodes: Sequence[Node], wires: Sequence[Wire]) -> list[list[int]]:
    """Return, per node, the nodes that it feeds, and of those that signal all in a ring.

    What is between two that signal is thereby on a cycle with them.
    """
    onward: list[list[int]] = [[] for _ in nodes]
    for wire in wires:
        if wire.to >= 0:
            onward[wire.node].append(wire.to)
    signalling = [number for number, node in enumerate(nodes) if node.element.signals]
    for number, following in zip(signalling, signalling[1:] + signalling[:1], strict=True):
        if number != following:
            onward[number].append(following)
    return onward


def find_components(onward: Sequence[Iterable[int]]) -> list[list[int]]:
    """Return the strongly connected components in topological order, each in its order of work.

    Args:
        onward: Per node, the nodes that it feeds.
    """
    number: dict[int, int] = {}
    lowest: dict[int, int] = {}
    unfinished: list[int] = []
    place: dict[int, int] = {}
    waiting: set[int] = set()
    found: list[list[int]] = []
    finished: dict[int, int] = {}
    for root in range(len(onward)):
        if root in number:
            continue
        way = [(root, iter(onward[root]))]
        while way:
            node, following = way[-1]
            if node not in number:
                number[node] = lowest[node] = len(number)
                place[node] = len(unfinished)
                unfinished.append(node)
                waiting.add(node)
            for following_node in following:
                if following_node not in number:
                    way.append((following_node, iter(onward[following_node])))
                    break
                if following_node in waiting:
                    lowest[node] = min(lowest[node], number[following_node])
            else:
                way.pop()
                finished[node] = len(finished)
                if way:
                    before = way[-1][0]
                    lowest[before] = min(lowest[before], lowest[node])
                if lowest[node] == number[node]:
                    cut = place[node]
                    component = unfinished[cut:]
                    del unfinished[cut:]
                    waiting.difference_update(component)
                    # Last finished, first served: so a watermark travels far in one pass.
                    found.append(sorted(component, key=finished.__getitem__, reverse=True))
    return found[::-1]


def is_cyclic(component: Sequence[int], onward: Sequence[Iterable[int]]) -> bool:
    """Return whether a component has a cycle: more than one node, or a wire back to itself."""
    return len(component) > 1 or component[0] in onward[component[0]]


def _find_shortest_cycle(start: int, onward: Sequence[Iterable[int]]) -> list[int]:
    """Return the nodes of the shortest cycle through a node, from it on; none if it is on none."""
    before: dict[int, int] = {}
    waiting = deque([start])
    while waiting and start not in before:
        node = waiting.popleft()
        for following in onward[node]:
            if following not in before:
                before[following] = node
                waiting.append(following)
    if start not in before:
        return []
    way = [before[start]]
    while way[-1] != start:
        way.append(before[way[-1]])
    return way[::-1]


def _find_cycle(component: Sequence[int], onward: Sequence[Iterable[int]]) -> list[int]:
    """Return the nodes of one cycle within a component."""
    inside = set(component)
    way = [component[0]]
    while True:
        following = next(node for node in onward[way[-1]] if node in inside)
        if following in way:
            return way[way.index(following) :]
        way.append(following)
