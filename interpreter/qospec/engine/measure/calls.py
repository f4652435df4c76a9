"""Calls: which packets of each are played, for the flows whose statements use it.

Whether a packet is too late is known only at the end, since the least delay decides. So packets of
these flows, and no others, are kept until then: 40 bytes for each that was sent in the window.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.voice.calls import Heard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.engine.arrays import Whole
    from qospec.engine.experiment import Experiment
    from qospec.engine.items.batch import Batch
    from qospec.voice.calls import Call

    Columns = tuple[Whole, ...]
    """Arrays of one length."""


class RatedCall(NamedTuple):
    """A call, and what became of its packets."""

    call: Call
    heard: Heard


class Calls:
    """Follows the packets of some calls.

    Attributes:
        needed: Whether there are any.
    """

    def __init__(self, experiment: Experiment) -> None:
        ranges = experiment.measurement.list_ranges("calls")
        self._calls: dict[int, Call] = {
            index: source.call
            for source in experiment.sources
            if source.call is not None
            for index in range(source.indices.start, source.indices.stop)
            if any(first <= index < stop for first, stop in ranges)
        }
        self.needed = bool(self._calls)
        self._followed = np.zeros(experiment.streams.indices, bool)
        self._followed[list(self._calls)] = True
        self._sent: list[Columns] = []
        self._arrived: list[Columns] = []

    def record_sent(self, batch: Batch) -> None:
        """Record packets that have left the line of their source within the window."""
        mine = self._followed[batch.connection]
        self._sent.append((batch.connection[mine].astype(np.int64), batch.sent_ps[mine]))

    def record_arrived(self, batch: Batch) -> None:
        """Record packets of these that have arrived."""
        mine = self._followed[batch.connection]
        connection, sent_ps = batch.connection[mine].astype(np.int64), batch.sent_ps[mine]
        self._arrived.append((connection, sent_ps, batch.at_ps[mine] - sent_ps))

    def list_calls(self, first: int, stop: int) -> tuple[RatedCall, ...] | None:
        """Return these calls in order; None if one of them was not followed."""
        if not all(index in self._calls for index in range(first, stop)):
            return None
        return tuple(self._rate_calls(first, stop))

    def _rate_calls(self, first: int, stop: int) -> Iterator[RatedCall]:
        for index, row in enumerate(self._heard[first:stop].tolist(), first):
            sent, arrived, late, bursts, least_ps = row
            heard = Heard(sent, arrived, late, bursts, least_ps if arrived else None)
            yield RatedCall(self._calls[index], heard)

    @cached_property
    def _heard(self) -> Whole:
        """Return (indices, 5) the fields of `Heard`, of each connection."""
        playout_ps = np.zeros(len(self._followed), np.int64)
        for index, call in self._calls.items():
            playout_ps[index] = call.playout_ps
        return count_fates(
            _join_columns(self._sent, 2), _join_columns(self._arrived, 3), playout_ps
        )


def count_fates(sent: Columns, arrived: Columns, playout_ps: Whole) -> Whole:
    """Return (n, 5) for each of n connections: sent, arrived, late, bursts, least delay.

    Args:
        sent: The connection of each packet, and when it was sent, in any order.
        arrived: Likewise, of those of them that arrived, with their delays.
        playout_ps: (n,) By how much a delay may exceed the least one of its connection.
    """
    count = len(playout_ps)
    least_ps = np.full(count, np.iinfo(np.int64).max, np.int64)
    np.minimum.at(least_ps, arrived[0], arrived[2])
    late = arrived[2] - least_ps[arrived[0]] > playout_ps[arrived[0]]
    # In order of sending, what arrived stands behind the packet that it is.
    connection = np.concatenate([sent[0], arrived[0]])
    has_arrived = np.repeat([False, True], [len(sent[0]), len(arrived[0])])
    order = np.lexsort((has_arrived, np.concatenate([sent[1], arrived[1]]), connection))
    in_time = np.concatenate([np.zeros(len(sent[0]), bool), ~late])[order]
    packets = np.flatnonzero(~has_arrived[order])
    played = np.append(in_time, False)[packets + 1]
    of = connection[order][packets]
    begins = ~played
    begins[1:] &= played[:-1] | (of[1:] != of[:-1])
    columns = (sent[0], arrived[0], arrived[0][late], of[begins])
    counts = [np.bincount(column, minlength=count) for column in columns]
    return np.stack([*counts, least_ps], axis=1).astype(np.int64)


def _join_columns(parts: list[Columns], columns: int) -> Columns:
    """Return the columns of all parts."""
    if not parts:
        return (np.empty(0, np.int64),) * columns
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))
