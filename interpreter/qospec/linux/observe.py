"""From what was seen on a kernel to an observation, by the recorder of the emulation.

A packet that was last seen behind one element, and never behind the next, was lost there.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from qospec.engine.arrays import np
from qospec.engine.element import Loss
from qospec.engine.items.batch import join_batches
from qospec.engine.items.totals import CAME, LEFT, LOST
from qospec.engine.measure.observation import Recorder
from qospec.linux.causes import find_overflows
from qospec.linux.disciplines import DSCP_MASK
from qospec.linux.traffic import PS_PER_NS
from qospec.protocol.marks import CONGESTION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.engine.arrays import Truths, Whole
    from qospec.engine.experiment import Experiment, Node
    from qospec.engine.items.batch import Batch
    from qospec.engine.measure.observation import Observation
    from qospec.linux.layout import Layout, Step, Way
    from qospec.linux.traffic import Planned, Sightings


CE = 0b11
"""The bits of ECN in the octet with the DSCP, all set (RFC 3168, 5)."""


def observe(
    experiment: Experiment, layout: Layout, planned: Planned, seen: Sightings
) -> Observation:
    """Return what a recorder observes of a trial, told what was seen."""
    recorder = Recorder(experiment)
    overflows = _list_overflows(experiment, layout, planned, seen)
    story = _Story(experiment, layout, seen, overflows, recorder)
    for source, batch, first in zip(
        experiment.sources, planned.batches, planned.first, strict=True
    ):
        if not batch.count:
            continue
        recorder.count_planned(batch, alone=source.connections == 1)
        numbers = np.arange(first, first + batch.count)
        stamped = story.note_sent(source.node, batch, numbers)
        for way in layout.ways:
            mine = (batch.connection >= way.first) & (batch.connection < way.stop)
            if mine.any():
                story.follow(way, stamped.select(mine), numbers[mine])
    return story.report(drawn=planned.drawn)


def _list_overflows(
    experiment: Experiment, layout: Layout, planned: Planned, seen: Sightings
) -> dict[int, Truths]:
    """Return by node that drops at its head, (packets,) which found no room there."""
    connection = np.concatenate([batch.connection for batch in planned.batches])
    found = {}
    for number, begun in layout.begun.items():
        came_ns = np.full(planned.packets, -1, np.int64)
        for way in layout.ways:
            mine = (connection >= way.first) & (connection < way.stop)
            for before, after in itertools.pairwise(way.steps):
                if after.node == number:
                    came_ns[mine] = seen.at_ns[layout.far[before.node]][mine]
        (came,) = np.nonzero(came_ns >= 0)
        order = came[np.argsort(came_ns[came], kind="stable")]
        limit = experiment.nodes[number].element.limit.amount  # type: ignore[attr-defined]
        overflows = np.zeros(planned.packets, np.bool_)
        overflows[order] = find_overflows(came_ns[order], seen.at_ns[begun][order], limit)
        found[number] = overflows
    return found


class _Story:
    """Follows packets from one element to the next, and tells a recorder of them."""

    def __init__(
        self,
        experiment: Experiment,
        layout: Layout,
        seen: Sightings,
        overflows: Mapping[int, Truths],
        recorder: Recorder,
    ) -> None:
        self._experiment, self._layout, self._recorder = experiment, layout, recorder
        self._overflows = overflows
        self._seen, self._tos = seen.at_ns, seen.tos
        self._entries = {node.path: recorder.totals.allocate_entries() for node in experiment.nodes}
        self._arrived: dict[int, list[Batch]] = {}
        self._lost: list[tuple[str, Loss]] = []

    def note_sent(self, number: int, batch: Batch, packets: Whole) -> Batch:
        """Return packets as their source's line sends them, and count them as sent."""
        clock = self._experiment.nodes[number].clock
        if clock is None:
            return batch
        sent_ns = self._seen[self._layout.near[number]][packets]
        sent_ps = sent_ns * PS_PER_NS + clock.lead_ps
        stamped = batch.with_times(batch.at_ps, np.where(sent_ns < 0, batch.at_ps, sent_ps))
        self._recorder.count_sent(_sort(stamped, stamped.sent_ps))
        return stamped

    def follow(self, way: Way, batch: Batch, packets: Whole) -> None:
        """Follow packets to where they arrive, or are lost."""
        may_mark = False
        ahead_ps = np.zeros(batch.count, np.int64)
        for step in way.steps:
            self._pass(step.passed, batch)
            ahead_ps += self._find_travel_ps(step.node, batch)
            batch, packets, ahead_ps = self._serve(step, batch, packets, ahead_ps)
            may_mark |= "ecn" in self._experiment.nodes[step.node].element.marks_written
            self._verify_octets(step, packets, way, may_mark=may_mark)
        self._pass(way.ended, batch)
        if not batch.count:
            return
        octets = self._tos[self._layout.far[way.steps[-1].node]][packets]
        marked = np.where(octets & CE == CE, way.marks | CONGESTION, way.marks)
        batch = batch.with_marks(marked.astype(np.uint32))
        if way.end < 0:
            path = self._experiment.nodes[way.ended[-1]].path
            self._lost.append((path, Loss("discarded", batch)))
        else:
            self._arrived.setdefault(way.end, []).append(batch)

    def _pass(self, numbers: tuple[int, ...], batch: Batch) -> None:
        """Account for packets that pass elements which are filters alone."""
        for number in numbers:
            entry = self._entries[self._experiment.nodes[number].path]
            entry[CAME] += self._recorder.totals.count(batch)
            entry[LEFT] += self._recorder.totals.count(batch)

    def _find_travel_ps(self, number: int, batch: Batch) -> Whole | int:
        """Return how long packets travel along a line, if they do not on the kernel; else 0.

        That is the time of their frames: a line with a time of propagation is refused then.
        """
        clock = self._layout.travel.get(number)
        if clock is None or clock.encapsulation is None:
            return 0
        framed = clock.encapsulation
        around_bytes = framed.preamble_bytes + framed.header_bytes
        sizes = batch.size_bytes.astype(np.int64) + around_bytes
        times_ps: Whole = sizes * clock.byte_time_ps.numerator // clock.byte_time_ps.denominator
        return times_ps

    def _serve(
        self, step: Step, batch: Batch, packets: Whole, ahead_ps: Whole
    ) -> tuple[Batch, Whole, Whole]:
        """Return the packets that left an element, when they did; the others were lost there.

        Packets are seen too early by `ahead_ps`, which is returned of those that left.
        """
        node = self._experiment.nodes[step.node]
        far = self._layout.far[step.node]
        left_ns = self._seen[far][packets]
        gone = left_ns < 0
        left, lost = batch.select(~gone), batch.select(gone)
        entry, totals = self._entries[node.path], self._recorder.totals
        entry[CAME] += totals.count(batch)
        entry[LEFT] += totals.count(left)
        entry[LOST] += totals.count(lost)
        if lost.count and step.node in self._overflows:
            full = self._overflows[step.node][packets[gone]]
            for cause, which in (("overflow", full), ("early", ~full)):
                if which.any():
                    self._lost.append((node.path, Loss(cause, lost.select(which))))
        elif lost.count:
            element = node.queues[step.input].element if node.queues else ""
            self._lost.append((node.path, Loss(_find_cause(node), lost, element)))
        ahead_ps = ahead_ps[~gone]
        return left.with_times(left_ns[~gone] * PS_PER_NS + ahead_ps), packets[~gone], ahead_ps

    def _verify_octets(self, step: Step, packets: Whole, way: Way, *, may_mark: bool) -> None:
        """Raise ValueError if the octet with the DSCP is not what it must be behind an element."""
        octets = self._tos[self._layout.far[step.node]][packets]
        wrong = (octets ^ step.tos) & (DSCP_MASK if way.launched else 0xFF) != 0
        if may_mark and step.tos & CE:
            wrong &= octets != step.tos | CE
        if wrong.any():
            path = self._experiment.nodes[step.node].path
            raise ValueError(f"packets left `{path}` with another DSCP or ECN than they came with")

    def report(self, *, drawn: bool) -> Observation:
        """Return the observation."""
        for path, loss in self._lost:
            self._recorder.count_lost(
                path, loss._replace(batch=_sort(loss.batch, loss.batch.at_ps))
            )
        for end, batches in self._arrived.items():
            joined = join_batches(*batches)
            self._recorder.count_arrived(_sort(joined, joined.at_ps), end)
        return self._recorder.build_observation(self._entries, drawn=drawn)


def _sort(batch: Batch, times_ps: Whole) -> Batch:
    """Return packets in order of some of their times, which are then those at this point."""
    order = np.argsort(times_ps, kind="stable")
    return batch.select(order).with_times(times_ps[order])


def _find_cause(node: Node) -> str:
    """Return why an element loses packets: a kernel has one cause for each."""
    causes: tuple[str, ...] = ("overflow",) if node.queues else node.element.discards_for
    if not causes:
        raise ValueError(f"`{node.path}` lost packets on the kernel, and cannot lose any")
    return causes[0]
