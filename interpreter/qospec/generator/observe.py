"""From the counters of a traffic generator to an observation.

A generator counts at its ports, so a loss has no place but that between them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.backend import BackendError
from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.items import delay_row
from qospec.engine.measure import delays
from qospec.engine.measure.bytes import Volumes
from qospec.engine.measure.latency import Latencies, compute_transmission_ps
from qospec.engine.measure.observation import Observation
from qospec.engine.measure.tally import UNKNOWN_CAUSE, Delays
from qospec.generator.configuration import CUT_THROUGH, list_streams

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.engine.arrays import Whole
    from qospec.engine.experiment import Experiment
    from qospec.engine.measure.tally import Tally
    from qospec.generator.configuration import Stream
    from qospec.generator.counters import Counters, Latency
    from qospec.model.suite import Case, Flow

PLACE = "between the ports"
"""Where packets are lost, as far as a generator tells."""
UNKNOWN_PS = -1
"""The largest delay of a connection of which packets arrived, and no delays are known."""


class Counted(Observation):
    """An observation of counters alone: of delays it has the least, the mean and the greatest."""

    __slots__ = ()

    def pool(self, first: int, stop: int, group: int = 1) -> Tally:
        """Return the counts of connection indices, as of `Observation`, without what is unknown."""
        tally = super().pool(first, stop, group)
        rows = self.delays[first:stop]
        arrived = rows[rows[:, delay_row.COUNT] > 0]
        known = bool(len(arrived)) and not (arrived[:, delay_row.LARGEST] == UNKNOWN_PS).any()
        seen = replace(tally.delays, sum_of_squares_ps2=None, buckets=()) if known else Delays()
        latencies = (
            None if self.latencies is None else self.latencies.pool(slice(first, stop), seen)
        )
        recorded = {"histogram"} if known else set()
        if known and latencies is not None:
            recorded.add("latencies")
        return replace(
            tally, delays=seen, latencies=latencies if known else None, recorded=frozenset(recorded)
        )


class Trial(NamedTuple):
    """A trial of a case: its experiment, and of each flow which sort of latency was measured."""

    case: Case
    experiment: Experiment
    modes: Mapping[str, str]


def observe(trial: Trial, counted: Mapping[str, Counters]) -> Observation:
    """Return what the counters of the flows of the model say of a trial, by the names of these.

    Raises:
        BackendError: What they say cannot be, or is not of this trial.
    """
    experiment, indices = trial.experiment, trial.experiment.streams.indices
    sent, received = np.zeros(indices, np.int64), np.zeros(indices, np.int64)
    rows, volumes = delays.create_rows(np.full(indices, -1, np.int64)), Volumes(experiment)
    for index, flow, stream in _list_indices(trial):
        its = counted[stream.name]
        if its.received > its.sent:
            raise BackendError(
                f"of the flow `{stream.name}` {its.received:_} frames arrived, and {its.sent:_}"
                " were sent: a device doubles them, or another sends, too"
            )
        sent[index], received[index] = its.sent, its.received
        _note_bytes(flow, stream, its, (volumes.sent_bytes[index], volumes.carried_bytes[index]))
        if its.received:
            shift_ps = _compute_shift_ps(trial, flow, stream)
            _fill_row(rows[index], its, shift_ps)
    lost = sent - received
    measurement = experiment.measurement
    sizes = np.ones(indices, np.int64)
    for source in experiment.sources:
        sizes[source.indices] = int(source.sizes.compute_mean(lambda size: size))
    return Counted(
        planned=sent,
        sent=sent,
        carried=received,
        delays=rows,
        histogram=np.zeros((0, 0), np.int64),
        first_bucket=0,
        losses={(PLACE, UNKNOWN_CAUSE): lost} if lost.any() else {},
        one_point_variation_ps=None,
        size_bytes=sizes,
        window_ps=measurement.stop_ps - measurement.start_ps,
        consumed=np.zeros(indices, np.int64),
        volumes=volumes,
        measurement=measurement,
        latencies=Latencies(experiment, np.full(indices, -1, np.int64)),
        is_modelled=False,
    )


def _list_indices(trial: Trial) -> list[tuple[int, Flow, Stream]]:
    """Return the connection index of each flow of the model, that of the first if it is several."""
    firsts: dict[int, list[int]] = {}
    for its in trial.experiment.streams:
        if its.kind == "user" and its.flow >= 0:
            firsts.setdefault(its.flow, []).append(its.first)
    return [
        (firsts[number][stream.member] + stream.number, flow, stream)
        for number, flow in enumerate(trial.case.flows)
        for stream in list_streams(flow)
    ]


def _note_bytes(flow: Flow, stream: Stream, its: Counters, rows: tuple[Whole, Whole]) -> None:
    """Write how many bytes of packets and frames were sent, and arrived, into both rows.

    They follow from the number of frames of one size; of a mix the generator must tell.
    """
    framed, sizes = flow.packets.encapsulation, flow.packets.sizes.size_bytes
    ends = (("bytes_tx", its.sent, its.sent_bytes), ("bytes_rx", its.received, its.received_bytes))
    for row, (field, frames, told) in zip(rows, ends, strict=True):
        if len(set(sizes)) == 1:
            row[:] = frames * sizes[0], frames * framed.count_frame_bytes(sizes[0])
        elif told is None:
            raise BackendError(
                f"the generator does not tell `{field}` of the flow `{stream.name}`, whose frames"
                " have several sizes: send frames of one size"
            )
        elif not frames * min(sizes) <= told <= frames * framed.count_frame_bytes(max(sizes)):
            raise BackendError(
                f"the generator tells `{field}` = {told:_} of {frames:_} frames of the flow"
                f" `{stream.name}`: no such number has their sizes"
            )
        else:
            row[:] = told - frames * framed.header_bytes, told


def _compute_shift_ps(trial: Trial, flow: Flow, stream: Stream) -> int | None:
    """Return what a transfer delay has more than the latency that was measured; None for a mix.

    That ends with the first bit that arrives, so the time of the frame on the last link is added;
    and that on the first, if it begins with the last bit that was sent.
    """
    sizes, mode = set(flow.packets.sizes.size_bytes), trial.modes.get(flow.name)
    if len(sizes) > 1 or mode is None:
        return None
    (size_bytes,) = sizes
    target, origin = flow.targets[stream.member], flow.origins[stream.member]
    shift_ps = _compute_frame_ps(trial, flow, target, size_bytes)
    return shift_ps + (
        0 if mode == CUT_THROUGH else _compute_frame_ps(trial, flow, origin, size_bytes)
    )


def _compute_frame_ps(trial: Trial, flow: Flow, host: str, size_bytes: int) -> int:
    """Return the time from the first bit of a frame to its last, on the link of a host."""
    network = trial.case.networks[""]
    line = network.elements[network.hosts[network.find_host(host)].line].element
    clock = line.build_clock(stamps=False)
    tagged = flow.packets.encapsulation.vlan_tags > 0
    return compute_transmission_ps(clock.with_tag_settled(tagged=tagged), size_bytes)


def _fill_row(row: Whole, its: Counters, shift_ps: int | None) -> None:
    """Write the delays of packets that arrived, at least one, into a row."""
    row[delay_row.COUNT] = its.received
    if its.latency is None or shift_ps is None:
        return
    latency: Latency = its.latency
    if latency.least_ps + shift_ps < 0:
        raise BackendError("the generator tells of a latency that is below 0 by more than a frame")
    row[delay_row.LEAST] = latency.least_ps + shift_ps
    row[delay_row.LARGEST] = latency.most_ps + shift_ps
    together_ps = round((latency.mean_ps + shift_ps) * its.received)
    row[delay_row.SUM_LOW] = together_ps & delay_row.LOW_31
    row[delay_row.SUM_HIGH] = together_ps >> delay_row.SUM_BITS
