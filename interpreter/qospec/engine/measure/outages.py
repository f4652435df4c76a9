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

FIRST, FIRST_SENT, LAST, LONGEST = range(4)
"""Columns of arrivals: the first, when that item was sent, the last, and the longest time between
two."""
LOST_FIRST, LOST_LAST = range(2)
"""Columns of losses: when the first and the last lost item were sent."""
NONE = -1
"""In place of a time, before there is one."""


class OutageRecorder:
    """Records the arrivals and losses of some connections.

    Attributes:
        needed: Whether anything is recorded.
    """

    def __init__(self, experiment: Experiment) -> None:
        measurement, self._indices = experiment.measurement, experiment.streams.indices
        self.needed = bool(measurement.list_ranges("outages"))
        self._start_ps = measurement.start_ps
        self._changed_ps = measurement.changed_ps
        self._arrivals: dict[int, Whole] = {}
        self._losses = np.full((self._indices if self.needed else 0, 2), NONE, np.int64)

    def record_arrived(self, batch: Batch, point: int) -> None:
        """Record items that reached the end numbered `point`, in order of time."""
        if point not in self._arrivals:
            self._arrivals[point] = np.full((self._indices, 4), NONE, np.int64)
        rows = batch.connection.view(np.uint32)
        follow(batch.at_ps, batch.sent_ps, rows, self._arrivals[point])

    def record_lost(self, connection: Indices, sent_ps: Times) -> None:
        """Record items that were lost, in any order."""
        note_losses(sent_ps, connection.view(np.uint32), self._losses)

    def pool(self, first: int, stop: int) -> Outages:
        """Return the outages of some connections."""
        lost_ps = int(self._losses[first:stop, LOST_LAST].max(initial=NONE))
        found = map(self._find_longest, range(first, stop))
        longest_ps, goes_on = max(found, default=(NONE, False))
        return Outages(
            None if longest_ps == NONE else longest_ps,
            None if lost_ps == NONE else lost_ps - self._start_ps,
            None if self._changed_ps is None else self._changed_ps - self._start_ps,
            goes_on,
        )

    def _find_longest(self, index: int) -> tuple[int, bool]:
        """Return the longest outage of a connection, NONE if there is none, and if it goes on.

        One that no arrival precedes counts from when its first lost item was sent, and one that
        none follows up to when its last was.
        """
        lost_first_ps, lost_last_ps = self._losses[index].tolist()
        seen = [rows[index].tolist() for rows in self._arrivals.values()]
        seen = [row for row in seen if row[FIRST] != NONE]
        if not seen:
            is_one = lost_last_ps > lost_first_ps
            return (int(lost_last_ps - lost_first_ps), True) if is_one else (NONE, False)
        longest_ps = max(row[LONGEST] for row in seen)
        first_ps, first_sent_ps = min((row[FIRST], row[FIRST_SENT]) for row in seen)
        if NONE < lost_first_ps < first_sent_ps:
            longest_ps = max(longest_ps, first_ps - lost_first_ps)
        last_ps = max(row[LAST] for row in seen)
        if lost_last_ps > last_ps and lost_last_ps - last_ps >= longest_ps:
            return int(lost_last_ps - last_ps), True
        return int(longest_ps), False


@kernel
def follow(at_ps: Times, sent_ps: Times, connection: Rows, arrivals: Whole) -> None:
    """Record arrivals, in order of time.

    Args:
        at_ps: (n,) When items arrived.
        sent_ps: (n,) When they were sent.
        connection: (n,) The connection of each.
        arrivals: (connections, 4) FIRST, FIRST_SENT, LAST, LONGEST; updated.
    """
    for i in range(len(at_ps)):
        row = arrivals[connection[i]]
        if row[LAST] == NONE:
            row[FIRST], row[FIRST_SENT] = at_ps[i], sent_ps[i]
        else:
            row[LONGEST] = max(row[LONGEST], at_ps[i] - row[LAST])
        row[LAST] = at_ps[i]


@kernel
def note_losses(sent_ps: Times, connection: Rows, losses: Whole) -> None:
    """Record losses: (connections, 2) LOST_FIRST and LOST_LAST; updated."""
    for i in range(len(sent_ps)):
        row = losses[connection[i]]
        if row[LOST_FIRST] == NONE or sent_ps[i] < row[LOST_FIRST]:
            row[LOST_FIRST] = sent_ps[i]
        row[LOST_LAST] = max(row[LOST_LAST], sent_ps[i])
