"""A line: transmission at an exact rate, then propagation."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal

from qospec.catalogue.kinds import (
    Boolean,
    DelayPerLength,
    Domain,
    Length,
    Time,
    UnfitError,
    element,
)
from qospec.dataclass import NamedTuple, dataclass
from qospec.engine.adaptation import EncapsulationField, check_mtu
from qospec.engine.arrays import np
from qospec.engine.element import Element, Step
from qospec.engine.event.transition import DONE, SENT, SIZE, Transition, report_wait, send
from qospec.engine.kernel import kernel
from qospec.engine.line import tail_drop, transmission
from qospec.engine.line.clock import Clock
from qospec.engine.line.guarantee import guarantee_line
from qospec.engine.line.tandem import Tandem, send_uncongested
from qospec.engine.line.transmission import (
    BYTE_PART,
    DENOMINATOR,
    FREE,
    LEAD,
    LEAP,
    PART,
    PROPAGATION,
    SLOT,
    SLOT_PART,
    SLOTTED,
    STAMPS,
    add_time,
    check_load,
    compute_service_time,
    find_next_slot,
    find_start,
    transmit,
)
from qospec.protocol.aal import AALS, ENCAPSULATIONS, Adaptation
from qospec.protocol.encapsulation import LABEL_BYTES, TAG_BYTES, Encapsulation
from qospec.protocol.ip import IPV4_HEADER_BYTES, LARGEST_PACKET_BYTES

if TYPE_CHECKING:
    from qospec.calculus.guarantee import Arrival, Guarantees
    from qospec.catalogue.kinds import Buffer, Carried
    from qospec.engine.arrays import Sizes, Times, Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch
    from qospec.engine.line.tandem import Hop


class State(NamedTuple):
    """The state that is kept from batch to batch, and the facts of the whole trial.

    Attributes:
        line: See `engine.line.transmission`.
        slotted: Whether the line has slots.
        stamps: Whether it writes `sent_ps`.
        size_bytes: The one size of all items, or 0.
        owns_times: Whether departures may be written over arrivals.
        tandem: The line alone, if it has no slots and the size is known.
    """

    line: Whole
    slotted: bool
    stamps: bool
    size_bytes: int
    owns_times: bool
    tandem: Tandem | None


LineRate = Annotated[
    Fraction, Domain("rate", transmission.LOWEST_BIT_RATE, transmission.HIGHEST_BIT_RATE)
]
"""Bits per second for which times stay exact and within int64."""

Overhead = Annotated[int, Domain("data", 0, 4_096)]
"""Whole bytes around a packet."""
Stack = Annotated[int, Domain("integer", 0, 8)]
"""A number of tags or labels of 4 bytes each."""
Mtu = Annotated[int | None, Domain("data", IPV4_HEADER_BYTES)]
LineAal = Annotated[Any, Domain("choice", choices=tuple(AALS))]


@element(
    source="ITU-T I.432.2 (cells at a fixed rate); IEEE 802.3, 4.4.2 (frames and their gap);"
    " IEEE 802.1Q, 9 (VLAN tag); RFC 3032, 2.1 (label); ITU-T I.363.5, 9 and RFC 2684 (packets in"
    " cells); ITU-T G.652 (group delay of fibre)",
    duty="line",
    renamed={"least": "min_frame", "largest": "mtu"},
)
@dataclass(frozen=True)
class Line(Element):
    """Transmit cells or packets one after the other at an exact rate, over a length.

    A cell may begin in the same ps in which it is ready and the line is free. It leaves when its
    last bit reaches the far end. A line without a queue of its own holds what waits, without limit,
    first come, first served. A packet takes the line for max(size + header, min_frame) + preamble +
    gap bytes; its first bit is the one after the preamble, its last the one before the gap.

    With an `aal` packets travel in cells, one packet after the other: each takes the line for the
    53 bytes of as many cells as its AAL and `encapsulation` need. Where cells of different packets
    alternate, or some are lost or policed, put an `aal_segment` ahead of a line of cells.

    What is on a link while a test lets it be down is lost, as `link_down`. Bit errors are faults
    by themselves.

    Not modelled: bit stuffing, jitter of the line's own clock.
    """

    causes = ("link_down",)

    rate: LineRate
    """Bits per second: `@cell` of cells, 53 bytes each, also of those that carry packets; of other
    packets everything that is sent, `@line`."""
    slotted: Boolean = True
    """Whether cells begin only where a slot does, floor(k * 424 bit / rate); not for packets."""
    length: Length = Fraction(0)
    """Distance to the other end."""
    delay_per_length: DelayPerLength = Fraction(5_000)
    """Propagation delay; 5 ns/m is about that of fibre with a group index of 1.47."""
    phase: Time = 0
    """Start of slot 0."""

    carries: Annotated[Literal["cell", "packet"], Domain("choice", choices=("cell", "packet"))] = (
        "cell"
    )
    """What is sent: cells, 53 bytes each, or packets, in frames or in cells."""
    preamble: Overhead = 0
    """Bytes before each frame."""
    header: Overhead = 0
    """Bytes of a frame besides the packet: with its check sequence, without tags and labels."""
    min_frame: Overhead = 0
    """The minimum size of a frame; a shorter one is padded."""
    gap: Overhead = 0
    """Minimum gap between two frames, in bytes."""
    mtu: Mtu = None
    """The largest IP packet; by default any, or in cells that which is usual for the
    `encapsulation`, as of `aal_segment`."""
    vlan_tags: Stack = 0
    """Number of VLAN tags of 4 bytes; the outer one carries the priority, 802.1p. All frames have
    them."""
    optional_tag: Boolean = False
    """Whether frames of flows with a `priority` or a `vlan` have a VLAN tag, beside others without.
    In the queues of the line, too, a packet with a tag has 4 bytes more."""
    labels: Stack = 0
    """Number of MPLS labels of 4 bytes; the outer one carries the traffic class."""
    aal: LineAal = None
    """The ATM adaptation layer, if packets are carried in cells."""
    encapsulation: EncapsulationField = None
    """What is put around each packet in cells, with an `aal`; by default `llc_snap`."""

    def __post_init__(self) -> None:
        own = (self.preamble, self.header, self.min_frame, self.gap, self.vlan_tags, self.labels)
        framed = any((*own, self.optional_tag))
        if self.optional_tag and self.vlan_tags:
            raise UnfitError(
                "vlan_tags, optional_tag: with `vlan_tags` all frames have tags, none is optional",
                "write `optional_tag = false`, and all have them, or `vlan_tags = 0`, and those of "
                "flows without a tag have none",
            )
        if self.carries == "cell" and framed:
            raise ValueError("carries: only packets are framed; write `carries = packet`")
        if self.aal is not None:
            if self.carries == "cell":
                raise ValueError("aal: packets are carried in cells; write `carries = packet`")
            if framed:
                raise ValueError("aal: what is put around packets in cells is the `encapsulation`")
            check_mtu(self._adapt(), self.mtu)
        elif self.mtu is not None and self.mtu > LARGEST_PACKET_BYTES:
            raise UnfitError(
                f"mtu: an IP packet has at most {LARGEST_PACKET_BYTES} B",
                f"write at most {LARGEST_PACKET_BYTES} B",
            )
        elif self.encapsulation is not None:
            raise ValueError("encapsulation: it is put around packets in cells; write `aal = aal5`")
        transmission.check(self.build_clock(stamps=False))

    @property
    def accepts(self) -> tuple[Carried, ...]:
        return (self.carries,)

    @property
    def discards_for(self) -> tuple[str, ...]:
        return ()

    @property
    def idle_fields(self) -> frozenset[str]:
        unslotted = ("slotted", "phase") if self.carries == "packet" else ()
        return frozenset((*unslotted, *(() if self.length else ("delay_per_length",))))

    def build_clock(self, *, stamps: bool) -> Clock:
        # Propagation is rounded to a whole ps.
        propagation_ps = round(self.length * self.delay_per_length)
        rate, slotted = Fraction(self.rate), self.slotted and self.carries == "cell"
        return Clock(rate, slotted, propagation_ps, stamps, self.phase, self._framing)

    def _adapt(self) -> Adaptation:
        """Return how packets become cells."""
        return Adaptation(self.aal, self.encapsulation or "llc_snap")

    @property
    def _framing(self) -> Encapsulation | None:
        """Return the framing of each packet; None if cells are carried."""
        if self.carries == "cell":
            return None
        if self.aal is not None:
            adaptation = self._adapt()
            framing = adaptation.framing
            return Encapsulation(
                header_bytes=framing.header_bytes,
                least_bytes=framing.least_bytes,
                largest_bytes=self.mtu or ENCAPSULATIONS[adaptation.encapsulation].mtu_bytes,
                per_cell_bytes=framing.per_cell_bytes,
            )
        inserted = self.vlan_tags * TAG_BYTES + self.labels * LABEL_BYTES
        return Encapsulation(
            self.preamble,
            self.header + inserted,
            self.min_frame,
            self.gap,
            self.mtu or LARGEST_PACKET_BYTES,
            self.vlan_tags,
            self.labels,
            optional_tag=self.optional_tag,
        )

    def guarantee_service(
        self, arriving: tuple[Arrival, ...], clock: Clock | None, limits: tuple[Buffer | None, ...]
    ) -> Guarantees:
        return guarantee_line(clock, arriving[0])

    def start(self, setting: Setting) -> State:
        line = transmission.build_line(setting.clock)
        slotted, stamps = bool(line[SLOTTED]), bool(line[STAMPS])
        size_bytes, alone = setting.size_bytes, None
        if tail_drop.can_be_hop(line, size_bytes):
            alone = Tandem(tail_drop.build_hop(line, size_bytes))
        return State(line, slotted, stamps, size_bytes, setting.owns_times, alone)

    def as_hop(self, state: State) -> Hop | None:
        return state.tandem.hops[0] if state.tandem else None

    def build_transition(self, setting: Setting) -> Transition:
        queues = ("",) if setting.watched else ()
        return Transition(transmission.build_line(setting.clock), _arrive, queues=queues)

    def process(self, state: State, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        if len(batch.at_ps):
            batch = _send_batch(state, batch)
        return Step((batch,), (transmission.compute_watermark_ps(state.line, until_ps),))


def _send_batch(state: State, batch: Batch) -> Batch:
    line, at_ps, sizes = state.line, batch.at_ps, batch.size_bytes
    smallest = largest = state.size_bytes
    if not largest:
        smallest, largest = int(sizes.min()), int(sizes.max())
    check_load(line, batch, smallest, largest)
    if smallest == largest and not state.slotted:
        alone = state.tandem or Tandem(tail_drop.build_hop(line, largest))
        return send_uncongested(alone, batch, owns_times=state.owns_times)[0]
    left_ps = at_ps if state.owns_times else np.empty(len(at_ps), np.int64)
    began_ps = np.empty(len(at_ps) if state.stamps else 0, np.int64)
    if state.slotted:
        _send_in_slots(at_ps, line, left_ps, began_ps)
    else:
        _send(at_ps, sizes, line, left_ps, began_ps)
    sent_ps = began_ps if state.stamps else batch.sent_ps
    return batch.with_times(left_ps, sent_ps)


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send an item when the line is free; see `engine.event.transition`."""
    start = find_start(state, now_ps)
    if start[0] > now_ps:
        report_wait(out, 0, now_ps, start[0])
    if state[STAMPS]:
        items[item, SENT] = start[0] + state[LEAD]
    send(out, 0, item, transmit(state, start, items[item, SIZE]))
    return DONE


@kernel
def _send(at_ps: Times, size_bytes: Sizes, line: Whole, left_ps: Times, began_ps: Times) -> None:
    """Send without slots: begin when the item is ready and the line is free.

    Args:
        at_ps: (n,) Arrival times; they do not fall.
        size_bytes: (n,) Lengths.
        line: Updated.
        left_ps: (n,) Written: last bit at the far end, rounded down; may be `at_ps` itself.
        began_ps: (n,) Written: first bit sent, rounded down; or (0,) if not needed.
    """
    free, part, denominator = line[FREE], line[PART], line[DENOMINATOR]
    size, time, lead, stamps = 0, (0, 0), line[LEAD], len(began_ps) > 0
    simple = line[BYTE_PART] == 0  # multiplying is then cheaper than detecting a new size
    for i in range(len(at_ps)):
        if simple or size_bytes[i] != size:
            size, time = int(size_bytes[i]), compute_service_time(line, size_bytes[i])
        if at_ps[i] > free:
            free, part = at_ps[i], 0
        if stamps:
            began_ps[i] = free + lead
        free, part = add_time(free, part, time, denominator)
        left_ps[i] = free + line[PROPAGATION]
    line[FREE], line[PART] = free, part


@kernel
def _send_in_slots(at_ps: Times, line: Whole, left_ps: Times, began_ps: Times) -> None:
    """Send each cell in the first free slot after it is ready.

    Args:
        at_ps: (n,) Arrival times; they do not fall.
        line: Updated.
        left_ps: (n,) Written: last bit at the far end; may be `at_ps` itself.
        began_ps: (n,) Written: first bit sent; or (0,) if not needed.
    """
    free, part = line[FREE], line[PART]
    slot, slot_part, denominator = line[SLOT], line[SLOT_PART], line[DENOMINATOR]
    pace = (slot, slot_part, denominator, line[LEAP])
    propagation, stamps = line[PROPAGATION], len(began_ps) > 0
    for i in range(len(at_ps)):
        if at_ps[i] > free:
            free, part = find_next_slot(pace, free, part, at_ps[i])
        if stamps:
            began_ps[i] = free  # cells have no preamble
        free += slot
        part += slot_part
        if part >= denominator:
            part -= denominator
            free += 1
        left_ps[i] = free + propagation
    line[FREE], line[PART] = free, part
