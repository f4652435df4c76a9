"""Fragmentation: packets that are too large for a path are cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import OF_PACKETS, Boolean, Domain, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element
from qospec.engine.event.transition import (
    CONNECTION,
    DONE,
    FRAGMENT,
    MARKS,
    MOST_MADE,
    NO_ITEMS,
    SENT,
    SIZE,
    SPARE,
    Transition,
    grow,
    lose,
    make,
    note_alike,
    send,
)
from qospec.engine.items.batch import count_columns
from qospec.engine.items.piece import ELEMENT_BITS, MORE_FOLLOW, note_piece
from qospec.engine.kernel import kernel
from qospec.protocol.fragments import LEAST_MTU_BYTES, compute_full_payload_bytes
from qospec.protocol.ip import IPV4_HEADER_BYTES, LARGEST_PACKET_BYTES

if TYPE_CHECKING:
    from qospec.catalogue.form import Form
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting

Mtu = Annotated[int, Domain("data", LEAST_MTU_BYTES, LARGEST_PACKET_BYTES, layers=OF_PACKETS)]

MTU_BYTES, FULL_BYTES, COUNT, FIRST, IS_FORBIDDEN, ELEMENT, CUT = range(7)
"""The state: the MTU, and what a fragment carries of a packet if it is not the last; the number of
connections, and the first index of fragments; whether to cut is forbidden; the element's number,
and how many packets it has cut."""


@element(source="RFC 791, 3.2 (fragmentation); RFC 1191, 3 (don't fragment)", carries=("packet",))
@dataclass(frozen=True)
class Fragment(Element):
    """Cut packets that are larger than an MTU into fragments, each with an IP header of its own.

    The first fragment stays the packet: it becomes smaller, and `reassemble` gives it its size
    back. The others are counted by themselves, as `fragments`, and go where it goes, with its
    marks. All leave at once, in order. With `dont_fragment`, packets that are too large are lost as
    `fragmentation_needed`.

    Not modelled: IPv6, in which only hosts cut packets; that later fragments have no ports by which
    a classifier could tell them; fragments that are cut again, which is an error; DF of single
    packets: those of a source that discovers the MTU of its path are refused without
    `dont_fragment`, but within a tunnel, whose own header does not forbid it; messages that tell a
    source that MTU, which are those of a `tell_mtu`.
    """

    mtu: Mtu
    """The size of the largest packet that is not cut."""
    dont_fragment: Boolean = False
    """Whether the headers of all packets forbid it, by the flag DF."""

    causes = ("fragmentation_needed",)
    inserts = ("fragments",)
    cuts = True

    @property
    def discards_for(self) -> tuple[str, ...]:
        return self.causes if self.dont_fragment else ()

    def predict_form(self, form: Form) -> Form:
        return form.limit_to(self.mtu) if self.dont_fragment else form.cut(self.mtu)

    def build_transition(self, setting: Setting) -> Transition:
        count, first = setting.streams.count, setting.streams.start("fragments")
        full_bytes = compute_full_payload_bytes(self.mtu)
        own = [self.mtu, full_bytes, count, first, self.dont_fragment, setting.number, 0]
        return Transition(
            np.array(own, np.int64),
            _arrive,
            losses=(("", self.causes[0]),),
            columns=count_columns("fragment"),
        )


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send a packet on at once, or its fragments, or lose it; see `engine.event.transition`."""
    connection, size_bytes = items[item, CONNECTION], items[item, SIZE]
    if size_bytes <= state[MTU_BYTES]:
        send(out, 0, item, now_ps)
        return DONE
    if state[IS_FORBIDDEN]:
        lose(out, 0, item)
        return DONE
    if connection >= state[COUNT]:  # a plan sees to it that none comes
        send(out, 0, item, now_ps)
        return DONE
    full_bytes, marks = state[FULL_BYTES], items[item, MARKS]
    count = -(-(size_bytes - IPV4_HEADER_BYTES) // full_bytes)
    if count > MOST_MADE and count > items[0, SPARE]:
        return NO_ITEMS
    state[CUT] += 1
    packet = state[CUT] << ELEMENT_BITS | state[ELEMENT]
    grow(out, item, full_bytes + IPV4_HEADER_BYTES - size_bytes)
    send(out, 0, item, now_ps)
    for number in range(1, count):
        is_last = number == count - 1
        rest_bytes = size_bytes - IPV4_HEADER_BYTES - number * full_bytes
        one_bytes = IPV4_HEADER_BYTES + (rest_bytes if is_last else full_bytes)
        one = make(items, out, state[FIRST] + connection, one_bytes, marks, now_ps)
        note_alike(items, item, one)
        # They are measured by themselves, and no two items of a connection are sent at once.
        items[one, SENT] = items[item, SENT] + number
        items[one, FRAGMENT] = note_piece(packet, number, 0 if is_last else MORE_FOLLOW)
        send(out, 0, one, now_ps)
    items[item, FRAGMENT] = note_piece(packet, 0, MORE_FOLLOW)
    return DONE
