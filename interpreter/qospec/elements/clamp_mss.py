"""A gateway that lowers what TCP announces, so that segments fit a path behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import Domain, UnfitError, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element
from qospec.engine.endpoint.tcp_connection import WINDOW_BITS
from qospec.engine.event.transition import DONE, WINDOW, Transition, send
from qospec.engine.items.batch import count_columns
from qospec.engine.kernel import kernel
from qospec.protocol.fragments import LEAST_MTU_BYTES
from qospec.protocol.ip import IPV4_HEADER_BYTES, LARGEST_PACKET_BYTES

if TYPE_CHECKING:
    from qospec.catalogue.form import Form
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting

TCP_HEADER_BYTES = 20
"""Without options. Source: RFC 9293, 3.1."""
FIXED_HEADERS_BYTES = IPV4_HEADER_BYTES + TCP_HEADER_BYTES
LEAST_MSS_BYTES = LEAST_MTU_BYTES - FIXED_HEADERS_BYTES

SegmentSize = Annotated[
    int,
    Domain("data", LEAST_MSS_BYTES, LARGEST_PACKET_BYTES - FIXED_HEADERS_BYTES, layers=()),
]
"""Whole bytes of data."""


@element(
    source="RFC 9293, 3.7.1 (maximum segment size option); RFC 4459, 3.2 (TCP MSS clamping)",
    carries=("packet",),
)
@dataclass(frozen=True)
class ClampMss(Element):
    """Lower the maximum segment size that TCP announces as a connection opens.

    The client announces by its SYN what it takes, the server by the answer to it: each end sends no
    larger segments than the other takes. So what goes one way follows from the packets that come
    back, and a gateway clamps both. A lower size than `mss` stays as it is. Time stamps come out of
    it, 12 bytes: the option does not count options. Other packets pass unchanged.

    Not modelled: the MTU of a path, from which some gateways compute the size by themselves.
    """

    mss: SegmentSize
    """The most data in a segment that any end announces behind it."""

    answers_at_once = True
    keeps_spacing = True

    @property
    def most_announced_bytes(self) -> int | None:
        return self.mss

    def predict_form(self, form: Form) -> Form:
        if form.is_in_tunnel:
            raise UnfitError(
                "these packets are in a tunnel, and a SYN in there is not seen from outside",
                "put it ahead of what begins the tunnel, or behind what ends it",
            )
        return form

    def build_transition(self, setting: Setting) -> Transition:
        return Transition(np.array([self.mss]), _arrive, within=count_columns("window"))


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Lower what a SYN announces, and send it on at once; see `engine.event.transition`."""
    above = (items[item, WINDOW] >> WINDOW_BITS) - state[0]
    if above > 0:
        items[item, WINDOW] -= above << WINDOW_BITS
    send(out, 0, item, now_ps)
    return DONE
