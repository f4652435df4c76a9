"""A machine of a device: states, messages and timers, as `machine name { … }` declares them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import machine
from qospec.catalogue.machine import BLOCKED, DISCARD, IN, Program
from qospec.dataclass import dataclass
from qospec.engine.element import Element
from qospec.engine.machine.placement import Placement
from qospec.engine.machine.state import MOST_TRANSITIONS
from qospec.engine.machine.transition import build_transition

if TYPE_CHECKING:
    from qospec.catalogue.kinds import Carried
    from qospec.engine.element import Setting
    from qospec.engine.event.transition import Transition
    from qospec.protocol.streams import KindName


@machine(source="ITU-T Z.100 (SDL), 2.6: states, inputs, timers, process instances", duty="machine")
@dataclass(frozen=True)
class Machine(Element):
    """Exchange messages with other machines, and notice or redirect what passes through."""

    causes = (BLOCKED,)
    makes = True
    signals = True

    program: Program
    placement: Placement | None = None

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.program.inputs

    @property
    def outputs(self) -> tuple[str, ...]:
        return self.program.outputs

    @property
    def accepts(self) -> tuple[Carried, ...]:
        in_cells = self.program.size is None or self.program.size.unit == "cell"
        return ("cell",) if in_cells else ("packet",)

    @property
    def discards_for(self) -> tuple[str, ...]:
        return self.causes if any(s.forward == DISCARD for s in self.program.states) else ()

    def predict_outputs(self, number: int, *, kind: KindName) -> tuple[int, ...]:
        if self.inputs[number] != IN:
            return ()
        ports = self.program.ports
        return tuple(n for n, name in enumerate(self.outputs) if name not in ports)

    @property
    def most_made(self) -> int:
        size = self.program.size.amount if self.accepts == ("cell",) and self.program.size else 1
        most = max((len(way.send) for way in self.program.transitions), default=0)
        return MOST_TRANSITIONS * most * size

    def with_placement(self, placement: Placement) -> Machine:
        return replace(self, placement=placement)

    def build_transition(self, setting: Setting) -> Transition:
        assert self.placement is not None  # noqa: S101 -- the planner places each
        return build_transition(self.program, self.placement, setting)
