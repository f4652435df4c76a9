"""How far a run is: one line that is drawn again on a terminal, a word now and then elsewhere."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING

from qospec.cli.output import say, show_progress
from qospec.report.text import seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from qospec.plan.plan import CasePlan

REDRAW_S = 0.1
BEAT_S = 30
"""Where nothing is drawn, nobody hears less than this."""
SURE = 0.02
"""What share must be done before the time that is left can be told."""


class Work:
    """What is to be done: trials by case, and how much of all each case is."""

    def __init__(self, plans: Mapping[str, tuple[int, int]]) -> None:
        """Take trials and cells of a trial, by case."""
        self.trials = {name: trials for name, (trials, _) in plans.items()}
        cells = {name: 1 + trials * cells for name, (trials, cells) in plans.items()}
        total = sum(cells.values())
        self.parts = {name: count / total for name, count in cells.items()}


def work_of(plans: Iterable[CasePlan]) -> Work:
    """Return what planned cases are to be done."""
    return Work({plan.case.name: (plan.trials, plan.cells) for plan in plans})


class Progress:
    """Says on stderr how far a run is."""

    def __init__(self, work: Work, *, live: bool, beats: bool) -> None:
        """Draw a line if stderr is a terminal and it is to be `live`; else say `beats`, if any."""
        self._work = work
        self._live = live and sys.stderr is not None and sys.stderr.isatty()
        self._beats = beats and not self._live
        self._shares: dict[str, float] = {}
        self._ended: set[str] = set()
        self._began_s = self._said_s = time.monotonic()
        self._drawn = 0

    def heard(self, case: str, share: float) -> None:
        """Take note of the share of a case that is done."""
        first = not self._shares and not self._ended
        self._shares[case] = share
        if first and self._done() < SURE:
            self._began_s = time.monotonic()  # till now workers have started, and done nothing
        self.waited()

    def ended(self, case: str) -> None:
        """Take note that a case has ended, and make room for what is printed of it."""
        self._shares.pop(case, None)
        self._ended.add(case)
        self.clear()
        self._said_s = time.monotonic()

    def waited(self) -> None:
        """Say how far the run is, if it is time to."""
        now_s = time.monotonic()
        if now_s - self._said_s < (REDRAW_S if self._live else BEAT_S):
            return
        self._said_s = now_s
        if self._beats:
            say(f"running: {self.line()}", err=True)
        if self._live:
            self._draw()

    def _draw(self) -> None:
        line = f"  {self.line()}"[: shutil.get_terminal_size().columns - 1]
        show_progress(line, self._drawn)
        self._drawn = len(line)

    def clear(self) -> None:
        """Take the line away."""
        if self._drawn:
            show_progress("", self._drawn)
            self._drawn = 0

    def _done(self) -> float:
        """Return which share of all is done."""
        parts = self._work.parts
        ended = sum(parts[name] for name in self._ended)
        return ended + sum(parts[name] * share for name, share in self._shares.items())

    def line(self) -> str:
        """Return how far the run is, in words."""
        work, shares = self._work, self._shares
        trials = sum(work.trials[name] for name in self._ended)
        trials += sum(int(work.trials[name] * share) for name, share in shares.items())
        done = self._done()
        passed_s = time.monotonic() - self._began_s
        known = SURE <= done < 1
        left_s = max(1, round(passed_s * (1 - done) / done)) if known else 0
        left = f", about {seconds(left_s)} left" if known else ""
        cases = f"{len(self._ended)}/{len(work.trials)} cases"
        running = f"; now {', '.join(shares)}" if shares else ""
        return f"{cases}, {trials}/{sum(work.trials.values())} trials{left}{running}"
