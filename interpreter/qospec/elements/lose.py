"""A link or a device that loses certain items."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import Domain, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.event.transition import CONNECTION, DONE, SIZE, Transition, lose, send
from qospec.engine.fault import Fault, draw_again, is_hit
from qospec.engine.kernel import kernel
from qospec.engine.random import WORD
from qospec.protocol.ip import LARGEST_PACKET_BYTES

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting

BitErrorRate = Annotated[Fraction | None, Domain("ratio", 0, Fraction(1, 100))]
Around = Annotated[int, Domain("data", 0, 1_000, layers=())]
LEAST_RATE = Fraction(1, 10**10)
"""Below it a draw of WORD bits does not tell cells from packets."""
BITS_OF_A_BYTE = 8
PRECISE = 64
"""Binary places of probabilities while they are multiplied."""
KEY, BY_SIZE = 0, 2
"""At the end of the state, if bits are wrong: the key of these draws; then, by size in bytes, below
which draw an item of that size has a wrong bit."""


@element(
    source="ITU-T I.356, 5 (lost cell); RFC 7680, 2 (one-way loss), as a fault of a test; ITU-T"
    " O.150, 3 (bit error ratio)"
)
@dataclass(frozen=True)
class Lose(Fault):
    """Lose some cells or packets of each connection, by their numbers, at random or by wrong bits.

    The items of a connection are numbered as they come, from 1; its OAM cells have numbers of their
    own. With a `bit_error_rate` each bit is wrong by itself, and an item of n bits is lost with the
    probability 1 - (1 - rate)^n, as the check sequence of its frame finds it. All are lost as
    `injected`.

    Not modelled: wrong bits in runs, and those that a code corrects.
    """

    bit_error_rate: BitErrorRate = None
    """With which probability a bit is wrong: 0, or from 10^-10 on."""
    overhead: Around = 0
    """How many bytes around each packet may be wrong, too, such as 18 of Ethernet."""

    hit_by = ("first", "probability", "bit_error_rate")
    answers_at_once = True
    causes = ("injected",)
    keeps_spacing = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bit_error_rate and self.bit_error_rate < LEAST_RATE:
            raise ValueError("bit_error_rate: below 10^-10 it is not modelled; leave it out")
        if self.overhead and self.bit_error_rate is None:
            raise ValueError("overhead: without a `bit_error_rate` no bit is wrong")

    def build_transition(self, setting: Setting) -> Transition:
        state = self.start(setting)
        if not self.bit_error_rate:
            return Transition(state, _arrive, losses=(("", "injected"),))
        key = setting.draws.derive("bits").open_stream().integers(0, 1 << WORD, 2)
        by_size = list_thresholds(self.bit_error_rate, self.overhead)
        state = np.concatenate([state, key, by_size, [len(state)]])
        return Transition(state, _arrive_with_wrong_bits, losses=(("", "injected"),))


def list_thresholds(rate: Fraction, overhead_bytes: int) -> list[int]:
    """Return by size in bytes below which draw of WORD bits an item has a wrong bit, rounded."""
    one = 1 << PRECISE
    byte = round((1 - rate) ** BITS_OF_A_BYTE * one)
    right, found = one, []
    for size_bytes in range(LARGEST_PACKET_BYTES + overhead_bytes + 1):
        if size_bytes >= overhead_bytes:
            found.append((one - right + (1 << PRECISE - WORD - 1)) >> PRECISE - WORD)
        right = right * byte + (one >> 1) >> PRECISE
    return found


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Lose an item or send it on at once; see `engine.event.transition`."""
    if is_hit(state, items[item, CONNECTION]):
        lose(out, 0, item)
    else:
        send(out, 0, item, now_ps)
    return DONE


@kernel
def _arrive_with_wrong_bits(
    state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole
) -> int:
    """Do likewise, and lose an item with a wrong bit."""
    connection, bits = items[item, CONNECTION], state[len(state) - 1]
    hit = is_hit(state, connection)
    word = draw_again(state, bits + KEY, connection)
    if hit or word < state[bits + BY_SIZE + items[item, SIZE]]:
        lose(out, 0, item)
    else:
        send(out, 0, item, now_ps)
    return DONE
