"""The check of integrity of a security association, apart from its decryption."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element
from qospec.engine.event.transition import DONE, SEAL, Transition, lose, send
from qospec.engine.items.batch import count_columns
from qospec.engine.kernel import kernel
from qospec.engine.security.seal import FAILED

if TYPE_CHECKING:
    from qospec.catalogue.form import Form
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting


@element(source="RFC 4303, 3.4.4 (integrity check value verification)", carries=("packet",))
@dataclass(frozen=True)
class EspVerify(Element):
    """Discard what was changed on its way to an `esp_decrypt` with `verify = false`.

    It stands behind the `processor` that verifies, whose time such packets take like all others.
    All else goes on: what is accepted, and what nothing authenticates.

    Not modelled: the time that it takes, which is that of the processor.
    """

    answers_at_once = True
    keeps_spacing = True
    causes = ("tampered",)

    def predict_form(self, form: Form) -> Form:
        return form._replace(unverified=False) if form.unverified else form

    def build_transition(self, setting: Setting) -> Transition:
        return Transition(
            np.zeros(1, np.int64),
            _arrive,
            losses=(("", self.causes[0]),),
            columns=count_columns("seal"),
        )


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send an item on at once, or lose it; see `engine.event.transition`."""
    if items[item, SEAL] == FAILED:
        lose(out, 0, item)
    else:
        send(out, 0, item, now_ps)
    return DONE
