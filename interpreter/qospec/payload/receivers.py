"""What decrypts, behind a run: it makes the bytes of what came to it, and opens them.

A packet is sealed with what the sending end holds and opened with what this end holds. A cell is
encrypted at the position that the sending end has noted, and decrypted at that of this end, which
follows from the cells that came: it counts user cells, and takes over what OAM cells bring.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from qospec.ciphers.esp import GENUINE
from qospec.engine.arrays import np
from qospec.engine.kernel import kernel
from qospec.engine.security.seal import (
    INDEX_BITS,
    LARGEST_NUMBER,
    SIZE_BITS,
    UNTAMPERED,
    read_index,
    size_in,
)
from qospec.engine.security.state_vector import (
    POSITIONS,
    build_positions,
    find_oam_vc,
    find_user_vc,
)
from qospec.payload.associations import list_associations
from qospec.payload.fill import fill_payloads, tamper_rows
from qospec.payload.keystreams import Keystreams
from qospec.payload.packets import build_ip_packets, prepend_header
from qospec.protocol.atm import CELL_PAYLOAD_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.engine.arrays import Indices, Truths, Whole
    from qospec.engine.experiment import Experiment
    from qospec.payload.fill import Fill
    from qospec.payload.flight import Items
    from qospec.payload.packets import Bytes, Flow

AT_ONCE_BYTES = 2**22
"""Packets of one size whose bytes are made at a time, so that memory stays small."""
AT_ONCE_CELLS = 2**17
"""Cells likewise; fewer would be less than one for many a connection, each with a keystream."""


class PacketReceiver:
    """The receiving end of security associations."""

    def __init__(self, experiment: Experiment, flows: Sequence[Flow], fill: Fill) -> None:
        self._flows, self._fill = flows, fill
        self._stops = [flow.stop for flow in flows]
        self._associations = cache(lambda sender: list_associations(experiment, sender))

    def find_errors(self, items: Items, sender: Whole) -> Truths:
        """Return (n,) which packets are not what was encrypted; `sender` is the node that did."""
        found = np.zeros(items.total, np.bool_)
        for mine, flow in self._group_alike(items, sender):
            alike = items.select(mine)
            seal = alike.batch.read_column("seal")
            association = self._associations(int(sender[mine[0]]))[read_index(int(seal[0]))]
            plain = self._rebuild_plain(alike, flow, size_in(int(seal[0])))
            sealed = association.seal(seal >> INDEX_BITS + SIZE_BITS & LARGEST_NUMBER, plain)
            opened = association.open(association.tamper(sealed, seal < 0))
            same = (opened.faults == GENUINE) & (opened.size_bytes == plain.shape[1])
            same &= (opened.packets[:, : plain.shape[1]] == plain).all(axis=1)
            found[mine] = ~same
        return found

    def _group_alike(self, items: Items, sender: Whole) -> Iterator[tuple[Whole, Flow]]:
        """Yield where encrypted packets of one form are, not too many at once, and their flow."""
        seal = items.batch.read_column("seal")
        flow_of = np.searchsorted(self._stops, items.batch.connection, "right")
        inside = seal & ((1 << INDEX_BITS + SIZE_BITS) - 1)  # all but the number
        kinds = np.stack([flow_of, items.sent_bytes, inside, sender], axis=1)
        is_user = flow_of < len(self._stops)  # of a packet that was cut, its first fragment
        known = np.flatnonzero((seal & UNTAMPERED != 0) & (sender >= 0) & is_user)
        if not len(known):  # all came in the clear
            return
        each_kind, kind_of = np.unique(kinds[known], axis=0, return_inverse=True)
        order = np.argsort(kind_of.reshape(-1), kind="stable")
        ends = np.cumsum(np.bincount(kind_of.reshape(-1), minlength=len(each_kind)))
        for (flow, _, seal_of_kind, _), rows in zip(
            each_kind.tolist(), np.split(known[order], ends[:-1]), strict=True
        ):
            step = max(1, AT_ONCE_BYTES // size_in(seal_of_kind))
            for start in range(0, len(rows), step):
                yield rows[start : start + step], self._flows[flow]

    def _rebuild_plain(self, items: Items, flow: Flow, size_bytes: int) -> Bytes:
        """Return packets as they were encrypted: with what was put around them before."""
        sent_bytes = int(items.sent_bytes[0])
        inner = build_ip_packets(items, flow, min(sent_bytes, size_bytes), self._fill)
        around = size_bytes - inner.shape[1]
        return prepend_header(items, inner, around) if around else inner


class CellReceiver:
    """The receiving end of the encryption of cells."""

    def __init__(self, experiment: Experiment, number: int, fill: Fill) -> None:
        self._fill = fill
        self._count = experiment.streams.count
        self._positions = build_positions(experiment.streams)
        self._sent, self._held = Keystreams(experiment), Keystreams(experiment, number)

    def find_errors(self, items: Items, sender: Whole) -> Truths:
        """Return (n,) which user cells are not what was encrypted."""
        connection, seal = items.batch.connection, items.batch.read_column("seal")
        here = np.zeros(items.total, np.int64)
        _follow(connection, seal, self._positions, here)
        found = connection < self._count
        known = np.flatnonzero(found & (sender >= 0))
        for start in range(0, len(known), AT_ONCE_CELLS):
            mine = _as_slice(known[start : start + AT_ONCE_CELLS])
            plain = fill_payloads(items.select(mine), CELL_PAYLOAD_BYTES, self._fill)
            of = sender[mine], connection[mine].astype(np.int64)
            at = seal[mine] & UNTAMPERED
            carried, encrypted = plain.copy(), _as_slice(np.flatnonzero(at))
            carried[encrypted] = self._sent.xor(
                of[0][encrypted], of[1][encrypted], at[encrypted], plain[encrypted]
            )
            carried = tamper_rows(carried, seal[mine] < 0, CELL_PAYLOAD_BYTES // 2)
            decrypted = self._held.xor(*of, here[mine], carried)
            # By words: to look at each octet takes five times as long.
            found[mine] = (decrypted.view(np.uint64) != plain.view(np.uint64)).any(axis=1)
        return found


def _as_slice(which: Whole) -> Whole | slice:
    """Return rising indices as a slice if they are all from one to another: then nothing is copied.

    Of W1 with its bytes the copies took a tenth.
    """
    if len(which) and which[-1] - which[0] == len(which) - 1:
        return slice(int(which[0]), int(which[-1]) + 1)
    return which


@kernel
def _follow(connection: Indices, seal: Whole, state: Whole, at: Whole) -> None:
    """Write at which position each user cell is decrypted, and go on behind them.

    An OAM cell brings a position, and each user cell of a VC, though it be of another user, takes
    the next one.
    """
    for i in range(len(connection)):
        user, oam = find_user_vc(state, connection[i]), find_oam_vc(state, connection[i])
        if user >= 0:
            state[POSITIONS + user] += 1
            at[i] = state[POSITIONS + user]
        elif oam >= 0 and seal[i] > 0:
            state[POSITIONS + oam] = seal[i]
