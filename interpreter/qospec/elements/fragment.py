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
    MARKS,
    SEAL,
    SENT,
    SIZE,
    Transition,
    grow,
    lose,
    make,
    send,
)
from qospec.engine.kernel import kernel
from qospec.protocol.fragments import LEAST_MTU_BYTES, MOST_FRAGMENTS, compute_full_payload_bytes
from qospec.protocol.ip import IPV4_HEADER_BYTES, LARGEST_PACKET_BYTES
from qospec.protocol.marks import MORE_FRAGMENTS

if TYPE_CHECKING:
    from qospec.catalogue.form import Form
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.contract import Contract

Mtu = Annotated[int, Domain("data", LEAST_MTU_BYTES, LARGEST_PACKET_BYTES, layers=OF_PACKETS)]

MTU_BYTES, FULL_BYTES, COUNT, FIRST, IS_FORBIDDEN = range(5)
"""The state: the MTU, and what a fragment carries of a packet if it is not the last; the number of
connections, and the first index of fragments; whether to cut is forbidden."""


@element(source="RFC 791, 3.2 (fragmentation); RFC 1191, 3 (don't fragment)", carries=("packet",))
@dataclass(frozen=True)
class Fragment(Element):
    """Cut packets that are larger than an MTU into fragments, each with an IP header of its own.

    The first fragment stays the packet: it becomes smaller, and `reassemble` gives it its size
    back. The others are counted by themselves, as `fragments`, and go where it goes, with its
    marks. All leave at once, in order. With `dont_fragment`, packets that are too large are lost as
    `fragmentation_needed`.

    Not modelled: IPv6, in which only hosts cut packets; that later fragments have no ports by which
    a classifier could tell them; fragments that are cut again, which is an error, as are more than
    31 fragments; messages that tell a source the MTU of its path.
    """

    mtu: Mtu
    """The size of the largest packet that is not cut."""
    dont_fragment: Boolean = False
    """Whether the headers of packets forbid it, by the flag DF."""

    causes = ("fragmentation_needed",)
    inserts = ("fragments",)
    cuts = True

    @property
    def discards_for(self) -> tuple[str, ...]:
        return self.causes if self.dont_fragment else ()

    @property
    def marks_written(self) -> tuple[str, ...]:
        return ("more_fragments",)

    def marks_after(self, marks: int, contract: Contract) -> tuple[int, ...]:
        return tuple({marks: None, marks | MORE_FRAGMENTS: None})

    def form_after(self, form: Form) -> Form:
        return form.limit_to(self.mtu) if self.dont_fragment else form.cut(self.mtu)

    def transition(self, setting: Setting) -> Transition:
        count, first = setting.streams.count, setting.streams.start("fragments")
        own = [self.mtu, compute_full_payload_bytes(self.mtu), count, first, self.dont_fragment]
        return Transition(np.array(own, np.int64), _arrive, losses=(("", self.causes[0]),))


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
    items[item, MARKS] = marks | MORE_FRAGMENTS
    grow(out, item, full_bytes + IPV4_HEADER_BYTES - size_bytes)
    send(out, 0, item, now_ps)
    rest_bytes = size_bytes - IPV4_HEADER_BYTES - full_bytes
    for number in range(1, MOST_FRAGMENTS):
        is_last = rest_bytes <= full_bytes
        payload_bytes = rest_bytes if is_last else full_bytes
        one = make(
            items, out, state[FIRST] + connection, payload_bytes + IPV4_HEADER_BYTES, marks, now_ps
        )
        # By these times items are known, so no two are equal; they also tell the place of each.
        items[one, SENT] = items[item, SENT] + number
        items[one, SEAL] = items[item, SEAL]
        if is_last:
            send(out, 0, one, now_ps)
            break
        items[one, MARKS] = marks | MORE_FRAGMENTS
        rest_bytes -= full_bytes
        send(out, 0, one, now_ps)
    return DONE
