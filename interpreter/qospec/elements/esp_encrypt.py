"""The sending end of a security association: packets are encrypted, and numbered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import Domain, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Loss, Step
from qospec.engine.event.transition import DONE, SEAL, SIZE, Transition, grow, lose, send
from qospec.engine.kernel import kernel
from qospec.engine.security.association import Association
from qospec.engine.security.seal import LARGEST_NUMBER, seal_of
from qospec.protocol.esp import TRAILER_BYTES
from qospec.protocol.ip import LARGEST_PACKET_BYTES

if TYPE_CHECKING:
    from qospec.catalogue.form import Form
    from qospec.engine.arrays import Sizes, Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch

Lifetime = Annotated[int, Domain("integer", 1, LARGEST_NUMBER)]

LAST, LIFETIME, INDEX, INNER, BLOCK, OUTER = range(6)
"""The state: the last number used, the lifetime and the index; what is encrypted besides the
packet, with one byte less than a block; the block; what is not encrypted."""
EXPIRED = 0
"""The cause of loss."""


@element(
    source="RFC 4303, 3.3 (outbound processing); RFC 4301, 4.4.2.1 (lifetime)",
    carries=("packet",),
)
@dataclass(frozen=True)
class EspEncrypt(Association):
    """Encrypt each packet by ESP: from here on it is that much longer, and has a sequence number.

    Sizes follow from the transforms, byte for byte; `ciphers` makes packets of exactly these. Its
    marks are those of the outer header, too. An association that has reached its lifetime is not
    replaced: further packets are lost.

    Not modelled: the time that it takes, which a `processor` has; the exchange of keys; a tunnel
    within another, which is an error; a packet that is too large for a line, which is an error and
    is not fragmented.
    """

    lifetime_packets: Lifetime = LARGEST_NUMBER
    """How many packets one association protects; the default is all sequence numbers that there
    are."""

    keeps_spacing = True
    causes = ("expired",)
    encrypts = True

    def form_after(self, form: Form) -> Form:
        if form.sizes and self.esp.size_of(form.largest_bytes) > LARGEST_PACKET_BYTES:
            raise ValueError(
                f"{form.largest_bytes} B encrypted exceed the {LARGEST_PACKET_BYTES} B of an IP"
                " packet"
            )
        return form.sealed(self.esp)

    def start(self, setting: Setting) -> Whole:
        esp = self.esp
        own_bytes = esp.ip_bytes if self.mode == "transport" else 0
        block_bytes = esp.encryption.block_bytes
        # The ciphertext of a packet of n bytes ends the block that n + inner lies in.
        inner = TRAILER_BYTES - own_bytes + block_bytes - 1
        outer = esp.clear_bytes + esp.icv_bytes
        return np.array([0, self.lifetime_packets, self.spi, inner, block_bytes, outer], np.int64)

    def transition(self, setting: Setting) -> Transition:
        return Transition(self.start(setting), _arrive, losses=(("", "expired"),))

    def process(self, state: Whole, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        taken = min(batch.count, int(state[LIFETIME] - state[LAST]))
        expired = batch.part(taken, batch.count)
        losses = (Loss("expired", expired),) if expired.count else ()
        batch = batch.part(0, taken)
        size_bytes, seal = np.empty_like(batch.size_bytes), np.empty(taken, np.int64)
        _encrypt(batch, state, size_bytes, seal)
        left = batch.with_sizes(size_bytes).with_seals(seal)
        return Step((left,), (until_ps,), losses, resized=((batch, left),))


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send an item on at once, encrypted, or lose it; see `engine.event.transition`."""
    if state[LAST] == state[LIFETIME]:
        lose(out, EXPIRED, item)
        return DONE
    size_bytes = items[item, SIZE]
    items[item, SEAL] = _next_seal(state, size_bytes)
    grow(out, item, _encrypted_bytes(state, size_bytes) - size_bytes)
    send(out, 0, item, now_ps)
    return DONE


@kernel
def _encrypt(batch: Batch, state: Whole, size_bytes: Sizes, seal: Whole) -> None:
    """Write the size and the seal of each packet, encrypted."""
    before_bytes = batch.size_bytes
    for i in range(len(before_bytes)):
        seal[i] = _next_seal(state, before_bytes[i])
        size_bytes[i] = _encrypted_bytes(state, before_bytes[i])


@kernel
def _next_seal(state: Whole, size_bytes: int) -> int:
    """Return the seal of the next packet, of this size."""
    state[LAST] += 1
    return seal_of(state[LAST], state[INDEX], size_bytes)


@kernel
def _encrypted_bytes(state: Whole, size_bytes: int) -> int:
    """Return the size of a packet, encrypted; `protocol.esp` has it in full."""
    blocks = (size_bytes + state[INNER]) // state[BLOCK]
    return state[OUTER] + blocks * state[BLOCK]  # type: ignore[no-any-return]
