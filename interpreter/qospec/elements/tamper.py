"""A link or a device that changes what certain items carry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import element
from qospec.dataclass import dataclass
from qospec.engine.event.transition import CONNECTION, DONE, SEAL, Transition, send
from qospec.engine.fault import Fault, is_hit
from qospec.engine.items.batch import count_columns
from qospec.engine.kernel import kernel
from qospec.engine.security.seal import TAMPERED

if TYPE_CHECKING:
    from qospec.catalogue.form import Form
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting


@element(source="RFC 4303, 3.4.4 (what an integrity check finds), as a fault of a test")
@dataclass(frozen=True)
class Tamper(Fault):
    """Change a bit of what some cells or packets carry, chosen as those of `lose`.

    The checks of a line are right again behind it, as if it were a device. An `esp_decrypt` whose
    transforms authenticate discards such a packet as `tampered`; a `cell_decrypt` passes on a cell
    with the bit changed, and does not take over what a changed OAM cell brings. What arrives
    changed counts as `errored`, if the test makes bytes. Ahead of what encrypts it is an error.

    Not modelled: checks of UDP and TCP, which would find it at the host.
    """

    answers_at_once = True
    keeps_spacing = True

    def predict_form(self, form: Form) -> Form:
        return form if form.changed else form._replace(changed=True)

    def build_transition(self, setting: Setting) -> Transition:
        return Transition(self.start(setting), _arrive, columns=count_columns("seal"))


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send an item on at once, changed or not; see `engine.event.transition`."""
    if is_hit(state, items[item, CONNECTION]):
        items[item, SEAL] |= TAMPERED
    send(out, 0, item, now_ps)
    return DONE
