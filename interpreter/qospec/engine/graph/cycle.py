"""Nodes on cycles with each other, and endpoints: run event by event, as one.

Outside of cycles a node works up to the lowest watermark of its inputs, a batch at a time. In a
cycle what it sends comes back to it, so a batch would hold what leaves within its own shortest
time: often a single item. So the nodes of a strongly connected component are one
`event.component`, which takes what comes from outside up to a time, and gives what goes out.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from qospec.engine.element import BrokenPromiseError, Loss
from qospec.engine.event.component import (
    CONSUMES,
    LEAVES,
    LOSES,
    MAKES,
    SEEN,
    TELLS,
    WAITS,
    Component,
    Member,
)
from qospec.engine.event.counting import Counting
from qospec.engine.graph.components import find_components
from qospec.engine.graph.node import End, Link
from qospec.engine.graph.promises import Conduct, copy_times
from qospec.engine.items.batch import FOREVER_PS, Batch, join_batches
from qospec.engine.items.totals import ITEMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.engine.arrays import Whole
    from qospec.engine.event.counting import Outlet
    from qospec.engine.event.transition import Transition
    from qospec.engine.experiment import Experiment
    from qospec.engine.graph.components import Budget
    from qospec.engine.graph.node import NodeRuntime
    from qospec.engine.measure.observation import Recorder


class Cycle:
    """The nodes of one component."""

    def __init__(
        self,
        runtimes: Sequence[NodeRuntime],
        transitions: Sequence[Transition],
        recorder: Recorder,
        experiment: Experiment,
        budget: Budget,
    ) -> None:
        """Begin a trial.

        Args:
            runtimes: The nodes.
            transitions: How each answers.
            recorder: Of the trial.
            experiment: The trial.
            budget: Of the endpoints of the trial.
        """
        streams, stop_ps = experiment.streams, experiment.measurement.stop_ps
        self._runtimes = runtimes
        self._budget = budget
        self._is_checked = os.environ.get("QOS_CHECK") == "1"
        self._is_noted = self._is_checked or any(runtime.conduct for runtime in runtimes)
        self._conduct = [runtime.conduct or Conduct(len(runtime.sinks)) for runtime in runtimes]
        self._indices = streams.indices
        self._transitions = transitions
        self._recorder = recorder
        sender = {
            id(sink): (number, output)
            for number, runtime in enumerate(runtimes)
            for output, sink in enumerate(runtime.sinks)
        }
        members = [
            Member(
                transition,
                tuple(tuple(sender.get(id(link)) for link in port) for port in runtime.ports),
                len(runtime.sinks),
                runtime.path,
                seen=runtime.is_seen or self._is_noted,
            )
            for runtime, transition in zip(runtimes, transitions, strict=True)
        ]
        order = _order_of_work(runtimes, members)
        counters = None if self._is_noted else recorder.counters
        counting = counters and Counting(counters, self._is_only_counted, self._settle)
        self._component = Component(members, order, streams, stop_ps, counting)
        self._outer = self._list_outside_links(order, transitions, sender)
        self._receiver = {
            origin: number
            for number, member in enumerate(members)
            for origins in member.inputs
            for origin in origins
        }
        self._later: dict[int, list[Batch]] = {}
        self._horizon_ps = 0

    def _list_outside_links(
        self,
        order: Sequence[int],
        transitions: Sequence[Transition],
        sender: dict[int, tuple[int, int]],
    ) -> list[tuple[int, Link]]:
        """Return the links that lead in, with their nodes, in the order of their places."""
        return [
            (number, link)
            for number in order
            for port in transitions[number].ports or range(len(self._runtimes[number].ports))
            for link in self._runtimes[number].ports[port]
            if id(link) not in sender
        ]

    def advance(self, cap_ps: int = FOREVER_PS) -> bool:
        """Advance to the lowest watermark of the links that lead in, or `cap_ps`.

        Raises:
            EndlessError: The trial is over or time stands still, yet items never leave.
            BudgetError: An endpoint makes more items than it may.
            CrowdedError: More items are under way than memory should hold.
            TooLateError: What waits at a node takes it more than 50 days.
            BrokenPromiseError: A transition broke its contract or, with `QOS_CHECK=1`, a promise.
        """
        horizon_ps = min([link.until_ps for _, link in self._outer], default=cap_ps)
        horizon_ps = min(horizon_ps, cap_ps)
        if horizon_ps <= self._horizon_ps:
            return False
        self._horizon_ps = horizon_ps
        arrivals = [link.take(horizon_ps) for _, link in self._outer]
        self._component.advance(arrivals, horizon_ps, self._deliver)
        self._send_on()
        if horizon_ps == FOREVER_PS:
            for runtime, entries in zip(self._runtimes, self._component.ledger, strict=True):
                runtime.entries = entries
            for number, found in self._component.list_reports():
                self._recorder.note_report(self._runtimes[number].path, found)
        if self._is_noted:
            self._note_and_check(arrivals)
        return True

    def _note_and_check(self, arrivals: Sequence[Batch]) -> None:
        """Note what came from outside and, at the end, check what each node did."""
        for (number, _), batch in zip(self._outer, arrivals, strict=True):
            self._conduct[number].arrivals.append(batch)
        if self._is_checked and self._horizon_ps == FOREVER_PS:
            for runtime, conduct in zip(self._runtimes, self._conduct, strict=True):
                conduct.check(runtime.path, runtime.lookahead_ps, self._indices)

    def _note_items(self, outlet: Outlet, batch: Batch) -> None:
        """Note what a node did with items, for the check at the end."""
        conduct = self._conduct[outlet.element]
        if outlet.what in (LEAVES, SEEN):
            conduct.departures[outlet.number].append(copy_times(batch))
        if outlet.what == SEEN:
            receiver = self._receiver[outlet.element, outlet.number]
            self._conduct[receiver].arrivals.append(batch)
        elif outlet.what == MAKES:
            conduct.made.append(batch)
        elif outlet.what == CONSUMES:
            conduct.consumed.append(batch)
        elif outlet.what == LOSES:
            conduct.losses.append(Loss("", batch))

    def _is_only_counted(self, outlet: Outlet) -> bool:
        """Return whether nothing else is asked of what goes out by an outlet."""
        runtime = self._runtimes[outlet.element]
        if outlet.what == LEAVES:
            return isinstance(runtime.sinks[outlet.number], End) and not runtime.is_seen
        return outlet.what == MAKES or (outlet.what == SEEN and runtime.is_only_sent)

    def _settle(self, outlet: Outlet, totals: Whole) -> None:
        """Account for items that were counted at an outlet, given (kinds, 2) items and bytes."""
        if outlet.what == MAKES:
            self._budget.spend(self._runtimes[outlet.element].path, int(totals[:, ITEMS].sum()))
        elif outlet.what == LEAVES:
            self._recorder.settle(totals)

    def _deliver(self, number: int, batch: Batch) -> None:
        """Take what goes out by an outlet to where it belongs."""
        what, element, port = self._component.outlets[number]
        runtime = self._runtimes[element]
        if self._is_noted:
            self._note_items(self._component.outlets[number], batch)
        if what == LEAVES:
            if runtime.is_seen:
                runtime.see(port, batch)
            sink = runtime.sinks[port]
            if isinstance(sink, Link):
                self._later.setdefault(number, []).append(batch)
            else:
                sink.put(batch, FOREVER_PS)
        elif what == SEEN:
            runtime.see(port, batch)
        elif what == LOSES:
            queue, cause = self._transitions[element].losses[port]
            self._recorder.count_lost(runtime.path, Loss(cause, batch, queue))
        elif what == MAKES:
            self._budget.spend(runtime.path, batch.count)
            self._recorder.count_made(batch)
        elif what == CONSUMES:
            self._recorder.count_consumed(batch)
        else:
            self._report(number, batch)

    def _report(self, number: int, batch: Batch) -> None:
        """Take what a node reports: what has waited, or samples."""
        what, element, port = self._component.outlets[number]
        transition, path = self._transitions[element], self._runtimes[element].path
        if what == WAITS:
            queue = transition.queues[port]
            self._recorder.occupancies.record_report(path, queue, batch.at_ps, batch.sent_ps)
        elif what == TELLS:
            self._recorder.samples.add(transition.quantities[port], batch)

    def _send_on(self) -> None:
        """Put what has left on the links that lead out, as far as nothing earlier can follow."""
        for number, (what, element, port) in enumerate(self._component.outlets):
            runtime = self._runtimes[element]
            sink = runtime.sinks[port] if what == LEAVES else None
            if not isinstance(sink, Link):
                continue
            until_ps = min(self._horizon_ps + runtime.lookahead_ps, FOREVER_PS)
            left = join_batches(*self._later.pop(number, ()))
            if left.count and int(left.at_ps[0]) < sink.until_ps:
                raise BrokenPromiseError(runtime.path, "sent an item below its watermark")
            count = int(left.at_ps.searchsorted(until_ps))
            sink.put(left.select_range(0, count), until_ps)
            if count < left.count:
                self._later[number] = [left.select_range(count, left.count)]


def _order_of_work(runtimes: Sequence[NodeRuntime], members: Sequence[Member]) -> list[int]:
    """Return the numbers of nodes, each before those that it feeds without delay."""
    onward: list[list[int]] = [[] for _ in members]
    for number, member in enumerate(members):
        for origins in member.inputs:
            for origin in origins:
                if origin is not None and not runtimes[origin[0]].lookahead_ps:
                    onward[origin[0]].append(number)
    return [number for (number,) in find_components(onward)]
