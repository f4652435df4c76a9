"""The event driver by its definition, in plain Python: what the compiled loop is compared with.

The next event is that of the earliest time; of simultaneous ones, that of the first place; at one
place, that which came first. An event is an item that arrives at an input of an element, or an
element's alarm, of which each has one. The element answers, and that is done at once.
"""

import contextlib
import functools
import heapq
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from qospec.engine import kernel
from qospec.engine.event import component, drive, transition
from qospec.engine.event.component import Component
from qospec.engine.items import totals
from qospec.engine.items.batch import COLUMNS, Batch, make_empty
from qospec.engine.line import tandem

PLENTY = 10_000
"""Rows of the pool, more than any network of the tests has items."""


def read_rows(rows: np.ndarray) -> Batch:
    """Return what goes out, in rows of the outbox, as items."""
    form = make_empty()
    return Batch(
        at_ps=rows[:, drive.AT_PS],
        sent_ps=rows[:, drive.SENT_PS],
        connection=rows[:, drive.OF].astype(form.connection.dtype),
        size_bytes=rows[:, drive.SIZED].astype(form.size_bytes.dtype),
        marks=rows[:, drive.MARKED].astype(form.marks.dtype),
        more=rows[:, drive.NOTED :],
    ).narrow()


@contextlib.contextmanager
def kernels_as_python(given: Callable[[Any], Any] = lambda value: value) -> Iterator[None]:
    """Run kernels as `QOS_KERNELS=python` does, though some have been compiled.

    Args:
        given: What a kernel is given instead of each argument.
    """

    as_python = functools.cache(kernel.as_python)

    def call(self: Any, *arguments: Any) -> Any:
        return as_python(self._function)(*map(given, arguments))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel._Kernel, "__call__", call)
        for module in (component, tandem):
            patch.setattr(module, "is_compiled", lambda _: False)
        yield


class ReferenceComponent(Component):
    """A component that takes each step in its own words; only the wiring is shared."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        # (time, place, number for order, item; 0: an alarm)
        self.events: list[tuple[int, int, int, int]] = []
        self.scheduled = 0
        self.alarms = {}
        for number, member in enumerate(self._transitions):
            if member.first_alarm_ps is not None:
                self.set_alarm(number, member.first_alarm_ps)
        width = max(self._working.items.shape[1], transition.MORE + len(COLUMNS))
        self.items = np.zeros((PLENTY, width), np.int64)
        self.items[:, transition.NEXT] = range(1, PLENTY + 1)
        self.items[0, transition.FREE], self.items[0, transition.SPARE] = 1, PLENTY - 1
        self.out = np.zeros((transition.SAID_OF_ITEM * PLENTY, 4), np.int64)
        self.counts = np.zeros_like(self._entries)
        self.noted = max(member.columns for member in self._transitions)

    @property
    def inside(self) -> int:
        return PLENTY - 1 - int(self.items[0, transition.SPARE])

    @property
    def ledger(self) -> Any:
        return getattr(self, "counts", super().ledger)

    def schedule(self, at_ps: int, place: int, item: int) -> None:
        self.scheduled += 1
        heapq.heappush(self.events, (at_ps, place, self.scheduled, item))

    def set_alarm(self, element: int, at_ps: int) -> None:
        """Set the alarm of an element; an event of a time that is no longer set is ignored."""
        self.alarms[element] = at_ps
        self.schedule(at_ps, int(self._wiring.alarms[element]), drive.NOTHING)

    def advance(
        self, arrivals: Sequence[Batch], until_ps: int, deliver: Callable[[int, Any], None]
    ) -> None:
        self.noted = max([self.noted, *(batch.width for batch in arrivals)])
        for place, batch in zip(self._outside, arrivals, strict=True):
            columns = (batch.connection, batch.size_bytes, batch.marks, batch.sent_ps)
            rows = zip(batch.at_ps.tolist(), *columns, strict=True)
            for number, (at_ps, *facts) in enumerate(rows):
                item = transition.acquire(self.items, *facts)
                noted = batch.more[number] if batch.width else ()
                self.items[item, transition.MORE : transition.MORE + batch.width] = noted
                self.schedule(at_ps, place, int(item))
        self.gone: dict[int, list[list[int]]] = {}
        while self.events and self.events[0][0] < until_ps:
            at_ps, place, _, item = heapq.heappop(self.events)
            element = int(self._places.node[place])
            if item == drive.NOTHING and self.alarms.get(element) != at_ps:
                continue
            self.happen(at_ps, place, element, item)
        for outlet, rows in sorted(self.gone.items()):
            deliver(outlet, read_rows(np.array(rows)))

    def happen(self, now_ps: int, place: int, element: int, item: int) -> None:
        """Let the element answer, and do what it says."""
        member = self._transitions[element]
        out, reason = self.out, 1
        while reason:
            out[0, 0] = 0
            state = self._states[element]
            if item == drive.NOTHING:
                self.alarms[element] = None
                reason = member.wake(state, self.items, now_ps, out)
            else:
                port = int(self._places.port[place])
                reason = member.arrive(state, self.items, item, port, now_ps, out)
            if reason:
                self._states[element] = member.replenish(state, reason)
        self.enter(element, totals.CAME, item)
        for what, number, other, at_ps in out[1 : out[0, 0] + 1].tolist():
            if what == transition.ALARM:
                self.set_alarm(element, at_ps)
            elif what == transition.WAITED:
                if self._wiring.waits[element] >= 0:
                    self.put_out(self._wiring.waits[element] + number, at_ps, other, drive.NOTHING)
            elif what == totals.GREW:
                self.items[other, transition.SIZE] += number
                self.counts[element, what, self.kind_of(other), totals.BYTES] += number
            else:
                self.enter(element, what, other)
                self.carry(what, element, number, other, at_ps if what == totals.LEFT else now_ps)

    def kind_of(self, item: int) -> int:
        return int(self.items[item, transition.CONNECTION]) // self._wiring.connections

    def enter(self, element: int, what: int, item: int) -> None:
        """Enter an item in the account of its kind: as one, and as its bytes."""
        if item == drive.NOTHING:
            return
        size_bytes = int(self.items[item, transition.SIZE])
        self.counts[element, what, self.kind_of(item)] += (1, size_bytes)

    def carry(self, what: int, element: int, number: int, item: int, at_ps: int) -> None:
        sent_ps = int(self.items[item, transition.SENT])
        if what == totals.LEFT:
            output = self._wiring.outputs[element] + number
            to, seen = int(self._wiring.to[output]), int(self._wiring.seen[output])
            if seen >= 0:
                self.put_out(seen, sent_ps, at_ps, item)
            if to >= 0:
                self.schedule(at_ps, to, item)
                return
            self.put_out(-1 - to, sent_ps, at_ps, item)
        elif what == totals.LOST:
            self.put_out(self._wiring.ends[element, what] + number, sent_ps, at_ps, item)
        elif what == totals.MADE:
            if self._wiring.ends[element, what] >= 0:
                self.put_out(self._wiring.ends[element, what], sent_ps, at_ps, item)
            return
        elif what == totals.CONSUMED:
            self.put_out(self._wiring.ends[element, what], sent_ps, at_ps, item)
        transition.release(self.items, item)

    def put_out(self, outlet: int, sent_ps: int, at_ps: int, item: int) -> None:
        columns = (transition.CONNECTION, transition.SIZE, transition.MARKS)
        more = range(transition.MORE, transition.MORE + self.noted)
        rest = self.items[item, [*columns, *more]].tolist()
        self.gone.setdefault(int(outlet), []).append([int(outlet), at_ps, sent_ps, *rest])
