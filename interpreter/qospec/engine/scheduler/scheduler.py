"""The base of all schedulers; the file of each holds its parameters and its policy.

A scheduler serves a line and does not preempt. The queues before it hold what waits, each up to its
own limit, which counts what waits, not what is being sent. When the line becomes free, items that
arrive in that very ps are candidates too, and an item that is chosen on arrival needs no room.

An input of a scheduler may be another scheduler; both are then one element. The inner one chooses
when the line is free, and never runs ahead.
"""

from __future__ import annotations

import functools
import itertools
from abc import abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from qospec.calculus.curve import NOTHING, Curve
from qospec.calculus.guarantee import (
    Arrival,
    Costs,
    Guarantee,
    Guarantees,
    Share,
    choose_best,
    compute_costs,
)
from qospec.calculus.service import RateLatency, find_residual
from qospec.dataclass import NamedTuple, dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Loss, Step
from qospec.engine.event.transition import Transition
from qospec.engine.items.batch import FOREVER_PS, Batch, allocate_batch, join_batches, make_empty
from qospec.engine.line import tail_drop, transmission
from qospec.engine.line.guarantee import bound_sent, cost_sizes, guarantee_share
from qospec.engine.line.transmission import FREE
from qospec.engine.queue.admission import CAUSES
from qospec.engine.queue.drop_policy import Waiting, build_drop_state
from qospec.engine.queue.losses import list_losses
from qospec.engine.scheduler.arrivals import group_by_input, sort_arrivals
from qospec.engine.scheduler.policy import Policy, link_loop, link_transition
from qospec.engine.scheduler.serve import Held, Service, hold_nothing
from qospec.engine.scheduler.transition import build_state, replenish
from qospec.engine.scheduler.tree import (
    AMOUNT,
    FIELDS,
    FIRST,
    HEAD,
    IN_BYTES,
    INNER,
    ITEM,
    LAST,
    LEVEL,
    LIMIT,
    NO_LIMIT,
    NUMBER,
    PARENT,
    POLICY,
    SIZE,
    TAIL,
    WAITS,
)
from qospec.engine.scheduler.virtual_time import rebase

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from qospec.catalogue.kinds import Buffer, UnfitError
    from qospec.engine.arrays import Rows, Whole
    from qospec.engine.element import Setting
    from qospec.engine.line.clock import Clock
    from qospec.engine.queue.drop_policy import DropState
    from qospec.engine.scheduler.arrivals import Incoming
    from qospec.engine.scheduler.policy import Serve
    from qospec.engine.scheduler.tree import Tree

    Served = tuple[Batch, tuple[Loss, ...]]

    """What left and what was lost."""

Numbers = tuple[tuple[str, Fraction | int], ...]
"""A number for each input by its name, in order."""


@dataclass
class State:
    """The state that a scheduler carries from batch to batch.

    Attributes:
        line: The line that is fed; see `engine.line.transmission`.
        queues: The queue of each input.
        tree: The state of the schedulers; see `engine.scheduler.serve`.
        leaves: (inputs,) The row of each.
        policies: Of the tree, by number: the root's, then those below it.
        serve: The loop for these.
        held: The items that wait.
        drop_state: The state of the queues' admission.
        size_bytes: Of all items so far; 0 before the first, -1 once sizes differ.
    """

    line: Whole
    queues: tuple[Waiting, ...]
    tree: Tree
    leaves: Rows
    policies: tuple[Policy, ...]
    serve: Serve
    held: Held
    drop_state: DropState
    size_bytes: int = 0


class Competitor(NamedTuple):
    """What arrives at an input of a scheduler, as the line sees it.

    Attributes:
        work: How much time it takes of the line.
        longest_ps: The time of the longest item.
        smallest_bytes: The size of the smallest item.
        largest_bytes: That of the largest.
        dearest_ps: The most time that a byte takes, its share of the framing included.
    """

    work: Curve
    longest_ps: Fraction
    smallest_bytes: int
    largest_bytes: int
    dearest_ps: Fraction


class Quanta(NamedTuple):
    """Bytes that inputs may send in a turn: one of weight 1, and each of all, in order."""

    quantum: int
    of_inputs: tuple[int, ...]


class Scheduler(Element):
    """An element that decides which item a line sends next; what is lost ends in its queue."""

    policy: ClassVar[Policy]
    passes_over: ClassVar[bool] = False
    """Whether one that may leave a free line idle may stand at an input of it: where that is held
    back, it serves the others as if nothing waited there."""
    _former_names: ClassVar[dict[str, str]] = {
        **Element._former_names,  # noqa: SLF001 -- its own base class
        "share": "bound_share",
        "share_behind": "bound_share_behind",
        "fields": "build_fields",
    }

    @property
    def may_pause(self) -> bool:
        """Return whether it may send nothing though something waits and the line is free."""
        return self.policy.pauses or any(
            below is not None and below.may_pause for below in self.branches
        )

    @property
    @abstractmethod
    def inputs(self) -> tuple[str, ...]:
        """Return the names of its inputs, in order."""

    @property
    def at_line(self) -> Scheduler:
        """Return the one that serves the line, of those that it combines."""
        return self

    @property
    def quanta(self) -> Quanta | None:
        """Return how much each input may send in a turn, if it saves up what it does not send."""
        return None

    @property
    def branches(self) -> tuple[Scheduler | None, ...]:
        """Return the scheduler at each of its own inputs; None: a queue."""
        return (None,) * len(self.inputs)

    @property
    def levels(self) -> int:
        """Return how many levels of schedulers there are below it."""
        return max((1 + below.levels for below in self.branches if below is not None), default=0)

    def bound_share(self, number: int, inputs: Sequence[Competitor | None], clock: Clock) -> Share:  # noqa: ARG002
        """Return the service that an input has at least; by default none is known.

        Args:
            number: Of the input.
            inputs: What arrives at each; None: nothing does.
            clock: Of the line.
        """
        return Share((), functools.partial(cost_sizes, clock))

    def bound_share_behind(self, longest_ps: Fraction, clock: Clock) -> Share:
        """Return the service that its only input has at least, if others only finish an item.

        Args:
            longest_ps: The time of the longest item of others.
            clock: Of the line.
        """
        return Share((RateLatency(latency_ps=longest_ps),), functools.partial(cost_sizes, clock))

    def explain_unfit(self, clock: Clock, largest: Sequence[int]) -> UnfitError | None:  # noqa: ARG002
        """Return why it cannot serve such packets on such a line, in the author's words.

        Args:
            clock: Of the line.
            largest: Bytes of the largest packet at each of its own inputs; 0: none arrive.
        """
        return None

    def guarantee_service(
        self, arriving: tuple[Arrival, ...], clock: Clock | None, limits: tuple[Buffer | None, ...]
    ) -> Guarantees:
        """Return what each input is guaranteed by its share, and what the line sends.

        Or by what all others leave, in whatever order: Le Boudec and Thiran, 6.2.1; not if the line
        may be idle though something waits.
        """
        if clock is None:
            raise ValueError("no line serves this element")
        inputs = [_build_competitor(clock, arrival) for arrival in arriving]
        found = []
        for number, (arrival, competes) in enumerate(zip(arriving, inputs, strict=True)):
            if competes is None:
                found.append(Guarantee(0, 0))
                continue
            limit = limits[number] if limits else None
            shares = [self.bound_share(number, inputs, clock)]
            if not self.may_pause:
                others = (one.work for n, one in enumerate(inputs) if one and n != number)
                left = find_residual(functools.reduce(Curve.add, others, NOTHING), Fraction(0))
                shares.append(Share(left, functools.partial(cost_sizes, clock)))
            found.append(
                choose_best(guarantee_share(clock, arrival, share, limit) for share in shares)
            )
        together = functools.reduce(Arrival.add, arriving)
        return Guarantees(tuple(found), bound_sent(clock, together))

    def build_fields(self, clock: Clock) -> Mapping[int, int | tuple[int, ...]]:  # noqa: ARG002
        """Return the fields of its policy that do not begin as 0: its own, or one per input."""
        return {}

    def start(self, setting: Setting) -> State:
        """Return its state at the beginning of a trial."""
        line = transmission.build_line(setting.clock)
        assert setting.clock is not None  # noqa: S101 -- or there were no line
        tree, leaves, policies = _build_tree(self, setting.clock)
        inputs = len(leaves)
        queues = setting.queues or (Waiting("", None),) * inputs
        tree[leaves, NUMBER] = range(inputs)
        for row, limit in zip(leaves, [queue.limit for queue in queues], strict=True):
            if limit is not None:
                tree[row, LIMIT], tree[row, IN_BYTES] = limit.amount, limit.unit == "byte"
        connections = setting.streams.count
        drop_state = build_drop_state(queues, setting.draws, setting.clock, connections)
        return State(
            line,
            queues,
            tree,
            np.array(leaves, np.uint32),
            policies,
            link_loop(policies, self.levels, with_policies=drop_state.selective),
            hold_nothing(inputs, int(tree[:, LEVEL].max()) + 1),
            drop_state,
        )

    def build_transition(self, setting: Setting) -> Transition:
        """Return how it answers events, as `engine.scheduler.transition` does."""
        state = self.start(setting)
        selective = state.drop_state.selective
        arrive, wake = link_transition(state.policies, self.levels, with_policies=selective)
        leaves = state.leaves.tolist()
        return Transition(
            build_state(state.line, state.tree, leaves, state.drop_state),
            arrive,
            wake,
            losses=tuple((queue.element, cause) for queue in state.queues for cause in CAUSES[1:]),
            queues=tuple(queue.element for queue in state.queues) if setting.watched else (),
            ports=tuple(sorted(range(len(leaves)), key=leaves.__getitem__)),
            replenish=functools.partial(replenish, state.drop_state, _list_tags(state)),
        )

    def process(self, state: State, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        """Carry `arrivals`, a batch per input."""
        return serve_arrivals(state, group_by_input(arrivals), until_ps)


def _build_competitor(clock: Clock, arriving: Arrival) -> Competitor | None:
    """Return what arrives at an input, as the line sees it; None: nothing does."""
    if not arriving.sizes:
        return None
    costs, sizes = cost_sizes(clock, arriving.sizes), arriving.sizes
    work = arriving.measure_work(functools.partial(cost_sizes, clock))
    return Competitor(work, costs.longest_ps, sizes[0], sizes[-1], costs.dearest_ps)


class Taken(NamedTuple):
    """The most time that another input takes of the line while one is served.

    Attributes:
        before_ps: Before any work of that one.
        item_ps: For each item of that one, besides.
        byte_ps: For each of its bytes, besides.
    """

    before_ps: Fraction
    item_ps: Fraction = Fraction(0)
    byte_ps: Fraction = Fraction(0)


def compute_bounded_share(
    number: int,
    inputs: Sequence[Competitor | None],
    clock: Clock,
    taken: Callable[[Competitor, Competitor, int], Taken],
) -> Share:
    """Return the share of an input beside which no other does more than a bounded work.

    What others take while an item is served is counted as its cost.

    Args:
        number: Of the input.
        inputs: What arrives at each.
        clock: Of the line.
        taken: Of the input, another, and the number of that: what the other takes.
    """
    mine = inputs[number]
    assert mine is not None  # noqa: S101 -- no share is asked for where nothing arrives
    others = [
        taken(mine, competitor, other)
        for other, competitor in enumerate(inputs)
        if competitor is not None and other != number
    ]
    before_ps = sum((other.before_ps for other in others), Fraction(0))
    item_ps = sum((other.item_ps for other in others), Fraction(0))
    byte_ps = sum((other.byte_ps for other in others), Fraction(0))
    of = functools.partial(_costs_beside, clock, item_ps, byte_ps)
    return Share((RateLatency(latency_ps=before_ps),), of, always=True)


@functools.lru_cache(maxsize=256)
def _costs_beside(
    clock: Clock, item_ps: Fraction, byte_ps: Fraction, sizes: tuple[int, ...]
) -> Costs:
    def cost_ps(size_bytes: int) -> Fraction:
        return cost_sizes(clock, (size_bytes,)).longest_ps + item_ps + size_bytes * byte_ps

    return compute_costs(sizes, cost_ps, Fraction(1))


def compute_fair_share(
    number: int, inputs: Sequence[Competitor | None], weights: Numbers, lost_bytes: Fraction
) -> Share:
    """Return the share by weight of an input served in the order of a fluid server.

    A packet ends no later than in the fluid server and the time of the largest packet: Parekh and
    Gallager 1993, theorem 1; of WF2Q+, Bennett and Zhang 1997, theorem 4. The fluid server counts
    bytes, each of which takes the line as long as the dearest one at most.

    Args:
        number: Of the input.
        inputs: What arrives at each.
        weights: Of all inputs, with their names.
        lost_bytes: What rounding of virtual time may add to what is sent before a packet, whenever
            an input begins to be served.
    """
    known = [competitor for competitor in inputs if competitor is not None]
    byte_ps = max(competitor.dearest_ps for competitor in known)
    smallest_bytes = min(competitor.smallest_bytes for competitor in known)
    # Each time that an input begins to be served costs so much of the fluid server, and it has sent
    # a packet before it can begin again.
    losing = 1 + lost_bytes / smallest_bytes
    first_bytes = max(competitor.largest_bytes for competitor in known) + lost_bytes * (
        len(known) + 4
    )
    shares = [Fraction(weight) for _, weight in weights]
    service = RateLatency(shares[number] / sum(shares) / losing, first_bytes * byte_ps)
    return Share((service,), functools.partial(_costs_by_bytes, byte_ps))


@functools.lru_cache(maxsize=256)
def _costs_by_bytes(byte_ps: Fraction, sizes: tuple[int, ...]) -> Costs:
    return compute_costs(sizes, lambda size_bytes: size_bytes, byte_ps)


def _list_tags(state: State) -> list[tuple[int, ...]]:
    """Return the tags of each policy, by number."""
    return [policy.tags for policy in state.policies]


def _build_tree(root: Scheduler, clock: Clock) -> tuple[Tree, list[int], tuple[Policy, ...]]:
    """Return the tree of a scheduler, the row of each of its inputs, and its policies."""
    rows: list[tuple[Scheduler | None, int, int]] = [(root, 0, -1)]
    first: dict[int, int] = {}
    for row, (scheduler, _, above) in enumerate(rows):
        if scheduler is not None:
            first[row] = len(rows)
            level = above + scheduler.policy.keeps_tags
            rows += [(branch, row, level) for branch in scheduler.branches]
    schedulers = {
        row: scheduler for row, (scheduler, _, _) in enumerate(rows) if scheduler is not None
    }
    found = {
        scheduler.policy.name: scheduler.policy for row, scheduler in schedulers.items() if row
    }
    policies = (root.policy, *(found[name] for name in sorted(found)))
    tree = np.zeros((len(rows), FIELDS), np.int64)
    tree[:, PARENT] = [parent for _, parent, _ in rows]
    tree[:, LEVEL], tree[:, LIMIT] = -1, NO_LIMIT
    below = sorted(schedulers)[:0:-1]
    for row, after in zip((0, *below), (*below, 0), strict=True):
        tree[row, INNER] = after
    for row, scheduler in schedulers.items():
        last = first[row] + len(scheduler.branches)
        tree[row, FIRST], tree[row, LAST] = first[row], last
        tree[row, POLICY] = policies.index(scheduler.policy, 1) if row else 0
        if scheduler.policy.keeps_tags:
            tree[row, LEVEL] = rows[row][2] + 1
        for field, value in scheduler.build_fields(clock).items():
            own = isinstance(value, int)
            tree[slice(row, row + 1) if own else slice(first[row], last), field] = value
    return tree, list(_list_leaves(0, first, schedulers)), policies


def _list_leaves(
    row: int, first: Mapping[int, int], schedulers: Mapping[int, Scheduler]
) -> list[int]:
    """Return the rows of the queues below a row, in order of inputs."""
    if row not in schedulers:
        return [row]
    below = range(first[row], first[row] + len(schedulers[row].branches))
    return [leaf for branch in below for leaf in _list_leaves(branch, first, schedulers)]


def serve_arrivals(state: State, incoming: Incoming, until_ps: int) -> Step:
    """Serve what arrives before `until_ps`."""
    busy = [i for i, count in enumerate(incoming.counts) if count or state.held.counts[i]]
    done: Served | None = None if busy else (make_empty(), ())
    pauses = any(policy.pauses for policy in state.policies)
    if len(busy) == 1 and not pauses and not state.drop_state.selective:
        done = _serve_one(state, busy[0], incoming.batches[busy[0]], until_ps)
    sent, losses = done or _serve_all(state, incoming, until_ps)
    return Step((sent,), (transmission.compute_watermark_ps(state.line, until_ps),), losses)


def _serve_one(state: State, number: int, batch: Batch, until_ps: int) -> Served | None:
    """Serve a single input, like a queue of its own; return None, nothing done, if that is not it.

    It is not if sizes differ, or if policies have something to remember: unless nothing waits, for
    then that is whose turn it was, as after any one cell.
    """
    waiting = state.held.cells
    first = waiting if waiting.count else batch
    size_bytes = int(first.size_bytes[0])
    if size_bytes != (state.size_bytes or size_bytes):
        return None
    before = state.line.copy()
    sent, lost = waiting, make_empty()
    if waiting.count:
        sent, _ = tail_drop.send_through(state.line, waiting, None) or (waiting, lost)
    if batch.count:
        done = tail_drop.send_through(state.line, batch, state.queues[number].limit)
        if done is None or int(batch.size_bytes[0]) != size_bytes:
            state.line[:] = before
            return None
        sent, lost = join_batches(sent, done[0]), done[1]
    # What begins now or later may yet have to stand back; that it waits, not since when, matters.
    count = tail_drop.take_back_unsent(state.line, size_bytes, until_ps)
    if not all(policy.forgets for policy in state.policies):
        if count or state.line[FREE] >= until_ps:
            state.line[:] = before
            return None
        _remember(state, number, first.select_range(0, 1))
    state.size_bytes = size_bytes
    kept = sent.select_range(sent.count - count, sent.count)
    counts = [count * (i == number) for i in range(len(state.leaves))]
    state.held = Held(
        kept.with_times(np.full(count, until_ps, np.int64)), counts, state.held.arrival_tags
    )
    losses = list_losses(lost, None, state.queues[number].element)
    return sent.select_range(0, sent.count - count), losses


def _remember(state: State, number: int, cell: Batch) -> None:
    """Let the policies know that a cell of one input was sent, and that nothing waits now."""
    inputs = len(state.leaves)
    state.held = hold_nothing(inputs, state.held.arrival_tags.shape[1])
    arrivals = tuple(cell if i == number else make_empty() for i in range(inputs))
    service, limits = (
        _build_service(state, group_by_input(arrivals), cell),
        state.tree[:, LIMIT].copy(),
    )
    state.tree[:, LIMIT] = NO_LIMIT
    state.serve(cell, make_empty(), state.line.copy(), state.tree, FOREVER_PS, service)
    state.tree[:, LIMIT] = limits


def _serve_all(state: State, incoming: Incoming, until_ps: int) -> Served:
    arrivals, held = join_batches(*incoming.batches), state.held.cells
    if state.drop_state.marking:
        arrivals = arrivals.with_marks(arrivals.marks.copy())
    sizes = [batch.size_bytes for batch in (arrivals, held) if batch.count]
    largest = max([int(size.max()) for size in sizes])
    smallest = min([int(size.min()) for size in sizes])
    if arrivals.count:
        transmission.check_load(state.line, arrivals, smallest, largest, held.count)
    alike = largest == smallest == (state.size_bytes or largest)
    state.size_bytes = largest if alike else -1

    service = _build_service(state, incoming, arrivals)
    sent = state.serve(arrivals, held, state.line, state.tree, until_ps, service)
    leaves = state.tree[state.leaves]
    heads, counts = leaves[:, HEAD].tolist(), leaves[:, WAITS].tolist()
    end, arrival_tags = sent + sum(counts), state.held.arrival_tags
    if arrival_tags.shape[1]:
        places = zip(heads, counts, strict=True)
        kept = np.concatenate([service.queue[head : head + count] for head, count in places])
        arrival_tags = service.arrival_tags[kept]
    state.held = Held(service.left.select_range(sent, end), counts, arrival_tags)
    losses: tuple[Loss, ...] = ()
    for tail, behind, queue in zip(leaves[:, TAIL], service.ends, state.queues, strict=True):
        lost = service.left.select_range(end, end + int(behind - tail))
        end += lost.count
        cause_codes = (
            service.lost[service.queue[tail:behind][::-1]] if state.drop_state.selective else None
        )
        losses += list_losses(lost, cause_codes, queue.element)
    return service.left.select_range(0, sent), losses


def _build_service(state: State, incoming: Incoming, arrivals: Batch) -> Service:
    """Return columns for these cells and those that wait, and make the tree ready for them."""
    tree, leaves, held = state.tree, state.leaves, state.held
    first, size_bytes = arrivals.count, held.cells.size_bytes
    count = first + held.cells.count
    order = sort_arrivals(incoming, arrivals.at_ps, leaves)
    places = [waits + arrive for waits, arrive in zip(held.counts, incoming.counts, strict=True)]
    service = Service(
        order,
        np.zeros(first, np.uint8),
        np.empty(count, np.uint32),
        np.zeros((count, held.arrival_tags.shape[1]), np.int64),
        allocate_batch(count, width=max(arrivals.width, held.cells.width)),
        leaves,
        np.cumsum(places).astype(np.uint32),
        state.drop_state.table,
        arrivals,
        np.zeros(first if state.drop_state.selective else 0, np.int32),
    )
    bounds = [0, *itertools.accumulate(held.counts)]
    rebase(tree, _list_tags(state), np.repeat(leaves, held.counts), held.arrival_tags)
    if held.arrival_tags.size:
        service.arrival_tags[first:] = held.arrival_tags
    tree[:, WAITS] = 0
    head = 0
    for number, row in enumerate(leaves):
        item, waits = bounds[number], held.counts[number]
        tree[row, HEAD], tree[row, TAIL] = head, head + places[number]
        tree[row, ITEM] = first + item
        tree[row, AMOUNT] = size_bytes[item : item + waits].sum()
        if state.drop_state.selective:
            draws = state.drop_state.draws[number]
            service.draws[order.numbers[order.rows == row]] = draws.take(incoming.counts[number])
        if waits:
            service.queue[head : head + waits] = np.arange(first + item, first + item + waits)
            tree[row, SIZE] = size_bytes[item]
        tree[row, WAITS], above = waits, row
        while above:
            above = int(tree[above, PARENT])
            tree[above, WAITS] += waits
        head += places[number]
    return service


class Weighted(Scheduler):
    """A scheduler whose field `weights` holds a pair of name and weight per input, in order."""

    weights: Numbers

    def __post_init__(self) -> None:
        """Refuse what cannot be the inputs; in the author's words."""
        check_numbers("weights", self.weights)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return the names of its inputs, in order."""
        return tuple(name for name, _ in self.weights)


def check_numbers(field: str, numbers: Numbers) -> None:
    """Raise ValueError, in the author's words, for what cannot be a number for each input."""
    names = [name for name, _ in numbers]
    if not names:
        raise ValueError(f"{field}: at least one input is needed")
    if len(set(names)) < len(names):
        raise ValueError(f"{field}: an input is named twice")
    for name, number in numbers:
        if number <= 0:
            raise ValueError(f"{field}: {name} would never be served; give more than 0")
