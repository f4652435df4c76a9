"""Observation of a trial: `Recorder` counts items as they pass, `Observation` is the result.

A cell belongs to the population by the time that the line of its source sent it, wherever it is
counted. Each count tests whether that lies in the window, once for a batch that is wholly inside.
"""

from __future__ import annotations

import weakref
from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.event.counting import Counters
from qospec.engine.event.transition import Standstill
from qospec.engine.items import delay_row
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.items.totals import CAME, ITEMS, LEFT, LOST, Totals
from qospec.engine.measure import cell_delay_variation, delays
from qospec.engine.measure.bytes import Volumes
from qospec.engine.measure.calls import Calls
from qospec.engine.measure.frames import ENDED, Frames
from qospec.engine.measure.latency import Latencies
from qospec.engine.measure.ledger import (
    Discipline,
    Ledger,
    build_ledger,
    list_sums,
    sum_counts,
)
from qospec.engine.measure.occupancy import Occupancies
from qospec.engine.measure.outages import OutageRecorder
from qospec.engine.measure.passages import Passages
from qospec.engine.measure.positions import Positions
from qospec.engine.measure.readings import Readings
from qospec.engine.measure.samples import Samples
from qospec.engine.measure.series import Series
from qospec.engine.measure.tally import Tally
from qospec.engine.measure.variation import Variations
from qospec.protocol.atm import CELL_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from qospec.catalogue.machine import Counts
    from qospec.engine.arrays import Indices, Times, Truths, Whole
    from qospec.engine.element import Loss
    from qospec.engine.experiment import Experiment, MeasurementSpec, Node, Tap
    from qospec.engine.items.batch import Batch
    from qospec.engine.measure.observer import Observer
    from qospec.engine.measure.occupancy import Occupancy
    from qospec.engine.measure.payloads import Payloads
    from qospec.engine.source.launched import ProgramRun


class Observation(NamedTuple):
    """All counts of one trial; arrays are by connection index.

    Attributes:
        planned: (n,) Cells that were ready in the window.
        sent: (n,) Cells whose first bit left the source's line in the window; inserted cells, too.
        carried: (n,) Cells that arrived in the window, whenever they were sent.
        delays: (n, 8) Delays of those of `sent` that arrived; see `engine.measure.delays`.
        histogram: (rows, buckets) Counts of delays.
        first_bucket: The bucket of the first column of the histogram.
        losses: By (element's path, cause): (n,) the cells of `sent` lost there.
        one_point_variation_ps: (VCs, 2) Largest and least 1-point CDV, if it was recorded.
        size_bytes: (n,) The size of the items; if sizes differ, the mean, rounded down.
        window_ps: Length of the window.
        consumed: (n,) Those of `sent` that ended at an element, neither lost nor delivered.
        ledger: What became of all items of the whole trial, including warmup.
        volumes: The bytes of `sent` and `carried`; None for cells.
        measurement: The specification of what was recorded.
        latencies: The latencies that statements use; None if none were recorded.
        frames: The frames of cells; None if no source has any.
        positions: Delays by place in a frame, and as the tester reads them.
        readings: Likewise, the delays as the tester reads them.
        variations: Likewise, the variation of times from packet to packet.
        occupancies: By path, the occupancy of the queues that statements use.
        busy_ps: By path, how long the elements were busy whose utilisation statements use.
        series: The counts by interval.
        passages: What passed the places inside that statements use.
        outages: The times without arrivals that statements use; None if none were recorded.
        calls: The calls that statements use; None if none were recorded.
        payloads: What was seen of bytes; None if none were made.
        marked: By marks, (n,) those of `sent` that arrived with them; None if marks were not read.
        samples: What endpoints tell of connections; None if none was recorded.
        machines: By path, what was observed of each machine.
        standing: By path, how many items waited in each queue that stood still at the end.
        drawn: Whether anything was drawn at random; if not, the trial is the same at any seed.
        disciplines: By path of an element, those of the kernel that carried the trial out.
        precision_ps: How far off a time may be; 0 if all are exact.
        is_modelled: Whether the elements of the experiment took part, so that what is proved of
            them holds; if not, a real device was between the ends.
        programs: What came of programs that a kernel has run.
    """

    planned: Whole
    sent: Whole
    carried: Whole
    delays: Whole
    histogram: Whole
    first_bucket: int
    losses: dict[tuple[str, str], Whole]
    one_point_variation_ps: Whole | None
    size_bytes: Whole
    window_ps: int
    consumed: Whole
    ledger: Ledger = Ledger()
    volumes: Volumes | None = None
    measurement: MeasurementSpec | None = None
    latencies: Latencies | None = None
    frames: Frames | None = None
    positions: tuple[Positions, Positions] | None = None
    readings: Readings | None = None
    variations: Variations | None = None
    occupancies: dict[str, Occupancy] = {}  # noqa: RUF012
    busy_ps: dict[str, int] = {}  # noqa: RUF012
    series: Series | None = None
    passages: Passages | None = None
    outages: OutageRecorder | None = None
    calls: Calls | None = None
    payloads: Payloads | None = None
    marked: Mapping[int, Whole] | None = None
    samples: Samples | None = None
    machines: dict[str, Counts] = {}  # noqa: RUF012
    standing: dict[str, int] = {}  # noqa: RUF012
    drawn: bool = True
    disciplines: dict[str, tuple[Discipline, ...]] = {}  # noqa: RUF012
    precision_ps: int = 0
    is_modelled: bool = True
    programs: tuple[ProgramRun, ...] = ()

    @property
    def cell_hops(self) -> int:
        """Return cells times elements: the work of the trial."""
        accounts = self.ledger.accounts.items()
        return sum(account.came for key, account in accounts if key.unit == "items")

    @property
    def received(self) -> Whole:
        """Return (n,) the number of cells sent that have arrived."""
        return self.delays[:, delay_row.COUNT]

    def pool(self, first: int, stop: int, group: int = 1) -> Tally:
        """Return the counts of connection indices `first` up to `stop`, pooled.

        The shares of its members, of `group` connections, are those of `carried`.
        """
        part, volumes = slice(first, stop), self.volumes
        seen = delays.DelaySummary(self.delays, self.histogram, self.first_bucket).pool(part)
        carried, received, sent = self.carried[part], self.received[part], self.sent[part]
        shares = tuple(list_sums(carried, group))
        largest_ps, least_ps = cell_delay_variation.pool(
            self.one_point_variation_ps, self.received, part
        )
        gone = {name: counts[part] for name, counts in sorted(self.losses.items())}
        lost = {name: sum_counts(counts) for name, counts in gone.items()}
        ends = (
            list_sums(counts, group) for counts in (sent, sum(gone.values(), np.zeros_like(sent)))
        )
        return Tally(
            connections=stop - first,
            up=int(np.count_nonzero(received)),
            planned=sum_counts(self.planned[part]),
            sent=sum_counts(sent),
            received=sum_counts(received),
            carried=sum_counts(carried),
            lost={name: cells for name, cells in lost.items() if cells},
            consumed=sum_counts(self.consumed[part]),
            size_bytes=int(self.size_bytes[first]) if stop > first else CELL_BYTES,
            window_ps=self.window_ps,
            delays=seen,
            volume=None if volumes is None else volumes.sum_carried(self.carried, part),
            sent_volume=None if volumes is None else volumes.sum_sent(self.sent, part),
            one_point_variation_max_ps=largest_ps,
            one_point_variation_min_ps=least_ps,
            recorded=self._list_recorded(first, stop, shares),
            latencies=None if self.latencies is None else self.latencies.pool(part, seen),
            positions=self.positions and self.positions[0].pool(first, stop),
            position_readings=self.positions and self.positions[1].pool(first, stop),
            frames=None if self.frames is None else self.frames.pool(part),
            readings=None if self.readings is None else self.readings.pool(part),
            variation=None if self.variations is None else self.variations.pool(first, stop),
            shares=shares,
            fates=tuple(zip(*ends, strict=True)),
            outages=None if self.outages is None else self.outages.pool(first, stop),
            calls=None if self.calls is None else self.calls.list_calls(first, stop),
            errored=self.payloads and self.payloads.count_errored(part),
            keys=self.payloads and self.payloads.count_keys(part),
            marked=None
            if self.marked is None
            else {marks: int(counts[part].sum()) for marks, counts in self.marked.items()},
            samples=None if self.samples is None else self.samples.pool(first, stop),
        )

    def _list_recorded(self, first: int, stop: int, shares: tuple[int, ...]) -> frozenset[str]:
        """Return what was recorded of some connections, as named in `Metric.needs`."""
        always = frozenset({"histogram", "shares"} if len(shares) > 1 else {"histogram"})
        if self.frames is None or not self.frames.follows(first):
            always |= {"planned"}
        if self.measurement is None:
            return always
        return always | self.measurement.list_recorded(first, stop)


class Recorder:
    """Counts cells as they pass.

    Attributes:
        totals: The totals of its batches.
        occupancies: The recorder of what waits in queues.
        passages: The recorder of what passes places inside.
        samples: The recorder of what endpoints tell.
    """

    def __init__(self, experiment: Experiment, observer: Observer | None = None) -> None:
        streams, self._measurement = experiment.streams, experiment.measurement
        self._observer = observer
        self._contracts, self._streams = experiment.contracts, streams
        indices = streams.indices
        self._counts_when_made = np.zeros(indices, np.bool_)
        for stream in streams:
            self._counts_when_made[stream.first : stream.stop] = not stream.is_sent
        rows = np.full(indices, -1, np.int64)
        rows[: len(self._measurement.histogram_row)] = self._measurement.histogram_row
        self._planned = np.zeros(indices, np.int64)
        self._counted: tuple[Callable[[], Indices | None], Whole] = lambda: None, self._planned
        self._sent = np.zeros(indices, np.int64)
        self._carried_minus_received = np.zeros(indices, np.int64)
        self._delays = delays.create_rows(rows)
        self._histogram = delays.Histogram(int(rows.max(initial=-1)) + 1)
        self._losses: dict[tuple[str, str], Whole] = {}
        self._consumed = np.zeros(indices, np.int64)
        self.totals = Totals(streams)
        self._network = self.totals.allocate_entries()
        self._ended: Counter[tuple[str, str]] = Counter()
        self._has_one_point_variation = bool(self._measurement.list_ranges("one_point_variation"))
        self._one_point_variation: dict[int, Whole] = {}
        self._size_bytes = np.full(indices, CELL_BYTES, np.int64)
        self._volumes = Volumes(experiment)
        self._latencies = Latencies(experiment, rows)
        self._readings = Readings(experiment, rows)
        self._positions, self._read_positions = Positions(experiment), Positions(experiment)
        self._frames = Frames(experiment)
        self._variations = Variations(experiment, rows)
        self.samples = Samples(self._measurement, indices, rows)
        self._series = Series(self._measurement, self._volumes.framing, self.samples)
        self.occupancies = Occupancies(self._measurement)
        self.passages = Passages(experiment)
        self._outages = OutageRecorder(experiment)
        self._calls = Calls(experiment)
        self._reads_marks = bool(self._measurement.list_ranges("marks"))
        self._marked: dict[int, Whole] = {}
        self._indices = indices
        self._reported: dict[str, Counts | Standstill] = {}
        for source in experiment.sources:
            mean = source.sizes.compute_mean(lambda size: size)
            self._size_bytes[source.indices] = int(mean)

    @property
    def counters(self) -> Counters | None:
        """Return what an event loop may count by itself; None if items are looked at for more."""
        others = (
            *(self._frames, self._variations, self._calls, self._series),
            *(self._latencies, self._positions, self._readings, self._outages),
        )
        is_looked_at = self._observer is not None or self._reads_marks
        is_looked_at = is_looked_at or self._has_one_point_variation or self._frames.planned
        if is_looked_at or any(other.needed for other in others):
            return None
        measurement, volumes = self._measurement, self._volumes
        return Counters(
            measurement.start_ps,
            measurement.stop_ps,
            FOREVER_PS if measurement.drains else measurement.stop_ps,
            self._streams.count,
            self._counts_when_made,
            self._planned,
            self._sent,
            self._carried_minus_received,
            volumes.framing,
            volumes.sent_bytes,
            volumes.carried_bytes,
            self._delays,
            self._histogram.counts,
        )

    def settle(self, totals: Whole) -> None:
        """Account for items that arrived and were counted, given (kinds, 2) items and bytes."""
        self._network[LEFT] += totals
        self._histogram.normalise(int(totals[:, ITEMS].sum()), self._delays)

    def count_planned(self, batch: Batch, *, alone: bool = False) -> None:
        """Count cells, at least one, that a source has ready; if `alone`, all of one connection."""
        self._network[CAME] += self.totals.count(batch)
        if self._frames.planned:
            frames = self._select_window(self._frames.find_emitted(batch))
            delays.count(frames.connection.view(np.uint32), self._planned, 1)
        if alone:
            first, last = batch.at_ps.searchsorted(
                (self._measurement.start_ps, self._measurement.stop_ps)
            )
            self._planned[batch.connection[0]] += last - first
            return
        self._count(batch.connection, batch.at_ps, self._planned, latest_ps=batch.at_ps[-1])

    def count_sent(self, batch: Batch) -> None:
        """Count cells, at least one, that leave the line of their source."""
        if self._observer is not None:
            self._observer.note_start(batch)
        if self._frames.needed:
            frames = self._select_window(self._frames.find_sent(batch))
            delays.count(frames.connection.view(np.uint32), self._sent, 1)
            if self._series.needed:
                self._series.count_sent(frames.connection, frames.sent_ps)
        if self._volumes.needed:
            inside = self._select_within(batch, batch.sent_ps)
            self._volumes.add_sent(inside.connection, inside.size_bytes, self._sent)
        else:
            self._count(batch.connection, batch.sent_ps, self._sent, latest_ps=batch.at_ps[-1])
        if self._variations.needed:
            self._variations.record_sent(self._select_within(batch, batch.sent_ps))
        if self._calls.needed:
            self._calls.record_sent(self._select_within(batch, batch.sent_ps))
        if self._series.needed:
            self._series.count_sent(batch.connection, batch.sent_ps)

    def count_made(self, batch: Batch) -> None:
        """Count items, at least one, that an element made.

        Inserted cells are sent, exchanges that begin, and messages of machines; what else endpoints
        make is planned, and a line sends it.
        """
        connection = batch.connection
        own, counts = connection < self._streams.count, self._counts_when_made[connection]
        self._count(connection[own], batch.at_ps[own], self._planned)
        if self._observer is not None:
            self._observer.note_start(batch.select(~own))
        begun, sent_ps = connection[counts], batch.sent_ps[counts]
        self._count(begun, sent_ps, self._sent)
        if self._series.needed:
            self._series.count_sent(begun, sent_ps)
        if self._variations.needed and (own & counts).any():
            ours = batch.select(own & counts)
            self._variations.record_sent(self._select_within(ours, ours.sent_ps))

    def count_consumed(self, batch: Batch) -> None:
        """Count items that ended at an element, neither lost nor delivered."""
        if self._observer is not None:
            self._observer.note_end(batch, "")
        self._count(batch.connection, batch.sent_ps, self._consumed)

    def count_arrived(self, batch: Batch, point: int) -> None:
        """Count cells, at least one, that reached the end numbered `point`, and their delays."""
        if self._observer is not None:
            self._observer.note_end(batch, "")
        self._network[LEFT] += self.totals.count(batch)
        self._record_items(batch, point)
        if self._frames.needed:
            frames = self._frames.find_arrived(batch, point)
            if frames.count:
                self._record_frames(frames, point)

    def _record_frames(self, frames: Batch, point: int) -> None:
        """Count frames, at least one, that arrived."""
        if not self._is_wholly_inside(frames.sent_ps, frames.at_ps[-1]):
            began, ended = self._covers(frames.sent_ps), self._covers(frames.more[:, ENDED])
            if self._frames.recorded:
                self._frames.record_latencies(frames.select(began & ended), point)
            # Those that the end of the window cuts are not of it.
            frames = frames.select(~(began & ~ended))
        elif self._frames.recorded:
            self._frames.record_latencies(frames, point)
        if frames.count:
            self._record_items(frames, point)

    def _record_items(self, batch: Batch, point: int) -> None:
        """Count items that arrived, and their delays."""
        window_ps = self._measurement.start_ps, self._measurement.stop_ps
        first, last = batch.at_ps.searchsorted(window_ps).tolist()
        if self._series.needed:
            self._series.count_arrived(batch)
        if self._volumes.needed:
            inside = batch.select_range(first, last)
            self._volumes.add(inside.connection, inside.size_bytes, self._volumes.carried_bytes)
        if last == batch.count and self._is_wholly_inside(batch.sent_ps, batch.at_ps[-1]):
            self._record_delays(batch, point)
            return
        sent, arrived = self._covers(batch.sent_ps), np.zeros(batch.count, np.bool_)
        arrived[first:last] = True
        delays.count(
            batch.connection[arrived & ~sent].view(np.uint32), self._carried_minus_received, 1
        )
        delays.count(
            batch.connection[sent & ~arrived].view(np.uint32), self._carried_minus_received, -1
        )
        # At the end of a trial the few outside are the last: those before them need no copy.
        first = int(sent.argmin()) if not sent.all() else batch.count
        self._record_delays(batch.select_range(0, first), point)
        self._record_delays(batch.select_range(first, batch.count).select(sent[first:]), point)

    def _select_window(self, frames: Batch) -> Batch:
        """Return the frames of which all cells are of the window, in order of their last ones."""
        if not frames.count or self._is_wholly_inside(frames.sent_ps, frames.at_ps[-1]):
            return frames
        return frames.select(self._covers(frames.sent_ps) & self._covers(frames.more[:, ENDED]))

    def _select_within(self, batch: Batch, time_ps: Times) -> Batch:
        """Return the items whose `time_ps` lies in the window."""
        inside = self._is_wholly_inside(time_ps, batch.at_ps[-1])
        return batch if inside else batch.select(self._covers(time_ps))

    def _record_delays(self, batch: Batch, point: int) -> None:
        """Record the delays of cells of the population."""
        self._histogram.add(batch.at_ps, batch.sent_ps, batch.connection, self._delays)
        if self._latencies.needed:
            self._latencies.add(batch)
        if self._positions.needed:
            self._positions.add(batch, batch.at_ps, batch.sent_ps)
        if self._readings.needed:
            self._readings.add(batch)
            if self._read_positions.needed:
                self._read_positions.add(batch, *self._readings.read(batch))
        if self._variations.needed:
            self._record_variations(batch)
        if self._outages.needed:
            self._outages.record_arrived(batch, point)
        if self._calls.needed:
            self._calls.record_arrived(batch)
        if self._reads_marks:
            self._count_marks(batch)
        if self._has_one_point_variation:
            self._follow_variation(batch, point)

    def _record_variations(self, batch: Batch) -> None:
        """Record changes from packet to packet, also by interval."""
        changes_ps = np.full(batch.count * self._series.needed, -1, np.int64)
        self._variations.record_arrived(batch, changes_ps)
        if self._series.needed:
            self._series.count_changes(batch, changes_ps)

    def _count_marks(self, batch: Batch) -> None:
        for marks in np.unique(batch.marks).tolist():
            counts = self._marked.setdefault(marks, np.zeros(self._indices, np.int64))
            mine = batch.connection[batch.marks == np.uint32(marks)]
            delays.count(mine.view(np.uint32), counts, 1)

    def _follow_variation(self, batch: Batch, point: int) -> None:
        """Record the 1-point variation of cells at an end."""
        if point not in self._one_point_variation:
            self._one_point_variation[point] = cell_delay_variation.create_rows(self._contracts)
        cell_delay_variation.follow(
            batch.at_ps, batch.connection.view(np.uint32), self._one_point_variation[point]
        )

    def is_watched(self, node: Node) -> bool:
        """Return whether a statement uses what waits at a node, or what that tells of itself."""
        if node.element.signals and node.element.buffer is None:
            return node.path in self._measurement.machines
        is_told = node.element.makes and self.samples.needed
        return is_told or self.occupancies.is_recorded(node)

    def note_report(self, path: str, found: Counts | Standstill) -> None:
        """Note what an element reports at the end of the trial."""
        self._reported[path] = found

    def list_taps(self, node: int) -> tuple[Tap, ...]:
        """Return the places at outputs of a node at which an observer sees what passes."""
        taps = () if self._observer is None else self._observer.taps
        return tuple(tap for tap in taps if tap.node == node)

    def show(self, place: str, batch: Batch) -> None:
        """Show what passes a place to the observer that watches it."""
        assert self._observer is not None  # noqa: S101 -- see `list_taps`
        self._observer.note_passage(place, batch)

    def count_lost(self, path: str, loss: Loss) -> None:
        """Count cells that were lost in the element at `path`, or in the queue that it serves."""
        name = (loss.element or path, loss.cause)
        if self._observer is not None:
            self._observer.note_end(loss.batch, f"{name[0]} ({loss.cause})")
        self._ended[name] += loss.batch.count
        self._network[LOST] += self.totals.count(loss.batch)
        if name not in self._losses:
            self._losses[name] = np.zeros(self._streams.indices, np.int64)
        connection, sent_ps = loss.batch.connection, loss.batch.sent_ps
        self._count(connection, sent_ps, self._losses[name])
        if self._series.needed:
            self._series.count_lost(connection, sent_ps)
        if self._variations.needed:
            self._variations.record_lost(connection, sent_ps)
        if self._outages.needed:
            inside = self._covers(sent_ps)
            self._outages.record_lost(connection[inside], sent_ps[inside])

    def build_observation(
        self, entries: Mapping[str, Whole] = MappingProxyType({}), *, drawn: bool = True
    ) -> Observation:
        """Return the observation of the trial, given the entries of each node by its path."""
        self.samples.finish()
        _, histogram, first_bucket = self._histogram.build_summary(self._delays)
        for host, mine in self._frames.targets:
            lost = self._losses.setdefault((host, "incomplete"), np.zeros_like(self._sent))
            lost[mine] = self._sent[mine] - self._delays[mine, delay_row.COUNT]
            self._series.lose_absent(mine)
        points = self._one_point_variation.values() if self._has_one_point_variation else None
        return Observation(
            planned=self._planned,
            sent=self._sent,
            carried=self._delays[:, delay_row.COUNT] + self._carried_minus_received,
            delays=self._delays,
            histogram=histogram,
            first_bucket=first_bucket,
            losses={name: counts for name, counts in sorted(self._losses.items()) if counts.any()},
            one_point_variation_ps=cell_delay_variation.combine_rows(points, self._streams.count),
            size_bytes=self._size_bytes,
            window_ps=self._measurement.stop_ps - self._measurement.start_ps,
            consumed=self._consumed,
            ledger=build_ledger(self._network, self._streams.kinds, entries, self._ended),
            volumes=self._volumes if self._volumes.needed else None,
            measurement=self._measurement,
            latencies=self._latencies,
            positions=(self._positions, self._read_positions) if self._positions.needed else None,
            frames=self._frames if self._frames.needed else None,
            readings=self._readings if self._readings.needed else None,
            variations=self._variations,
            occupancies=self.occupancies.seen,
            busy_ps=self.occupancies.busy_ps,
            series=self._series,
            passages=self.passages,
            outages=self._outages if self._outages.needed else None,
            calls=self._calls if self._calls.needed else None,
            marked=self._marked if self._reads_marks else None,
            samples=self.samples if self.samples.needed else None,
            machines={
                path: counts
                for path, counts in self._reported.items()
                if not isinstance(counts, Standstill)
            },
            standing={
                path: found.waiting
                for path, found in self._reported.items()
                if isinstance(found, Standstill) and found.waiting
            },
            drawn=drawn,
        )

    def _count(
        self,
        connection: Indices,
        time_ps: Times,
        counts: Whole,
        *,
        latest_ps: int | None = None,
    ) -> None:
        if not len(time_ps):
            return
        if not self._is_wholly_inside(time_ps, time_ps.max() if latest_ps is None else latest_ps):
            connection = connection[self._covers(time_ps)]
        elif len(connection) > len(counts):
            counts += self._count_each(connection)
            return
        delays.count(connection.view(np.uint32), counts, 1)

    def _count_each(self, connection: Indices) -> Whole:
        """Return (indices,) how many items of each there are in a column.

        What is planned is often sent in the same order, with the same column: so it is counted
        once, in a twentieth of the time of W1.
        """
        if self._counted[0]() is not connection:
            counts = np.zeros(self._streams.indices, np.int64)
            delays.count(connection.view(np.uint32), counts, 1)
            self._counted = weakref.ref(connection), counts
        return self._counted[1]

    def _is_wholly_inside(self, time_ps: Times, latest_ps: int) -> bool:
        """Return whether all items sent then are of the population; none is after `latest_ps`."""
        measurement = self._measurement
        return bool(
            (measurement.drains or latest_ps < measurement.stop_ps)
            and (measurement.start_ps <= 0 or time_ps.min() >= measurement.start_ps)
        )

    def _covers(self, time_ps: Times) -> Truths:
        """Return which items sent then are of the population."""
        inside: Truths = time_ps >= self._measurement.start_ps
        if not self._measurement.drains:
            inside &= time_ps < self._measurement.stop_ps
        return inside
