"""Runs one trial of a record again, and writes what goes over a link of it."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from qospec.capture import cells, esp, packets, pcapng
from qospec.capture.adaptation import Frames
from qospec.capture.encryption import CellEncryption
from qospec.capture.error import CaptureError
from qospec.capture.sightings import Sightings
from qospec.engine.arrays import np
from qospec.engine.graph import emulation
from qospec.engine.security.seal import read_index
from qospec.payload.fill import Fill
from qospec.payload.flight import ARRIVED, PARTS
from qospec.payload.packets import describe_flows
from qospec.protocol.streams import INSERTED, KindName
from qospec.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qospec.capture.links import Link
    from qospec.capture.trials import Trial
    from qospec.engine.experiment import Experiment
    from qospec.model.suite import Flow
    from qospec.payload.flight import Items
    from qospec.protocol.aal import Adaptation

MOST_AT_ONCE = 16_384
"""Items whose bytes are made at a time, so that memory stays small."""
REFUSED: tuple[tuple[KindName, str, str], ...] = (
    (
        "copies",
        "copies of packets",
        "a link ahead of `duplicate`, or behind what refuses them",
    ),
    ("notices", "notices that packets are too large", "the other direction of it"),
)
"""Kinds of which no bytes are made, what they are called, and which link to take instead."""


class Writer:
    """Writes items as packets.

    Attributes:
        written: How many.
        encryption: What encrypts cells; None of packets.
        indices: Of the associations that have encrypted packets; 0 for those in the clear.
    """

    def __init__(
        self, file: BinaryIO, link: Link, trial: Trial, most: int | None, *, frames: bool = False
    ) -> None:
        """Begin a file with at most so many packets, None: with all; or with frames of cells.

        Raises:
            CaptureError: Frames are asked for, and packets go over the link.
        """
        experiment = trial.planned.experiment
        flows = trial.case.case.flows
        seed = (*experiment.seed, *trial.names)
        framed = None if link.node.clock is None else link.node.clock.encapsulation
        self.written = 0
        self.encryption: CellEncryption | None = None
        self.indices: set[int] = set()
        self._file, self._most = file, most
        self._experiment, self._link = experiment, link
        self._names = _name_connections(experiment)
        self._first = _find_first_of_each(experiment)
        fill = Fill.from_seed(seed)
        self._reassembly = cells.Reassembly() if frames else None
        if framed is not None and frames:
            raise CaptureError(f"packets go over `{link.name}`: `--frames` is for a link of cells")
        if framed is None:
            kind = cells.LINK
            frames_of = Frames.find(experiment, describe_flows(experiment, flows))
            self._addresses = _list_addresses(experiment, flows, frames_of.adaptation)
            self.encryption = CellEncryption(experiment, link.tap.node)
            self._bytes: Callable[[Items], list[bytes]] = partial(
                cells.build_cells,
                addresses=self._addresses,
                fill=fill,
                encryption=self.encryption,
                frames=frames_of,
            )
        else:
            kind = packets.link_type(framed)
            found = esp.find_associations(experiment, link.tap.node)
            self._bytes = partial(
                packets.build_frames,
                framed=framed,
                flows=describe_flows(experiment, flows),
                fill=fill,
                wrap=esp.make_wrap(found),
                cutting=packets.Cutting(
                    experiment.streams.list_indices("fragments"), esp.make_length_reader(found)
                ),
            )
        comment = f"case {trial.case.case.name}, {trial.words}, seed {experiment.seed[0]}"
        bit_rate = 0
        if link.node.clock is not None and kind.check_sequence_bytes:  # else its frames are longer
            bit_rate = int(link.node.clock.bit_rate)
        opening = pcapng.build_opening(kind, link.name, f"qospec {VERSION}", comment, bit_rate)
        file.write(opening)

    def take(self, items: Items, losses: Sequence[str]) -> None:
        """Write the next items; `losses` says by fate where they were lost."""
        if self._reassembly is None:
            items = items.select_range(0, min(self._count_room(), items.total))
        self._refuse_made(items)
        for start in range(0, items.total, MOST_AT_ONCE):
            part = items.select_range(start, min(start + MOST_AT_ONCE, items.total))
            records = self._bytes(part)
            if self._reassembly is not None:
                joined = self._reassembly.join(records)[: self._count_room()]
                part = part.select(np.array([place for place, _ in joined], np.int64))
                records = [record for _, record in joined]
            comments = [self._write_comment(losses, *row) for row in _list_rows(part)]
            self._file.write(pcapng.build_packets(part.batch.at_ps, records, comments))
            self.written += part.total
        if self.encryption is None:
            self.indices.update(map(read_index, items.batch.read_column("seal").tolist()))

    def _count_room(self) -> int:
        """Return how many packets may still be written."""
        return sys.maxsize if self._most is None else self._most - self.written

    def _refuse_made(self, items: Items) -> None:
        """Raise CaptureError if packets come here of which no bytes are made.

        A copy does not tell its packet, and a notice is one of ICMP.
        """
        connection = items.batch.connection
        for kind, what, elsewhere in REFUSED:
            made = self._experiment.streams.list_indices(kind)
            if ((connection >= made.start) & (connection < made.stop)).any():
                raise CaptureError(
                    f"{what} go over `{self._link.name}`, and a capture holds none: take"
                    f" {elsewhere}"
                )

    def list_keys(self) -> str:
        """Return the keys of what was written, as a table."""
        if self.encryption is None:
            lines = esp.list_keys(self._experiment, self._link)
            return "".join(line for index, line in lines.items() if index in self.indices)
        return self.encryption.list_keys(self._addresses.paths, self._addresses.channels)

    def _write_comment(
        self,
        losses: Sequence[str],
        connection: int,
        number: int,
        sent_ps: int,
        at_ps: int,
        fate: int,
    ) -> str:
        place = connection - self._first[connection]
        said = f"{self._names[connection]}, connection {place}, number {number}"
        lost = f", lost at {losses[fate]}" if fate != ARRIVED else ""
        return f"{said}, sent at {sent_ps} ps, here at {at_ps} ps{lost}"


def _list_rows(items: Items) -> zip[tuple[int, int, int, int, int]]:
    batch = items.batch
    columns = (batch.connection, items.number, batch.sent_ps, batch.at_ps, items.fate)
    return zip(*(column.tolist() for column in columns), strict=True)


def capture(
    trial: Trial, link: Link, file: BinaryIO, most: int | None = None, *, frames: bool = False
) -> Writer:
    """Write what goes over a link in a trial, or the frames of it; return what has written it.

    Raises:
        CaptureError: The trial did not come to the recorded result: the file means nothing then.
            Machines exchange messages in it, which have no bytes; or no frames go over the link.
    """
    experiment = trial.planned.experiment
    if any(stream.kind == "messages" for stream in experiment.streams):
        raise CaptureError(
            "machines exchange messages in this trial, and no bytes are made of these yet"
        )
    # What depends on bytes is left out of the comparison: they change no time and no loss.
    measurement = experiment.measurement.without_need("payload")
    again = experiment._replace(seed=(*experiment.seed, *trial.names), measurement=measurement)
    writer = Writer(file, link, trial, most, frames=frames)
    sightings = Sightings(
        link.tap,
        experiment.streams.indices,
        lambda items: writer.take(items, sightings.losses),
        writer.encryption,
        {kind: experiment.streams.list_indices(kind) for kind in PARTS},
    )
    observation = emulation.run(again, observer=sightings)
    if sightings.unsettled:
        raise ValueError(f"{sightings.unsettled} items passed {link.name} and never ended")
    difference = trial.differs(observation)
    if difference:
        raise CaptureError(f"the trial did not come to the recorded result: {difference}")
    if frames and not writer.written:
        raise CaptureError(f"no frame of AAL5 ends on `{link.name}`: leave out `--frames`")
    return writer


def _name_connections(experiment: Experiment) -> list[str]:
    """Return what each connection index belongs to: `user[3]`, or `user[3].oam`."""
    streams, names = experiment.streams, list[str]()
    of = {source.first: source.name for source in experiment.sources}
    for stream in streams:
        own = of.get(streams.find_connection(stream.first), "")
        name = f"{own}.{stream.kind}" if stream.kind in INSERTED else own
        names += [name] * stream.connections
    return names


def _find_first_of_each(experiment: Experiment) -> list[int]:
    """Return, per connection index, that of the first of the same stream."""
    return [stream.first for stream in experiment.streams for _ in range(stream.connections)]


def _list_addresses(
    experiment: Experiment, flows: Sequence[Flow], adaptation: Adaptation | None
) -> cells.Addresses:
    """Return the VPI and VCI of each connection index, and how its cells are written.

    The language knows no VCIs: those of a path are given in order of the connections.
    """
    streams = experiment.streams
    of_flows = [
        flows[stream.flow].virtual_path for stream in streams.own for _ in range(stream.connections)
    ]
    paths, channels = np.array(of_flows, np.int64), np.zeros(streams.count, np.int64)
    for path in np.unique(paths):
        mine = np.flatnonzero(paths == path)
        channels[mine] = cells.FIRST_USER_CHANNEL + np.arange(len(mine))
    if channels.max(initial=0) > cells.HIGHEST_CHANNEL:
        most = cells.HIGHEST_CHANNEL + 1 - cells.FIRST_USER_CHANNEL
        raise CaptureError(
            f"more than {most} connections have one VPI: give flows other ones, `virtual_path`"
        )
    follows = streams.find_connection(np.arange(streams.indices))
    kinds = [streams.kinds.index(streams.find_kind(index)) for index in range(streams.indices)]
    traffic = [
        flows[stream.flow].traffic for stream in streams.own for _ in range(stream.connections)
    ]
    circuit_bytes = np.array([sent.circuit_bytes for sent in traffic], np.int64)
    by_aal5 = adaptation is not None and adaptation.aal == "aal5"
    marks_last = np.array([sent.aal == "aal5" if sent.is_framed else by_aal5 for sent in traffic])
    return cells.Addresses(
        *(paths[follows], channels[follows], np.array(kinds), streams.kinds),
        circuit_bytes[follows],
        marks_last[follows],
    )
