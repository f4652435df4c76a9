"""How many bytes of packets passed, layer by layer, where sizes differ and counts do not tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from qospec.engine.arrays import np
from qospec.engine.kernel import kernel
from qospec.protocol.ip import IPV4_HEADER_BYTES

if TYPE_CHECKING:
    from qospec.engine.arrays import Indices, Rows, Sizes, Whole
    from qospec.engine.experiment import Experiment

PACKET, FRAME = 0, 1
"""Columns: bytes of packets, and of their frames on the first link."""
HEADER, LEAST, AROUND, TRANSPORT = 0, 1, 2, 3
"""Columns of what is around a connection's packets: see `Encapsulation`."""


class Volume(NamedTuple):
    """The bytes of some packets in each layer."""

    line: int
    frame: int
    ip: int
    payload: int


class Volumes:
    """Counts the bytes of packets as they pass; of cells nothing, for all have one size.

    Attributes:
        sent_bytes: (indices, 2) Of packets that left their source's line.
        carried_bytes: (indices, 2) Of packets that arrived.
        around: (indices, 4) What is around each connection's packets; without rows of cells.
    """

    def __init__(self, experiment: Experiment) -> None:
        indices = experiment.connections.indices
        framed = [source for source in experiment.sources if source.encapsulation is not None]
        self.around = np.zeros((indices if framed else 0, 4), np.int64)
        for source in framed:
            assert source.encapsulation is not None  # noqa: S101 -- of those with one
            rows = self.around[source.first : source.first + source.connections]
            rows[:] = (*source.encapsulation.framing, source.transport_bytes)
        self.sent_bytes = np.zeros((len(self.around), 2), np.int64)
        self.carried_bytes = np.zeros((len(self.around), 2), np.int64)

    @property
    def needed(self) -> bool:
        """Return whether there are packets."""
        return bool(len(self.around))

    def add(self, connection: Indices, size_bytes: Sizes, counts: Whole) -> None:
        """Add packets to (indices, 2) counts."""
        _add(connection.view(np.uint32), size_bytes, self.around, counts)

    def add_sent(self, connection: Indices, size_bytes: Sizes, sent: Whole) -> None:
        """Add packets that were sent, and as many to (indices,) `sent`."""
        mine = connection.view(np.uint32)
        _add_counted(mine, size_bytes, self.around, self.sent_bytes, sent)

    def sent(self, packets: Whole, part: slice) -> Volume:
        """Return what was sent by a part of the connections; (indices,) so many packets were."""
        return self._of(self.sent_bytes, packets, part)

    def carried(self, packets: Whole, part: slice) -> Volume:
        """Return what arrived of a part of the connections; (indices,) so many packets did."""
        return self._of(self.carried_bytes, packets, part)

    def _of(self, counts: Whole, packets: Whole, part: slice) -> Volume:
        mine, around, many = counts[part], self.around[part], packets[part]
        ip, frame = int(mine[:, PACKET].sum()), int(mine[:, FRAME].sum())
        outside = int((many * around[:, AROUND]).sum())
        inside = int((many * (around[:, TRANSPORT] + IPV4_HEADER_BYTES)).sum())
        return Volume(frame + outside, frame, ip, ip - inside)


@kernel
def _add(connection: Rows, size_bytes: Sizes, around: Whole, counts: Whole) -> None:
    """Add packets.

    Args:
        connection: (n,) Whose they are.
        size_bytes: (n,) Their lengths.
        around: (indices, 4) What is around each connection's.
        counts: (indices, 2) Carried on.
    """
    for i in range(len(connection)):
        _weigh(counts[connection[i]], size_bytes[i], around[connection[i]])


@kernel
def _add_counted(
    connection: Rows, size_bytes: Sizes, around: Whole, counts: Whole, packets: Whole
) -> None:
    """Add packets as `_add` does, and their number to (indices,) `packets`, in one pass."""
    for i in range(len(connection)):
        _weigh(counts[connection[i]], size_bytes[i], around[connection[i]])
        packets[connection[i]] += 1


@kernel
def _weigh(row: Whole, size_bytes: int, around: Whole) -> None:
    row[PACKET] += size_bytes
    row[FRAME] += max(size_bytes + around[HEADER], around[LEAST])
