"""Byte counts of packets by layer, for items whose sizes differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.items.frame_length import (
    FRAME,
    OUTSIDE,
    PACKET,
    TRANSPORT,
    add_bytes,
)
from qospec.engine.kernel import kernel
from qospec.protocol.ip import IPV4_HEADER_BYTES
from qospec.protocol.streams import KINDS

if TYPE_CHECKING:
    from qospec.engine.arrays import Indices, Rows, Sizes, Whole
    from qospec.engine.experiment import Experiment


class Volume(NamedTuple):
    """The bytes of some packets in each layer."""

    line: int
    frame: int
    ip: int
    payload: int


class Volumes:
    """Counts the bytes of packets as they pass. Cells need none, as all have one size.

    Attributes:
        sent_bytes: (indices, 2) Bytes of packets that left their source's line.
        carried_bytes: (indices, 2) Bytes of packets that arrived.
        framing: (indices, 5) The framing of each connection's packets; no rows if there are none.
    """

    def __init__(self, experiment: Experiment) -> None:
        self._streams = experiment.streams
        indices = self._streams.indices
        framed = [source for source in experiment.sources if source.encapsulation is not None]
        self.framing = np.zeros((indices if framed else 0, TRANSPORT + 1), np.int64)
        self._are_packets = np.zeros(self._streams.count, np.bool_)
        for source in framed:
            assert source.encapsulation is not None  # noqa: S101 -- filtered above
            rows = self.framing[source.indices]
            rows[:] = (*source.encapsulation.framing, source.transport_bytes)
            self._are_packets[source.indices] = True
        self.sent_bytes = np.zeros((len(self.framing), 2), np.int64)
        self.carried_bytes = np.zeros((len(self.framing), 2), np.int64)

    @property
    def needed(self) -> bool:
        """Return whether there are packets."""
        return bool(len(self.framing))

    def is_of_packets(self, connection: int) -> bool:
        """Return whether a connection index is of packets."""
        if not self.needed or KINDS[self._streams.find_kind(connection)].are:
            return False
        return bool(self._are_packets[self._streams.find_connection(connection)])

    def add(self, connection: Indices, size_bytes: Sizes, counts: Whole) -> None:
        """Add packets to (indices, 2) counts."""
        _add(connection.view(np.uint32), size_bytes, self.framing, counts)

    def add_sent(self, connection: Indices, size_bytes: Sizes, sent: Whole) -> None:
        """Add packets that were sent, and their number to (indices,) `sent`."""
        add_counted(connection, size_bytes, self.framing, (self.sent_bytes, sent))

    def sum_sent(self, packets: Whole, part: slice) -> Volume | None:
        """Return the bytes sent by a range of connections, given (indices,) `packets` sent.

        None for cells.
        """
        return self._compute_volume(self.sent_bytes, packets, part)

    def sum_carried(self, packets: Whole, part: slice) -> Volume | None:
        """Return the bytes that arrived of a range of connections, likewise."""
        return self._compute_volume(self.carried_bytes, packets, part)

    def _compute_volume(self, counts: Whole, packets: Whole, part: slice) -> Volume | None:
        if not self.is_of_packets(part.start):
            return None
        return sum_volume(counts[part], self.framing[part], packets[part])


def sum_volume(rows: Whole, framing: Whole, number: Whole) -> Volume:
    """Return the bytes of some connections in all layers.

    Args:
        rows: (n, 2) Bytes of their packets and frames.
        framing: (n, 5) Their framing.
        number: (n,) How many packets these are.
    """
    ip, frame = int(rows[:, PACKET].sum()), int(rows[:, FRAME].sum())
    outside = int((number * framing[:, OUTSIDE]).sum())
    inside = int((number * (framing[:, TRANSPORT] + IPV4_HEADER_BYTES)).sum())
    return Volume(frame + outside, frame, ip, ip - inside)


def add_counted(
    connection: Indices, size_bytes: Sizes, framing: Whole, counts: tuple[Whole, Whole]
) -> None:
    """Add packets to (indices, 2) bytes and to (indices,) numbers of them, in one pass."""
    _add_counted(connection.view(np.uint32), size_bytes, framing, *counts)


@kernel
def _add(connection: Rows, size_bytes: Sizes, framing: Whole, counts: Whole) -> None:
    """Add packets.

    Args:
        connection: (n,) The connection of each.
        size_bytes: (n,) The length of each.
        framing: (indices, 5) The framing of each connection.
        counts: (indices, 2) Updated.
    """
    for i in range(len(connection)):
        add_bytes(counts[connection[i]], size_bytes[i], framing[connection[i]])


@kernel
def _add_counted(
    connection: Rows, size_bytes: Sizes, framing: Whole, counts: Whole, packets: Whole
) -> None:
    """Add packets as `_add` does, and their number to (indices,) `packets`, in one pass."""
    for i in range(len(connection)):
        add_bytes(counts[connection[i]], size_bytes[i], framing[connection[i]])
        packets[connection[i]] += 1
