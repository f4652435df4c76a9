"""The promises of `engine.element`, checked at each step with `QOS_CHECK=1`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.arrays import np
from qospec.engine.element import Loss
from qospec.engine.items.batch import FOREVER_PS, well_formed

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.engine.arrays import Indices, Times, Truths
    from qospec.engine.element import Process, Step
    from qospec.engine.items.batch import Batch


class BrokenPromiseError(RuntimeError):
    """An element broke a promise: a defect of the engine, never of a specification."""


def with_promises_checked(
    process: Process,
    path: str,
    lookahead_ps: int,
    are_inserted: Callable[[Indices], Truths],
) -> Process:
    """Return `process`, checked at each step.

    Args:
        process: The element's.
        path: Its path, for the message.
        lookahead_ps: The least delay that it claims.
        are_inserted: Which of some connection indices are of items that it may insert.
    """
    account = _Account(path, lookahead_ps, are_inserted)

    def checked(arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        account.take(arrivals)
        step = process(arrivals, until_ps)
        account.check_outputs(step, until_ps)
        account.check_cells(step, until_ps)
        return step

    return checked


class _Account:
    """The history of one element."""

    def __init__(
        self, path: str, lookahead_ps: int, are_inserted: Callable[[Indices], Truths]
    ) -> None:
        self._path = path
        self._lookahead_ps = lookahead_ps
        self._are_inserted = are_inserted
        self._watermarks_ps: tuple[int, ...] = ()
        self._waiting_ps = np.empty(0, np.int64)

    def check_outputs(self, step: Step, until_ps: int) -> None:
        """Check order and watermarks."""
        least_ps = min(until_ps + self._lookahead_ps, FOREVER_PS)
        before = self._watermarks_ps or (0,) * len(step.until_ps)
        for batch, was_ps, now_ps in zip(step.departures, before, step.until_ps, strict=True):
            self._require(well_formed(batch), "gave cells out of order")
            self._require(now_ps >= least_ps, "gave a watermark below its least delay")
            self._require(now_ps >= was_ps, "took a watermark back")
            if batch.count:
                self._require(bool(batch.at_ps[0] >= was_ps), "sent a cell below its watermark")
                self._require(bool(batch.at_ps[-1] < now_ps), "sent a cell above its watermark")
                sent = bool((batch.sent_ps <= batch.at_ps).all())
                self._require(sent, "sent a cell that its source has not yet sent")
        self._watermarks_ps = step.until_ps

    def take(self, arrivals: tuple[Batch, ...]) -> None:
        """Note times of arrival, before the element may write over them."""
        self._waiting_ps = self._times_ps(*arrivals, before=self._waiting_ps)

    def check_cells(self, step: Step, until_ps: int) -> None:
        """Check that each item leaves or is lost once, and none before its arrival.

        Items are not identified, since elements may reorder them: but with all times in order, the
        k-th departure cannot be earlier than the k-th arrival.
        """
        came_ps = self._waiting_ps
        left_ps = self._times_ps(*step.departures, before=self._waiting_ps[:0])
        ended = sum(len(self._foreign_ps(loss)) for loss in step.losses)
        held = len(came_ps) - len(left_ps) - ended
        self._require(held >= 0, "gave more cells than it took")
        in_time = bool((left_ps >= came_ps[: len(left_ps)] + self._lookahead_ps).all())
        self._require(in_time, "sent a cell sooner than its least delay")
        self._require(held == 0 or until_ps < FOREVER_PS, f"kept {held} cells at the end")
        self._waiting_ps = came_ps[:held]

    def _times_ps(self, *batches: Batch, before: Times) -> Times:
        times_ps: Times = np.sort(np.concatenate([before, *map(self._foreign_ps, batches)]))
        return times_ps

    def _foreign_ps(self, cells: Batch | Loss) -> Times:
        """Return the times of items that the element did not insert."""
        times_ps = cells.sent_ps if isinstance(cells, Loss) else cells.at_ps
        return times_ps[~self._are_inserted(cells.connection)]

    def _require(self, kept: bool, breach: str) -> None:  # noqa: FBT001  reads as a statement
        if not kept:
            raise BrokenPromiseError(f"{self._path} {breach}")
