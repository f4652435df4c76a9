"""A constant delay, such as that of a pipeline or a line of an emulator."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import OF_PACKETS, Buffer, Domain, Time, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Step
from qospec.engine.event.at_once import AtOnceProcess
from qospec.engine.event.transition import DONE, SIZE, Transition, lose, send
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.items.holding import (
    OWN,
    has_place,
    has_room,
    hold,
    let_go,
    make_holding,
    with_more_places,
)
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch
    from qospec.engine.line.clock import Clock

MostHeld = Annotated[Buffer | None, Domain("buffer", 1, 2**40, layers=OF_PACKETS)]
NO_PLACES = 1
"""What the transition returns if its ring is full."""


@element(source="ITU-T I.356 (cell transfer delay)")
@dataclass(frozen=True)
class Delay(Element):
    """Delay each cell or packet by a constant time, however many arrive at once.

    With a `limit`, as of an emulator's delay line, what comes while so much is delayed is lost.
    """

    keeps_spacing = True
    causes = ("overflow",)

    time: Time
    """The delay."""
    limit: MostHeld = field(default=None, kw_only=True)
    """How much may be in it at once; by default, anything."""

    @property
    def buffer(self) -> Buffer | None:
        return self.limit

    @property
    def discards_for(self) -> tuple[str, ...]:
        return () if self.limit is None else self.causes

    def find_lookahead_ps(self, clock: Clock | None) -> int:
        return self.time

    def start(self, setting: Setting) -> AtOnceProcess | None:
        return None if self.limit is None else AtOnceProcess(self, setting)

    def build_transition(self, setting: Setting) -> Transition:
        if self.limit is None:
            return Transition(np.array([self.time]), _arrive)
        return Transition(
            make_holding(self.limit, [self.time]),
            _arrive_in_limit,
            losses=(("", "overflow"),),
            replenish=lambda state, _: with_more_places(state),
        )

    def process(
        self, state: AtOnceProcess | None, arrivals: tuple[Batch, ...], until_ps: int
    ) -> Step:
        if state is not None:
            return state.process(arrivals, until_ps)
        (batch,) = arrivals
        if self.time:
            batch = batch.with_times(batch.at_ps + self.time)
        return Step((batch,), (min(until_ps + self.time, FOREVER_PS),))


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send an item on after the time in `state`; see `engine.event.transition`."""
    send(out, 0, item, now_ps + state[0])
    return DONE


@kernel
def _arrive_in_limit(
    state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole
) -> int:
    """Send an item on after the time in `state`, or lose it; see `engine.event.transition`."""
    if not has_place(state):
        return NO_PLACES
    let_go(state, now_ps)
    if has_room(state, items[item, SIZE]):
        hold(state, items[item, SIZE], now_ps + state[OWN])
        send(out, 0, item, now_ps + state[OWN])
    else:
        lose(out, 0, item)
    return DONE
