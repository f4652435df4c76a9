"""Tags on a line on which frames have one or not, by flow: 4 bytes more, and less behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Step
from qospec.engine.event.transition import CONNECTION, DONE, Transition, grow, send
from qospec.engine.kernel import kernel
from qospec.protocol.encapsulation import TAG_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.catalogue.form import Form
    from qospec.engine.arrays import Sizes, Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch
    from qospec.protocol.streams import Streams

    Ranges = Sequence[tuple[int, int]]
    """Some connections: from the index of the first to that behind the last."""


def count_tag_bytes(streams: Streams, tagged: Ranges) -> Sizes:
    """Return (indices,) the bytes of the tag of each connection's frames, given which have one.

    What follows items of a connection, such as fragments of them, is tagged as they are.
    """
    own = np.zeros(streams.count, np.int32)
    for first, stop in tagged:
        own[first:stop] = TAG_BYTES
    connections = [streams.find_connection(index) for index in range(streams.indices)]
    return own[np.array(connections, np.int64)]


@dataclass(frozen=True)
class Tagging(Element):
    """Let packets of some connections have the size with a tag, or again that without."""

    tagged: tuple[tuple[int, int], ...]
    adds: bool

    keeps_spacing = True

    def predict_form(self, form: Form) -> Form:
        """Return the form of packets, with a tag if their flow has one."""
        return form.with_tag(TAG_BYTES * self.adds) if form.is_tagged else form

    def start(self, setting: Setting) -> Sizes:
        """Return (indices,) by how many bytes it lengthens packets."""
        tag_bytes = count_tag_bytes(setting.streams, self.tagged)
        return tag_bytes if self.adds else -tag_bytes

    def build_transition(self, setting: Setting) -> Transition:
        """Return the same, item by item."""
        return Transition(self.start(setting).astype(np.int64), _arrive)

    def process(self, state: Sizes, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        """Change all sizes by a look-up each: an addition of columns, 23 ns an item less."""
        (batch,) = arrivals
        left = batch.with_sizes(batch.size_bytes + state[batch.connection])
        return Step((left,), (until_ps,), resized=((batch, left),))


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:  # noqa: ARG001
    """Send an item on at once, longer or shorter; see `engine.event.transition`."""
    by_bytes = state[items[item, CONNECTION]]
    if by_bytes:
        grow(out, item, by_bytes)
    send(out, 0, item, now_ps)
    return DONE
