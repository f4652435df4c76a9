"""Cycles of the graph: how they are found, ordered, and run in small steps.

The strongly connected components come from Tarjan's algorithm (SIAM J. Comput. 1 (1972) 146), with
an explicit stack instead of recursion, since a graph may be a long chain.

A cycle runs by the conservative scheme of Chandy and Misra (1979): every link has a watermark from
the start, given by the lookaheads; a node works up to the lowest watermark of its links and so
raises those behind it, whether items leave or not. One round advances time by the lookahead of the
cycle. While no node holds an item, time leaps to the next item that waits on a link.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.items.batch import FOREVER_PS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qospec.engine.experiment import Node, Wire
    from qospec.engine.graph.node import NodeRuntime

ROUNDS = 1_000
"""Rounds that every item may make through all nodes of the cycle, after the sources have stopped,
while none leaves it."""
IDLE_PASSES = 1_000_000
"""Passes in which time may advance while a node holds items and none leaves the cycle."""


class Loop:
    """Nodes on cycles with each other, run as one."""

    def __init__(self, runtimes: list[NodeRuntime]) -> None:
        self._runtimes = runtimes
        sender = {id(sink): runtime for runtime in runtimes for sink in runtime.sinks}
        links = [link for runtime in runtimes for port in runtime.ports for link in port]
        self._inner = [(link, sender[id(link)]) for link in links if id(link) in sender]
        self._outer = [link for link in links if id(link) not in sender]

    def advance(self) -> bool:
        """Advance to the lowest watermark of the links from outside; return whether that is later.

        Raises:
            EndlessError: The sources have stopped, yet items go round or wait for ever.
        """
        guard = _ProgressGuard(len(self._runtimes))
        cap_ps = min((link.until_ps for link in self._outer), default=FOREVER_PS)
        advanced = False
        while self._sweep(cap_ps):
            advanced = True
            held = sum([runtime.held for runtime in self._runtimes])
            inside = held + sum([link.cells for link, _ in self._inner])
            if not held:
                self._raise_watermarks()
            if (
                inside
                and cap_ps == FOREVER_PS
                and guard.is_exhausted(
                    inside + sum([link.cells for link in self._outer]),
                    sum([runtime.cell_hops for runtime in self._runtimes]),
                )
            ):
                raise EndlessError(inside, tuple(runtime.path for runtime in self._runtimes))
        return advanced

    def _sweep(self, cap_ps: int) -> bool:
        advanced = False
        for runtime in self._runtimes:
            advanced |= runtime.advance(cap_ps)
        return advanced

    def _raise_watermarks(self) -> None:
        """Raise all watermarks: no item moves before the first that waits on a link."""
        waiting = [link.first_ps() for link, _ in self._inner if link.cells]
        first_ps = min(waiting + [link.first_ps() for link in self._outer], default=FOREVER_PS)
        for link, runtime in self._inner:
            later_ps = min(first_ps + runtime.lookahead_ps, FOREVER_PS)
            link.until_ps = max(link.until_ps, later_ps)


class _ProgressGuard:
    """Limits how long items may go round while none leaves."""

    def __init__(self, runtimes: int) -> None:
        self._runtimes = runtimes
        self._fewest = -1
        self._hops = 0
        self._passes = 0

    def is_exhausted(self, cells: int, hops: int) -> bool:
        """Return whether to give up, with `cells` left, after `hops`."""
        if self._fewest < 0 or cells < self._fewest:
            self._fewest, self._hops, self._passes = cells, hops, 0
        self._passes += 1
        most_hops = ROUNDS * self._runtimes * cells
        return hops - self._hops > most_hops or self._passes > IDLE_PASSES


class ZeroDelayError(ValueError):
    """A cycle that takes no time: no order of events in it is defined.

    Attributes:
        paths: The nodes on the cycle, in order.
    """

    def __init__(self, paths: tuple[str, ...]) -> None:
        super().__init__(f"a cycle without delay: {' -> '.join((*paths, paths[0]))}")
        self.paths = paths


class EndlessError(ValueError):
    """Items that go round, or wait, for ever.

    Attributes:
        paths: The nodes among which they do.
    """

    def __init__(self, cells: int, paths: tuple[str, ...]) -> None:
        super().__init__(f"{cells} cells never leave the cycle through {', '.join(paths)}")
        self.paths = paths


def zero_delay_cycle(nodes: Sequence[Node], wires: Sequence[Wire]) -> tuple[str, ...] | None:
    """Return the paths of a cycle of nodes without lookahead, in order, if there is one."""
    instant = {i for i, node in enumerate(nodes) if not node.element.lookahead_ps(node.clock)}
    onward: list[list[int]] = [[] for _ in nodes]
    for wire in wires:
        if wire.node in instant and wire.to in instant:
            onward[wire.node].append(wire.to)
    for component in components(onward):
        if is_cyclic(component, onward):
            return tuple(nodes[i].path for i in _find_cycle(component, onward))
    return None


def components(onward: Sequence[Iterable[int]]) -> list[list[int]]:
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


def _find_cycle(component: Sequence[int], onward: Sequence[Iterable[int]]) -> list[int]:
    """Return the nodes of one cycle within a component."""
    inside = set(component)
    way = [component[0]]
    while True:
        following = next(node for node in onward[way[-1]] if node in inside)
        if following in way:
            return way[way.index(following) :]
        way.append(following)
