"""The base of meters: token buckets, the colour of each packet, and the action that follows.

A meter measures all packets that reach it together, whatever their connections; to meter each,
classify them first. It writes its result into the mark `colour`, which classifiers, markers and
meters behind it read.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import field
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

from qospec.catalogue.kinds import Boolean, Domain
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Loss, Step
from qospec.engine.items.partition import split
from qospec.engine.kernel import kernel
from qospec.engine.meter import token_bucket
from qospec.engine.meter.token_bucket import Bucket, BucketSize, TokenRate, cost, covers, fill, take
from qospec.protocol.marks import MARKS, VALUES

if TYPE_CHECKING:
    from qospec.engine.arrays import Marks, Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch
    from qospec.engine.items.connections import Contract

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
FIRST, HIGHEST, OTHERS = COLOUR.first, COLOUR.highest, VALUES - 1 - COLOUR.mask
NOW = 0


class State(NamedTuple):
    """The state that is kept from batch to batch.

    Attributes:
        clock: NOW, the time of the last packet, up to which the buckets are filled.
        committed: The bucket of green packets.
        other: The bucket of yellow packets, or of all (RFC 2698).
    """

    clock: Whole
    committed: Whole
    other: Whole


@dataclass(frozen=True)
class Meter(Element):
    """The fields of all meters, and how they process a batch."""

    colours: ClassVar[tuple[int, ...]] = (GREEN, YELLOW, RED)
    causes = ("policed",)

    committed_information_rate: TokenRate
    """The rate of tokens for green packets, CIR; it counts the bytes of IP packets."""
    committed_burst_size: BucketSize
    """The size of their bucket in bytes, CBS."""

    @property
    @abstractmethod
    def actions(self) -> dict[int, str]:
        """Return the actions by colour; other colours are marked."""

    @property
    def token_bucket(self) -> Bucket:
        """Return the committed bucket."""
        cir, cbs = self.committed_information_rate, self.committed_burst_size
        return Bucket("cir", cir, "cbs", cbs)

    @property
    def is_colour_aware(self) -> bool:
        """Return whether it is colour-aware."""
        return False

    @property
    @abstractmethod
    def other_bucket(self) -> Bucket:
        """Return the bucket beside the committed one."""

    @abstractmethod
    def judge(self, batch: Batch, state: State, colour: Marks) -> tuple[int, int]:
        """Write the colour of each packet, and return how many are yellow and how many red."""

    @property
    def marks_written(self) -> tuple[str, ...]:
        """Return the colour."""
        return ("colour",)

    def marks_after(self, marks: int, contract: Contract) -> tuple[int, ...]:  # noqa: ARG002
        """Return the marks with each colour that passes; the best is the usual one."""
        least = COLOUR.of(marks) if self.is_colour_aware else GREEN
        passing = [each for each in self.colours if self.actions.get(each) != "drop"]
        return tuple(COLOUR.put(marks, each) for each in passing if each >= least)

    def __post_init__(self) -> None:
        token_bucket.check(self.token_bucket)
        token_bucket.check(self.other_bucket)

    def start(self, setting: Setting) -> State:  # noqa: ARG002  it is for all connections
        """Return its buckets, full."""
        committed = token_bucket.full(self.token_bucket)
        return State(np.zeros(1, np.int64), committed, token_bucket.full(self.other_bucket))

    def process(self, state: State, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        """Colour arrivals, and drop those whose action is to drop."""
        (batch,) = arrivals
        if not batch.count:
            return Step((batch,), (until_ps,))
        token_bucket.check_sizes(batch)
        colour = np.empty(batch.count, np.uint8)
        found = (0, *self.judge(batch, state, colour))
        written = colour.astype(np.uint16) * np.uint16(1 << FIRST)
        marks = (batch.marks & np.uint16(OTHERS)) | written
        batch = batch.with_marks(marks)
        dropped = [
            each for each, actions in self.actions.items() if actions == "drop" and found[each]
        ]
        if not dropped:
            return Step((batch,), (until_ps,))
        is_dropped = sum(((colour == each) for each in dropped[1:]), colour == dropped[0])
        batch, lost = split(batch, is_dropped.view(np.uint8), sum(found[each] for each in dropped))
        return Step((batch,), (until_ps,), (Loss("policed", lost.connection, lost.sent_ps),))


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


def check_excess(committed_bytes: int, excess_bytes: int) -> None:
    """Raise ValueError, in the author's words, if neither of two buckets holds anything.

    Source: RFC 2697, 2; RFC 4115, 2.
    """
    if not committed_bytes + excess_bytes:
        raise ValueError("cbs, ebs: one of them must be more than 0, else all is red")


@kernel
def colour_on_arrival(marks: int, is_colour_aware: bool) -> int:  # noqa: FBT001  kernels take no keywords
    """Return the colour of an arriving packet: green if the meter is not colour-aware."""
    if not is_colour_aware:
        return GREEN
    return min((marks >> FIRST) & HIGHEST, RED)


@kernel
def elapsed(clock: Whole, at_ps: int) -> int:
    """Return the time since the last packet, and record this one."""
    ps = at_ps - clock[NOW]
    clock[NOW] = at_ps
    return int(ps)


@kernel
def green_else_yellow(
    batch: Batch,
    state: State,
    is_colour_aware: bool,  # noqa: FBT001  kernels take no keywords
    overflows: bool,  # noqa: FBT001
    colour: Marks,
) -> tuple[int, int]:
    """Take tokens for each packet from the committed bucket, else from the other.

    Args:
        batch: n packets.
        state: Updated.
        is_colour_aware: Whether the colour of an arriving packet counts.
        overflows: Whether the second bucket gains what the first has no room for, or by itself.
        colour: (n,) Written.

    Returns:
        How many are yellow, and how many red.
    """
    at_ps, size_bytes, marks = batch.at_ps, batch.size_bytes, batch.marks
    clock, committed, excess = state
    yellow = red = 0
    for i in range(len(at_ps)):
        price, excess_price = cost(committed, size_bytes[i]), cost(excess, size_bytes[i])
        ps = elapsed(clock, at_ps[i])
        over = fill(committed, ps, 0)
        if overflows:
            fill(excess, over[0], over[1])
        else:
            fill(excess, ps, 0)
        arriving = colour_on_arrival(marks[i], is_colour_aware)
        if arriving == GREEN and covers(committed, price):
            take(committed, price)
            colour[i] = GREEN
        elif arriving <= YELLOW and covers(excess, excess_price):
            take(excess, excess_price)
            colour[i] = YELLOW
            yellow += 1
        else:
            colour[i] = RED
            red += 1
    return yellow, red
