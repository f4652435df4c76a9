"""A meter of several flows, which pass on to each other the tokens that they do not use."""

from __future__ import annotations

import math
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from qospec.calculus.guarantee import Arrival, Guarantee, Guarantees
from qospec.catalogue.kinds import Boolean, Buffer, Domain, Load, Names, UnfitError, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.event.transition import DONE, SIZE, Transition, lose, send
from qospec.engine.event.transition import MARKS as ITEM_MARKS
from qospec.engine.kernel import kernel
from qospec.engine.meter.meter import (
    ABBREVIATIONS,
    COLOUR,
    FIRST,
    GREEN,
    HIGHEST,
    OTHERS,
    RED,
    YELLOW,
    Action,
    Metering,
)
from qospec.engine.meter.token_bucket import BITS_PER_BYTE, Bucket, count_tokens
from qospec.protocol.encapsulation import Framing
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.contract import Contract
    from qospec.engine.line.clock import Clock

RATES = Domain("loads", 0, 8 * 10**12, layers=("ip", "frame", "line"))
Rates = Annotated[tuple[tuple[str, Load], ...], RATES]
"""Bits per second in a layer, or packets per second, for each flow."""
SIZES = Domain("bursts", 0, 2**31, layers=("ip", "frame", "line"))
BurstSizes = Annotated[tuple[tuple[str, Buffer], ...], SIZES]
"""Whole bytes or packets for each."""

NOW, MOST, RANKS, COUPLING, AWARE, DROPS, UNIT, PER_PACKET, HEADER, LEAST, EXTRA, PER_CELL = (
    *range(6),
    *range(8, 14),
)
"""The state: the time up to which buckets are filled; after which time all are full; how many flows
there are; whether what none uses goes to the first excess bucket; whether the colour of an arriving
packet counts; by colour, of three, whether packets are dropped; how many units a token is; how
bytes are counted, see `engine.meter.token_bucket`. Then come the flows, the highest rank first."""
FLOWS = 14
COUPLED, GAIN, FULL, LEVEL, EXCESS_GAIN, EXCESS_FULL, EXCESS_LEVEL, GIVEN = range(8)
"""Of a flow: whether its excess bucket gets what finds no room in the other; then of both buckets
the units that come in a ps, those that find room, and those that are there; and what the other has
given the excess bucket now."""
FIELDS = 8
LARGEST_PACKET, LARGEST_LEVEL = 2**17, 2**63 - 1
"""More tokens than any packet takes, and the most units that are kept."""


@element(
    source="MEF 10.4, 12.1 (bandwidth profile algorithm, token sharing), MEF 41 (GTBA)",
    abbreviations=ABBREVIATIONS,
    carries=("packet",),
)
@dataclass(frozen=True)
class Envelope(Metering):
    """Colour packets of several flows by a committed and an excess rate each, and share tokens.

    Each flow is an input; the first has the highest rank. A packet is green if its flow's committed
    bucket has tokens for all of it, else yellow if the excess one has, else red. What finds no room
    in a committed bucket goes to that of the next lower rank or, of a flow that is `coupled`, to
    its own excess bucket; with `coupling`, what the lowest leaves goes to the excess bucket of the
    highest. What finds no room in an excess bucket goes to that of the next lower rank.

    Not modelled: limits of what a flow is given so (CIRmax, EIRmax).
    """

    committed_information_rate: Rates
    """The rate of tokens for green packets of each flow, CIR, highest rank first."""
    committed_burst_size: BurstSizes
    """The size of their buckets, CBS."""
    excess_information_rate: Rates
    """The rate of tokens for yellow packets of each, EIR."""
    excess_burst_size: BurstSizes
    """The size of their buckets, EBS."""
    coupled: Names = ()
    """The flows with the coupling flag, CF: their excess buckets get what finds no room."""
    coupling: Boolean = field(default=False, kw_only=True)
    """The coupling flag of the envelope, CF0: the first excess bucket gets what no flow uses."""
    aware: Boolean = field(default=False, kw_only=True)
    """Whether it respects the colour of an arriving packet, which it then keeps or makes worse."""
    exceed: Action = field(default="mark", kw_only=True)
    """The action for a yellow packet."""
    violate: Action = field(default="mark", kw_only=True)
    """The action for a red packet."""

    answers_at_once = True
    causes = ("policed",)
    marks_written = ("colour",)

    def __post_init__(self) -> None:
        names = self.inputs

        def write_names(some: tuple[str, ...]) -> str:
            return ", ".join(f"`{name}`" for name in some)

        maps = {
            "cbs": self.committed_burst_size,
            "eir": self.excess_information_rate,
            "ebs": self.excess_burst_size,
        }
        for called, given in maps.items():
            if tuple(name for name, _ in given) != names:
                raise UnfitError(
                    f"{called}: expected the flows of `cir`, in their order",
                    f"name {write_names(names)}",
                )
        unknown = [name for name in self.coupled if name not in names]
        if unknown:
            raise UnfitError(
                f"coupled: `{unknown[0]}` is no flow of `cir`", f"name some of {write_names(names)}"
            )
        if self.coupling and self.coupled:
            raise UnfitError(
                "coupling: tokens of a flow that is `coupled` stay with it",
                "leave `coupled` out, or `coupling`",
            )
        if not self.buckets:
            raise UnfitError(
                "cir: no flow is given any tokens", "write a rate above 0 for one flow at least"
            )
        super().__post_init__()
        self._count_units()

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.committed_information_rate)

    @property
    def buckets(self) -> tuple[Bucket, ...]:
        """Return those that gain tokens of their own."""
        return tuple(bucket for bucket in self._all_buckets if bucket.rate.amount)

    @property
    def token_buckets(self) -> tuple[Bucket, ...]:
        """Return the committed bucket of each flow."""
        return self._all_buckets[::2]

    @property
    def _all_buckets(self) -> tuple[Bucket, ...]:
        """Return both buckets of each flow, by flow."""
        rates = zip(self.committed_information_rate, self.excess_information_rate, strict=True)
        sizes = zip(self.committed_burst_size, self.excess_burst_size, strict=True)
        return tuple(
            self.make_bucket(name, rate, size_name, size)
            for both, burst in zip(rates, sizes, strict=True)
            for name, size_name, (_, rate), (_, size) in zip(
                ("cir", "eir"), ("cbs", "ebs"), both, burst, strict=True
            )
        )

    def _count_units(self) -> int:
        """Return of how many units a token is, so that each bucket gains whole ones in a ps."""
        gains = self._list_gains()
        unit = math.lcm(*(gain.denominator for gain in gains))
        full = sum(bucket.size.amount for bucket in self._all_buckets)
        most_ps = full // min(gain for gain in gains if gain) + 1
        # what finds no room in one bucket goes to the next: all gains are added up
        if (full + LARGEST_PACKET + most_ps * sum(gains)) * unit > LARGEST_LEVEL:
            raise ValueError(
                "cir: these fractions are too fine to be kept exactly; give fewer digits"
            )
        return unit

    def _list_gains(self) -> tuple[Fraction, ...]:
        """Return how many tokens come to each bucket in a ps."""
        in_bits = BITS_PER_BYTE if self.token_bucket.rate.layer else 1
        return tuple(Fraction(b.rate.amount) / in_bits / PS_PER_S for b in self._all_buckets)

    def predict_marks(self, marks: int, contract: Contract) -> tuple[int, ...]:
        least = COLOUR.read(marks) if self.aware else GREEN
        dropped = {YELLOW: self.exceed == "drop", RED: self.violate == "drop"}
        passing = [colour for colour in (GREEN, YELLOW, RED) if not dropped.get(colour)]
        return tuple(COLOUR.put(marks, colour) for colour in passing if colour >= least)

    def guarantee_service(
        self,
        arriving: tuple[Arrival, ...],
        clock: Clock | None,
        limits: tuple[Buffer | None, ...],
    ) -> Guarantees:
        """Return that it takes no time."""
        return Guarantees((Guarantee(0, 0),) * len(arriving))

    def build_transition(self, setting: Setting) -> Transition:
        unit = self._count_units()
        gains = [int(gain * unit) for gain in self._list_gains()]
        full = [bucket.size.amount * unit for bucket in self._all_buckets]
        state = np.zeros(FLOWS + FIELDS * len(self.inputs), np.int64)
        state[MOST] = sum(full) // min(gain for gain in gains if gain) + 1
        state[RANKS], state[COUPLING], state[AWARE] = len(self.inputs), self.coupling, self.aware
        state[DROPS : DROPS + 3] = (0, self.exceed == "drop", self.violate == "drop")
        state[UNIT], state[PER_PACKET] = unit, not self.token_bucket.rate.layer
        state[HEADER : PER_CELL + 1] = self.token_bucket.framing
        for rank, name in enumerate(self.inputs):
            row, (one, other) = FLOWS + FIELDS * rank, (2 * rank, 2 * rank + 1)
            state[row : row + FIELDS] = (
                name in self.coupled,
                *(gains[one], full[one], full[one]),
                *(gains[other], full[other], full[other]),
                0,
            )
        return Transition(state, _arrive, losses=(("", "policed"),))


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Colour a packet and pass it on at once, or drop it; see `engine.event.transition`."""
    _fill(state, min(now_ps - state[NOW], state[MOST]))
    state[NOW] = now_ps
    framing = Framing(state[HEADER], state[LEAST], state[EXTRA], state[PER_CELL])
    price = count_tokens(state[PER_PACKET], framing, items[item, SIZE]) * state[UNIT]
    marks = items[item, ITEM_MARKS]
    came = min((marks >> FIRST) & HIGHEST, RED) if state[AWARE] else GREEN
    row, colour = FLOWS + FIELDS * port, RED
    if came == GREEN and _covers(state, row + GAIN, price):
        state[row + LEVEL] -= price
        colour = GREEN
    elif came <= YELLOW and _covers(state, row + EXCESS_GAIN, price):
        state[row + EXCESS_LEVEL] -= price
        colour = YELLOW
    if state[DROPS + colour]:
        lose(out, 0, item)
        return DONE
    items[item, ITEM_MARKS] = (marks & OTHERS) | (colour << FIRST)
    send(out, 0, item, now_ps)
    return DONE


@kernel
def _covers(state: Whole, place: int, price: int) -> bool:
    """Return whether a bucket, by where its gain is, has tokens for a packet in this ps."""
    missing = price - state[place + LEVEL - GAIN]
    return missing <= 0 or missing < state[place]  # type: ignore[no-any-return]


@kernel
def _fill(state: Whole, elapsed_ps: int) -> None:
    """Add the tokens of a time: the committed ones from the highest rank on, then the others."""
    over, stop = 0, FLOWS + FIELDS * state[RANKS]
    for row in range(FLOWS, stop, FIELDS):
        over = _add(state, row + GAIN, elapsed_ps * state[row + GAIN] + over)
        if state[row + COUPLED]:
            state[row + GIVEN], over = over, 0
    over *= state[COUPLING]
    for row in range(FLOWS, stop, FIELDS):
        given = over + state[row + GIVEN]
        over = _add(state, row + EXCESS_GAIN, elapsed_ps * state[row + EXCESS_GAIN] + given)


@kernel
def _add(state: Whole, place: int, units: int) -> int:
    """Add units to a bucket, by where its gain is; return how many find no room."""
    level = state[place + LEVEL - GAIN] + units
    over = max(level - state[place + FULL - GAIN], 0)
    state[place + LEVEL - GAIN] = level - over
    return over  # type: ignore[no-any-return]
