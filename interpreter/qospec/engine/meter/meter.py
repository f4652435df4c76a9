"""The base of meters: token buckets, the colour of each packet, and the action that follows.

A meter measures all packets that reach it together, whatever their connections; to meter each,
classify them first. It writes its result into the mark `colour`, which classifiers, markers and
meters behind it read.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import field, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from qospec.calculus.guarantee import Guarantee, Guarantees
from qospec.catalogue.kinds import Boolean, Buffer, Domain, Load
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element
from qospec.engine.event.transition import DONE, SIZE, Transition, lose, send
from qospec.engine.event.transition import MARKS as ITEM_MARKS
from qospec.engine.kernel import kernel, link_kernel, view_part
from qospec.engine.meter import token_bucket
from qospec.engine.meter.token_bucket import (
    FIELDS,
    TOO_LARGE,
    Bucket,
    BucketSize,
    TokenRate,
    cost,
    covers,
    take,
)
from qospec.protocol.encapsulation import Framing
from qospec.protocol.ip import LARGEST_PACKET_BYTES
from qospec.protocol.marks import ALL_BITS, MARKS

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.calculus.guarantee import Arrival
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Frames, Setting
    from qospec.engine.items.contract import Contract
    from qospec.engine.line.clock import Clock

Action = Annotated[Literal["mark", "drop"], Domain("choice", choices=("mark", "drop"))]
"""What happens to a packet that does not conform."""

ABBREVIATIONS = {
    "committed_information_rate": "cir",
    "committed_burst_size": "cbs",
    "excess_information_rate": "eir",
    "excess_burst_size": "ebs",
    "peak_information_rate": "pir",
    "peak_burst_size": "pbs",
}

GREEN, YELLOW, RED = range(3)
COLOUR = MARKS["colour"]
FIRST, HIGHEST, OTHERS = COLOUR.first, COLOUR.highest, ALL_BITS - COLOUR.mask

NOW, AWARE, DROPS, COMMITTED = 0, 1, 2, 5
OTHER = COMMITTED + FIELDS
"""The state: the time of the last packet, up to which the buckets are filled; whether the colour of
an arriving packet counts; by colour, whether packets are dropped; the buckets: that of green
packets, and that of yellow packets, or of all (RFC 2698)."""
END = OTHER + FIELDS

Packet = tuple[int, int, int]
"""Its size, its colour when it arrives, and the time since the last one."""


Overhead = Annotated[int, Domain("data", 0, 4_096, layers=())]
"""Whole bytes."""


@dataclass(frozen=True)
class Metering(Element):
    """What all elements with token buckets share: what they count of a packet."""

    counted_frames: ClassVar[Literal["coming", "leaving"]] = "coming"

    overhead: Overhead = field(default=0, kw_only=True)
    """How many bytes of each packet count besides those of the layer of the rate."""
    frames: Framing = field(default=Framing(), kw_only=True)
    # set by the planner: what is around a packet

    @property
    @abstractmethod
    def buckets(self) -> tuple[Bucket, ...]:
        """Return its buckets, of which the first limits the sizes of packets."""

    @property
    def token_bucket(self) -> Bucket:
        """Return the first of its buckets."""
        return self.buckets[0]

    @property
    def counts_frames(self) -> Frames:
        """Return of which frames it counts bytes."""
        return self.counted_frames if self.token_bucket.rate.layer in ("frame", "line") else ""

    def with_frames(self, frames: Framing) -> Metering:
        """Return it, given what is around the packets that it counts."""
        return replace(self, frames=frames)

    def __post_init__(self) -> None:
        token_bucket.check(*self.buckets)
        if self.overhead and not self.token_bucket.rate.layer:
            raise ValueError("overhead: packets are counted here, and none of their bytes")

    def make_bucket(self, rate_name: str, rate: Load, size_name: str, size: Buffer) -> Bucket:
        """Return one of its buckets."""
        framing = self.frames.count_at(rate.layer)
        more_bytes = framing.extra_bytes + self.overhead
        return Bucket(rate_name, rate, size_name, size, framing._replace(extra_bytes=more_bytes))


@dataclass(frozen=True)
class Meter(Metering):
    """The fields of all meters, and how they process a batch."""

    colours: ClassVar[tuple[int, ...]] = (GREEN, YELLOW, RED)
    arrive: ClassVar[Any]
    """The kernel for arrivals, of `link_arrive`."""
    answers_at_once = True
    causes = ("policed",)

    committed_information_rate: TokenRate
    """The rate of tokens for green packets, CIR: bits of IP packets, `@ip`, of the frames in which
    they come, `@frame`, of all that these take of a line, `@line`; or packets."""
    committed_burst_size: BucketSize
    """The size of their bucket, CBS, counted likewise."""

    @property
    @abstractmethod
    def actions(self) -> dict[int, str]:
        """Return the actions by colour; other colours are marked."""

    @property
    def buckets(self) -> tuple[Bucket, ...]:
        """Return the committed bucket, and that beside it."""
        cir, cbs = self.committed_information_rate, self.committed_burst_size
        return self.make_bucket("cir", cir, "cbs", cbs), self.other_bucket

    @property
    def is_colour_aware(self) -> bool:
        """Return whether it is colour-aware."""
        return False

    @property
    @abstractmethod
    def other_bucket(self) -> Bucket:
        """Return the bucket beside the committed one."""

    @property
    def marks_written(self) -> tuple[str, ...]:
        """Return the colour."""
        return ("colour",)

    def predict_marks(self, marks: int, contract: Contract) -> tuple[int, ...]:  # noqa: ARG002
        """Return the marks with each colour that passes; the best is the usual one."""
        least = COLOUR.read(marks) if self.is_colour_aware else GREEN
        passing = [colour for colour in self.colours if self.actions.get(colour) != "drop"]
        return tuple(COLOUR.put(marks, colour) for colour in passing if colour >= least)

    def guarantee_service(
        self,
        arriving: tuple[Arrival, ...],
        clock: Clock | None,  # noqa: ARG002  no line serves it
        limits: tuple[Buffer | None, ...],  # noqa: ARG002
    ) -> Guarantees:
        """Return the buckets that what passes keeps within, if the rest is dropped.

        Green packets take tokens of the committed bucket, yellow ones of the other.
        """
        (offered,) = arriving
        at_once = (Guarantee(0, 0),)
        if self.actions.get(RED) != "drop" or not offered.sizes:
            return Guarantees(at_once)
        passed = self.token_bucket.bound_passing(offered.sizes)
        if YELLOW in self.colours and self.actions.get(YELLOW) != "drop":
            passed = passed.add(self.other_bucket.bound_passing(offered.sizes))
        return Guarantees(at_once, passed)

    def start(self, setting: Setting) -> Whole:  # noqa: ARG002  it is for all connections
        """Return its buckets, full."""
        state = np.zeros(END, np.int64)
        state[AWARE] = self.is_colour_aware
        state[DROPS:COMMITTED] = [
            self.actions.get(colour) == "drop" for colour in (GREEN, YELLOW, RED)
        ]
        for start, bucket in zip((COMMITTED, OTHER), self.buckets, strict=True):
            state[start : start + token_bucket.PRICES] = token_bucket.build_full_bucket(bucket)
        return state

    def build_transition(self, setting: Setting) -> Transition:
        """Return the same, packet by packet."""
        return Transition(
            self.start(setting),
            type(self).arrive,
            losses=(("", "policed"),),
            replenish=token_bucket.refuse,
        )


@dataclass(frozen=True)
class ThreeColours(Meter):
    """The additional fields of three-colour meters."""

    aware: Boolean = field(default=False, kw_only=True)
    """Whether it respects the colour of an arriving packet, which it then keeps or makes worse."""
    exceed: Action = field(default="mark", kw_only=True)
    """The action for a yellow packet."""
    violate: Action = field(default="mark", kw_only=True)
    """The action for a red packet."""

    @property
    def actions(self) -> dict[int, str]:
        """Return the actions by colour."""
        return {YELLOW: self.exceed, RED: self.violate}

    @property
    def is_colour_aware(self) -> bool:
        """Return whether it is colour-aware."""
        return self.aware


def check_excess(meter: Meter) -> None:
    """Raise ValueError, in the author's words, if neither of its buckets holds anything.

    Source: RFC 2697, 2; RFC 4115, 2.
    """
    if not any(bucket.size.amount for bucket in meter.buckets):
        raise ValueError("cbs, ebs: one of them must be more than 0, else all is red")


@kernel
def choose_colour(committed: Whole, other: Whole, packet: Packet) -> int:  # noqa: ARG001
    """Return the colour of a packet, for which it takes tokens: here is each meter's own rule."""
    return GREEN


def link_arrive(name: str, rule: Callable[[Whole, Whole, Packet], int]) -> Callable[..., int]:
    """Return the kernel for arrivals at a meter, given its name and its `choose_colour`."""
    return link_kernel(_arrive, name, {"choose_colour": rule})


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:  # noqa: ARG001
    """Colour a packet and pass it on at once, or drop it; see `engine.event.transition`."""
    size_bytes, marks = items[item, SIZE], items[item, ITEM_MARKS]
    if size_bytes > LARGEST_PACKET_BYTES:
        return TOO_LARGE
    colour = _choose_colour(state, size_bytes, marks, now_ps)
    if state[DROPS + colour]:
        lose(out, 0, item)
        return DONE
    items[item, ITEM_MARKS] = (marks & OTHERS) | (colour << FIRST)
    send(out, 0, item, now_ps)
    return DONE


@kernel
def _choose_colour(state: Whole, size_bytes: int, marks: int, now_ps: int) -> int:
    """Return the colour of a packet, and update the buckets."""
    arriving = min((marks >> FIRST) & HIGHEST, RED) if state[AWARE] else GREEN
    packet = (size_bytes, arriving, now_ps - state[NOW])
    state[NOW] = now_ps
    return choose_colour(
        view_part(state, COMMITTED, FIELDS), view_part(state, OTHER, FIELDS), packet
    )


@kernel
def take_green_else_yellow(committed: Whole, excess: Whole, packet: Packet) -> int:
    """Return the colour of the first bucket that covers a packet, and take its tokens there."""
    size_bytes, arriving, _ = packet
    price, excess_price = cost(committed, size_bytes), cost(excess, size_bytes)
    if arriving == GREEN and covers(committed, price):
        take(committed, price)
        return GREEN
    if arriving <= YELLOW and covers(excess, excess_price):
        take(excess, excess_price)
        return YELLOW
    return RED
