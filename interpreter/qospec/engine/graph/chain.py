"""Hops one behind the other at work: a window passes all of them in one call.

Between two kernels the interpreter finds its own data evicted by the columns, so a step of it takes
as long as the work of a kernel on some ten thousand items. Where nothing is lost and nobody looks
between two nodes, there is no need of one.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from qospec.engine.arrays import np
from qospec.engine.event.process import build_process
from qospec.engine.items.totals import CAME, LEFT
from qospec.engine.line.tandem import Tandem, send_uncongested

if TYPE_CHECKING:
    from qospec.engine.element import Element, Process, Setting
    from qospec.engine.graph.node import NodeRuntime, Sink
    from qospec.engine.items.batch import Batch
    from qospec.engine.line.tandem import Hop
    from qospec.engine.measure.observation import Recorder


class Chain:
    """Nodes each of which is a hop that feeds the next one alone.

    A window in which an item is lost, or might be, goes from node to node as it would without a
    chain. After each such window so many more follow which go so at once, that what is tried in
    vain does not count.
    """

    def __init__(self, runtimes: list[NodeRuntime], recorder: Recorder) -> None:
        """Take the nodes, in their order."""
        self._runtimes = runtimes
        self._tandem = Tandem(*[runtime.hop for runtime in runtimes if runtime.hop is not None])
        entries = np.array([runtime.entries for runtime in runtimes])
        for runtime, own in zip(runtimes, entries, strict=True):
            runtime.enter_in(own)
        self._came, self._left = entries[:, CAME], entries[:, LEFT]
        self._recorder = recorder
        self._stamps = runtimes[0].is_only_sent
        self._failures = self._waits = 0

    def advance(self) -> bool:
        """Advance to the watermark of what feeds the first node; return whether it is later."""
        first, *others = self._runtimes
        arrivals = first.take()
        if arrivals is None:
            return False
        left = self._cross(*arrivals)
        if left is not None:
            self._hand_on(left)
            return True
        first.work(arrivals)
        for runtime in others:
            runtime.advance()
        return True

    def _cross(self, batch: Batch) -> Batch | None:
        """Return the batch behind the last node; None if it must go from node to node."""
        if not batch.count:
            return batch
        if self._waits:
            self._waits -= 1
            return None
        left, count = send_uncongested(self._tandem, batch)
        if count == batch.count:
            return left
        self._failures += 1
        self._waits = self._failures
        return None

    def _hand_on(self, batch: Batch) -> None:
        """Account for a batch that has passed all nodes, and hand it on."""
        totals = self._recorder.totals.count(batch)
        self._came += totals
        self._left += totals
        until_ps = self._tandem.compute_watermark_ps(self._runtimes[0].horizon_ps)
        last = self._runtimes[-1]
        if self._stamps and batch.count:
            self._recorder.count_sent(batch)  # for which it does not matter how far they are
        if last.is_seen and batch.count:
            last.see(0, batch)
        last.sinks[0].put(batch, until_ps)


def start_process(element: Element, setting: Setting) -> tuple[Process, Hop | None]:
    """Return how an element processes batches, and what it is in a chain; see `Element.as_hop`."""
    if element.process is None:
        return build_process(element, setting), None
    state = element.start(setting)
    return functools.partial(element.process, state), element.as_hop(state)


def join_chains(runtimes: list[NodeRuntime], recorder: Recorder) -> list[list[NodeRuntime]]:
    """Return nodes, given in topological order, in lists: each node alone, or a chain of them.

    A source's line may be the first of a chain if what it sends is only counted.
    """
    is_counted = recorder.counters is not None
    lists: list[list[NodeRuntime]] = []
    extensible: dict[Sink, list[NodeRuntime]] = {}  # by the wire behind its last node
    for runtime in runtimes:
        links = [link for port in runtime.ports for link in port]
        can_follow = runtime.hop and len(links) == 1 and not runtime.stamps
        chain = extensible.get(links[0]) if can_follow else None
        if chain is None:
            lists.append(chain := [])
        chain.append(runtime)
        is_unseen = not runtime.is_seen or (runtime.is_only_sent and is_counted)
        if runtime.hop and is_unseen:
            extensible[runtime.sinks[0]] = chain
    return lists
