"""The log of a machine: who was in a state and when, and how long each stay lasted."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.machine.interpreter import ENDED
from qospec.engine.machine.state import CHANGE, INTO, THERE, WHEN, WHO

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.engine.arrays import Times, Whole

GOES_ON = -1
"""In place of the length of a stay that has not ended."""


@dataclass(frozen=True)
class Stays:
    """What the log of a machine tells of one of its states, by number.

    A stay ends when its instance enters another state. If the instance ends with it, it does not
    count as one that has ended.
    """

    log: bytes
    state: int

    @cached_property
    def in_order_ps(self) -> list[int]:
        """Return how long stays lasted, in the order in which they began, or GOES_ON."""
        lengths: list[int] = self._lengths_ps[self._changes[:, INTO] == self.state].tolist()
        return lengths

    def list_ended_ps(self, start_ps: int, stop_ps: int) -> list[int]:
        """Return the lengths of stays that ended within an interval, in order of their ends."""
        ends_ps, lengths_ps = self._ended
        first, stop = ends_ps.searchsorted([start_ps, stop_ps])
        found: list[int] = lengths_ps[first:stop].tolist()
        return found

    def count_entered(self, start_ps: int, stop_ps: int) -> int:
        """Return how often it was entered within an interval."""
        first, stop = self._entries_ps.searchsorted([start_ps, stop_ps])
        return int(stop - first)

    def count_at(self, time_ps: int) -> int:
        """Return how many instances are in it just before a time."""
        times_ps, held = self._held
        place = bisect_left(times_ps, time_ps)
        return int(held[place - 1]) if place else 0

    def count_most(self, start_ps: int, stop_ps: int) -> int:
        """Return how many instances are in it at once, at most, within an interval."""
        times_ps, held = self._held
        within = held[bisect_left(times_ps, start_ps) : bisect_left(times_ps, stop_ps)]
        return max(self.count_at(start_ps), int(within.max(initial=0)))

    @cached_property
    def _changes(self) -> Whole:
        return np.frombuffer(self.log, np.int64).reshape(-1, CHANGE)

    @cached_property
    def _pairs(self) -> tuple[Whole, Whole]:
        """Return the rows of changes, and those of the next change of the same instance."""
        order = self._changes[:, WHO].argsort(kind="stable")
        same = self._changes[order[1:], WHO] == self._changes[order[:-1], WHO]
        return order[:-1][same], order[1:][same]

    @cached_property
    def _lengths_ps(self) -> Times:
        """Return by change how long the stay lasted that began with it, or GOES_ON."""
        rows, following = self._pairs
        times_ps = self._changes[:, WHEN].clip(0)
        lengths_ps = np.full(len(times_ps), GOES_ON, np.int64)
        lasted = self._changes[following, INTO] != ENDED
        lengths_ps[rows[lasted]] = (times_ps[following] - times_ps[rows])[lasted]
        return lengths_ps

    @cached_property
    def _ended(self) -> tuple[Times, Times]:
        """Return when stays ended, in order, and how long they lasted."""
        rows, following = self._pairs
        mine = (self._changes[rows, INTO] == self.state) & (self._lengths_ps[rows] != GOES_ON)
        order = following[mine].argsort()
        return self._changes[following[mine][order], WHEN], self._lengths_ps[rows[mine][order]]

    @cached_property
    def _entries_ps(self) -> Times:
        entries = (self._changes[:, INTO] == self.state) & (self._changes[:, WHEN] != THERE)
        times_ps: Times = self._changes[entries, WHEN]
        return times_ps

    @cached_property
    def _held(self) -> tuple[list[int], Whole]:
        """Return by change when it was, and how many instances are in the state from then on."""
        rows, following = self._pairs
        steps = (self._changes[:, INTO] == self.state).astype(np.int64)
        steps[following[self._changes[rows, INTO] == self.state]] -= 1
        return self._changes[:, WHEN].tolist(), steps.cumsum()


def list_intervals(start_ps: int, stop_ps: int, every_ps: int) -> Iterator[tuple[int, int]]:
    """Yield the intervals of a window in order; the last may be shorter."""
    for begin_ps in range(start_ps, stop_ps, every_ps):
        yield begin_ps, min(begin_ps + every_ps, stop_ps)
