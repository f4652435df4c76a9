"""The receiving end of a security association: packets are checked, and decrypted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import Domain, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Loss, Step
from qospec.engine.event.transition import DONE, SEAL, SIZE, Transition, grow, lose, send
from qospec.engine.items.partition import split
from qospec.engine.kernel import kernel, part
from qospec.engine.security.association import Association
from qospec.engine.security.seal import TAMPERED, index_in, number_in, size_in
from qospec.protocol import replay

if TYPE_CHECKING:
    from qospec.catalogue.form import Form
    from qospec.engine.arrays import Marks, Sizes, Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch

Window = Annotated[int, Domain("integer", replay.LEAST_SIZE, 4_096)]

CAUSES = ("unprotected", "unknown_association", "replayed", "behind_window", "tampered")
ACCEPTED, UNPROTECTED, UNKNOWN, REPLAYED, BEHIND, CHANGED = range(6)
"""What a packet is; but for the first, the number of a cause and 1."""
SPI, AUTHENTICATES, WINDOW = 0, 1, 2
"""The state: the index, whether the transforms authenticate, then the window."""

_examine, _enter = kernel(replay.examine), kernel(replay.enter)


@element(
    source="RFC 4303, 3.4 (inbound processing), 3.4.3 (anti-replay); RFC 4301, 5.2 (packets in the"
    " clear)",
    carries=("packet",),
)
@dataclass(frozen=True)
class EspDecrypt(Association):
    """Decrypt the packets of one security association; all others are lost.

    What comes in the clear is lost as `unprotected`, what has another index as
    `unknown_association`, what was accepted before as `replayed`. A packet that others have
    overtaken by as many numbers as the window has is lost as `behind_window`, as it may have been
    accepted before: this happens behind queues that reorder the packets of an association. What was
    changed on the way is lost as `tampered`, unless nothing authenticates.

    Its marks stay those of the outer header, which `esp_encrypt` has copied.

    Not modelled: a mark that the packet had before a device on the way changed that of the outer
    header; the time that it takes, which a `processor` has.
    """

    replay_window: Window = replay.SIZE
    """How many sequence numbers, up to the highest accepted, are still accepted."""

    causes = CAUSES

    def form_after(self, form: Form) -> Form:
        return form.opened(self.esp)

    def start(self, setting: Setting) -> Whole:
        state = np.zeros(WINDOW + replay.FIRST_SLOT + self.replay_window, np.int64)
        state[SPI], state[AUTHENTICATES] = self.spi, self.esp.icv_bytes > 0
        return state

    def transition(self, setting: Setting) -> Transition:
        losses = tuple(("", cause) for cause in CAUSES)
        return Transition(self.start(setting), _arrive, losses=losses)

    def process(self, state: Whole, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        batch = arrivals[0].sealed()
        outcome, size_bytes = np.empty(batch.count, np.uint8), np.empty_like(batch.size_bytes)
        refused = _decrypt(batch.seal, state, outcome, size_bytes)
        unprotected = batch.with_seals(batch.seal & TAMPERED)
        came, lost = split(batch, outcome, refused)
        opened, _ = split(unprotected.with_sizes(size_bytes), outcome, refused)
        causes = outcome[outcome != ACCEPTED]
        losses = tuple(
            Loss(cause, lost.select(causes == number))
            for number, cause in enumerate(CAUSES, 1)
            if (causes == number).any()
        )
        return Step((opened,), (until_ps,), losses, resized=((came, opened),))


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send an item on at once, decrypted, or lose it; see `engine.event.transition`."""
    seal = items[item, SEAL]
    outcome = _outcome(state, seal)
    if outcome != ACCEPTED:
        lose(out, outcome - 1, item)
        return DONE
    items[item, SEAL] = seal & TAMPERED
    grow(out, item, size_in(seal) - items[item, SIZE])
    send(out, 0, item, now_ps)
    return DONE


@kernel
def _decrypt(seal: Whole, state: Whole, outcome: Marks, size_bytes: Sizes) -> int:
    """Write what each packet is, and its size decrypted; return how many are not accepted."""
    refused = 0
    for i in range(len(seal)):
        outcome[i] = _outcome(state, seal[i])
        size_bytes[i] = size_in(seal[i])
        refused += outcome[i] != ACCEPTED
    return refused


@kernel
def _outcome(state: Whole, seal: int) -> int:
    """Return what a packet is, and remember it if it is accepted."""
    if number_in(seal) == 0:
        return UNPROTECTED
    if index_in(seal) != state[SPI]:
        return UNKNOWN
    window, number = part(state, WINDOW, len(state) - WINDOW), number_in(seal)
    found = _examine(window, number)
    if found != replay.FRESH:
        return REPLAYED if found == replay.REPLAYED else BEHIND
    if seal < 0 and state[AUTHENTICATES]:
        return CHANGED
    _enter(window, number)
    return ACCEPTED
