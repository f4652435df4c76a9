"""A link or a device that loses certain items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import element
from qospec.dataclass import dataclass
from qospec.engine.event.transition import CONNECTION, DONE, Transition, lose, send
from qospec.engine.fault import Fault, is_hit
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting


@element(source="ITU-T I.356, 5 (lost cell); RFC 7680, 2 (one-way loss), as a fault of a test")
@dataclass(frozen=True)
class Lose(Fault):
    """Lose some cells or packets of each connection, by their numbers or at random.

    The items of a connection are numbered as they come, from 1; its OAM cells have numbers of their
    own. They are lost as `injected`.
    """

    answers_at_once = True
    causes = ("injected",)
    keeps_spacing = True

    def transition(self, setting: Setting) -> Transition:
        return Transition(self.start(setting), _arrive, losses=(("", "injected"),))


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Lose an item or send it on at once; see `engine.event.transition`."""
    if is_hit(state, items[item, CONNECTION]):
        lose(out, 0, item)
    else:
        send(out, 0, item, now_ps)
    return DONE
