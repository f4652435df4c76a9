"""Outages: the time between arrivals, and when the last lost item was sent.

They are recorded for the connections whose statements use them, each by itself, and at each end
of the network by itself; the items are those sent within the window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.arrays import np
from qospec.engine.kernel import kernel
from qospec.engine.measure.tally import Outages

if TYPE_CHECKING:
    from qospec.engine.arrays import Indices, Rows, Times, Whole
    from qospec.engine.experiment import Experiment
    from qospec.engine.items.batch import Batch

LAST, LONGEST = range(2)
"""Columns of arrivals: the last one, and the longest time between two; NONE before there is one."""
NONE = -1


class OutageRecorder:
    """Records the arrivals and losses of some connections."""

    def __init__(self, experiment: Experiment) -> None:
        measurement, self._indices = experiment.measurement, experiment.connections.indices
        self.needed = bool(measurement.ranges("outages"))
        """Whether anything is recorded."""
        self._start_ps = measurement.start_ps
        self._changed_ps = measurement.changed_ps
        self._arrivals: dict[int, Whole] = {}
        self._lost_ps = np.full(self._indices if self.needed else 0, NONE, np.int64)

    def arrived(self, batch: Batch, point: int) -> None:
        """Record items that reached the end numbered `point`, in order of time."""
        if point not in self._arrivals:
            self._arrivals[point] = np.full((self._indices, 2), NONE, np.int64)
        follow(batch.at_ps, batch.connection.view(np.uint32), self._arrivals[point])

    def lost(self, connection: Indices, sent_ps: Times) -> None:
        """Record items that were lost."""
        latest(sent_ps, connection.view(np.uint32), self._lost_ps)

    def of(self, first: int, stop: int) -> Outages:
        """Return the outages of some connections."""
        lost_ps = int(self._lost_ps[first:stop].max(initial=NONE))
        return Outages(
            self._longest_ps(first, stop),
            None if lost_ps == NONE else lost_ps - self._start_ps,
            None if self._changed_ps is None else self._changed_ps - self._start_ps,
        )

    def _longest_ps(self, first: int, stop: int) -> int | None:
        """Return the longest outage of any connection; None if there is none.

        One that does not end counts up to when its last lost item was sent.
        """
        arrived_ps = np.full(stop - first, self._start_ps, np.int64)
        longest_ps = NONE
        for rows in self._arrivals.values():
            arrived_ps = np.maximum(arrived_ps, rows[first:stop, LAST])
            longest_ps = max(longest_ps, int(rows[first:stop, LONGEST].max(initial=NONE)))
        open_ps = self._lost_ps[first:stop] - arrived_ps
        longest_ps = max(longest_ps, int(open_ps[open_ps > 0].max(initial=NONE)))
        return None if longest_ps == NONE else longest_ps


@kernel
def follow(at_ps: Times, connection: Rows, arrivals: Whole) -> None:
    """Record arrivals, in order of time.

    Args:
        at_ps: (n,) When items arrived.
        connection: (n,) The connection of each.
        arrivals: (connections, 2) LAST and LONGEST; updated.
    """
    for i in range(len(at_ps)):
        row = arrivals[connection[i]]
        if row[LAST] != NONE:
            row[LONGEST] = max(row[LONGEST], at_ps[i] - row[LAST])
        row[LAST] = at_ps[i]


@kernel
def latest(time_ps: Times, connection: Rows, latest_ps: Whole) -> None:
    """Record the latest time of each connection in `latest_ps`, which is updated."""
    for i in range(len(time_ps)):
        latest_ps[connection[i]] = max(latest_ps[connection[i]], time_ps[i])
