"""The beginning of a tunnel: packets become the payload of larger ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import OF_PACKETS, Domain, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Step
from qospec.engine.event.transition import DONE, Transition, grow, send
from qospec.engine.kernel import kernel
from qospec.protocol.ip import LARGEST_PACKET_BYTES

if TYPE_CHECKING:
    from qospec.catalogue.form import Form
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch

Header = Annotated[int, Domain("data", 1, 4_096, layers=OF_PACKETS)]
"""Whole bytes around a packet, in another one."""


@element(
    source="RFC 2003, 3 (IP in IP: 20 bytes); RFC 2784, 2 (GRE: 24 bytes with the outer IP header)",
    carries=("packet",),
)
@dataclass(frozen=True)
class Encapsulate(Element):
    """Put each packet into another, which is longer by a fixed header.

    From here on the packet has the larger size: on lines, in queues, and at its flow's end unless
    `decapsulate` removes the header again. Its marks are those of the outer header, too. A meter
    that counts frames needs none around it: its rate is one `@frame`, and short frames are padded.

    Not modelled: the time that it takes, which a `processor` has; a packet that is too large for a
    line, which is an error unless `fragment` cuts it.
    """

    header: Header
    """Bytes that each packet gains: the outer IP header and what follows it."""

    keeps_spacing = True

    def predict_form(self, form: Form) -> Form:
        if form.largest_bytes + self.header > LARGEST_PACKET_BYTES:
            raise ValueError(
                f"{form.largest_bytes} B and a header of {self.header} B exceed the"
                f" {LARGEST_PACKET_BYTES} B of an IP packet"
            )
        return form.with_header(self.header)

    def build_transition(self, setting: Setting) -> Transition:
        return Transition(np.array([self.header]), _arrive)

    def process(self, state: None, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        left = batch.with_sizes(batch.size_bytes + self.header)
        return Step((left,), (until_ps,), resized=((batch, left),))


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send an item on at once, longer by `state`; see `engine.event.transition`."""
    grow(out, item, state[0])
    send(out, 0, item, now_ps)
    return DONE
