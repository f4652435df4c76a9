"""What a kernel is told to send, and what was seen there: the files `plan` and `seen` of a job.

The sources of a trial are those of the emulation: the same packets are ready at the same times, in
whole ns. The program that sends and sees them is `guest.c`, which has the same formats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.items.batch import build_batch
from qospec.engine.random import Draws
from qospec.engine.source.launched import Launched

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qospec.engine.arrays import Whole
    from qospec.engine.experiment import Experiment, Source
    from qospec.engine.items.batch import Batch
    from qospec.linux.layout import Way

HEAD = np.dtype([("packets", "<u8"), ("idle_ns", "<u8"), ("ports", "<u4"), ("watched", "<u4")])
PACKET = np.dtype(
    [
        *(("at_ns", "<u8"), ("connection", "<u4"), ("number", "<u4"), ("size", "<u2")),
        *(("port", "<u2"), ("tos", "u1"), ("unused", "u1", 3)),
    ]
)
SEEN = np.dtype(
    [
        *(("at_ns", "<i8"), ("connection", "<u4"), ("number", "<u4"), ("size", "<u2")),
        *(("point", "<u2"), ("tos", "u1"), ("unused", "u1", 3)),
    ]
)
NAME_BYTES = 16
"""Of an interface, with the 0 behind its name."""
PS_PER_NS = 1_000


class Planned(NamedTuple):
    """What a trial sends.

    Attributes:
        batches: By source, what it has ready; times are exact.
        first: By source, the number of its first packet.
        drawn: Whether anything was drawn at random.
    """

    batches: tuple[Batch, ...]
    first: tuple[int, ...]
    drawn: bool

    @property
    def packets(self) -> int:
        """Return how many packets there are."""
        return sum(batch.count for batch in self.batches)


def plan_packets(experiment: Experiment) -> Planned:
    """Return all packets that the sources of a trial have ready until they stop."""
    draws = Draws(experiment.seed)
    stop_ps = experiment.measurement.stop_ps
    batches = tuple(_plan_source(source, draws, stop_ps) for source in experiment.sources)
    counts = [0, *(batch.count for batch in batches)]
    first = tuple(int(number) for number in np.cumsum(counts)[:-1])
    return Planned(batches, first, bool(draws.opened))


def _plan_source(source: Source, draws: Draws, stop_ps: int) -> Batch:
    if isinstance(source.arrivals, Launched):
        none = np.empty(0, np.int64)
        narrow = none.astype(np.int32)
        return build_batch(
            at_ps=none,
            sent_ps=none.copy(),
            connection=narrow,
            size_bytes=narrow.copy(),
            marks=none.astype(np.uint32),
        )
    below = draws.derive("flow", source.name)
    state = source.arrivals.start(source.connections, source.phases, below)
    sizes = source.sizes.start(source.connections, below)
    at_ps, connection = source.arrivals.emit(state, stop_ps)
    size_bytes = sizes.take_next(connection)
    return build_batch(
        at_ps=at_ps,
        sent_ps=at_ps.copy(),
        connection=connection + np.int32(source.first),
        size_bytes=size_bytes,
        marks=np.full(len(at_ps), source.marks, np.uint32),
    )


def write_plan(
    planned: Planned, ways: Sequence[Way], watched: Sequence[str], idle_ns: int
) -> bytes:
    """Return the file `plan` of a job: what to send by which interfaces, and which to watch."""
    ports = sorted({way.port for way in ways})
    packets = np.zeros(planned.packets, PACKET)
    for first, batch in zip(planned.first, planned.batches, strict=True):
        part = packets[first : first + batch.count]
        part["at_ns"] = batch.at_ps // PS_PER_NS
        part["connection"], part["size"] = batch.connection, batch.size_bytes
        for way in ways:
            mine = (batch.connection >= way.first) & (batch.connection < way.stop)
            part["port"][mine], part["tos"][mine] = ports.index(way.port), way.tos
    packets["number"] = np.arange(len(packets))
    packets = packets[np.argsort(packets["at_ns"], kind="stable")]
    head = np.array((len(packets), idle_ns, len(ports), len(watched)), HEAD)
    names = b"".join(name.encode().ljust(NAME_BYTES, b"\0") for name in (*ports, *watched))
    return head.tobytes() + names + packets.tobytes()


class Sightings(NamedTuple):
    """When packets were seen.

    Attributes:
        at_ns: By watched interface, (packets,) when a packet was first seen there; -1: never.
        tos: Likewise, the octet of the IP header with the DSCP that it had; 0 if never.
    """

    at_ns: Mapping[str, Whole]
    tos: Mapping[str, Whole]


def read_seen(written: bytes, planned: Planned, watched: Sequence[str], sizes: Whole) -> Sightings:
    """Return what the file `seen` says.

    Raises:
        ValueError: A packet was seen that was never sent, or twice at one place.
    """
    seen = np.frombuffer(written, SEEN)
    if len(seen) and (
        int(seen["number"].max()) >= planned.packets
        or (sizes[seen["number"]] != seen["size"]).any()
    ):
        raise ValueError("the kernel delivered a packet that was not sent")
    at_ns, tos = {}, {}
    for point, name in enumerate(watched):
        mine = seen[seen["point"] == point]
        times = np.full(planned.packets, -1, np.int64)
        times[mine["number"]] = mine["at_ns"]
        if np.count_nonzero(times >= 0) != len(mine):
            raise ValueError(f"a packet passed the interface {name} twice")
        octets = np.zeros(planned.packets, np.int64)
        octets[mine["number"]] = mine["tos"]
        at_ns[name], tos[name] = times, octets
    return Sightings(at_ns, tos)
