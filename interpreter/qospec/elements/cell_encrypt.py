"""The sending end of ATM cell encryption: the payload of each user cell, in counter mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import Boolean, Domain, element
from qospec.dataclass import dataclass
from qospec.engine.event.transition import CONNECTION, DONE, SEAL, Transition, send
from qospec.engine.items.batch import count_columns
from qospec.engine.kernel import kernel
from qospec.engine.security.end import SecretKey, SecurityEnd, check_length
from qospec.engine.security.state_vector import (
    CELL_KEY_BYTES,
    POSITIONS,
    build_positions,
    find_oam_vc,
    find_position_after_jump,
    find_user_vc,
)

if TYPE_CHECKING:
    from qospec.catalogue.form import Form
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.secret import Secret


OamCells = Annotated[int | None, Domain("cells", 1, 2**31)]


@element(
    source="ATM Forum Security Specification 1.1 (af-sec-0100.002), counter mode: state vector,"
    " synchronisation and key changeover by OAM cells; NIST SP 800-38A, 6.5",
    carries=("cell",),
)
@dataclass(frozen=True)
class CellEncrypt(SecurityEnd):
    """Encrypt the user cells of each VC, which has a key and a state vector of its own.

    Both ends count user cells, so a cell carries nothing more. At each OAM cell that passes, the
    state vector jumps to where it never was, and the cell brings the new one to the other end,
    `cell_decrypt`; an `oam_insert` before it makes such cells. All OAM cells are taken for such;
    cells of resource management pass in the clear.

    Not modelled: the time that it takes; how both ends agree on keys, which is done in time.
    """

    oam_cells_per_key: OamCells = None
    """How many OAM cells a key of a VC lasts: every so many bring the next key into use, an odd one
    after an even one. By default a VC has one key."""

    shares_key: Boolean = False
    """Whether all VCs have one key, as where a whole line is encrypted. The number of a VC is then
    ahead of its counter, so that none occurs twice."""

    key: SecretKey = None
    """What keys of VCs are derived from, 16 bytes, the same at both ends; by default keys are
    drawn."""

    encrypts = True
    answers_at_once = True
    keeps_spacing = True

    def __post_init__(self) -> None:
        check_length("key", self.key, "the encryption of cells", CELL_KEY_BYTES)

    @property
    def keys(self) -> tuple[Secret | None, ...]:
        return (self.key,)

    def find_key_owner(self, vc: int) -> int:
        return 0 if self.shares_key else vc

    def number_key(self, jump: int) -> int:
        return jump // self.oam_cells_per_key if self.oam_cells_per_key else 0

    def predict_form(self, form: Form) -> Form:
        if form.keys:
            raise ValueError("these cells are encrypted already, and are not encrypted twice")
        if form.frames and form.frames[1].inside:
            raise ValueError("these cells carry encrypted packets, and are not encrypted once more")
        form.check_unchanged()
        return form._replace(keys=self.keys)

    def start(self, setting: Setting) -> Whole:
        return build_positions(setting.streams)

    def build_transition(self, setting: Setting) -> Transition:
        return Transition(self.start(setting), _arrive, columns=count_columns("seal"))


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send a cell on at once, encrypted; see `engine.event.transition`."""
    items[item, SEAL] = _take_seal(state, items[item, CONNECTION])
    send(out, 0, item, now_ps)
    return DONE


@kernel
def _take_seal(state: Whole, connection: int) -> int:
    """Return the position of a user cell, or the one that an OAM cell brings.

    It is 0 for what is not encrypted.
    """
    vc = find_user_vc(state, connection)
    if vc >= 0:
        state[POSITIONS + vc] += 1
        return state[POSITIONS + vc]  # type: ignore[no-any-return]
    vc = find_oam_vc(state, connection)
    if vc >= 0:
        state[POSITIONS + vc] = find_position_after_jump(state[POSITIONS + vc])
        return state[POSITIONS + vc]  # type: ignore[no-any-return]
    return 0
