"""A loop over batches that is derived from `arrive`, for elements that answer at once.

Such an element says of each item, when it arrives, what becomes of it: that it leaves by an output,
then or later, is lost or ends. It makes no item and keeps none. So one row of a pool serves all
items of a batch, one after the other, and what each is then is written into columns. The row and
the answer are on the stack, and mostly registers, since `arrive` is inlined.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.element import BrokenPromiseError, Loss, Step
from qospec.engine.event import drive as events
from qospec.engine.event.component import complain
from qospec.engine.event.transition import (
    CONNECTION,
    DONE,
    IN_SERVICE,
    MARKS,
    MORE,
    SENT,
    SIZE,
    WAITED,
)
from qospec.engine.items.batch import COLUMNS, FOREVER_PS, Batch, join_batches, make_empty
from qospec.engine.items.partition import partition
from qospec.engine.items.totals import CONSUMED, GREW, LEFT, LOST
from qospec.engine.kernel import allocate_scratch_rows, kernel, link_kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from qospec.engine.arrays import Bits, Marks, Sizes, Times, Whole
    from qospec.engine.element import Element, Setting
    from qospec.engine.event.transition import Transition

ITEM = 1
"""The row of the pool that is used."""
LATER, RESIZED, MARKED, PARTED, NOTED = 1, 2, 4, 8, 16
"""What is not as it came, of any item of a batch: its time, its size, its marks; that it does not
leave by the first output; what is noted of it in the first column and, twice, four times as much,
in the following ones."""
CHANGES = {"at_ps": LATER, "size_bytes": RESIZED, "marks": MARKED}
NAMED = len(COLUMNS)
WIDTH = MORE + NAMED
"""How many columns have names, and of the row that is used."""

Limits = tuple[int, int, int]
"""How many outputs, causes of loss and queues there are."""
Fate = tuple[int, int, int]
"""DONE, or less a code of the event loop; what becomes of an item, -1 if that is not known yet: as
in `Fates`; and when."""


class Fates(NamedTuple):
    """What becomes of n items.

    Attributes:
        at_ps: (n,) When it leaves or, if it does not, when it came.
        size_bytes: (n,) Its size then.
        marks: (n,) Its marks then.
        more: (n, k) What is noted of it then.
        fate: (n,) The number of the output by which it leaves, that of its cause of loss behind
            those of all outputs, or the one behind all of these: it ends.
        counts: (fates,) How many have each, but for the first.
        waits: (m, 3) The queue in which one waited, when it came and when it began, from row 1 on;
            row 0 holds their number. (0, 3) if that is not asked for.
    """

    at_ps: Times
    size_bytes: Sizes
    marks: Bits
    more: Whole
    fate: Marks
    counts: Whole
    waits: Whole


class AtOnceProcess:
    """An element at work that answers at once, by its transition."""

    def __init__(self, element: Element, setting: Setting) -> None:
        """Begin a trial; see `build_process`."""
        assert element.build_transition is not None  # noqa: S101 -- or it had a `process`
        self._transition: Transition = element.build_transition(setting)
        self._state, self._path = self._transition.state, setting.path
        losses, queues = self._transition.losses, self._transition.queues
        self._limits = len(element.outputs), len(losses), len(queues)
        self._lookahead_ps = element.find_lookahead_ps(setting.clock)
        self._loop = _derive(self._transition.arrive)
        self._later = [make_empty()] * len(element.outputs)

    def process(self, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        """Process as `Element.process` does."""
        outputs, _, _ = self._limits
        batch, port = _merge_inputs(arrivals, self._transition.ports)
        leaving_ps = min(until_ps + self._lookahead_ps, FOREVER_PS)
        if not batch.count:
            return Step(self._hold_back([batch] * outputs, leaving_ps), (leaving_ps,) * outputs)
        fates, changed = self._find_fates(batch, port)
        columns = {name: getattr(fates, name) for name, bit in CHANGES.items() if changed & bit}
        noted = int(changed // NOTED).bit_length()
        if noted:
            columns["more"] = fates.more[:, : max(batch.width, noted)]
        after = batch._replace(**columns) if columns else batch
        if noted > self._transition.columns:
            promise = f"writes `{COLUMNS[noted - 1]}` of items and does not say so"
            raise BrokenPromiseError(self._path, promise)
        if noted:
            after = after.narrow()
        departures, losses, consumed = self._partition(after, fates if changed & PARTED else None)
        reported = self._list_waits(fates.waits)
        return Step(
            self._hold_back(departures, leaving_ps),
            (leaving_ps,) * outputs,
            losses,
            {queue: times for queue, times in reported.items() if queue != IN_SERVICE},
            consumed=consumed,
            resized=((after.with_sizes(batch.size_bytes), after),) if changed & RESIZED else (),
            services=reported.get(IN_SERVICE),
        )

    def _find_fates(self, batch: Batch, port: Marks) -> tuple[Fates, int]:
        """Return what becomes of items, and what is not as it came."""
        count, (outputs, causes, queues) = batch.count, self._limits
        width = max(batch.width, NAMED)
        fates = Fates(
            np.empty(count, np.int64),
            np.empty(count, np.int32),
            np.empty(count, np.uint32),
            np.empty((count, width), np.int64),
            np.empty(count, np.uint8),
            np.zeros(outputs + causes + 1, np.int64),
            np.zeros(((1 + queues * count) * (queues > 0), 3), np.int64),
        )
        done = changed = 0
        while done < count:
            where = done, self._limits
            done, more, code = self._loop(batch, port, where, self._state, fates)
            changed |= more
            if code < DONE:
                complain(-code, self._path, int(batch.connection[done]))
            if code != DONE:
                assert self._transition.replenish is not None  # noqa: S101 -- or it lacked nothing
                self._state = self._transition.replenish(self._state, code)
        return fates, changed

    def _partition(
        self, after: Batch, fates: Fates | None
    ) -> tuple[list[Batch], tuple[Loss, ...], tuple[Batch, ...]]:
        """Return the departures by output, the losses, and what has ended."""
        outputs, _, _ = self._limits
        if fates is None:
            return [after, *[make_empty()] * (outputs - 1)], (), ()
        fates.counts[0] = after.count - fates.counts.sum()
        *found, ended = partition(after, fates.fate, tuple(fates.counts.tolist()))
        losses = tuple(
            Loss(cause, lost, element)
            for (element, cause), lost in zip(self._transition.losses, found[outputs:], strict=True)
            if lost.count
        )
        return found[:outputs], losses, (ended,) if ended.count else ()

    def _hold_back(self, departures: list[Batch], leaving_ps: int) -> tuple[Batch, ...]:
        """Return what leaves before a time by each output, and keep the rest."""
        for number, departing in enumerate(departures):
            left = (
                join_batches(self._later[number], departing)
                if self._later[number].count
                else departing
            )
            count = left.count
            if count and left.at_ps[-1] >= leaving_ps:
                count = int(left.at_ps.searchsorted(leaving_ps))
            departures[number] = left if count == left.count else left.select_range(0, count)
            self._later[number] = (
                left.select_range(count, left.count) if count < left.count else make_empty()
            )
        return tuple(departures)

    def _list_waits(self, waits: Whole) -> Mapping[str, tuple[Times, Times]]:
        """Return what waited, by queue."""
        if not len(waits):
            return {}
        rows = waits[1 : 1 + int(waits[0, 0])]
        queues = ((name, rows[rows[:, 0] == n]) for n, name in enumerate(self._transition.queues))
        return {name: (mine[:, 1], mine[:, 2]) for name, mine in queues}


def _merge_inputs(
    arrivals: tuple[Batch, ...], ports: tuple[int, ...] | None
) -> tuple[Batch, Marks]:
    """Return the arrivals of all inputs by time, and the input of each; (0,) if there is one."""
    if len(arrivals) == 1:
        return arrivals[0], np.empty(0, np.uint8)
    order = list(ports or range(len(arrivals)))
    port = np.repeat(order, [arrivals[number].count for number in order]).astype(np.uint8)
    together = join_batches(*(arrivals[number] for number in order))
    if any(batch.count == together.count for batch in arrivals):
        return together, port
    turns = together.at_ps.argsort(kind="stable")
    return together.select(turns), port[turns]


@functools.cache
def _derive(arrive: Any) -> Callable[..., tuple[int, int, int]]:
    """Return the loop for a kernel that answers arrivals, which is inlined there."""
    label = f"{arrive.__module__}_{arrive.__qualname__}".replace(".", "_")
    return link_kernel(_arrive_all, label, {"_answer": arrive})


@kernel
def _answer(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:  # noqa: ARG001
    """Answer an arrival: here is the kernel of each element."""
    return DONE


@kernel
def _arrive_all(
    batch: Batch, port: Marks, where: tuple[int, Limits], state: Whole, fates: Fates
) -> tuple[int, int, int]:
    """Let items arrive until all have, or something is lacking or wrong.

    Args:
        batch: n items.
        port: (n,) Their inputs; (0,) if there is one.
        where: The number of the first; the limits.
        state: Of the element.
        fates: Written, from the first on.

    Returns:
        The number of the next item; what of these is not as it came; and DONE, the reason to
        replenish, or less a code of the event loop.
    """
    at_ps, sizes, marks, more = batch.at_ps, batch.size_bytes, batch.marks, batch.more
    sent_ps, connection, width = batch.sent_ps, batch.connection, batch.more.shape[1]
    (first, limits), changed = where, 0
    items, out, has_ports = (
        allocate_scratch_rows(2, WIDTH),
        allocate_scratch_rows(9, 4),
        len(port) > 0,
    )
    for i in range(first, len(at_ps)):
        items[ITEM, SENT], items[ITEM, CONNECTION] = sent_ps[i], connection[i]
        items[ITEM, SIZE], items[ITEM, MARKS] = sizes[i], marks[i]
        for column in range(NAMED):
            items[ITEM, MORE + column] = more[i, column] if column < width else 0
        out[0, 0] = 0
        code = _answer(state, items, ITEM, port[i] if has_ports else 0, at_ps[i], out)
        if code != DONE:
            return i, changed, code
        code, fate, leaves_ps = _read_answer(fates, items, out, at_ps[i], limits)
        if code != DONE:
            return i, changed, code
        fates.at_ps[i], fates.size_bytes[i] = leaves_ps, items[ITEM, SIZE]
        fates.marks[i], fates.fate[i] = items[ITEM, MARKS], fate
        for column in range(max(NAMED, width)):
            came = more[i, column] if column < width else 0
            note = items[ITEM, MORE + column] if column < NAMED else came
            fates.more[i, column] = note
            changed |= (NOTED << column) * (note != came)
        if fate != 0:
            fates.counts[fate] += 1
        changed |= (
            LATER * (leaves_ps != at_ps[i])
            | RESIZED * (items[ITEM, SIZE] != sizes[i])
            | MARKED * (items[ITEM, MARKS] != marks[i])
            | PARTED * (fate != 0)
        )
    return len(at_ps), changed, DONE


@kernel
def _read_answer(fates: Fates, items: Whole, out: Whole, now_ps: int, limits: Limits) -> Fate:
    """Return what becomes of an item, by all rows of the answer."""
    fate = (DONE, -1, now_ps)
    for n in range(1, min(out[0, 0] + 1, len(out))):
        fate = _read_row(fates, items, out, n, fate, limits)
        if fate[0] != DONE:
            return fate
    code, number, leaves_ps = fate
    if number < 0 or out[0, 0] >= len(out):
        code = -events.NOT_AT_ONCE
    elif leaves_ps < now_ps:
        code = -events.PAST
    elif leaves_ps >= FOREVER_PS:
        code = -events.TOO_LATE
    return code, number, leaves_ps


@kernel
def _read_row(fates: Fates, items: Whole, out: Whole, n: int, fate: Fate, limits: Limits) -> Fate:
    """Return what becomes of an item by a row of the answer, given that by those before."""
    outputs, causes, _ = limits
    code, known, leaves_ps = fate
    what, number = out[n, 0], out[n, 1]
    if what == GREW:
        items[ITEM, SIZE] += number
    elif what == WAITED:
        if not _note_wait(fates.waits, out, n, limits):
            code = -events.UNSTATED
    elif known >= 0:
        code = -events.NOT_AT_ONCE
    elif what == LEFT:
        known, leaves_ps = number, out[n, 3]
        code = DONE if 0 <= number < outputs else -events.MISROUTED
    elif what == LOST:
        known = outputs + number
        code = DONE if number < causes else -events.UNSTATED
    else:
        known = outputs + causes
        code = DONE if what == CONSUMED else -events.NOT_AT_ONCE
    return code, known, leaves_ps


@kernel
def _note_wait(waits: Whole, out: Whole, n: int, limits: Limits) -> bool:
    """Write that an item waited, if that is asked for; return whether the queue is stated."""
    if len(waits) == 0:
        return True
    row = waits[0, 0] + 1
    if out[n, 1] >= limits[2] or row >= len(waits):
        return False
    waits[row, 0], waits[row, 1], waits[row, 2] = out[n, 1], out[n, 2], out[n, 3]
    waits[0, 0] = row
    return True
