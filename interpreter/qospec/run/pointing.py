"""An operating point as it runs: trials at fixed values of the variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.judge.phases import PointResult
from qospec.plan.plan import CasePlan
from qospec.run.job import Shared
from qospec.run.phase import PhaseRun

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.judge.phases import TrialResult
    from qospec.model.suite import GoalResult, Point
    from qospec.run.job import Work
    from qospec.run.phase import Setting


class PointRun(PhaseRun):
    """An operating point; its parts are the numbers of its trials."""

    def __init__(self, point: Point, setting: Setting, found: Mapping[str, GoalResult]) -> None:
        """Take the point, and what goals of earlier searches have found."""
        super().__init__(setting)
        self._point = point
        planned = setting.trial(point, None, found)
        self._planned = Shared(planned) if isinstance(planned, CasePlan) else None
        self._refusal = None if isinstance(planned, CasePlan) else planned
        self._trials: list[TrialResult] = []
        self._follow()

    @property
    def result(self) -> PointResult:
        """Return what it has come to so far."""
        case = None if self._planned is None else self._planned.value.case
        return PointResult(
            self._point,
            () if case is None else tuple(flow.name for flow in case.flows),
            self._point.run.measure_ps if case is None else case.run.measure_ps,
            tuple(self._trials),
            "" if self._refusal is None else self._refusal.message,
        )

    def share(self) -> float:
        """Return the share of the trials that are known."""
        return len(self._known) / self._point.run.repeat

    def next_part(self, *, ahead: bool) -> int | None:
        """Return a trial that was not handed out; before the first is known, only that one."""
        last = self._point.run.repeat if ahead or 0 in self._known else 1
        return next((each for each in range(last) if each not in self._given), None)

    def work(self, part: int) -> Work | None:
        """Return what runs a trial; None if there can be none."""
        if self._planned is None:
            return None
        names = ("point", self._point.name, str(part))
        return self._setting.work(self._planned, *names, keeps=True)

    def _follow(self) -> None:
        if self._refusal is not None:
            self._end()
            return
        while len(self._trials) < self._point.run.repeat:
            result = self._known.get(len(self._trials))
            if result is None and self._trials and not self._trials[0].drawn:
                result = self._trials[0]  # nothing is drawn: all are equal
            if result is None:
                return
            if result.error:
                self._end(result.error)
                return
            self._trials.append(result)
            if self._setting.invalidates(result):
                self._end(invalid=True)
                return
        self._end()
