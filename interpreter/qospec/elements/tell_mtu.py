"""A router that tells a source by which size its packets fit the path behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import OF_PACKETS, Boolean, Domain, UnfitError, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element
from qospec.engine.endpoint.tcp_connection import DONT_FRAGMENT
from qospec.engine.event.transition import (
    CONNECTION,
    DONE,
    FLAGS,
    MARKS,
    NUMBER,
    SIZE,
    WINDOW,
    Transition,
    lose,
    make,
    send,
)
from qospec.engine.items.batch import count_columns
from qospec.engine.kernel import kernel
from qospec.protocol.fragments import LEAST_MTU_BYTES
from qospec.protocol.ip import LARGEST_PACKET_BYTES
from qospec.protocol.path_mtu import NOTICE_BYTES, list_plateaus

if TYPE_CHECKING:
    from qospec.catalogue.form import Form
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.protocol.streams import KindName, Streams

Mtu = Annotated[int, Domain("data", LEAST_MTU_BYTES, LARGEST_PACKET_BYTES, layers=OF_PACKETS)]

MTU_BYTES, TOLD, COUNT, FIRST, OWN = range(5)
"""The state: the MTU, and what notices say of it, 0 for nothing; the number of connections, and the
first index of notices. From OWN on, by connection, the one that leads back, or NONE; then, with
which marks the last packet of each has passed, or NONE."""
NONE = -1


@element(
    source="RFC 1191, 4 (router specification); RFC 792 (destination unreachable, code 4)",
    carries=("packet",),
)
@dataclass(frozen=True)
class TellMtu(Element):
    """Lose packets that are larger than an MTU, and tell their source.

    What goes one way passes from `there` to `there`, what comes back from `back` to `back`. A
    packet that is larger than the MTU, either way, is lost as `fragmentation_needed`. If its source
    discovers the MTU of its path, as `tcp { path_mtu_discovery = true }`, a notice leaves at that
    moment by the other output: 56 bytes, which say the MTU. It goes the way of what comes back,
    with the marks of what came last, takes its time there, and can be lost. Notices to the source
    of a flow `user` are counted as `user.notices`.

    Not modelled: IPv6, in which a notice has more of the packet; packets that may be cut, which are
    lost here, too, unless a `classify` leads them by a `fragment`, which refuses those of a source
    that discovers the MTU; how many notices a router sends in a time at most; notices from
    within a tunnel, whose end would have to pass them on.
    """

    mtu: Mtu
    """The size of the largest packet that passes."""
    next_hop_mtu: Boolean = True
    """Whether notices say the MTU, as those of routers before 1990 do not."""

    causes = ("fragmentation_needed",)
    inserts = ("notices",)
    cuts = True

    @property
    def inputs(self) -> tuple[str, ...]:
        return ("there", "back")

    @property
    def outputs(self) -> tuple[str, ...]:
        return ("there", "back")

    def predict_output(self, number: int, *, kind: KindName) -> int:
        return number

    def predict_form(self, form: Form) -> Form:
        if form.is_in_tunnel:
            if form.largest_bytes > self.mtu:
                raise UnfitError(
                    "these packets are in a tunnel, and a notice from there goes to its beginning",
                    "put it ahead of what begins the tunnel, with an `mtu` less by what that adds",
                )
            return form
        noticed = form._replace(noticed=True) if form.heeded else form
        return noticed.limit_to(self.mtu)

    def list_told_bytes(self, largest_bytes: int) -> tuple[int, ...]:
        if largest_bytes <= self.mtu:
            return ()
        return (self.mtu,) if self.next_hop_mtu else list_plateaus(largest_bytes, self.mtu)

    def build_transition(self, setting: Setting) -> Transition:
        streams = setting.streams
        own = [self.mtu, self.mtu * self.next_hop_mtu, streams.count, streams.start("notices")]
        marks = np.full(streams.count, NONE, np.int64)
        state = np.concatenate((np.array(own, np.int64), _list_ways_back(streams), marks))
        return Transition(
            state, _arrive, losses=(("", self.causes[0]),), within=count_columns("flags")
        )


def _list_ways_back(streams: Streams) -> Whole:
    """Return by connection the one on which the other end sends to its source; else NONE."""
    found = np.full(streams.count, NONE, np.int64)
    for flow in {stream.flow for stream in streams.own}:
        mine = [stream for stream in streams.own if stream.flow == flow]
        there = [stream for stream in mine if stream.kind == "user"]
        back = [stream for stream in mine if stream.kind == "answers"]
        for one, other in zip(there, back, strict=False):  # a flow has none, or as many
            found[one.first : one.stop] = range(other.first, other.stop)
            found[other.first : other.stop] = range(one.first, one.stop)
    return found


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send a packet on at once, or lose it and tell; see `engine.event.transition`."""
    connection, count = items[item, CONNECTION], state[COUNT]
    if items[item, SIZE] <= state[MTU_BYTES]:
        if connection < count:
            state[OWN + count + connection] = items[item, MARKS]
        send(out, port, item, now_ps)
        return DONE
    lose(out, 0, item)
    if connection >= count or items[item, FLAGS] & DONT_FRAGMENT == 0:
        return DONE
    other = state[OWN + connection]
    marks = state[OWN + count + other]
    if NONE in (other, marks):  # nothing has come back, so that no way is known
        return DONE
    notice = make(items, out, state[FIRST] + other, NOTICE_BYTES, marks, now_ps)
    items[notice, NUMBER], items[notice, WINDOW] = state[TOLD], items[item, SIZE]
    send(out, 1 - port, notice, now_ps)
    return DONE
