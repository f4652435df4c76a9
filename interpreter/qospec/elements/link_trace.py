"""A link whose rate was recorded: delivery opportunities, or rates over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import Domain, Limit, TraceFile, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element
from qospec.engine.event.transition import DONE, SIZE, Transition, lose, report_wait, send
from qospec.engine.items.holding import (
    OWN,
    RING,
    has_place,
    has_room,
    hold,
    let_go,
    make_holding,
    with_more_places,
)
from qospec.engine.kernel import kernel
from qospec.protocol.ip import LARGEST_PACKET_BYTES
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.catalogue.kinds import Buffer
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting

File = Annotated[TraceFile, Domain("trace")]

OPPORTUNITY_BYTES, AROUND_BYTES = 1_504, 4
"""How many bytes an opportunity sends, and how many more a packet takes of them than it has: the
header of a tunnel, through which Mahimahi reads packets."""
WORK_OF_A_BYTE = 8 * PS_PER_S
"""In bits per second times ps."""
LATEST_PS = 2**62
"""Where times end; what would leave so late is refused before."""
NO_PLACES, TOO_LARGE = 1, 2
"""What a transition returns if its ring is full, or a packet larger than IP allows."""
ADMITTED = 3
"""What it does not return: that a packet may wait or be sent."""

PLACE, TABLE = OWN, OWN + 3
"""Of both: the place in the table, and where that begins, up to the ring."""
BEGAN, LEFT = OWN + 1, OWN + 2
"""Of opportunities: when this round began, and how many bytes of this opportunity are left."""
FREE, AHEAD = OWN + 1, OWN + 2
"""Of rates: the ps in which the last packet has left, rounded up, and the work that could have been
done in the rest of that."""
SINCE, RATE = 0, 1
"""The columns of a table of rates."""
WIDTH = 2


@element(
    source="Netravali and others, Mahimahi: Accurate Record-and-Replay for HTTP, USENIX ATC 2015,"
    " 3.2 (delivery opportunities); RFC 4180, 2 (CSV)",
    carries=("packet",),
)
@dataclass(frozen=True)
class LinkTrace(Element):
    """Let packets through as a link did whose rate was recorded; drop what finds no room to wait.

    Packets leave in the order in which they came. A trace of Mahimahi lists, in milliseconds, when
    1,504 bytes may be sent, a packet of IP with 4 bytes around it; what nobody uses who came before
    is lost, and after the last line it begins anew. A CSV file whose first line is
    `time [s],rate [Mbit/s]` lists from when on IP packets have which rate; the last one stays.
    Times count from the beginning of the trial.

    Not modelled: delays and losses of the recorded link; put a `delay_trace` and a `loss_trace`
    beside it, which may read the same file.
    """

    answers_at_once = True
    causes = ("overflow",)
    holds = True

    file: File
    """The name of the trace, relative to the file that names it."""
    limit: Limit
    """How much may be in it, in packets or bytes, with the packet that is being sent."""

    @property
    def buffer(self) -> Buffer:
        return self.limit

    def build_transition(self, setting: Setting) -> Transition:
        of_rates = bool(self.file.rates)
        table = self.file.rates if of_rates else self.file.opportunities_ps
        own = np.concatenate([[0, 0, 0 if of_rates else OPPORTUNITY_BYTES], np.ravel(table)])
        return Transition(
            make_holding(self.limit, own.astype(np.int64)),
            _arrive_at_rates if of_rates else _arrive_at_opportunities,
            losses=(("", "overflow"),),
            queues=("",) if setting.watched else (),
            replenish=_replenish,
        )


def _replenish(state: Whole, lacking: int) -> Whole:
    if lacking == TOO_LARGE:
        raise ValueError(f"a packet of more than {LARGEST_PACKET_BYTES} B")
    return with_more_places(state)


@kernel
def _arrive_at_opportunities(
    state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole
) -> int:
    """Send a packet in the next opportunities, or lose it; see `engine.event.transition`."""
    code = _admit(state, items, item, now_ps, out)
    if code == ADMITTED:
        leaves_ps = _use_opportunities(state, items[item, SIZE] + AROUND_BYTES, now_ps)
        return _leave(state, items, item, now_ps, leaves_ps, out)
    return code


@kernel
def _arrive_at_rates(
    state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole
) -> int:
    """Send a packet at the rates of the trace, or lose it."""
    if items[item, SIZE] > LARGEST_PACKET_BYTES:
        return TOO_LARGE
    code = _admit(state, items, item, now_ps, out)
    if code == ADMITTED:
        leaves_ps = _transmit(state, items[item, SIZE] * WORK_OF_A_BYTE, now_ps)
        return _leave(state, items, item, now_ps, leaves_ps, out)
    return code


@kernel
def _admit(state: Whole, items: Whole, item: int, now_ps: int, out: Whole) -> int:
    """Return whether a packet is ADMITTED; else it is lost, or needs a larger ring."""
    if not has_place(state):
        return NO_PLACES
    let_go(state, now_ps)
    if has_room(state, items[item, SIZE]):
        return ADMITTED
    lose(out, 0, item)
    return DONE


@kernel
def _leave(state: Whole, items: Whole, item: int, now_ps: int, leaves_ps: int, out: Whole) -> int:
    """Send a packet on at that time, and hold it until then; return DONE."""
    if leaves_ps > now_ps:
        report_wait(out, 0, now_ps, leaves_ps)
        hold(state, items[item, SIZE], leaves_ps)
    send(out, 0, item, leaves_ps)
    return DONE


@kernel
def _use_opportunities(state: Whole, size_bytes: int, now_ps: int) -> int:
    """Return the opportunity that sends the last of so many bytes, which come now.

    One at the same time is over: `mm-link` spends what is due before it reads a packet.
    """
    period_ps = state[state[RING] - 1]
    if now_ps >= state[BEGAN] + period_ps:  # all of these rounds are over
        state[BEGAN] += (now_ps - state[BEGAN]) // period_ps * period_ps
        state[PLACE], state[LEFT] = 0, OPPORTUNITY_BYTES
    while state[BEGAN] + state[TABLE + state[PLACE]] <= now_ps:
        _go_on(state, period_ps)
    while size_bytes > state[LEFT]:
        size_bytes -= state[LEFT]
        _go_on(state, period_ps)
    state[LEFT] -= size_bytes
    return state[BEGAN] + state[TABLE + state[PLACE]]  # type: ignore[no-any-return]


@kernel
def _go_on(state: Whole, period_ps: int) -> None:
    """Go on to the next opportunity."""
    state[PLACE] += 1
    state[LEFT] = OPPORTUNITY_BYTES
    if TABLE + state[PLACE] == state[RING]:
        state[PLACE] = 0
        if state[BEGAN] < LATEST_PS:
            state[BEGAN] += period_ps


@kernel
def _transmit(state: Whole, work: int, now_ps: int) -> int:
    """Return when so much work is done that may begin now, rounded down."""
    if now_ps >= state[FREE]:
        state[FREE], state[AHEAD] = now_ps, 0
    work -= state[AHEAD]
    places = (state[RING] - TABLE) // WIDTH
    while True:
        row = TABLE + state[PLACE] * WIDTH
        is_last, rate = state[PLACE] + 1 == places, state[row + RATE]
        ends_ps = LATEST_PS if is_last else state[row + WIDTH + SINCE]
        if state[FREE] < ends_ps:
            if rate > 0:
                takes_ps = (work + rate - 1) // rate
                if takes_ps <= ends_ps - state[FREE]:
                    break
                work -= rate * (ends_ps - state[FREE])
            state[FREE] = ends_ps
        if is_last:
            return LATEST_PS
        state[PLACE] += 1
    state[FREE] += takes_ps
    state[AHEAD] = takes_ps * rate - work
    return state[FREE] - (state[AHEAD] > 0)  # type: ignore[no-any-return]
