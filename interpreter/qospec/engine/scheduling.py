"""What all schedulers share: an element whose file holds its parameters and its policy.

A scheduler serves a line, and does not preempt. The queues before it hold what waits, each to its
own limit, which counts what waits, not what is being sent. When the line is free at some time, who
comes in that very ps is a choice too, and one that is chosen as it comes needs no room.

An input of a scheduler may be another one. That is asked when the line is free, and never runs
ahead: `Combined` is the tree of both as one element, whose inputs are the queues.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from qospec.dataclass import dataclass
from qospec.engine import tail_drop, transmission
from qospec.engine.arrays import np
from qospec.engine.batch import FOREVER_PS, Batch, empty, joined
from qospec.engine.coming import by_input, turns_of
from qospec.engine.dropping import doors_of
from qospec.engine.element import Loss, Step, Waiting
from qospec.engine.ledger import losses_of
from qospec.engine.parting import uninitialised
from qospec.engine.policy import Policy, loop_of
from qospec.engine.scheduler_tree import NO_LIMIT, planted
from qospec.engine.service import Service
from qospec.engine.transmission import FREE
from qospec.engine.virtual_time import rebase

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.engine.arrays import Rows, Whole
    from qospec.engine.clock import Clock
    from qospec.engine.coming import Coming
    from qospec.engine.dropping import Doors
    from qospec.engine.element import Setting
    from qospec.engine.policy import Serve
    from qospec.engine.scheduler_tree import Tree

    Served = tuple[Batch, tuple[Loss, ...]]
    """What left and what was lost."""


@dataclass
class State:
    """What is carried from batch to batch.

    Attributes:
        line: The line that is fed; see `engine.transmission`.
        queues: The queue of each input.
        tree: What the schedulers know; see `engine.service`.
        leaves: (inputs,) The row of each.
        policies: Of the tree, by number.
        serve: The loop for these.
        waiting: Per input, what has found room and waits.
        came: Per input, (levels, n) what was noted of each cell that waits.
        doors: What the queues let in.
        size_bytes: Of all that came so far; 0 before the first, -1 once sizes differ.
    """

    line: Whole
    queues: tuple[Waiting, ...]
    tree: Tree
    leaves: Rows
    policies: tuple[Policy, ...]
    serve: Serve
    waiting: list[Batch]
    came: list[Whole]
    doors: Doors
    size_bytes: int = 0


class Scheduler(ABC):
    """An element that decides who is sent next on a line."""

    causes: ClassVar[tuple[str, ...]] = ("overflow",)
    policy: ClassVar[Policy]

    @property
    @abstractmethod
    def inputs(self) -> tuple[str, ...]:
        """Return the names of its inputs, in order."""

    @property
    def outputs(self) -> tuple[str, ...]:
        """Return the name of its output."""
        return ("out",)

    @property
    def branches(self) -> tuple[Scheduler | None, ...]:
        """Return the scheduler at each of its own inputs; None: a queue."""
        return (None,) * len(self.inputs)

    def fields(self, clock: Clock) -> Mapping[str, int | tuple[int, ...]]:  # noqa: ARG002
        """Return the fields of its policy that do not begin as 0: its own, or one per input."""
        return {}

    def least_delay_ps(self, clock: Clock | None) -> int:
        """Return a time that no cell can undercut."""
        return transmission.least_delay_ps(clock)

    def start(self, setting: Setting) -> State:
        """Return its state at the beginning of a trial."""
        line = transmission.line_of(setting.clock)
        assert setting.clock is not None  # noqa: S101 -- or there were no line
        tree, leaves, policies = planted(self, setting.clock)
        inputs = len(leaves)
        came = np.zeros((int(tree["level"].max()) + 1, 0), np.int64)
        queues = setting.queues or (Waiting("", None),) * inputs
        limits = [NO_LIMIT if queue.limit is None else queue.limit.amount for queue in queues]
        tree["limit"][leaves], tree["number"][leaves] = limits, range(inputs)
        doors = doors_of(queues, setting.draws, setting.clock)
        return State(
            line,
            queues,
            tree,
            np.array(leaves, np.uint32),
            policies,
            loop_of(policies, deep=len(tree) > int(tree["last"][0]), guarded=doors.selective),
            [empty()] * inputs,
            [came] * inputs,
            doors,
        )

    def process(self, state: State, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        """Carry `arrivals`, a batch per input."""
        return served(state, by_input(arrivals), until_ps)


def served(state: State, coming: Coming, until_ps: int) -> Step:
    """Carry what comes before `until_ps`."""
    busy = [i for i, count in enumerate(coming.counts) if count or state.waiting[i].count]
    done: Served | None = None if busy else (empty(), ())
    if len(busy) == 1 and not state.doors.selective:
        done = _serve_one(state, busy[0], coming.batches[busy[0]], until_ps)
    sent, losses = done or _serve_all(state, coming, until_ps)
    return Step((sent,), (transmission.watermark_ps(state.line, until_ps),), losses)


@dataclass(frozen=True)
class Combined(Scheduler):
    """A scheduler with others at its inputs, as one: its inputs are the queues, level by level.

    Attributes:
        outer: The one that serves the line.
        inner: Per input of that, the scheduler which feeds it, if one does.
    """

    outer: Scheduler
    inner: tuple[Scheduler | None, ...]

    def __post_init__(self) -> None:
        if len(self.inner) != len(self.outer.inputs):
            raise ValueError("as many as the outer scheduler has inputs are needed")

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return those of the queues: `rest.af` for input `af` of the one at `rest`."""
        found: list[str] = []
        for name, inner in zip(self.outer.inputs, self.inner, strict=True):
            found += [name] if inner is None else [f"{name}.{each}" for each in inner.inputs]
        return tuple(found)

    @property
    def policy(self) -> Policy:  # type: ignore[override]
        """Return the policy of the one that serves the line."""
        return self.outer.policy

    @property
    def branches(self) -> tuple[Scheduler | None, ...]:
        """Return the scheduler at each input of the one that serves the line."""
        return self.inner

    def fields(self, clock: Clock) -> Mapping[str, int | tuple[int, ...]]:
        """Return the fields of the one that serves the line."""
        return self.outer.fields(clock)


def _serve_one(state: State, number: int, batch: Batch, until_ps: int) -> Served | None:
    """Serve a single input, like a queue of its own; return None, nothing done, if that is not it.

    It is not if sizes differ, or if policies have something to remember: unless nothing waits, for
    then that is whose turn it was, as after any one cell.
    """
    waiting = state.waiting[number]
    first = waiting if waiting.count else batch
    size_bytes = int(first.size_bytes[0])
    if size_bytes != (state.size_bytes or size_bytes):
        return None
    before = state.line.copy()
    sent, lost = waiting, empty()
    if waiting.count:
        sent, _ = tail_drop.through(state.line, waiting, None) or (waiting, lost)
    if batch.count:
        done = tail_drop.through(state.line, batch, state.queues[number].limit)
        if done is None or int(batch.size_bytes[0]) != size_bytes:
            state.line[:] = before
            return None
        sent, lost = joined(sent, done[0]), done[1]
    # What begins now or later may yet have to stand back; that it waits, not since when, matters.
    count = tail_drop.taken_back(state.line, size_bytes, until_ps)
    if not all(policy.forgets for policy in state.policies):
        if count or state.line[FREE] >= until_ps:
            state.line[:] = before
            return None
        _remember(state, number, first.part(0, 1))
    state.size_bytes = size_bytes
    kept = sent.part(sent.count - count, sent.count)
    state.waiting[number] = kept.moved(np.full(count, until_ps, np.int64))
    losses = losses_of(lost.connection, lost.sent_ps, None, state.queues[number].element)
    return sent.part(0, sent.count - count), losses


def _remember(state: State, number: int, cell: Batch) -> None:
    """Let the policies know that a cell of one input was sent, and that nothing waits now."""
    state.waiting[number] = empty()
    arrivals = tuple(cell if i == number else empty() for i in range(len(state.leaves)))
    service, limits = _prepared(state, by_input(arrivals), cell), state.tree["limit"].copy()
    state.tree["limit"] = NO_LIMIT
    state.serve(cell, state.line.copy(), state.tree, FOREVER_PS, service)
    state.tree["limit"] = limits


def _serve_all(state: State, coming: Coming, until_ps: int) -> Served:
    cells = joined(*state.waiting, *coming.batches)
    largest, smallest = int(cells.size_bytes.max()), int(cells.size_bytes.min())
    transmission.check_load(state.line, cells, smallest, largest)
    alike = largest == smallest == (state.size_bytes or largest)
    state.size_bytes = largest if alike else -1

    service = _prepared(state, coming, cells)
    count = state.serve(cells, state.line, state.tree, until_ps, service)
    sent = service.left.part(0, count)
    losses: tuple[Loss, ...] = ()
    end = 0
    for number, row in enumerate(state.leaves):
        leaf = state.tree[row]
        end += state.waiting[number].count + coming.counts[number]
        lost = service.queue[leaf["tail"] : end][::-1]
        fates = service.lost[lost] if state.doors.selective else None
        ended = cells.connection.take(lost), cells.sent_ps.take(lost)
        losses += losses_of(*ended, fates, state.queues[number].element)
        kept = service.queue[leaf["head"] : leaf["head"] + leaf["waits"]]
        state.waiting[number] = cells.select(kept)
        if len(service.came):
            state.came[number] = service.came[:, kept]
    return sent, losses


def _prepared(state: State, coming: Coming, cells: Batch) -> Service:
    """Return columns for these cells, and make the tree ready for them."""
    tree, count = state.tree, cells.count
    held = [batch.count for batch in state.waiting]
    first = sum(held)
    turns = turns_of(coming, cells.at_ps, first, state.leaves)
    service = Service(
        turns,
        np.zeros(count, np.uint8),
        np.empty(count, np.uint32),
        np.zeros((len(state.came[0]), count), np.int64),
        uninitialised(count),
        state.doors.gate,
        cells.marks,
        np.zeros(count if state.doors.selective else 0, np.int32),
    )
    rebase(tree, state.policies, state.leaves, state.came)
    tree["waits"] = 0
    head, item = 0, 0
    for number, (row, waiting, comers) in enumerate(
        zip(state.leaves, held, coming.counts, strict=True)
    ):
        leaf, limit, behind = tree[row], state.queues[number].limit, item + waiting
        leaf["bytes"] = limit is not None and limit.unit == "byte"
        leaf["head"], leaf["tail"], leaf["item"] = head, head + waiting + comers, item
        leaf["amount"] = cells.size_bytes[item:behind].sum()
        if state.doors.selective:
            service.draws[turns.numbers[turns.rows == row]] = state.doors.dice[number].take(comers)
        if waiting:
            service.queue[head : head + waiting] = np.arange(item, behind)
            leaf["size"] = cells.size_bytes[item]
            if len(service.came):
                service.came[:, item:behind] = state.came[number]
        leaf["waits"], above = waiting, row
        while above:
            above = int(tree["parent"][above])
            tree["waits"][above] += waiting
        head, item = head + waiting + comers, behind
    return service
