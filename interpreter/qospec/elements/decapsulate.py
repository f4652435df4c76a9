"""The end of a tunnel: packets come out of larger ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import OF_PACKETS, Domain, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Step
from qospec.engine.event.transition import DONE, Transition, grow, send
from qospec.engine.kernel import kernel
from qospec.protocol.ip import IPV4_HEADER_BYTES

if TYPE_CHECKING:
    from qospec.catalogue.form import Form
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch

Header = Annotated[int, Domain("data", 1, 4_096, layers=OF_PACKETS)]
"""Whole bytes around a packet, in another one."""


@element(source="RFC 2003, 3.1 (decapsulation); RFC 2784, 2 (GRE)", carries=("packet",))
@dataclass(frozen=True)
class Decapsulate(Element):
    """Take each packet out of the one around it, which `encapsulate` has made.

    A packet that is too small to contain another is an error of the specification, and one that no
    `encapsulate` has made a warning: it is taken to be sent that way. Its marks stay those of the
    outer header, which `encapsulate` has copied.

    Not modelled: a mark that the packet had before a device on the way changed that of the outer
    header; the time that it takes.
    """

    header: Header
    """Bytes that each packet loses: the outer IP header and what follows it."""

    keeps_spacing = True

    def predict_form(self, form: Form) -> Form:
        if form.sizes and form.smallest_bytes - self.header < IPV4_HEADER_BYTES:
            raise ValueError(
                f"{form.smallest_bytes} B hold no IP packet behind a header of {self.header} B"
            )
        return form.with_header(-self.header)

    def build_transition(self, setting: Setting) -> Transition:
        return Transition(np.array([self.header]), _arrive)

    def process(self, state: None, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        left = batch.with_sizes(batch.size_bytes - self.header)
        return Step((left,), (until_ps,), resized=((batch, left),))


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send an item on at once, shorter by `state`; see `engine.event.transition`."""
    grow(out, item, -state[0])
    send(out, 0, item, now_ps)
    return DONE
