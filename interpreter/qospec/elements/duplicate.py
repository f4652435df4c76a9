"""A link or a device that sends certain packets twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Step
from qospec.engine.event.transition import (
    CONNECTION,
    DONE,
    MARKS,
    SENT,
    SIZE,
    Transition,
    make,
    note_alike,
    send,
)
from qospec.engine.fault import Fault, is_hit
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.catalogue.form import Form
    from qospec.engine.arrays import Indices, Truths, Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch

USERS, FIRST_COPY = -2, -1
"""The end of the state, behind that of a fault: the number of connections, and the index of copies
of the first one's packets."""


@element(source="RFC 5560, 2 (packet duplication), as a fault of a test", carries=("packet",))
@dataclass(frozen=True)
class Duplicate(Fault):
    """Send some packets of each connection twice, chosen as those of `lose`.

    The copy follows its packet in the same ps, with the same bytes and marks; an `esp_decrypt`
    refuses it as `replayed`. It is counted by itself, as `flow.copies`, and its delays are those
    since its packet was sent. A copy is not copied again. Of a packet that was cut, the first
    fragment may be; a copy that a `reassemble` has no need of ends there.
    """

    hits = ("user",)
    inserts = ("copies",)
    cuts = True

    def predict_form(self, form: Form) -> Form:
        return form if form.copied else form._replace(copied=True)

    def start(self, setting: Setting) -> Whole:
        own = [setting.streams.count, setting.streams.start("copies")]
        return np.concatenate([super().start(setting), np.array(own, np.int64)])

    def build_transition(self, setting: Setting) -> Transition:
        return Transition(self.start(setting), _arrive)

    def process(self, state: Whole, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        hit = np.zeros(batch.count, np.bool_)
        _choose(batch.connection, state, hit)
        if not hit.any():
            return Step((batch,), (until_ps,))
        twice = np.repeat(np.arange(batch.count), 1 + hit)
        copies = np.concatenate([[False], twice[1:] == twice[:-1]])
        both = batch.select(twice)
        connection = both.connection + copies * np.int32(state[FIRST_COPY])
        both = both._replace(connection=connection.astype(np.int32))
        return Step((both,), (until_ps,), made=(both.select(copies),))


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send a packet on at once, and a copy if it is hit; see `engine.event.transition`."""
    connection = items[item, CONNECTION]
    send(out, 0, item, now_ps)
    if connection < state[len(state) + USERS] and is_hit(state, connection):
        index = state[len(state) + FIRST_COPY] + connection
        copy = make(items, out, index, items[item, SIZE], items[item, MARKS], now_ps)
        items[copy, SENT] = items[item, SENT]
        note_alike(items, item, copy)
        send(out, 0, copy, now_ps)
    return DONE


@kernel
def _choose(connection: Indices, state: Whole, hit: Truths) -> None:
    """Write which packets are sent twice."""
    for i in range(len(connection)):
        if connection[i] < state[len(state) + USERS] and is_hit(state, connection[i]):
            hit[i] = True
