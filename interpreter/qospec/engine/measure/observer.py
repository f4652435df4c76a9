"""What follows single items through a trial, besides what a `Recorder` counts of them.

A trial is the same with an observer as without one: it is told of items, and changes none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from qospec.engine.experiment import Tap
    from qospec.engine.items.batch import Batch


class Observer(Protocol):
    """Follows items. Batches are valid only during a call: their times may be written over.

    Attributes:
        taps: The places at which it sees items pass, each at one output.
    """

    taps: tuple[Tap, ...]

    def note_start(self, batch: Batch) -> None:
        """Take note of items that a source's line sends, or that an element inserts."""

    def note_passage(self, place: str, batch: Batch) -> None:
        """Take note of items at a place, in order of time."""

    def note_end(self, batch: Batch, how: str) -> None:
        """Take note of items that ended: `how` says where they were lost, "" that they arrived."""

    def advance(self) -> None:
        """Take note that a window of time is over: of an item, nothing is told out of order."""
