"""What passed a link, item by item: each with its number and what became of it.

Kept are the items in flight, and those that passed the link behind one of these: so memory does not
grow with the length of a trial.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.items.batch import join_batches
from qospec.payload.flight import UNKNOWN, Flight, Items, copy_batch, find

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from qospec.engine.arrays import Indices, Times, Whole
    from qospec.engine.experiment import Tap
    from qospec.engine.items.batch import Batch
    from qospec.protocol.streams import KindName


class _Ended(NamedTuple):
    """Items that ended: (n,) which they were, and their fates."""

    connection: Indices
    sent_ps: Times
    fate: Whole


class Ahead(Protocol):
    """What looks at other places."""

    taps: tuple[Tap, ...]

    def note_passage(self, place: str, batch: Batch) -> None:
        """Take note of items that pass."""


class Sightings:
    """An observer that hands on what passed a place, in order, as soon as its fates are known.

    Attributes:
        taps: Where it looks.
        losses: By fate, where items were lost and why; the first stands for those that arrived.
    """

    def __init__(
        self,
        tap: Tap,
        indices: int,
        take: Callable[[Items], None],
        ahead: Ahead | None = None,
        parts: Mapping[KindName, range] | None = None,
    ) -> None:
        """Begin a trial with so many connection indices; `take` is given the items.

        `ahead` is told what passes its own taps, which are ahead of the place; `parts` are the
        indices of parts of packets, as of `Flight`.
        """
        self.taps: tuple[Tap, ...] = (tap, *(ahead.taps if ahead else ()))
        self._ahead = ahead
        self.losses = [""]
        self._take = take
        self._flight = Flight(indices, parts)
        self._began: list[Batch] = []
        self._passed: list[Batch] = []
        self._ended: list[_Ended] = []
        self._waiting = self._flight.identify(join_batches(), tap.place)

    def note_start(self, batch: Batch) -> None:
        """Number items that are sent; each connection's are sent in order."""
        self._began.append(copy_batch(batch))

    def note_passage(self, place: str, batch: Batch) -> None:
        """Keep items that pass."""
        if place == self.taps[0].place:
            self._passed.append(copy_batch(batch))
        elif self._ahead is not None:
            self._ahead.note_passage(place, batch)

    def note_end(self, batch: Batch, how: str) -> None:
        """Keep what became of items."""
        if how not in self.losses:
            self.losses.append(how)
        fate = np.full(batch.count, self.losses.index(how), np.int64)
        self._ended.append(_Ended(batch.connection.copy(), batch.sent_ps.copy(), fate))

    def advance(self) -> None:
        """Hand on the items up to the first whose fate is not known."""
        self._number_items()
        self._note_passed()
        self._settle()
        unknown = self._waiting.fate == UNKNOWN
        ready = int(unknown.argmax()) if unknown.any() else self._waiting.total
        if ready:
            self._take(self._waiting.select_range(0, ready))
            self._waiting = self._waiting.select_range(ready, self._waiting.total)

    @property
    def unsettled(self) -> int:
        """Return how many items wait for their fate; none at the end of a trial."""
        return self._waiting.total

    def _number_items(self) -> None:
        self._flight.add(join_batches(*self._began))
        self._began = []

    def _note_passed(self) -> None:
        passed, self._passed = join_batches(*self._passed), []
        if passed.count:
            self._waiting = self._waiting.append(self._flight.identify(passed, self.taps[0].place))

    def _settle(self) -> None:
        if not self._ended:
            return
        ended = _Ended(*(np.concatenate(parts) for parts in zip(*self._ended, strict=True)))
        self._ended = []
        waiting = self._waiting
        open_ = np.flatnonzero(waiting.fate == UNKNOWN)
        mine = waiting.batch.connection[open_], waiting.batch.sent_ps[open_]
        found = find(ended.connection, ended.sent_ps, *mine)
        settled = found != UNKNOWN
        waiting.fate[open_[settled]] = ended.fate[found[settled]]
        self._flight.remove(ended.connection, ended.sent_ps)
