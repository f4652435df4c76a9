"""The sending end of a security association: packets are encrypted, and numbered."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import Time, UsedFor, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.event.transition import DONE, SEAL, SIZE, Transition, grow, lose, send
from qospec.engine.items.batch import FOREVER_PS, count_columns
from qospec.engine.kernel import kernel
from qospec.engine.security.association import Association
from qospec.engine.security.rekeying import Rekeying
from qospec.engine.security.seal import LARGEST_NUMBER, build_seal
from qospec.protocol.esp import TRAILER_BYTES
from qospec.protocol.ip import LARGEST_PACKET_BYTES

if TYPE_CHECKING:
    from qospec.catalogue.form import Form
    from qospec.catalogue.kinds import Lifetime
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting

LAST, INDEX, USED_BYTES, SINCE_PS, READY_PS = range(5)
"""The state of an association: the last number used, the index, the bytes encrypted, since when it
is used, and when its successor is ready; NEVER if that is not negotiated yet."""
AFTER, LIFETIME = 5, 8
"""How many packets, bytes and ps it is used before its successor is negotiated, and at most."""
NEGOTIATION_PS, LAST_INDEX, INNER, BLOCK, OUTER = range(11, 16)
"""How long an exchange of keys takes, and the index of the last successor; what is encrypted
besides the packet, with one byte less than a block; the block; what is not encrypted."""
UNITS = ("packet", "byte", "time")
PACKETS, BYTES, PS = range(3)
"""Their places behind AFTER and LIFETIME."""
NEVER = FOREVER_PS
EXPIRED = 0
"""The cause of loss; also the seal of a packet that none is put around."""


@element(
    source="RFC 4303, 3.3 (outbound processing); RFC 4301, 4.4.2.1 (lifetimes); RFC 7296, 2.8"
    " (rekeying)",
    carries=("packet",),
)
@dataclass(frozen=True)
class EspEncrypt(Association):
    """Encrypt each packet by ESP: from here on it is that much longer, and has a sequence number.

    Sizes follow from the transforms, byte for byte; `ciphers` makes packets of exactly these. Its
    marks are those of the outer header, too.

    With `rekey`, the association is replaced: once it has been used for so many packets, bytes or
    so long, an exchange of keys begins, in which it is still used. When that is over, a successor
    takes its place, with the next index and keys of its own, and numbers from 1 on. What is to be
    sent after its `lifetime` and before a successor is ready is lost as `expired`, and begins an
    exchange of keys, if none has begun. Of bytes, those that the cipher is applied to count.

    Not modelled: the time that encryption takes, which a `processor` has; the messages of an
    exchange of keys; a tunnel within another, which is an error, as is a packet of another family
    in transport mode; a packet that is too large for a line, which is an error unless `fragment`
    cuts it; more than 4095 successors, and indices above 32767: without any left, packets are lost
    as `expired`.
    """

    rekey: UsedFor = None
    """For how many packets, bytes, or how long an association is used until an exchange of keys
    begins; without it, there is none."""
    negotiation: Time = 0
    """How long an exchange of keys takes."""
    lifetime: UsedFor = None
    """For how many packets, bytes, or how long an association may be used at most; without it, for
    all sequence numbers that there are."""

    answers_at_once = True
    keeps_spacing = True
    causes = ("expired",)
    encrypts = True

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.rekeying

    @cached_property
    def rekeying(self) -> Rekeying:
        """Return what is agreed of the end of an association."""
        return Rekeying(self.rekey, self.negotiation, self.lifetime, self.esp.count_encrypted_bytes)

    @property
    def is_replaced(self) -> bool:
        return self.rekey is not None

    def predict_form(self, form: Form) -> Form:
        if self.mode == "transport":
            form.check_family(self.family)
        if form.sizes and self.esp.count_protected_bytes(form.largest_bytes) > LARGEST_PACKET_BYTES:
            raise ValueError(
                f"{form.largest_bytes} B encrypted exceed the {LARGEST_PACKET_BYTES} B of an IP"
                " packet"
            )
        return form.seal(self.esp, self.spi, rekeyed=self.is_replaced, keys=self.keys)

    def start(self, setting: Setting) -> Whole:
        esp = self.esp
        own_bytes = esp.ip_bytes if self.mode == "transport" else 0
        block_bytes = esp.encryption.block_bytes
        # The ciphertext of a packet of n bytes ends the block that n + inner lies in.
        inner = TRAILER_BYTES - own_bytes + block_bytes - 1
        outer = esp.clear_bytes + esp.icv_bytes
        lifetime = _split_by_unit(self.lifetime)
        lifetime[PACKETS] = min(lifetime[PACKETS], LARGEST_NUMBER)
        state = [0, self.spi, 0, 0, NEVER, *_split_by_unit(self.rekey), *lifetime]
        state += [self.negotiation, self.indices[-1], inner, block_bytes, outer]
        return np.array(state, np.int64)

    def build_transition(self, setting: Setting) -> Transition:
        return Transition(
            self.start(setting), _arrive, losses=(("", "expired"),), columns=count_columns("seal")
        )


def _split_by_unit(lifetime: Lifetime | None) -> list[int]:
    """Return a lifetime in packets, bytes and ps."""
    if lifetime is None:
        return [NEVER] * len(UNITS)
    return [lifetime.amount if lifetime.unit == unit else NEVER for unit in UNITS]


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send an item on at once, encrypted, or lose it; see `engine.event.transition`."""
    size_bytes = items[item, SIZE]
    seal = _take_seal(state, now_ps, size_bytes)
    if seal == EXPIRED:
        lose(out, EXPIRED, item)
        return DONE
    items[item, SEAL] = seal
    grow(out, item, state[OUTER] + _compute_ciphertext_bytes(state, size_bytes) - size_bytes)
    send(out, 0, item, now_ps)
    return DONE


@kernel
def _take_seal(state: Whole, now_ps: int, size_bytes: int) -> int:
    """Return the seal of the next packet, of this size; EXPIRED if no association may be used."""
    _replace(state, now_ps)
    used_bytes = state[USED_BYTES] + _compute_ciphertext_bytes(state, size_bytes)
    if (
        state[LAST] >= state[LIFETIME + PACKETS]
        or used_bytes > state[LIFETIME + BYTES]
        or now_ps - state[SINCE_PS] >= state[LIFETIME + PS]
        or state[INDEX] > state[LAST_INDEX]
    ):
        _negotiate(state, now_ps)
        state[LAST] = state[
            LIFETIME + PACKETS
        ]  # even if a smaller packet has fewer bytes than left
        return EXPIRED
    state[LAST] += 1
    state[USED_BYTES] = used_bytes
    if state[LAST] >= state[AFTER + PACKETS] or used_bytes >= state[AFTER + BYTES]:
        _negotiate(state, now_ps)
    return build_seal(state[LAST], state[INDEX], size_bytes)


@kernel
def _negotiate(state: Whole, now_ps: int) -> None:
    """Begin an exchange of keys, unless it has begun."""
    if state[READY_PS] == NEVER:
        state[READY_PS] = now_ps + state[NEGOTIATION_PS]


@kernel
def _replace(state: Whole, now_ps: int) -> None:
    """Use the successor that is ready by now, or its successor if time has passed that, too."""
    while state[INDEX] <= state[LAST_INDEX]:
        if state[READY_PS] == NEVER and now_ps - state[SINCE_PS] >= state[AFTER + PS]:
            _negotiate(state, state[SINCE_PS] + state[AFTER + PS])
        if now_ps < state[READY_PS]:
            return
        state[INDEX] += 1
        state[SINCE_PS], state[READY_PS] = state[READY_PS], NEVER
        state[LAST] = state[USED_BYTES] = 0


@kernel
def _compute_ciphertext_bytes(state: Whole, size_bytes: int) -> int:
    """Return how much of a packet is encrypted; `protocol.esp` has it in full."""
    return (size_bytes + state[INNER]) // state[BLOCK] * state[BLOCK]  # type: ignore[no-any-return]
