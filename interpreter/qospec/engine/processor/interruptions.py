"""Interruptions of a processor: once a period, or at random.

An interruption that falls due during another waits for its end; none is skipped. They are computed
one span of time at a time, however time is cut into batches: chunks change nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.items.batch import FOREVER_PS

if TYPE_CHECKING:
    from qospec.engine.arrays import Times, Whole
    from qospec.engine.random import Draws

BLOCK = 256
"""Random interruptions drawn at a time."""
SPAN = 1_024
"""Periods, or mean intervals, computed at a time."""


class Periodic(NamedTuple):
    """An interruption once a period.

    Attributes:
        length_ps: Of each.
        every_ps: From one to the next.
        phase_ps: When the first begins; None: at random within a period.
    """

    length_ps: int
    every_ps: int
    phase_ps: int | None


class RandomInterruptions(NamedTuple):
    """Interruptions at random, independently of each other.

    Attributes:
        length_ps: Of each, on average.
        every_ps: The mean of the interval, which is exponential and rounded down to whole ps.
        lengths: How lengths are distributed: constant, uniform from 0 on, or exponential.
    """

    length_ps: int
    every_ps: int
    lengths: str


class Interruptions:
    """All interruptions of one processor, in order of time.

    Attributes:
        known: (m + 1, 2) From when to when each lasts; they do not overlap, and the last row stands
            for none.
        until_ps: All that begin before this are known.
    """

    __slots__ = (
        "_coming",
        "_free_ps",
        "_gaps",
        "_lengths",
        "_next_ps",
        "_periodic",
        "_random",
        "_span_ps",
        "known",
        "until_ps",
    )

    def __init__(self, periodic: Periodic, random: RandomInterruptions, draws: Draws) -> None:
        """Begin a trial; a kind whose length is 0 has none."""
        used = [
            random_interruptions
            for random_interruptions in (periodic, random)
            if random_interruptions.length_ps
        ]
        self.known: Whole = np.array([(FOREVER_PS, FOREVER_PS)], np.int64)
        self.until_ps = 0 if used else FOREVER_PS
        self._span_ps = SPAN * min(
            (random_interruptions.every_ps for random_interruptions in used), default=0
        )
        self._periodic, self._random = periodic, random
        self._next_ps = periodic.phase_ps or 0
        if periodic.length_ps and periodic.phase_ps is None:
            self._next_ps = int(draws.derive("phase").open_stream().integers(0, periodic.every_ps))
        if random.length_ps:
            self._gaps = draws.derive("intervals").open_stream()
            self._lengths = draws.derive("lengths").open_stream()
        # An empty interruption at 0, from which the first interval runs.
        self._coming: Whole = np.zeros((1 if random.length_ps else 0, 2), np.int64)
        self._free_ps = 0

    def extend(self, now_ps: int) -> int:
        """Find those of the next span, and forget those that have ended by now; return how many."""
        self.until_ps += self._span_ps
        found = np.concatenate([self._list_periodic(), self._draw_random()])
        found = found[found[:, 0].argsort(kind="stable")]
        # Each begins when it is due, or when those ahead of it have ended, whichever is later.
        lengths_ps = found[:, 1]
        ends_ps = lengths_ps.cumsum()
        idle_ps = np.maximum(found[:, 0], self._free_ps) - (ends_ps - lengths_ps)
        ends_ps += np.maximum.accumulate(idle_ps)
        rows = np.stack([ends_ps - lengths_ps, ends_ps], axis=1)
        self._free_ps = int(ends_ps[-1]) if len(ends_ps) else self._free_ps
        ended = int(self.known[:-1, 1].searchsorted(now_ps, "right"))
        self.known = np.concatenate([self.known[ended:-1], rows, self.known[-1:]])
        return ended

    def _list_periodic(self) -> Whole:
        """Return the starts and lengths of periodic interruptions before the end of the span."""
        length_ps, every_ps, _ = self._periodic
        count = -((self._next_ps - self.until_ps) // every_ps) if length_ps else 0
        rows = np.full((max(count, 0), 2), length_ps, np.int64)
        rows[:, 0] = self._next_ps + np.arange(len(rows)) * every_ps
        self._next_ps += len(rows) * every_ps
        return rows

    def _draw_random(self) -> Whole:
        """Return when random interruptions begin before the end of the span, and their lengths.

        The last one drawn is kept, for the next block begins there.
        """
        while len(self._coming) and self._coming[-1, 0] < self.until_ps:
            gaps_ps = self._gaps.exponential(float(self._random.every_ps), BLOCK).astype(np.int64)
            block = np.stack([self._coming[-1, 0] + gaps_ps.cumsum(), self._draw_gaps()], axis=1)
            self._coming = np.concatenate([self._coming, block])
        count = int(self._coming[:, 0].searchsorted(self.until_ps))
        before, self._coming = self._coming[:count], self._coming[count:]
        return before

    def _draw_gaps(self) -> Times:
        mean_ps, _, lengths = self._random
        if lengths == "constant":
            return np.full(BLOCK, mean_ps, np.int64)
        if lengths == "uniform":
            return self._lengths.integers(0, 2 * mean_ps, BLOCK, endpoint=True)
        return self._lengths.exponential(float(mean_ps), BLOCK).astype(np.int64)
