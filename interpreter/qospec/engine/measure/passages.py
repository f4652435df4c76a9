"""Passages: what passes a place inside the network, counted by connection within the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.arrays import np
from qospec.engine.items.frame_length import TRANSPORT
from qospec.engine.measure.bytes import Volume, add_counted, sum_volume
from qospec.engine.measure.tally import Tally
from qospec.protocol.atm import CELL_BYTES

if TYPE_CHECKING:
    from qospec.engine.experiment import Experiment, Node
    from qospec.engine.items.batch import Batch


class Passage:
    """Counts what passes one place, by whichever outputs."""

    def __init__(self, experiment: Experiment, node: Node) -> None:
        """Begin a trial; packets are framed as on the line of a node that leads there, if any."""
        self._measurement = experiment.measurement
        indices = experiment.streams.indices
        framed = None if node.clock is None else node.clock.encapsulation
        self.framing = np.zeros((indices, TRANSPORT + 1), np.int64)
        if framed is not None:
            self.framing[:, :TRANSPORT] = framed.framing
            for first, stop in node.tagged:
                self.framing[first:stop, :TRANSPORT] = framed.with_tag_settled(tagged=True).framing
        for source in experiment.sources:
            mine = source.indices
            self.framing[mine, TRANSPORT] = source.transport_bytes
        self.bytes = np.zeros((indices, 2), np.int64)
        self.items = np.zeros(indices, np.int64)

    def add(self, batch: Batch) -> None:
        """Count items that leave by an output, in order."""
        window_ps = self._measurement.start_ps, self._measurement.stop_ps
        inside = batch.select_range(*batch.at_ps.searchsorted(window_ps).tolist())
        counts = self.bytes, self.items
        add_counted(inside.connection, inside.size_bytes, self.framing, counts)


class Passages:
    """The passages of a trial, at the taps of its measurement."""

    def __init__(self, experiment: Experiment) -> None:
        measurement = experiment.measurement
        self._window_ps = measurement.stop_ps - measurement.start_ps
        self._by_place: dict[str, Passage] = {}
        self._by_output: dict[tuple[int, int], Passage] = {}
        for place, node, output in measurement.taps:
            # Of two names of one place, such as those of both ends of a link, either will do.
            passage = self._by_place.get(place) or self._by_output.get((node, output))
            passage = passage or Passage(experiment, experiment.nodes[node])
            self._by_place[place] = self._by_output[node, output] = passage

    def list_passages(self, node: int, outputs: int) -> tuple[Passage | None, ...]:
        """Return the passage at each of a node's outputs, if any; nothing if there is none."""
        found = tuple(self._by_output.get((node, output)) for output in range(outputs))
        return found if any(found) else ()

    def count(self, place: str) -> int:
        """Return how many items passed a place, of all connections."""
        passage = self._by_place.get(place)
        return 0 if passage is None else int(passage.items.sum())

    def pool(self, place: str, part: slice, *, packets: bool) -> Tally:
        """Return what passed a place of a range of connection indices.

        It has `carried`, `volume` and `window_ps`, and nothing else that is observed.
        """
        passage = self._by_place.get(place)
        count, volume = 0, Volume(0, 0, 0, 0)  # as where nothing can pass
        if passage is not None:
            count = int(passage.items[part].sum())
            rows = passage.bytes[part], passage.framing[part], passage.items[part]
            volume = sum_volume(*rows)
        return Tally(
            connections=0,
            up=0,
            planned=0,
            sent=0,
            received=0,
            lost={},
            size_bytes=CELL_BYTES,
            window_ps=self._window_ps,
            carried=count,
            volume=volume if packets else None,
        )
