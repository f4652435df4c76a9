"""Token buckets, kept exactly: tokens are counted in the time that they take to accrue.

A token is a byte, or a packet. A bucket gains so many each second, up to its size. Counted in time
it gains one ps each ps, up to FULL, and a packet of B tokens takes B times TOKEN. Each is whole ps
and a numerator over DENOMINATOR, which is carried: no rounded value is ever summed.

Bytes are counted of the IP packet, or with what is around it in the frame in which it comes.

A packet that arrives in a ps did so at some instant in it. So it is covered by the tokens that
accrue before that ps ends, and the bucket may go below zero by less than a ps's worth.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from qospec.calculus.curve import Curve
from qospec.calculus.guarantee import Arrival
from qospec.catalogue.kinds import LONGEST_PS, OF_FRAMES, Buffer, Domain, Load
from qospec.dataclass import NamedTuple
from qospec.engine.kernel import kernel
from qospec.engine.line.transmission import count_sent_bytes
from qospec.protocol.encapsulation import Framing
from qospec.protocol.ip import LARGEST_PACKET_BYTES
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.engine.arrays import Whole

BITS_PER_BYTE = 8
LARGEST_DENOMINATOR = 2**62 // (2 * LARGEST_PACKET_BYTES)
"""So that the bytes of a packet, and at most as many around it, times a numerator fit int64."""
LARGEST_LEVEL = 2**61
"""Of what is gained from another bucket: the parts of a ps that fill it."""

LEVEL, LEVEL_PART, FULL, FULL_PART, TOKEN, TOKEN_PART, DENOMINATOR = 0, 1, 2, 3, 4, 5, 6
PER_PACKET, HEADER, LEAST, EXTRA, PER_CELL = 7, 8, 9, 10, 11
"""Whether a token is a packet; else how bytes are counted, see `protocol.encapsulation.Framing`."""
GAIN, MOST_GAINED = 12, 13
"""How many parts of a ps it gains for each part of a ps that another bucket has too many, 0 if it
gains none; and how many ps of the other fill it."""
PRICES = 14
FIELDS = PRICES + 2 * (LARGEST_PACKET_BYTES + 1)
"""From PRICES on, the cost of packets by size once computed: a division is slow."""

Cost = tuple[int, int]
"""The cost of a packet: whole ps, and a numerator."""

TokenRate = Annotated[Load, Domain("load", 8, 8 * 10**12, layers=OF_FRAMES)]
"""Bits per second in a layer, or packets per second; a token takes between a ps and a second."""
BucketSize = Annotated[Buffer, Domain("burst", 0, 2**31, layers=OF_FRAMES)]
"""Whole bytes or packets."""


def _compute_token_time(rate: Load) -> Fraction:
    """Return the time in which one token accrues at a rate, in ps."""
    return (BITS_PER_BYTE if rate.layer else 1) * PS_PER_S / Fraction(rate.amount)


class Bucket(NamedTuple):
    """A bucket as it is declared.

    Attributes:
        rate_name: What the author calls its rate.
        rate: The tokens that it gains.
        size_name: What the author calls its size.
        size: The tokens that it holds.
        framing: What is counted of a packet, if its bytes are.
        gains_from: The rate of another bucket, if it gets the tokens that find no room there.
    """

    rate_name: str
    rate: Load
    size_name: str
    size: Buffer
    framing: Framing = Framing()
    gains_from: Load | None = None

    @property
    def token_ps(self) -> Fraction:
        """Return the time in which one token accrues."""
        return _compute_token_time(self.rate)

    @property
    def denominator(self) -> int:
        """Return of what whole parts of a ps all of its times are."""
        if self.gains_from is None:
            return self.token_ps.denominator
        gained = self.token_ps / _compute_token_time(self.gains_from)
        return math.lcm(
            self.token_ps.denominator,
            _compute_token_time(self.gains_from).denominator * gained.denominator,
        )

    def count_tokens(self, size_bytes: int) -> int:
        """Return how many tokens a packet takes."""
        return self.framing.count_bytes(size_bytes) if self.rate.layer else 1

    def bound_passing(self, sizes: Sequence[int]) -> Arrival:
        """Return what it lets pass at most of packets of some sizes, ascending.

        With the less than a ps's worth of tokens that may be owed.
        """
        counts = [*map(self.count_tokens, sizes)]
        tokens = Curve.from_lines([(self.size.amount, 1 / self.token_ps)]).widen(1)
        dearest = max(Fraction(size, count) for size, count in zip(sizes, counts, strict=True))
        items, size_bytes = tokens.scale_by(Fraction(1, min(counts))), tokens.scale_by(dearest)
        return Arrival(items, size_bytes, tuple(sizes))


def check(*declared: Bucket) -> None:
    """Raise ValueError, with words for an author, where buckets cannot be kept exactly.

    Or do not count alike.
    """
    for bucket in declared:
        full_ps = bucket.size.amount * bucket.token_ps
        most = LARGEST_LEVEL if bucket.gains_from else full_ps * bucket.denominator
        if bucket.denominator > LARGEST_DENOMINATOR or full_ps * bucket.denominator > most:
            fine = "this fraction is too fine to be kept exactly; give fewer digits"
            raise ValueError(f"{bucket.rate_name}: {fine}")
        if full_ps > LONGEST_PS:
            raise ValueError(f"{bucket.size_name}: such a burst takes more than 11 days to refill")
        rate_name, rate, size_name, size, *_ = bucket
        bytes_in = size.layer if size.layer in OF_FRAMES else rate.layer or "ip"
        sized = {"byte": bytes_in, "packet": "", "cell": "cell"}[size.unit]
        _require_alike(declared[0], rate_name, rate.layer)
        _require_alike(declared[0], size_name, sized)


def _require_alike(first: Bucket, name: str, layer: str) -> None:
    """Require that something is counted as the first rate is; "" stands for packets."""
    if layer != first.rate.layer:
        what, wanted = (f"@{one}" if one else "in packets" for one in (layer, first.rate.layer))
        raise ValueError(f"{name}: counted {what}, and `{first.rate_name}` {wanted}")


def build_full_bucket(declared: Bucket) -> list[int]:
    """Return the fields of a full bucket, up to PRICES; at the beginning, no price is known."""
    token_ps, denominator = declared.token_ps, declared.denominator
    token = divmod(int(token_ps * denominator), denominator)
    filled = divmod(int(declared.size.amount * token_ps * denominator), denominator)
    gain = most_gained = 0
    if declared.gains_from is not None:
        other_ps = _compute_token_time(declared.gains_from)
        gain = int(token_ps / other_ps * denominator / other_ps.denominator)
        most_gained = int(declared.size.amount * other_ps) + 1
    counted = [not declared.rate.layer, *declared.framing]
    return [*filled, *filled, *token, denominator, *counted, gain, most_gained]


TOO_LARGE = 1
"""What a transition returns for a size beyond that of a packet; `refuse` says so."""


def refuse(state: Whole, reason: int) -> Whole:  # noqa: ARG001  there is one reason
    """Raise ValueError for such a packet: a `Transition.replenish`."""
    raise ValueError(f"a packet has at most {LARGEST_PACKET_BYTES} bytes")


@kernel
def count_tokens(per_packet: int, framing: Framing, size_bytes: int) -> int:
    """Return how many tokens a packet takes: one, or its bytes with what is around it."""
    return 1 if per_packet else count_sent_bytes(framing, size_bytes)


@kernel
def cost(tokens: Whole, size_bytes: int) -> Cost:
    """Return the cost of a packet of that size."""
    place = PRICES + 2 * size_bytes
    ps = tokens[place]
    if ps:
        return ps, tokens[place + 1]
    framing = Framing(tokens[HEADER], tokens[LEAST], tokens[EXTRA], tokens[PER_CELL])
    count = count_tokens(tokens[PER_PACKET], framing, size_bytes)
    part = count * tokens[TOKEN_PART]
    carried = part // tokens[DENOMINATOR]
    ps, part = count * tokens[TOKEN] + carried, part - carried * tokens[DENOMINATOR]
    tokens[place], tokens[place + 1] = ps, part
    return ps, part


@kernel
def fill(tokens: Whole, ps: int, part: int) -> Cost:
    """Add the tokens of a time, and return the time of those that overflow."""
    denominator = tokens[DENOMINATOR]
    level, level_part = tokens[LEVEL] + ps, tokens[LEVEL_PART] + part
    if level_part >= denominator:
        level_part -= denominator
        level += 1
    over, over_part = level - tokens[FULL], level_part - tokens[FULL_PART]
    if over_part < 0:
        over_part += denominator
        over -= 1
    if over < 0:
        tokens[LEVEL], tokens[LEVEL_PART] = level, level_part
        return 0, 0
    tokens[LEVEL], tokens[LEVEL_PART] = tokens[FULL], tokens[FULL_PART]
    return over, over_part


@kernel
def add_overflow(tokens: Whole, other: Whole, over: Cost) -> None:
    """Add the tokens that overflow from another bucket; what would more than fill it is cut."""
    over_ps = min(over[0], tokens[MOST_GAINED])
    parts = (over_ps * other[DENOMINATOR] + over[1]) * tokens[GAIN]
    whole_ps = parts // tokens[DENOMINATOR]
    fill(tokens, whole_ps, parts - whole_ps * tokens[DENOMINATOR])


@kernel
def covers(tokens: Whole, price: Cost) -> bool:
    """Return whether there are tokens for a packet before this ps ends."""
    return compute_wait_ps(tokens, price) == 0


@kernel
def take(tokens: Whole, price: Cost) -> None:
    """Take the tokens of a packet that the bucket covers; less than a ps's worth may be owed."""
    level, part = tokens[LEVEL] - price[0], tokens[LEVEL_PART] - price[1]
    if part < 0:
        part += tokens[DENOMINATOR]
        level -= 1
    tokens[LEVEL], tokens[LEVEL_PART] = level, part


@kernel
def compute_wait_ps(tokens: Whole, price: Cost) -> int:
    """Return the time until there are tokens for a packet, rounded down to whole ps."""
    missing = price[0] - tokens[LEVEL] - (price[1] < tokens[LEVEL_PART])
    return max(int(missing), 0)
