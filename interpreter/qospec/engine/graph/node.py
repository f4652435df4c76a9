"""Nodes and wires at run time: the items on a wire, and how a node processes them."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Protocol

from qospec.engine.element import Loss
from qospec.engine.items.batch import FOREVER_PS, TooLateError, join_batches, make_empty
from qospec.engine.items.merge import merge_batches
from qospec.engine.items.totals import CAME, CONSUMED, GREW, LEFT, LOST, MADE

if TYPE_CHECKING:
    from qospec.engine.arrays import Sizes, Whole
    from qospec.engine.element import Process, Step
    from qospec.engine.experiment import Tap
    from qospec.engine.graph.promises import Conduct
    from qospec.engine.items.batch import Batch
    from qospec.engine.line.tandem import Hop
    from qospec.engine.measure.observation import Recorder
    from qospec.engine.measure.passages import Passage
    from qospec.protocol.streams import KindName


class Sink(Protocol):
    """Where an output leads."""

    def put(self, batch: Batch, until_ps: int) -> None:
        """Take items, all below the new watermark `until_ps`."""


class Link:
    """A wire: items that its far end has not taken yet, and the watermark.

    Attributes:
        until_ps: The watermark: nothing earlier will follow.
        cells: The number of items that wait.
    """

    __slots__ = ("_pieces", "cells", "until_ps")

    def __init__(self, until_ps: int) -> None:
        self.until_ps = until_ps
        self.cells = 0
        self._pieces: deque[Batch] = deque()

    def put(self, batch: Batch, until_ps: int) -> None:
        """Take items, all below the new watermark `until_ps`."""
        count = len(batch.at_ps)
        if count:
            self._pieces.append(batch)
            self.cells += count
        self.until_ps = until_ps

    def take(self, below_ps: int) -> Batch:
        """Remove and return the items before `below_ps`, which is not above the watermark."""
        pieces = self._pieces
        if not pieces:
            return make_empty()
        if below_ps >= self.until_ps:
            self.cells = 0
            taken = join_batches(*pieces) if len(pieces) > 1 else pieces[0]
            pieces.clear()
            return taken
        early = []
        while pieces and pieces[0].at_ps[0] < below_ps:
            piece = pieces.popleft()
            if piece.at_ps[-1] >= below_ps:
                cut = int(piece.at_ps.searchsorted(below_ps))
                pieces.appendleft(piece.select_range(cut, piece.count))
                piece = piece.select_range(0, cut)
            early.append(piece)
            self.cells -= piece.count
        return join_batches(*early)

    def bound_first_ps(self) -> int:
        """Return a time before which no item will be taken from this link."""
        return int(self._pieces[0].at_ps[0]) if self._pieces else self.until_ps


class End:
    """The end of a path: items are received."""

    __slots__ = ("_point", "_recorder")

    def __init__(self, recorder: Recorder, point: int) -> None:
        self._recorder = recorder
        self._point = point

    def put(self, batch: Batch, until_ps: int) -> None:  # noqa: ARG002  a sink asks no watermark
        """Count items as received."""
        if len(batch.at_ps):
            self._recorder.count_arrived(batch, self._point)


class Discard:
    """Where items are discarded on purpose."""

    __slots__ = ("_path", "_recorder")

    def __init__(self, recorder: Recorder, path: str) -> None:
        self._recorder = recorder
        self._path = path

    def put(self, batch: Batch, until_ps: int) -> None:  # noqa: ARG002  a sink asks no watermark
        """Count items as lost."""
        if len(batch.at_ps):
            self._recorder.count_lost(self._path, Loss("discarded", batch))


class Unconnected:
    """The far end of an output that is not wired: no item may arrive."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def put(self, batch: Batch, until_ps: int) -> None:  # noqa: ARG002  a sink asks no watermark
        """Raise ValueError for any item."""
        if len(batch.at_ps):
            raise ValueError(f"an item left by output {self._name}, which is not connected")


class NodeRuntime:
    """One node with its state and its wires.

    A node of a cycle, and an endpoint, has no `process`: a `graph.cycle` runs it, and keeps its
    numbers here.

    Attributes:
        path: The name of the node in reports.
        stamps: Whether it is a source's line, which writes when each item was sent.
        ports: The links that lead to each input.
        sinks: Where each output leads.
        lookahead_ps: Its lookahead.
        is_seen: Whether what leaves it is recorded: sources' lines, and what passes places.
        horizon_ps: The time up to which it has worked.
        inserts: The kinds of which it inserts cells.
        hop: What it is in a chain; None if it cannot be in one.
        conduct: Where it is noted what it does, if that is asked for.
        entries: (ENTRIES, kinds, 2) What became of its items, see `engine.measure.ledger`.
        tag_bytes: (indices,) How many bytes of a tag the sizes of what leaves it count, by
            connection; None: none of any.
    """

    __slots__ = (
        "_came",
        "_left",
        "_links",
        "_passages",
        "_process",
        "_recorder",
        "_watched",
        "conduct",
        "entries",
        "hop",
        "horizon_ps",
        "inserts",
        "is_seen",
        "lookahead_ps",
        "path",
        "ports",
        "sinks",
        "stamps",
        "tag_bytes",
    )

    def __init__(
        self,
        path: str,
        process: Process | None,
        recorder: Recorder,
        *,
        lookahead_ps: int,
        stamps: bool,
        inserts: tuple[KindName, ...],
    ) -> None:
        self.path = path
        self.lookahead_ps = lookahead_ps
        self._process = process
        self._recorder = recorder
        self.stamps = stamps
        self._passages: tuple[Passage | None, ...] = ()
        self._watched: tuple[Tap, ...] = ()
        self.is_seen = stamps
        self.inserts = inserts
        self.tag_bytes: Sizes | None = None
        self.hop: Hop | None = None
        self.conduct: Conduct | None = None
        self.ports: tuple[tuple[Link, ...], ...] = ()
        self.sinks: tuple[Sink, ...] = ()
        self._links: tuple[Link, ...] = ()
        self.horizon_ps = 0
        self.enter_in(recorder.totals.allocate_entries())

    def enter_in(self, entries: Whole) -> None:
        """Enter what becomes of its items there from now on."""
        self.entries = entries
        self._came, self._left = entries[CAME], entries[LEFT]

    def connect(
        self,
        ports: tuple[tuple[Link, ...], ...],
        sinks: tuple[Sink, ...],
        passages: tuple[Passage | None, ...] = (),
        watched: tuple[Tap, ...] = (),
    ) -> None:
        """Connect the links to each input, the sinks of each output, and what looks there."""
        self.ports = ports
        self.sinks = sinks
        self._links = tuple(link for port in ports for link in port)
        self._passages = passages
        self._watched = watched
        self.is_seen = self.stamps or bool(passages) or bool(watched)

    @property
    def is_only_sent(self) -> bool:
        """Return whether what leaves it is recorded as sent, and nothing else looks there."""
        is_looked_at = self._passages or self._watched or self.tag_bytes is not None
        return self.stamps and not is_looked_at

    def advance(self, cap_ps: int = FOREVER_PS) -> bool:
        """Advance to the lowest watermark of all links, or `cap_ps`; return whether it is later.

        Raises:
            TooLateError: What waits takes more than 50 days.
        """
        arrivals = self.take(cap_ps)
        if arrivals is None:
            return False
        self.work(arrivals)
        return True

    def take(self, cap_ps: int = FOREVER_PS) -> tuple[Batch, ...] | None:
        """Return what arrives up to the lowest watermark, or `cap_ps`; None if it is not later."""
        horizon_ps = cap_ps
        for link in self._links:
            horizon_ps = min(horizon_ps, link.until_ps)
        if horizon_ps <= self.horizon_ps:
            return None
        self.horizon_ps = horizon_ps
        return tuple(
            [
                port[0].take(horizon_ps)
                if len(port) == 1
                else merge_batches([link.take(horizon_ps) for link in port])
                for port in self.ports
            ]
        )

    def work(self, arrivals: tuple[Batch, ...]) -> None:
        """Work on what has arrived; see `advance`."""
        assert self._process is not None  # noqa: S101 -- those of a cycle do not advance
        try:
            step = self._process(arrivals, self.horizon_ps)
        except TooLateError:
            raise TooLateError(self.path) from None
        self._forward(arrivals, step)

    def see(self, output: int, batch: Batch) -> None:
        """Record items, at least one, that leave by an output."""
        if self.tag_bytes is not None:
            sizes = batch.size_bytes - self.tag_bytes[batch.connection]
            batch = batch.with_sizes(sizes)
        if self.stamps:
            self._recorder.count_sent(batch)
        passage = self._passages[output] if self._passages else None
        if passage is not None:
            passage.add(batch)
        for tap in self._watched:
            if tap.output == output:
                self._recorder.show(tap.place, batch)

    def _forward(self, arrivals: tuple[Batch, ...], step: Step) -> None:
        totals, entries = self._recorder.totals, self.entries
        came, left = self._came, self._left
        for batch in arrivals:
            came += totals.count(batch)
        leaving = zip(self.sinks, step.departures, step.until_ps, strict=True)
        for number, (sink, batch, until_ps) in enumerate(leaving):
            left += totals.count(batch)
            if self.is_seen and len(batch.at_ps):
                self.see(number, batch)
            sink.put(batch, until_ps)
        for loss in step.losses:
            entries[LOST] += totals.count(loss.batch)
            self._recorder.count_lost(self.path, loss)
        for batch in step.made:
            entries[MADE] += totals.count(batch)
            self._recorder.count_made(batch)
        for batch in step.consumed:
            entries[CONSUMED] += totals.count(batch)
            self._recorder.count_consumed(batch)
        for before, after in step.resized:
            entries[GREW] += totals.count(after) - totals.count(before)
