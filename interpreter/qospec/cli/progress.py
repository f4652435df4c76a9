"""Progress of a run: one line that is redrawn on a terminal, a message now and then elsewhere."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING

from qospec.cli.output import say, show_progress
from qospec.report.text import format_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from qospec.plan.plan import CasePlan

REDRAW_S = 0.1
REPORT_S = 30
"""Time between two messages where no line is drawn."""
SURE = 0.02
"""The share that must be done before the remaining time is estimated."""


class Workload:
    """The work of a run: trials by case, and each case's share of the whole."""

    def __init__(self, plans: Mapping[str, tuple[int, int]]) -> None:
        """Take the number of trials and the cells per trial, by case."""
        self.trials = {name: trials for name, (trials, _) in plans.items()}
        cells = {name: 1 + trials * cells for name, (trials, cells) in plans.items()}
        total = sum(cells.values())
        self.parts = {name: count / total for name, count in cells.items()}


def measure_workload(plans: Iterable[CasePlan]) -> Workload:
    """Return the work that planned cases are."""
    return Workload({plan.case.name: (plan.trials, plan.cells) for plan in plans})


class ProgressLine:
    """What is going on, on stderr: drawn again and again on a terminal, said at times elsewhere."""

    def __init__(self, *, live: bool, reports: bool) -> None:
        """Draw the line if `live` and stderr is a terminal; else say it at times if `reports`."""
        self._live = live and sys.stderr is not None and sys.stderr.isatty()
        self._reports = reports and not self._live
        self._said_s = time.monotonic()
        self._drawn = 0

    def show(self, line: Callable[[], str]) -> None:
        """Show the line, if it is time to."""
        now_s = time.monotonic()
        if now_s - self._said_s < (REDRAW_S if self._live else REPORT_S):
            return
        self._said_s = now_s
        if self._reports:
            say(f"running: {line()}", err=True)
        if self._live:
            drawn = f"  {line()}"[: shutil.get_terminal_size().columns - 1]
            show_progress(drawn, self._drawn)
            self._drawn = len(drawn)

    def clear(self) -> None:
        """Clear the line."""
        if self._drawn:
            show_progress("", self._drawn)
            self._drawn = 0

    def postpone(self) -> None:
        """Say nothing for a while: something else was just said."""
        self._said_s = time.monotonic()


class Progress:
    """Shows on stderr how far a run is."""

    def __init__(
        self, work: Workload, *, live: bool, reports: bool, planned_s: float | None = None
    ) -> None:
        """Draw a line if `live` and stderr is a terminal; else print one at times if `reports`.

        `planned_s` is how long the run takes by its plan; None if nobody knows.
        """
        self._work = work
        self._planned_s = planned_s
        self._line = ProgressLine(live=live, reports=reports)
        self._shares: dict[str, float] = {}
        self._ended: set[str] = set()
        self._began_s = time.monotonic()

    def update(self, case: str, share: float) -> None:
        """Set the share of a case that is done."""
        first = not self._shares and not self._ended
        self._shares[case] = share
        if first and self._share_done() < SURE:
            self._began_s = time.monotonic()  # so far workers have only started
        self.show_if_due()

    def finish(self, case: str) -> None:
        """Mark a case as finished, and clear the line for what is printed about it."""
        self._shares.pop(case, None)
        self._ended.add(case)
        self.clear()
        self._line.postpone()

    def show_if_due(self) -> None:
        """Show how far the run is, if it is time to."""
        self._line.show(self.write_line)

    def clear(self) -> None:
        """Clear the line."""
        self._line.clear()

    def _share_done(self) -> float:
        """Return the share of the whole that is done."""
        parts = self._work.parts
        ended = sum(parts[name] for name in self._ended)
        return ended + sum(parts[name] * share for name, share in self._shares.items())

    def _estimate_left_s(self) -> float:
        """Return how long the rest takes, about; 0 if that is unknown, or nothing is left."""
        done = self._share_done()
        passed_s = time.monotonic() - self._began_s
        if self._planned_s is not None and not self._ended:
            # What has passed may have been for compiling: it counts by the share that is done.
            return (1 - done) * ((1 - done) * self._planned_s + passed_s * (done > 0))
        return passed_s * (1 - done) / done if SURE <= done < 1 else 0

    def write_line(self) -> str:
        """Return how far the run is, in words."""
        work, shares = self._work, self._shares
        trials = sum(work.trials[name] for name in self._ended)
        trials += sum(int(work.trials[name] * share) for name, share in shares.items())
        left_s = self._estimate_left_s()
        left = f", about {format_seconds(max(1, round(left_s)))} left" if left_s else ""
        cases = f"{len(self._ended)}/{len(work.trials)} cases"
        running = f"; now {', '.join(shares)}" if shares else ""
        return f"{cases}, {trials}/{sum(work.trials.values())} trials{left}{running}"
