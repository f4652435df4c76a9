"""An element on its own: how it processes batches, by its own `process` or event by event."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from qospec.engine.arrays import np
from qospec.engine.element import Element, Loss, Step
from qospec.engine.event import drive as events
from qospec.engine.event.component import LEAVES, LOSES, WAITS, Component, Member, rows_as_batch
from qospec.engine.items.batch import FOREVER_PS, Batch, empty, joined

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Process, Setting


def process_of(element: Element, setting: Setting) -> Process:
    """Return how an element processes batches, from the beginning of a trial."""
    if type(element).process is Element.process:
        return Alone(element, setting).process
    return functools.partial(element.process, element.start(setting))


class Alone:
    """An element at work, by its transition."""

    def __init__(self, element: Element, setting: Setting) -> None:
        """Begin a trial."""
        self._transition = element.transition(setting)
        inputs = ((None,),) * len(element.inputs)
        member = Member(self._transition, inputs, len(element.outputs))
        self._component = Component([member], [0])
        self._lookahead_ps = element.lookahead_ps(setting.clock)
        self._later = [empty()] * len(element.outputs)
        self._found: dict[int, list[Whole]] = {}

    def process(self, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        """Process as `Element.process` does."""
        self._found = {}
        self._component.advance(arrivals, until_ps, self._note)
        leaving_ps = min(until_ps + self._lookahead_ps, FOREVER_PS)
        departures, losses, waits = [], [], None
        for number, outlet in enumerate(self._component.outlets):
            rows = np.concatenate(self._found.get(number, [_NONE]))
            if outlet.what == LEAVES:
                left = joined(self._later[outlet.number], rows_as_batch(rows))
                count = int(left.at_ps.searchsorted(leaving_ps))
                departures.append(left.part(0, count))
                self._later[outlet.number] = left.part(count, left.count)
            elif outlet.what == LOSES and len(rows):
                element, cause = self._transition.losses[outlet.number]
                lost = rows_as_batch(rows)
                losses.append(Loss(cause, lost.connection, lost.sent_ps, element))
            elif outlet.what == WAITS:
                waits = rows[:, events.AT_PS], rows[:, events.SENT_PS]
        return Step(tuple(departures), (leaving_ps,) * len(departures), tuple(losses), waits)

    def _note(self, outlet: int, rows: Whole) -> None:
        self._found.setdefault(outlet, []).append(rows.copy())


_NONE = np.zeros((0, events.OUTBOX_COLUMNS), np.int64)
