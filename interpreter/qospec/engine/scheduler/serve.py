"""The scheduling loop: admit arrivals, then serve one item at a time.

Schedulers form a tree: its root serves the line, an input of a scheduler is a queue or another
scheduler. A row of the tree is one of these; the root comes first, then the inputs of each
scheduler side by side. A scheduler chooses by its policy: five kernels, `select`, `find_opening`,
`on_arrival`, `on_service` and `on_idle`, which are called by name. Those here and in
`scheduler.choice` are the defaults; `scheduler.policy` compiles the loop with those of a tree.

Queues admit items by their limits alone, or by drop policies: the loop calls the kernels of the
former by name, and those of the latter replace them where some queue has a policy.

Few items wait as a rule, and placing them in front of the arrivals would move all arrivals: so the
n arrivals are numbered from 0, and the m items that wait already from n.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.items.batch import FRAME_PLACE, copy_item, make_empty, read_note
from qospec.engine.kernel import as_signed, kernel, view_rows
from qospec.engine.line.transmission import (
    BYTE,
    BYTE_PART,
    DENOMINATOR,
    FREE,
    LEAD,
    LEAP,
    PART,
    PROPAGATION,
    SLOT,
    SLOT_PART,
    SLOTTED,
    STAMPS,
    add_time,
    compute_time,
    find_next_slot,
    read_framing,
)
from qospec.engine.queue.admission import (
    ADMITTED,
    MARKED,
    OVERFLOW,
    SINCE,
    THRESHOLD,
    admit,
    find_room,
    note_drop,
)
from qospec.engine.scheduler.choice import (
    KEEPS_TAGS,
    LEVELS,
    NOTIFIES_IDLE,
    PAUSES,
    TRACKS_HEADS,
    find_opening_ps,
    select_queue,
)
from qospec.engine.scheduler.tree import (
    AMOUNT,
    FIELDS,
    FIRST,
    HEAD,
    IN_BYTES,
    ITEM,
    LEVEL,
    LIMIT,
    NO_LIMIT,
    NUMBER,
    OVER_LIMIT,
    PARENT,
    SENT,
    SIZE,
    TAIL,
    WAITS,
)
from qospec.protocol.marks import CONGESTION

if TYPE_CHECKING:
    from qospec.engine.arrays import Marks, Rows, Sizes, Whole
    from qospec.engine.items.batch import Batch
    from qospec.engine.queue.admission import AdmissionTable, Cell
    from qospec.engine.scheduler.arrivals import ArrivalOrder
    from qospec.engine.scheduler.tree import Tree


@kernel
def serve(
    arrivals: Batch, held: Batch, line: Whole, tree: Tree, until_ps: int, service: Service
) -> int:
    """Make all decisions before `until_ps`; return the number of items sent.

    Args:
        arrivals: n items: what arrives before `until_ps`.
        held: m items: what waits.
        line: Updated.
        tree: Updated.
        until_ps: Arrivals from then on are not known yet.
        service: Written.
    """
    # A row's length that is known when compiling takes 1 to 2 % less time.
    tree = view_rows(tree.reshape(-1), 0, len(tree), FIELDS)
    sizes = (arrivals.size_bytes, held.size_bytes)
    queue, arrival_tags, left = service.queue, service.arrival_tags, service.left
    left_at, left_sent = left.at_ps, left.sent_ps
    free, part, denominator = line[FREE], line[PART], line[DENOMINATOR]
    pace = (line[SLOT], line[SLOT_PART], denominator, line[LEAP])
    slotted, stamps = line[SLOTTED] != 0, line[STAMPS] != 0
    lead, way, sent = line[LEAD], line[PROPAGATION], 0
    of_bytes = (slotted, line[BYTE_PART] == 0, line[BYTE], read_framing(line))
    (size, time), last, upcoming = (0, pace[:2]), tree[0, SENT], _peek(service.order.at_ps, 0)
    while True:
        if upcoming[1] <= free:
            upcoming = _admit_arrivals(arrivals, tree, upcoming, free, service)
        if free >= until_ps:
            break
        if NOTIFIES_IDLE and last and tree[last, WAITS] == 0:
            notify_idle(tree, last)
        last = 0
        next_ps = _find_next_ps(tree, service, free, upcoming[1], until_ps)
        if next_ps == NO_LIMIT:
            break
        if next_ps > free:
            free, part = find_next_slot(pace, free, part, next_ps) if slotted else (next_ps, 0)
            continue
        k = select_queue(tree, arrival_tags, free)
        i, now = _dequeue(tree, k, queue, sizes)
        carry(arrivals, held, i, left, sent)
        size, time = compute_time(line, of_bytes, (size, time), now)
        if stamps:
            left_sent[sent] = free + lead
        free, part = add_time(free, part, time, denominator)
        left_at[sent] = free + way
        sent, last = sent + 1, k
        on_departure(tree, service, k, free)
        notify_service(tree, k, now, free)
        if tree[0, OVER_LIMIT]:
            _drop_over_limit(tree, service)
    line[FREE], line[PART], tree[0, SENT] = free, part, last
    write_remaining(arrivals, held, tree, until_ps, (sent, service))
    return sent


@kernel
def _find_next_ps(tree: Tree, service: Service, free_ps: int, coming_ps: int, until_ps: int) -> int:
    """Return when there is something to decide: now, if something may be sent; NO_LIMIT: never."""
    if not tree[0, WAITS]:
        return coming_ps
    if not PAUSES:
        return free_ps
    opens_ps = find_opening_ps(tree, service.arrival_tags, free_ps)
    if opens_ps <= free_ps:
        return free_ps
    if tree[0, OVER_LIMIT]:
        _drop_over_limit(tree, service)
    if opens_ps == coming_ps == NO_LIMIT:
        return NO_LIMIT
    # What comes now behind another item is admitted before the next ps.
    return min(opens_ps, max(coming_ps, free_ps + 1), until_ps)


@kernel
def _dequeue(tree: Tree, k: int, queue: Rows, sizes: tuple[Any, Any]) -> tuple[int, int]:
    """Take the first item out of a queue; return its number and size. WAITS still counts it."""
    head = tree[k, HEAD]
    i = as_signed(queue[head])
    size = tree[k, SIZE] if TRACKS_HEADS else get_size(sizes, i)
    tree[k, HEAD] = head + 1
    if tree[k, IN_BYTES]:
        tree[k, AMOUNT] -= size
    if TRACKS_HEADS:  # if no other waits, the same again: a branch would be mispredicted
        following = as_signed(queue[head + (tree[k, WAITS] > 1)])
        tree[k, ITEM], tree[k, SIZE] = following, get_size(sizes, following)
    return i, size


@kernel
def _admit_arrivals(
    arrivals: Batch, tree: Tree, upcoming: tuple[int, int], free_ps: int, service: Service
) -> tuple[int, int]:
    """Admit arrivals before `free_ps`, when the line is free, and at empty queues those then.

    Returns the next arrival as `_peek` does; `upcoming` is one, too.
    """
    size_bytes = arrivals.size_bytes
    order, row, at_ps = service.order
    place, now_ps = upcoming
    while now_ps < free_ps:
        k, i = as_signed(row[place]), as_signed(order[place])
        _admit(tree, size_bytes, service, (k, i, now_ps), 1)
        place, now_ps = _peek(at_ps, place + 1)
    last = place
    while now_ps == free_ps:
        k, i = as_signed(row[last]), as_signed(order[last])
        if tree[k, WAITS] == 0:
            _admit(tree, size_bytes, service, (k, i, now_ps), 0)
            # Simultaneous arrivals that must wait keep their order.
            for index in range(last, place, -1):
                order[index], row[index] = order[index - 1], row[index - 1]
            order[place], row[place] = i, k
            place += 1
        last, now_ps = _peek(at_ps, last + 1)
    return _peek(at_ps, place)


@kernel
def _peek(at_ps: Any, place: int) -> tuple[int, int]:
    """Return a place in the order of arrivals and the time of that arrival; NO_LIMIT: none."""
    return place, at_ps[place] if place < len(at_ps) else NO_LIMIT


@kernel
def _admit(
    tree: Tree, size_bytes: Any, service: Service, arrival: Arrival, needs_room: int
) -> None:
    """Admit an arrival or drop it."""
    k, i, _ = arrival
    cause = decide_admission(tree, size_bytes, service, arrival, needs_room)
    if cause == ADMITTED:
        _enqueue(tree, size_bytes, service, arrival)
        if not needs_room and recheck_limit(tree, service, k, i) != ADMITTED:
            tree[0, OVER_LIMIT] = 1
    else:
        _lose(tree, k, service, i, cause)


@kernel
def _lose(tree: Tree, k: int, service: Service, i: int, cause: int) -> None:
    """Note an item as lost, at a place that no item of its queue will need."""
    tree[k, TAIL] -= 1
    service.queue[tree[k, TAIL]] = i
    service.lost[i] = cause


@kernel
def _enqueue(tree: Tree, size_bytes: Any, service: Service, arrival: Arrival) -> None:
    """Append an item to its queue and notify the schedulers above."""
    queue, arrival_tags = service.queue, service.arrival_tags
    k, i, _ = arrival
    waits, size = tree[k, WAITS], as_signed(size_bytes[i])
    queue[tree[k, HEAD] + waits] = i
    if tree[k, IN_BYTES]:
        tree[k, AMOUNT] += size
    tree[k, WAITS] = waits + 1
    if TRACKS_HEADS:  # written in any case, likewise
        tree[k, ITEM] = i if waits == 0 else tree[k, ITEM]
        tree[k, SIZE] = size if waits == 0 else tree[k, SIZE]
    notify_arrival(tree, arrival_tags, arrival, size)


@kernel
def notify_arrival(tree: Tree, arrival_tags: Whole, arrival: Arrival, size_bytes: int) -> None:
    """Count an item at the schedulers above its queue, and call their `on_arrival`."""
    k, i, now_ps = arrival
    scheduler = tree[k, PARENT]
    for _ in range(LEVELS):
        if scheduler > 0:
            tree[scheduler, WAITS] += 1
            tag = on_arrival(tree, scheduler, k, size_bytes, now_ps)
            if KEEPS_TAGS and tree[scheduler, LEVEL] >= 0:
                arrival_tags[i, tree[scheduler, LEVEL]] = tag
            k, scheduler = scheduler, tree[scheduler, PARENT]
    tree[0, WAITS] += 1
    tag = on_arrival(tree, 0, k, size_bytes, now_ps)
    if KEEPS_TAGS and tree[0, LEVEL] >= 0:
        arrival_tags[i, tree[0, LEVEL]] = tag


@kernel
def notify_idle(tree: Tree, k: int) -> None:
    """Call `on_idle` of each scheduler above a queue that has become empty at one of its inputs."""
    scheduler = tree[k, PARENT]
    for _ in range(LEVELS):
        if scheduler > 0:
            if tree[k, WAITS] == 0:
                on_idle(tree, scheduler, k)
            k, scheduler = scheduler, tree[scheduler, PARENT]
    if tree[k, WAITS] == 0:
        on_idle(tree, 0, k)


@kernel
def notify_service(tree: Tree, k: int, size_bytes: int, end_ps: int) -> None:
    """Remove an item from the counts and call `on_service` of the schedulers above."""
    tree[k, WAITS] -= 1
    scheduler = tree[k, PARENT]
    for _ in range(LEVELS):
        if scheduler > 0:
            tree[scheduler, WAITS] -= 1
            on_service(tree, scheduler, k, size_bytes, end_ps)
            k, scheduler = scheduler, tree[scheduler, PARENT]
    tree[0, WAITS] -= 1
    on_service(tree, 0, k, size_bytes, end_ps)


@kernel
def _drop_over_limit(tree: Tree, service: Service) -> None:
    """Drop arrivals that exceed the limit of their queue and were not sent at once."""
    tree[0, OVER_LIMIT] = 0
    for k in range(1, len(tree)):
        if tree[k, FIRST] == 0 and tree[k, WAITS] == 1:
            i = as_signed(service.queue[tree[k, HEAD]])
            is_arrival = i < len(service.lost)  # what waited before has been admitted
            cause = recheck_limit(tree, service, k, i) if is_arrival else ADMITTED
            if cause != ADMITTED:
                on_drop(tree, service, k, i)
                _lose(tree, k, service, i, cause)
                tree[k, AMOUNT] = 0
                tree[k, WAITS], above = 0, k
                while above > 0:
                    above = tree[above, PARENT]
                    tree[above, WAITS] -= 1


@kernel
def on_arrival(tree: Tree, scheduler: int, k: int, size_bytes: int, now_ps: int) -> int:  # noqa: ARG001
    """Handle an arrival at input `k`; return the tag that `arrival_tags` keeps of it."""
    return 0


@kernel
def on_service(tree: Tree, scheduler: int, k: int, size_bytes: int, end_ps: int) -> int:  # noqa: ARG001
    """Handle the service of an item of input `k` until `end_ps`; the return value is unused.

    `waits` no longer counts it.
    """
    return 0


@kernel
def on_idle(tree: Tree, scheduler: int, k: int) -> int:  # noqa: ARG001
    """Handle the end of service of the last item of input `k`; the return value is unused.

    A scheduler whose inputs are all empty resets its state, except for whose turn it is.
    """
    return 0


@kernel
def count_held(tree: Tree, k: int) -> int:
    """Return how much waits at a queue, as its limit counts."""
    return tree[k, AMOUNT] if tree[k, IN_BYTES] else tree[k, WAITS]  # type: ignore[no-any-return]


# ---- by limits


@kernel
def decide_admission(
    tree: Tree,
    size_bytes: Any,
    service: Service,  # noqa: ARG001
    arrival: Arrival,
    needs_room: int,
) -> int:
    """Return ADMITTED, or the cause for which an arrival is lost.

    Args:
        tree: Updated.
        size_bytes: (n,)
        service: Updated.
        arrival: The arrival.
        needs_room: 0 if it may be sent at once; `recheck_limit` is then asked later.
    """
    k, i, _ = arrival
    if not needs_room:
        return ADMITTED
    if tree[k, IN_BYTES]:
        return OVERFLOW * (tree[k, AMOUNT] + size_bytes[i] > tree[k, LIMIT])  # type: ignore[no-any-return]
    return OVERFLOW * (tree[k, WAITS] >= tree[k, LIMIT])  # type: ignore[no-any-return]


@kernel
def recheck_limit(tree: Tree, service: Service, k: int, i: int) -> int:  # noqa: ARG001
    """Return ADMITTED, or the cause of loss of item `i`, alone in its queue and not sent."""
    return OVERFLOW * (count_held(tree, k) > tree[k, LIMIT])  # type: ignore[no-any-return]


@kernel
def on_drop(tree: Tree, service: Service, k: int, i: int) -> int:  # noqa: ARG001
    """Handle the loss of item `i`; the return value is unused."""
    return 0


@kernel
def on_departure(tree: Tree, service: Service, k: int, until_ps: int) -> int:  # noqa: ARG001
    """Handle the service of an item of a queue until then; the return value is unused."""
    return 0


# ---- by policies


@kernel
def _decide_by_policy(
    tree: Tree, size_bytes: Any, service: Service, arrival: Arrival, needs_room: int
) -> int:
    k, i, now_ps = arrival
    marks, amount = service.arrivals.marks[i], size_bytes[i] if tree[k, IN_BYTES] else 1
    item, draw = (marks, amount, now_ps, _get_cell(service, i)), service.draws[i]
    ahead = (count_held(tree, k), tree[0, WAITS])
    found = admit(service.table, tree[k, NUMBER], item, ahead, needs_room != 0, draw)
    if found == MARKED:
        service.arrivals.marks[i] = marks | CONGESTION
        found = ADMITTED
    return found


@kernel
def _recheck_limit(tree: Tree, service: Service, k: int, i: int) -> int:
    if count_held(tree, k) > tree[k, LIMIT]:
        return OVERFLOW
    marks = service.arrivals.marks[i]
    return THRESHOLD * (count_held(tree, k) > find_room(service.table, tree[k, NUMBER], marks))


@kernel
def _on_drop(tree: Tree, service: Service, k: int, i: int) -> int:
    marks, cell = service.arrivals.marks[i], _get_cell(service, i)
    note_drop(service.table, tree[k, NUMBER], marks, cell)
    return 0


@kernel
def _get_cell(service: Service, i: int) -> Cell:
    """Return the connection of an arrival and what is noted of its frame."""
    arrivals = service.arrivals
    return as_signed(arrivals.connection[i]), read_note(arrivals.more, i, FRAME_PLACE)


@kernel
def _on_departure(tree: Tree, service: Service, k: int, until_ps: int) -> int:
    service.table.queues[tree[k, NUMBER], SINCE] = until_ps
    return 0


BY_POLICY = {
    "decide_admission": _decide_by_policy,
    "recheck_limit": _recheck_limit,
    "on_drop": _on_drop,
    "on_departure": _on_departure,
}
"""By name, the kernels that queues with drop policies use instead."""


class Held(NamedTuple):
    """The items that wait.

    Attributes:
        cells: m items, input by input; their times do not matter.
        counts: Their number at each input.
        arrival_tags: (m, levels) The tags of each.
    """

    cells: Batch
    counts: list[int]
    arrival_tags: Whole


def hold_nothing(inputs: int, levels: int) -> Held:
    """Return no items."""
    return Held(make_empty(), [0] * inputs, np.zeros((0, levels), np.int64))


Arrival = tuple[int, int, int]
"""The row of its queue, its number, and its time."""


class Service(NamedTuple):
    """What the scheduling loop writes.

    Attributes:
        order: The arrivals in order of time, then of rows; written.
        lost: (n,) The cause for which each arrival is lost; see `engine.queue.admission`.
        queue: (n + m) Numbers of items, within the slice of their input: from the front those
            admitted, from the back those lost.
        arrival_tags: (n + m, levels) What `on_arrival` returned for each item, by level.
        left: n + m items: those sent, in that order, at the time when their last bit is at the far
            end; then those that wait; then those lost, queue by queue, at the time when they came.
        rows: (inputs,) The row of each queue.
        ends: (inputs,) The place behind those of each queue.
        table: The state of the queues' drop policies.
        arrivals: n items: the arrivals; their marks are updated if a queue marks.
        draws: (n,) A random number for each arrival if there are drop policies; else (0,).
    """

    order: ArrivalOrder
    lost: Marks
    queue: Rows
    arrival_tags: Whole
    left: Batch
    rows: Rows
    ends: Rows
    table: AdmissionTable
    arrivals: Batch
    draws: Sizes


@kernel
def get_size(sizes: tuple[Any, Any], i: int) -> int:
    """Return the size of an item, an arrival or one that waits."""
    arrivals, held = sizes
    return as_signed(arrivals[i] if i < len(arrivals) else held[i - len(arrivals)])


@kernel
def carry(arrivals: Batch, held: Batch, i: int, left: Batch, place: int) -> None:
    """Copy an item, an arrival or one that waits, except for its time."""
    if i < len(arrivals.at_ps):
        copy_item(arrivals, i, left, place)
    else:
        copy_item(held, i - len(arrivals.at_ps), left, place)


@kernel
def write_remaining(
    arrivals: Batch, held: Batch, tree: Tree, until_ps: int, sent: tuple[int, Service]
) -> None:
    """Write the items that wait, then those lost, behind those sent."""
    place, service = sent
    queue, left, at_ps = service.queue, service.left, service.left.at_ps
    for k in service.rows:
        for index in range(tree[k, HEAD], tree[k, HEAD] + tree[k, WAITS]):
            at_ps[place] = until_ps
            carry(arrivals, held, as_signed(queue[index]), left, place)
            place += 1
    for number in range(len(service.rows)):
        end, tail = service.ends[number], tree[service.rows[number], TAIL]
        for back in range(1, end - tail + 1):  # from the back, where the first lost is
            i = as_signed(queue[end - back])  # an arrival: what waits is not lost any more
            at_ps[place] = arrivals.at_ps[i]
            copy_item(arrivals, i, left, place)
            place += 1
