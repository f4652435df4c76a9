"""An element on its own: how it processes batches, by its own `process` or event by event."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from qospec.engine.element import BrokenPromiseError, Element, Loss, Step
from qospec.engine.event.at_once import AtOnceProcess
from qospec.engine.event.component import (
    CONSUMES,
    LEAVES,
    LOSES,
    MAKES,
    RESIZES,
    WAITS,
    Component,
    Member,
    separate_resized,
)
from qospec.engine.event.transition import IN_SERVICE
from qospec.engine.items.batch import FOREVER_PS, Batch, join_batches, make_empty

if TYPE_CHECKING:
    from qospec.engine.arrays import Times
    from qospec.engine.element import Process, Setting


def build_process(element: Element, setting: Setting) -> Process:
    """Return how an element processes batches, from the beginning of a trial."""
    if element.process is None:
        driver = AtOnceProcess if element.answers_at_once else EventProcess
        return driver(element, setting).process
    return functools.partial(element.process, element.start(setting))


class EventProcess:
    """An element at work, by its transition."""

    def __init__(self, element: Element, setting: Setting) -> None:
        """Begin a trial; see `build_process`."""
        assert element.build_transition is not None  # noqa: S101 -- or it had a `process`
        self._transition = element.build_transition(setting)
        inputs = ((None,),) * len(element.inputs)
        member = Member(self._transition, inputs, len(element.outputs), setting.path)
        self._component = Component([member], [0], setting.streams, setting.stop_ps)
        self._lookahead_ps = element.find_lookahead_ps(setting.clock)
        self._path, self._leaving_ps = setting.path, 0
        self._later = [make_empty()] * len(element.outputs)
        self._found: dict[int, list[Batch]] = {}

    def process(self, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        """Process as `Element.process` does."""
        self._found = {}
        ports = self._transition.ports or range(len(arrivals))
        self._component.advance([arrivals[port] for port in ports], until_ps, self._note_items)
        leaving_ps = min(until_ps + self._lookahead_ps, FOREVER_PS)
        departures, losses, resizes = [], [], []
        reported: dict[str, tuple[Times, Times]] = {}
        ended: dict[str, list[Batch]] = {MAKES: [], CONSUMES: []}
        for number, outlet in enumerate(self._component.outlets):
            batch = join_batches(*self._found.get(number, ()))
            if outlet.what == LEAVES:
                left = join_batches(self._later[outlet.number], batch)
                if left.count and int(left.at_ps[0]) < self._leaving_ps:
                    raise BrokenPromiseError(self._path, "sent an item below its watermark")
                count = int(left.at_ps.searchsorted(leaving_ps))
                departures.append(left.select_range(0, count))
                self._later[outlet.number] = left.select_range(count, left.count)
            elif outlet.what == LOSES and batch.count:
                element, cause = self._transition.losses[outlet.number]
                losses.append(Loss(cause, batch, element))
            elif outlet.what == RESIZES and batch.count:
                resizes.append(separate_resized(batch))
            elif outlet.what in ended and batch.count:
                ended[outlet.what].append(batch)
            elif outlet.what == WAITS:
                queue = self._transition.queues[outlet.number]
                reported[queue] = batch.at_ps, batch.sent_ps
        self._leaving_ps = leaving_ps
        return Step(
            tuple(departures),
            (leaving_ps,) * len(departures),
            tuple(losses),
            {queue: times for queue, times in reported.items() if queue != IN_SERVICE},
            tuple(ended[MAKES]),
            tuple(ended[CONSUMES]),
            tuple(resizes),
            reported.get(IN_SERVICE),
        )

    def _note_items(self, outlet: int, batch: Batch) -> None:
        self._found.setdefault(outlet, []).append(batch)
