"""Which block is run next where the time is limited: one of the target that has had the least.

So each target is soon tried, however many there are, and the time of those that end with a finding
is left to the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from qospec.run.schedule import CaseRun, Schedule

if TYPE_CHECKING:
    from qospec.run.job import Job

FEWEST, MOST = 10, 100
"""The fewest and the most examples of a block."""
SHORT_BLOCKS = 6
"""How many blocks have the fewest, so that all targets are tried soon. Each after these has twice
as many as the one before: later blocks are long enough to aim at something."""


def count_examples(number: int) -> int:
    """Return how many examples the block of a number has."""
    times_doubled = max(0, number - SHORT_BLOCKS + 1)
    return min(MOST, FEWEST << min(times_doubled, MOST.bit_length()))


class TimedRun(CaseRun, Protocol):
    """A case that says how much time it has had."""

    @property
    def spent_s(self) -> float:
        """Return how long its jobs took, and how long those that run will probably take."""


class Rounds(Schedule):
    """The jobs of cases, in turn."""

    def hand_out_job(self, *, ahead: bool = False) -> Job | None:
        """Return the next job of the case that has had the least time; None if none has one."""
        while self._waiting:
            place, run = self._waiting.popleft()
            self._begun[place] = run
        if ahead:
            return None
        for place in sorted(self._begun, key=self._measure_spent):
            if (job := self._begun[place].hand_out_job(place, ahead=False)) is not None:
                return job
        return None

    def _measure_spent(self, place: int) -> tuple[float, int]:
        run: TimedRun = self._begun[place]  # type: ignore[assignment]
        return run.spent_s, place
