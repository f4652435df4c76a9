"""The receiving end of a security association: packets are checked, and decrypted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import LONGEST_PS, Boolean, Domain, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.event.transition import DONE, SEAL, SIZE, Transition, grow, lose, send
from qospec.engine.items.batch import count_columns
from qospec.engine.kernel import kernel, view_part
from qospec.engine.security.association import Association
from qospec.engine.security.seal import FAILED, TAMPERED, number_in, read_index, size_in
from qospec.protocol import replay

if TYPE_CHECKING:
    from qospec.catalogue.form import Form
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting

Window = Annotated[int, Domain("integer", replay.LEAST_SIZE, 4_096)]
Overlap = Annotated[int | None, Domain("time", 0, LONGEST_PS)]

CAUSES = ("unprotected", "unknown_association", "replayed", "behind_window", "tampered")
ACCEPTED, UNPROTECTED, UNKNOWN, REPLAYED, BEHIND, CHANGED = range(6)
"""What a packet is; but for the first, the number of a cause and 1."""
AUTHENTICATES, DISCARDS, LAST_INDEX, OVERLAP_PS, SLOTS = range(5)
INDEX, BEFORE, CLOSES_PS, IS_SECOND, WINDOWS = range(5, 10)
"""The state: whether the transforms authenticate, and whether what they find is discarded here, the
last index, for how long an association that was replaced is still open, and how many numbers a
window takes; the index of the newest, that of the one before, until when this is open, and whether
the second of the windows is that of the newest. Then come both windows."""

_examine, _enter = kernel(replay.examine), kernel(replay.enter)


@element(
    source="RFC 4303, 3.4 (inbound processing), 3.4.3 (anti-replay); RFC 4301, 5.2 (packets in the"
    " clear); RFC 7296, 2.8 (rekeying)",
    carries=("packet",),
)
@dataclass(frozen=True)
class EspDecrypt(Association):
    """Decrypt the packets of one security association; all others are lost.

    What comes in the clear is lost as `unprotected`, what has another index as
    `unknown_association`, what was accepted before as `replayed`. A packet that others have
    overtaken by as many numbers as the window has is lost as `behind_window`, as it may have been
    accepted before: this happens behind queues that reorder the packets of an association. What was
    changed on the way is lost as `tampered`, unless nothing authenticates. With `verify = false` it
    goes on in the size of its packet, and takes the time of a `processor` that verifies it behind
    the decryptor, as it has the others; an `esp_verify` behind the processor discards it.

    Behind an `esp_encrypt` that has `rekey`, it has `overlap`: it knows each successor of the
    association before its first packet arrives. From that packet on, those of the association
    before are decrypted for so long, by their own window, and then lost as `unknown_association`,
    like those of all older ones.

    Its marks stay those of the outer header, which `esp_encrypt` has copied.

    Not modelled: a mark that the packet had before a device on the way changed that of the outer
    header; the time that it takes. What it discards takes none of a `processor` behind it, and one
    ahead of it takes time for all, by their sizes in the tunnel.
    """

    replay_window: Window = replay.SIZE
    """How many sequence numbers, up to the highest accepted, are still accepted."""
    overlap: Overlap = None
    """For how long packets of an association are decrypted once one of its successor has arrived;
    without it, there is no successor."""
    verify: Boolean = True
    """Whether it discards what was changed on the way, and leaves that to no `esp_verify`."""

    answers_at_once = True
    keeps_spacing = True
    causes = CAUSES

    @property
    def is_replaced(self) -> bool:
        return self.overlap is not None

    def predict_form(self, form: Form) -> Form:
        opened = form.open_sealed(self.esp, self.spi, rekeyed=self.is_replaced, keys=self.keys)
        is_verified = self.verify or not self.esp.icv_bytes or form.inside is None
        return opened if is_verified else opened._replace(unverified=True)

    def start(self, setting: Setting) -> Whole:
        slots = replay.FIRST_SLOT + self.replay_window
        state = np.zeros(WINDOWS + 2 * slots, np.int64)
        state[LAST_INDEX], state[OVERLAP_PS] = self.indices[-1], self.overlap or 0
        state[SLOTS], state[INDEX] = slots, self.spi
        state[AUTHENTICATES], state[DISCARDS] = self.esp.icv_bytes > 0, self.verify
        return state

    def build_transition(self, setting: Setting) -> Transition:
        losses = tuple(("", cause) for cause in CAUSES)
        return Transition(
            self.start(setting), _arrive, losses=losses, columns=count_columns("seal")
        )


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send an item on at once, decrypted, or lose it; see `engine.event.transition`."""
    seal = items[item, SEAL]
    outcome = _decide_outcome(state, seal, now_ps)
    if outcome == CHANGED and not state[DISCARDS]:
        items[item, SEAL] = FAILED
    elif outcome != ACCEPTED:
        lose(out, outcome - 1, item)
        return DONE
    else:
        items[item, SEAL] = seal & TAMPERED
    grow(out, item, size_in(seal) - items[item, SIZE])
    send(out, 0, item, now_ps)
    return DONE


@kernel
def _decide_outcome(state: Whole, seal: int, now_ps: int) -> int:
    """Return what a packet is, and remember it if it is accepted."""
    if number_in(seal) == 0:
        return UNPROTECTED
    index = read_index(seal)
    if index > state[INDEX] and index <= state[LAST_INDEX]:
        if seal < 0 and state[AUTHENTICATES]:
            return CHANGED
        _follow(state, index, now_ps)
    is_second = state[IS_SECOND]
    if index != state[INDEX]:
        if index != state[BEFORE] or now_ps >= state[CLOSES_PS]:
            return UNKNOWN
        is_second = 1 - is_second
    window = view_part(state, WINDOWS + is_second * state[SLOTS], state[SLOTS])
    number = number_in(seal)
    found = _examine(window, number)
    if found != replay.FRESH:
        return REPLAYED if found == replay.REPLAYED else BEHIND
    if seal < 0 and state[AUTHENTICATES]:
        return CHANGED
    _enter(window, number)
    return ACCEPTED


@kernel
def _follow(state: Whole, index: int, now_ps: int) -> None:
    """Let an association follow the newest, which stays open for a time; its window is empty."""
    state[BEFORE], state[INDEX] = state[INDEX], index
    state[CLOSES_PS] = now_ps + state[OVERLAP_PS]
    state[IS_SECOND] = 1 - state[IS_SECOND]
    start = WINDOWS + state[IS_SECOND] * state[SLOTS]
    for i in range(start, start + state[SLOTS]):
        state[i] = 0
