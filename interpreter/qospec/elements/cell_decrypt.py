"""The receiving end of ATM cell encryption, which garbles cells until it is synchronous again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.form import EndsDifferError
from qospec.catalogue.kinds import element
from qospec.dataclass import dataclass
from qospec.engine.event.transition import CONNECTION, DONE, SEAL, Transition, lose, send
from qospec.engine.items.batch import count_columns
from qospec.engine.kernel import kernel
from qospec.engine.security.end import SecretKey, SecurityEnd, check_length
from qospec.engine.security.seal import TAMPERED, UNTAMPERED
from qospec.engine.security.state_vector import (
    CELL_KEY_BYTES,
    POSITIONS,
    build_positions,
    find_oam_vc,
    find_user_vc,
)

if TYPE_CHECKING:
    from qospec.catalogue.form import Form
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.secret import Secret


@element(
    source="ATM Forum Security Specification 1.1 (af-sec-0100.002), counter mode: state vector,"
    " synchronisation and key changeover by OAM cells; NIST SP 800-38A, 6.5",
    carries=("cell",),
)
@dataclass(frozen=True)
class CellDecrypt(SecurityEnd):
    """Decrypt the user cells of each VC, and discard those that are garbled.

    It counts the user cells that arrive, as `cell_encrypt` has counted those that left. After a
    cell that was lost or inserted on the way the counts differ, and all cells that follow are
    garbled, until an OAM cell brings the state vector of the other end. If that is lost, the other
    end has jumped and this one has not, so all cells up to the next OAM cell are garbled, too.
    Garbled cells are lost here as `undecipherable`, and so are those that never were encrypted: no
    user can read them, and a tester that knows its cells by their payload does not find them.

    Not modelled: that they would travel on, to where the error checks of an adaptation layer find
    them.
    """

    key: SecretKey = None
    """That of the other end; with another one, all cells that pass are `errored`."""

    causes = ("undecipherable",)
    answers_at_once = True
    keeps_spacing = True

    def __post_init__(self) -> None:
        check_length("key", self.key, "the encryption of cells", CELL_KEY_BYTES)

    @property
    def keys(self) -> tuple[Secret | None, ...]:
        return (self.key,)

    def predict_form(self, form: Form) -> Form:
        if not form.keys:
            return form
        if (form.keys == (None,)) != (self.key is None):
            raise EndsDifferError(
                "only one end of their encryption has a `key`",
                "give both one, or none, so that one is drawn for both",
            )
        return form._replace(keys=())

    def start(self, setting: Setting) -> Whole:
        return build_positions(setting.streams)

    def build_transition(self, setting: Setting) -> Transition:
        return Transition(
            self.start(setting),
            _arrive,
            losses=(("", "undecipherable"),),
            columns=count_columns("seal"),
        )


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send a cell on at once, decrypted, or lose it; see `engine.event.transition`."""
    is_garbled = _is_garbled(state, items[item, CONNECTION], items[item, SEAL])
    items[item, SEAL] &= TAMPERED
    if is_garbled:
        lose(out, 0, item)
    else:
        send(out, 0, item, now_ps)
    return DONE


@kernel
def _is_garbled(state: Whole, connection: int, seal: int) -> bool:
    """Return whether a cell was encrypted at another position than that of this end."""
    vc = find_user_vc(state, connection)
    if vc >= 0:
        state[POSITIONS + vc] += 1
        return seal & UNTAMPERED != state[POSITIONS + vc]  # type: ignore[no-any-return]
    vc = find_oam_vc(state, connection)
    if vc >= 0 and seal > 0:
        state[POSITIONS + vc] = seal
    return False
