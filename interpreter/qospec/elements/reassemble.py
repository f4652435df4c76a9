"""Reassembly: fragments become packets again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import LONGEST_PS, Domain, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element
from qospec.engine.event.transition import (
    CONNECTION,
    DONE,
    FRAGMENT,
    MARKS,
    SEAL,
    SIZE,
    Transition,
    consume,
    grow,
    lose,
    send,
    wake_at,
)
from qospec.engine.items.batch import count_columns
from qospec.engine.items.piece import MORE_FOLLOW, NUMBER_BITS, number_in, read_whole
from qospec.engine.kernel import kernel, view_rows
from qospec.engine.security.seal import TAMPERED
from qospec.protocol.ip import IPV4_HEADER_BYTES
from qospec.protocol.marks import CONGESTION
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.catalogue.form import Form
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting

Timeout = Annotated[int, Domain("time", 1, LONGEST_PS)]

COUNT, FIRST, FIRST_COPY, TIMEOUT_PS, FREE, OLDEST, YOUNGEST, LATEST = range(8)
"""The state: the number of connections, and the first indices of fragments and of copies, or one
that no packet has; the timeout; the first packet in the list of places that are free, the packets
that were begun first and last. Then comes, for each connection, its packet that was sent last, and
then a row for each packet."""
PACKET, SEEN, HEAD, TOTAL, BYTES, CHANGED, CONGESTED, DUE_PS, OF = range(9)
BEFORE, BEHIND, OLDER, YOUNGER, CAME = range(9, 14)
"""The columns of a packet: its number; how many of its fragments have come; the item that stays the
packet; how many fragments it has, once the last has come; how much these carry, whether any was
changed on the way, and the mark CE if any has it; when it is given up; its connection; the packets
of this cut before it and behind it; the packets begun before it and after it, of all connections;
then which fragments have come, a bit for each."""
BITS = 62
"""Of a column of those."""
WIDTH = CAME + -(-(1 << NUMBER_BITS) // BITS)
NONE = 0
"""No packet; row 0 is none."""
PLACES = 64
"""How many packets there is room for at first; doubled as needed."""
NO_PLACES = 1
"""What may be lacking."""


@element(
    source="RFC 791, 3.2 (reassembly); RFC 1122, 3.3.2 (timeout); RFC 3168, 5.3 (CE of fragments)",
    carries=("packet",),
)
@dataclass(frozen=True)
class Reassemble(Element):
    """Put fragments together again: a packet goes on when the last of its fragments has come.

    If one is missing when the `timeout` is over since the first has come, the packet is lost as
    `reassembly_timeout`, unless what is missing is its first fragment: then it was lost where that
    was. What was never cut goes on at once. A fragment that has come before ends here; if only the
    copy of a first one comes, a copy of the packet goes on. It has the marks of its first fragment,
    and CE if any of them has.

    Not modelled: a limit on what waits; the time that it takes, which a `processor` has.
    """

    timeout: Timeout = 60 * PS_PER_S
    """How long fragments wait for others of their packet."""

    causes = ("reassembly_timeout",)

    def predict_form(self, form: Form) -> Form:
        return form.reassemble()

    def build_transition(self, setting: Setting) -> Transition:
        streams = setting.streams
        state = np.zeros(LATEST + streams.count + WIDTH, np.int64)
        state[COUNT], state[TIMEOUT_PS] = streams.count, self.timeout
        state[[FIRST, FIRST_COPY]] = streams.start("fragments"), streams.start("copies")
        return Transition(
            _with_more_places(state, NO_PLACES),
            _arrive,
            _wake,
            losses=(("", self.causes[0]),),
            replenish=_with_more_places,
            columns=count_columns("fragment"),
        )


def _with_more_places(state: Whole, _lacking: int) -> Whole:
    """Return the state with places for twice as many packets, those that are new in the list."""
    start = LATEST + state[COUNT]
    there = (len(state) - start) // WIDTH
    more = np.zeros((max(there, PLACES), WIDTH), np.int64)
    more[:, BEFORE] = np.arange(there + 1, there + len(more) + 1)
    more[-1, BEFORE] = state[FREE]
    grown = np.concatenate([state, more.ravel()])
    grown[FREE] = there
    return grown


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send a packet on if it is whole, or is so now; see `engine.event.transition`."""
    connection, fragment = items[item, CONNECTION], items[item, FRAGMENT]
    first = _find_first_index(state, connection)
    of, is_head = connection - first, first != state[FIRST]
    if of < 0 or of >= state[COUNT] or not fragment:
        send(out, 0, item, now_ps)
        return DONE
    start = LATEST + state[COUNT]
    packets = view_rows(state, start, (len(state) - start) // WIDTH, WIDTH)
    number = _find_packet(state, packets, of, read_whole(fragment))
    if number == NONE:
        if state[FREE] == NONE:
            return NO_PLACES
        number = _begin(state, packets, of, read_whole(fragment), now_ps)
        wake_at(out, packets[state[OLDEST], DUE_PS])
    column, bit = CAME + number_in(fragment) // BITS, number_in(fragment) % BITS
    if packets[number, column] >> bit & 1:  # it has come before
        if first == 0:  # as a copy that has overtaken it, and it stays the packet
            packets[number, HEAD], item = item, packets[number, HEAD]
        consume(out, item)
        return DONE
    packets[number, column] |= 1 << bit
    packets[number, SEEN] += 1
    packets[number, BYTES] += items[item, SIZE] - IPV4_HEADER_BYTES
    packets[number, CHANGED] |= items[item, SEAL] & TAMPERED
    if items[item, MARKS] & CONGESTION == CONGESTION:
        packets[number, CONGESTED] = CONGESTION
    if is_head:
        packets[number, HEAD] = item
    else:
        if not fragment & MORE_FOLLOW:
            packets[number, TOTAL] = number_in(fragment) + 1
        consume(out, item)
    if packets[number, SEEN] == packets[number, TOTAL]:
        head = packets[number, HEAD]
        items[head, FRAGMENT] = 0
        items[head, SEAL] |= packets[number, CHANGED]
        items[head, MARKS] |= packets[number, CONGESTED]
        grow(out, head, packets[number, BYTES] + IPV4_HEADER_BYTES - items[head, SIZE])
        send(out, 0, head, now_ps)
        _end(state, packets, number)
    return DONE


@kernel
def _find_first_index(state: Whole, connection: int) -> int:
    """Return the first index of the kind of a packet: 0, that of fragments or that of copies."""
    low, high = min(state[FIRST], state[FIRST_COPY]), max(state[FIRST], state[FIRST_COPY])
    if connection < state[COUNT]:
        return 0
    return high if connection >= high else low  # type: ignore[no-any-return]


@kernel
def _wake(state: Whole, items: Whole, now_ps: int, out: Whole) -> int:
    """Give up packets whose timeout is over; see `engine.event.transition`."""
    start = LATEST + state[COUNT]
    packets = view_rows(state, start, (len(state) - start) // WIDTH, WIDTH)
    while state[OLDEST] != NONE and packets[state[OLDEST], DUE_PS] <= now_ps:
        number = state[OLDEST]
        if packets[number, HEAD]:
            lose(out, 0, packets[number, HEAD])
        _end(state, packets, number)
    if state[OLDEST] != NONE:
        wake_at(out, packets[state[OLDEST], DUE_PS])
    return DONE


@kernel
def _find_packet(state: Whole, packets: Whole, of: int, packet: int) -> int:
    """Return the place of a fragment's packet, or NONE if it is the first of it."""
    number = state[LATEST + of]
    while number != NONE and packets[number, PACKET] > packet:
        number = packets[number, BEFORE]
    return number if packets[number, PACKET] == packet else NONE


@kernel
def _begin(state: Whole, packets: Whole, of: int, packet: int, now_ps: int) -> int:
    """Take a free place for a packet, among those of its connection by their numbers."""
    number = state[FREE]
    state[FREE] = packets[number, BEFORE]
    before, behind = state[LATEST + of], NONE
    while before != NONE and packets[before, PACKET] > packet:
        before, behind = packets[before, BEFORE], before
    for column in range(WIDTH):
        packets[number, column] = 0
    packets[number, PACKET], packets[number, OF] = packet, of
    packets[number, DUE_PS] = now_ps + state[TIMEOUT_PS]
    packets[number, BEFORE], packets[number, BEHIND] = before, behind
    packets[before, BEHIND] = number  # in row 0 it means nothing
    if behind == NONE:
        state[LATEST + of] = number
    else:
        packets[behind, BEFORE] = number
    packets[number, OLDER] = state[YOUNGEST]
    packets[state[YOUNGEST], YOUNGER] = number
    state[YOUNGEST] = number
    if state[OLDEST] == NONE:
        state[OLDEST] = number
    return number  # type: ignore[no-any-return]


@kernel
def _end(state: Whole, packets: Whole, number: int) -> None:
    """Free the place of a packet."""
    before, behind = packets[number, BEFORE], packets[number, BEHIND]
    packets[before, BEHIND] = behind
    if behind == NONE:
        state[LATEST + packets[number, OF]] = before
    else:
        packets[behind, BEFORE] = before
    older, younger = packets[number, OLDER], packets[number, YOUNGER]
    packets[older, YOUNGER], packets[younger, OLDER] = younger, older
    if older == NONE:
        state[OLDEST] = younger
    if younger == NONE:
        state[YOUNGEST] = older
    packets[number, BEFORE] = state[FREE]
    state[FREE] = number
