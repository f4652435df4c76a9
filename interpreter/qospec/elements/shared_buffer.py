"""The memory of a switch in which the queues of several outputs find room.

Each output is first come, first served, so what becomes of an item is known as it arrives: its line
is free when all that waits there has begun. An item goes on when its line is free, and the line
behind sends it. What waits at each output is a ring, as in `engine.queue.first_come`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import OF_PACKETS, Buffer, Domain, Limit, UnfitError, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element
from qospec.engine.event.transition import DONE, SIZE, Transition, lose, report_wait, send
from qospec.engine.items.ring import double_ring
from qospec.engine.kernel import kernel, view_part, view_rows
from qospec.engine.line import transmission
from qospec.engine.line.transmission import find_start, transmit
from qospec.engine.queue import admission, drop_policy
from qospec.engine.queue.admission import ADMITTED, OVERFLOW, THRESHOLD

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.protocol.streams import KindName

LimitOfOne = Annotated[Buffer | None, Domain("buffer", 1, 2**40, layers=OF_PACKETS)]
FINEST = 2**20
"""The largest numerator and denominator of alpha, with which times the largest limit fit int64."""

LIMIT, IN_BYTES, NUMERATOR, DENOMINATOR, MOST, OUTPUTS, PLACES, OUTPUT = range(8)
"""The fields of the buffer: how much may wait, and whether that counts bytes; alpha, or 0 over 1;
how much may wait for one output; how many outputs there are, and places in the ring of each; where
the fields of the first output begin, behind which are all rings."""
HEAD, TAIL, HELD, WIDE = range(transmission.FIELDS, transmission.FIELDS + 4)
"""Of an output, behind the fields of its line: the numbers of the first item that waits and of that
after the last; how much that is; how many fields there are."""
BEGINS, AMOUNT, WIDTH = 0, 1, 2
"""The columns of a ring: when an item stops waiting, and what it counts."""
FEWEST_PLACES = 64
"""The initial places of a ring; a power of two, double_ring as needed."""


@element(
    source="Choudhury and Hahne 1998, Dynamic Queue Length Thresholds for Shared-Memory Packet"
    " Switches, II (static and dynamic thresholds)",
    duty="queue",
)
@dataclass(frozen=True)
class SharedBuffer(Element):
    """Queue items for several lines in one buffer, whose room they share by a threshold.

    What comes to an input waits for the line that the output of the same number feeds, first come,
    first served. All that waits takes room of one `limit`. With `alpha`, an item is lost if as much
    waits for its line as alpha times the room that is free; with a `threshold`, if more than that
    would wait for it. With neither, an output may take all. What is being sent takes no room, and
    an item that begins as another arrives has made room for it, as in `fifo`.

    Not modelled: several classes for one output, room that is reserved for an output, drop policies
    that act before, and pause frames.
    """

    causes = (admission.CAUSES[OVERFLOW], admission.CAUSES[THRESHOLD])
    answers_at_once = True
    needs_line = True

    ports: Annotated[int, Domain("integer", 2, 64)]
    """Number of inputs, and of outputs."""
    limit: Limit
    """How much may wait for all lines together: cells, packets or bytes."""
    alpha: Annotated[Fraction | None, Domain("ratio", Fraction(1, 1024), 1024)] = None
    """The dynamic threshold: at most so many times the free room may wait for a line."""
    threshold: LimitOfOne = None
    """The static one: at most so much may wait for a line."""

    def __post_init__(self) -> None:
        if self.alpha is not None and self.threshold is not None:
            raise UnfitError(
                "threshold: it is either static or, with `alpha`, dynamic", "leave one of them out"
            )
        if self.threshold is not None:
            drop_policy.verify_threshold("threshold", self.threshold, self.limit)
        if self.alpha is not None and max(self.alpha.as_integer_ratio()) > FINEST:
            raise UnfitError(
                "alpha: this fraction is too fine to be kept exactly", "give fewer digits"
            )

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(f"entry[{number}]" for number in range(self.ports))

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(f"exit[{number}]" for number in range(self.ports))

    def predict_output(self, number: int, *, kind: KindName) -> int:
        return number

    @property
    def buffer(self) -> Buffer:
        return self.limit

    @property
    def discards_for(self) -> tuple[str, ...]:
        shared = self.alpha is None and self.threshold is None
        return self.causes[:1] if shared else self.causes

    def build_transition(self, setting: Setting) -> Transition:
        alpha, most = self.alpha or Fraction(0), self.threshold or self.limit
        in_bytes = self.limit.unit == "byte"
        own = [self.limit.amount, in_bytes, *alpha.as_integer_ratio(), most.amount]
        head = [*own, self.ports, FEWEST_PLACES, OUTPUT + 1]
        rows = np.zeros((self.ports, WIDE), np.int64)
        for row, clock in zip(rows, setting.clocks, strict=True):
            if clock is not None:
                row[:HEAD] = transmission.build_line(clock)
        rings = np.zeros(self.ports * FEWEST_PLACES * WIDTH, np.int64)
        return Transition(
            np.concatenate([np.array(head, np.int64), rows.ravel(), rings]),
            _arrive,
            losses=tuple(("", cause) for cause in self.causes),
            queues=("",) if setting.watched else (),
            replenish=_add_places,
        )


def _add_places(state: Whole, lacking: int) -> Whole:
    """Return the state with twice the places in the ring of each output."""
    behind = int(state[OUTPUT] + state[OUTPUTS] * WIDE)
    rows = state[state[OUTPUT] : behind].reshape(-1, WIDE)
    rings = state[behind:].reshape(len(rows), -1)
    wider = [
        double_ring(ring, WIDTH, row[HEAD], row[TAIL])
        for ring, row in zip(rings, rows, strict=True)
    ]
    found = np.concatenate([state[:behind], *wider])
    found[PLACES] *= 2
    return found


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send an item when its line is free, or lose it; see `engine.event.transition`."""
    places, rings = state[PLACES], state[OUTPUT] + state[OUTPUTS] * WIDE
    held = 0
    for number in range(state[OUTPUTS]):
        row = view_part(state, state[OUTPUT] + number * WIDE, WIDE)
        ring = view_rows(state, rings + number * places * WIDTH, places, WIDTH)
        while row[HEAD] < row[TAIL] and ring[row[HEAD] & places - 1, BEGINS] <= now_ps:
            row[HELD] -= ring[row[HEAD] & places - 1, AMOUNT]
            row[HEAD] += 1
        held += row[HELD]
    row = view_part(state, state[OUTPUT] + port * WIDE, WIDE)
    if row[TAIL] - row[HEAD] == places:
        return DONE + 1
    start = find_start(row, now_ps)
    if start[0] > now_ps:
        amount = items[item, SIZE] if state[IN_BYTES] else 1
        decision = _decide(state, held, row[HELD], amount)
        if decision != ADMITTED:
            lose(out, decision - OVERFLOW, item)
            return DONE
        ring = view_rows(state, rings + port * places * WIDTH, places, WIDTH)
        ring[row[TAIL] & places - 1, BEGINS] = start[0]
        ring[row[TAIL] & places - 1, AMOUNT] = amount
        row[TAIL] += 1
        row[HELD] += amount
        report_wait(out, 0, now_ps, start[0])
    transmit(row, start, items[item, SIZE])
    send(out, port, item, start[0])
    return DONE


@kernel
def _decide(state: Whole, held: int, mine: int, amount: int) -> int:
    """Return whether an item may wait, given what waits for all lines and for its own."""
    if held + amount > state[LIMIT]:
        return OVERFLOW
    if state[NUMERATOR] == 0:
        return THRESHOLD * (mine + amount > state[MOST])  # type: ignore[no-any-return]
    free = state[LIMIT] - held
    return THRESHOLD * (mine * state[DENOMINATOR] >= free * state[NUMERATOR])  # type: ignore[no-any-return]
