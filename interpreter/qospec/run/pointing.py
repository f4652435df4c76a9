"""An operating point as it runs: trials at fixed values of the variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.judge.phases import PointResult
from qospec.run.phase import PhaseRun

if TYPE_CHECKING:
    from qospec.judge.phases import Refusal, TrialResult
    from qospec.model.suite import Point
    from qospec.plan.plan import CasePlan


class PointRun(PhaseRun):
    """An operating point; its parts are the numbers of its trials."""

    def __init__(self, point: Point, plan: CasePlan, *, keep_going: bool) -> None:
        """Take the point, the plan of its case, and whether that goes on whatever fails."""
        super().__init__(plan, keep_going=keep_going)
        self._point = point
        self._refusal: Refusal | None = None
        self._trials: list[TrialResult] = []

    @property
    def result(self) -> PointResult:
        """Return what it has come to so far."""
        first = self._known.get(0)
        return PointResult(
            self._point,
            () if first is None else first.senders,
            tuple(self._trials),
            "" if self._refusal is None else self._refusal.message,
        )

    def estimate_share(self) -> float:
        """Return the share of the trials that are known."""
        return len(self._known) / self._point.run.repeat

    def _choose_next(self, *, ahead: bool) -> int | None:
        """Return a trial that was not handed out; before the first is known, only that one."""
        last = self._point.run.repeat if ahead or 0 in self._known else 1
        return next((i for i in range(last) if i not in self._given), None)

    def _follow(self) -> None:
        while len(self._trials) < self._point.run.repeat:
            result = self._known.get(len(self._trials))
            if result is None and self._trials and not self._trials[0].drawn:
                result = self._trials[0]  # nothing is drawn: all are equal
            if result is None:
                return
            if result.refused is not None:
                self._refusal = result.refused
                self._end()
                return
            if result.error:
                self._end(result.error)
                return
            self._trials.append(result)
            if self._is_invalidating(result):
                self._end(invalid=True)
                return
        self._end()
