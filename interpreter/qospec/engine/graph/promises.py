"""The promises of `engine.element`, checked with `QOS_CHECK=1`.

Of an element that works in batches they are checked at each step, of one in a cycle at the end.
What elements did in a trial is also noted for others that judge it afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.arrays import np
from qospec.engine.element import BrokenPromiseError, Step
from qospec.engine.items.batch import FOREVER_PS, is_well_formed, join_batches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.engine.arrays import Times
    from qospec.engine.element import Loss, Process, Setting
    from qospec.engine.items.batch import Batch


def with_promises_checked(
    process: Process, path: str, lookahead_ps: int, indices: int, size_bytes: int = 0
) -> Process:
    """Return `process`, checked at each step.

    Args:
        process: The element's.
        path: Its path, for the message.
        lookahead_ps: The least delay that it claims.
        indices: The number of connection indices.
        size_bytes: The size that all arrivals have by its setting; 0 if that is unknown.
    """
    history = _History(path, lookahead_ps, indices)

    def check_step(arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        if size_bytes and any((batch.size_bytes != size_bytes).any() for batch in arrivals):
            raise BrokenPromiseError(path, "was sent items of another size than planned")
        history.take(arrivals)
        step = process(arrivals, until_ps)
        history.check_outputs(step, until_ps)
        history.check_cells(step, until_ps)
        return step

    return check_step


class Conduct:
    """What an element took and did in a trial.

    Attributes:
        setting: Its setting.
        arrivals: What came, in any order.
        departures: Per output, what left.
        losses: What was lost.
        made: What it made.
        consumed: What ended here.
    """

    def __init__(self, outputs: int, setting: Setting | None = None) -> None:
        """Begin with nothing; `outputs` is the number of its outputs."""
        self.setting = setting
        self.arrivals: list[Batch] = []
        self.departures: list[list[Batch]] = [[] for _ in range(outputs)]
        self.losses: list[Loss] = []
        self.made: list[Batch] = []
        self.consumed: list[Batch] = []

    def wrap_process(self, process: Process) -> Process:
        """Return the process of an element that works in batches, which notes what it does."""

        def run_noted(arrivals: tuple[Batch, ...], until_ps: int) -> Step:
            self.arrivals += map(copy_times, arrivals)  # the element may write over their times
            step = process(arrivals, until_ps)
            for departures, left in zip(self.departures, step.departures, strict=True):
                departures.append(copy_times(left))  # so may that behind it
            self.losses += step.losses
            self.made += step.made
            self.consumed += step.consumed
            return step

        return run_noted

    def join_left(self, output: int) -> Batch:
        """Return what left by an output."""
        return join_batches(*self.departures[output])

    def check(self, path: str, lookahead_ps: int, indices: int) -> None:
        """Raise BrokenPromiseError at the end of a trial; see `with_promises_checked`."""
        history = _History(path, lookahead_ps, indices)
        departures = tuple(join_batches(*batches) for batches in self.departures)
        until_ps = (FOREVER_PS,) * len(departures)
        step = Step(
            departures,
            until_ps,
            tuple(self.losses),
            made=tuple(self.made),
            consumed=tuple(self.consumed),
        )
        history.take(tuple(self.arrivals))
        history.check_outputs(step, FOREVER_PS)
        history.check_cells(step, FOREVER_PS)


class _History:
    """The history of one element."""

    def __init__(self, path: str, lookahead_ps: int, indices: int) -> None:
        self._path = path
        self._lookahead_ps = lookahead_ps
        self._watermarks_ps: tuple[int, ...] = ()
        self._waiting_ps = np.empty(0, np.int64)
        self._held = np.zeros(indices, np.int64)

    def check_outputs(self, step: Step, until_ps: int) -> None:
        """Check order and watermarks."""
        least_ps = min(until_ps + self._lookahead_ps, FOREVER_PS)
        before = self._watermarks_ps or (0,) * len(step.until_ps)
        for batch, was_ps, now_ps in zip(step.departures, before, step.until_ps, strict=True):
            self._require(is_well_formed(batch), "gave cells out of order")
            self._require(now_ps >= least_ps, "gave a watermark below its least delay")
            self._require(now_ps >= was_ps, "took a watermark back")
            if batch.count:
                self._require(bool(batch.at_ps[0] >= was_ps), "sent a cell below its watermark")
                self._require(bool(batch.at_ps[-1] < now_ps), "sent a cell above its watermark")
                sent = bool((batch.sent_ps <= batch.at_ps).all())
                self._require(sent, "sent a cell that its source has not yet sent")
        self._watermarks_ps = step.until_ps

    def take(self, arrivals: tuple[Batch, ...]) -> None:
        """Note what arrives, before the element may write over times."""
        self._waiting_ps = _sort_times(self._waiting_ps, *(batch.at_ps for batch in arrivals))
        self._hold(1, arrivals)

    def check_cells(self, step: Step, until_ps: int) -> None:
        """Check that each item leaves, is lost or is consumed once, and none before its arrival.

        They are counted by connection. Items of one connection are not told apart, since elements
        may reorder them: but with all times in order, the k-th departure cannot be earlier than the
        k-th arrival. An item that the element made arrived when it was made.
        """
        made_ps = [batch.at_ps - self._lookahead_ps for batch in step.made]
        came_ps = _sort_times(self._waiting_ps, *made_ps)
        left_ps = _sort_times(*(batch.at_ps for batch in step.departures))
        self._hold(1, step.made)
        for ended in (step.departures, [loss.batch for loss in step.losses], step.consumed):
            self._hold(-1, ended)
        held = int(self._held.sum())
        self._require(bool((self._held >= 0).all()), "gave more cells than it took")
        in_time = bool((left_ps >= came_ps[: len(left_ps)] + self._lookahead_ps).all())
        self._require(in_time, "sent a cell sooner than its least delay")
        self._require(held == 0 or until_ps < FOREVER_PS, f"kept {held} cells at the end")
        self._waiting_ps = came_ps[:held]

    def _hold(self, more: int, some: Sequence[Batch]) -> None:
        """Count items of some batches as held; `more` is -1 for those held no more."""
        for batch in some:
            self._held += more * np.bincount(batch.connection, minlength=len(self._held))

    def _require(self, kept: bool, breach: str) -> None:  # noqa: FBT001  reads as a statement
        if not kept:
            raise BrokenPromiseError(self._path, breach)


def copy_times(batch: Batch) -> Batch:
    """Return a batch whose times stay when an element writes over those of the other."""
    return batch._replace(at_ps=batch.at_ps.copy(), sent_ps=batch.sent_ps.copy())


def _sort_times(*times: Times) -> Times:
    """Return all times, in order."""
    together: Times = np.sort(np.concatenate([np.empty(0, np.int64), *times]))
    return together
