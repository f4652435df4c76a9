"""Security associations behind a run: the bytes that they make of packets, and their keys.

Times and sizes are those of the emulation; only the bytes are computed here, from what the device
that encrypted a packet has noted of it: index of the association, sequence number, size inside.
Keys are drawn from the seed, for each device that encrypts its own, and for each successor of its
association.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from qospec.ciphers.esp import Association, Rows
from qospec.ciphers.key import Key
from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.security import association
from qospec.engine.security.end import SecurityEnd
from qospec.engine.security.state_vector import CELL_KEY_BYTES
from qospec.payload.fill import tamper_rows
from qospec.payload.packets import GATEWAYS

if TYPE_CHECKING:
    from qospec.ciphers.esp import Opened
    from qospec.engine.arrays import Truths, Whole
    from qospec.engine.experiment import Experiment
    from qospec.payload.packets import Bytes
    from qospec.protocol.esp import Esp


class Secured(NamedTuple):
    """One direction of a security association; see `ciphers.esp.Association`."""

    esp: Esp
    spi: int
    encryption_key: Key
    integrity_key: Key | None = None
    ends: bytes = b""

    def seal(self, numbers: Whole, packets: Bytes) -> Bytes:
        """Return packets of one size sealed, with these sequence numbers.

        A packet is encrypted once, but its bytes are made again: for captures at several links, and
        for each of its copies. So no call refuses the numbers of another, and a number that occurs
        twice is that of one packet.
        """
        numbers, first, of = np.unique(numbers, return_index=True, return_inverse=True)
        (made,) = _build_association(self).renew().seal(Rows(numbers, packets[first]))
        return made[of]

    def tamper(self, packets: Bytes, which: Truths) -> Bytes:
        """Return sealed packets of one size, some changed in the midst of what is sealed."""
        end = packets.shape[1] - self.esp.icv_bytes
        return tamper_rows(packets, which, (self.esp.clear_bytes + end) // 2)

    def open(self, packets: Bytes) -> Opened:
        """Return what is in sealed packets of one size."""
        return _build_association(self).open(packets)


@lru_cache
def _build_association(of: Secured) -> Association:
    """Return the association of a direction; to set up its ciphers takes long for a few packets."""
    return Association(of.esp, of.spi, of.encryption_key, of.integrity_key, of.ends)


def list_associations(experiment: Experiment, node: int) -> dict[int, Secured]:
    """Return by index the association of a node that encrypts, and those that may follow it."""
    path, element = experiment.nodes[node].path, experiment.nodes[node].element
    assert isinstance(element, association.Association)  # noqa: S101 -- as `find_encrypting` has it
    names = (*experiment.seed, "esp", path)
    found = {
        index: _draw_association(
            element.esp, index, (*names, f"successor {count}") if count else names
        )
        for count, index in enumerate(element.indices)
    }
    first = found[element.spi]
    if element.key is not None and not element.key.is_withheld:
        first = first._replace(encryption_key=Key(element.key.reveal()))
    if element.integrity_key is not None and not element.integrity_key.is_withheld:
        first = first._replace(integrity_key=Key(element.integrity_key.reveal()))
    return {**found, element.spi: first}


def _draw_association(esp: Esp, index: int, names: tuple[str, ...]) -> Secured:
    """Return an association with the keys that belong to its names."""
    encryption, integrity = esp.encryption, esp.integrity
    ends = (
        b"".join(gateway.packed for gateway in GATEWAYS[esp.family])
        if esp.mode == "tunnel"
        else b""
    )
    return Secured(
        esp,
        index,
        Key.draw(encryption.key_bytes + encryption.salt_bytes, (*names, "encryption")),
        Key.draw(integrity.key_bytes, (*names, "integrity")) if integrity else None,
        ends,
    )


def derive_cell_key(
    experiment: Experiment, node: int, connection: int, jump: int, holder: int | None = None
) -> Key:
    """Return the key of a VC at a node that encrypts cells, after so many jumps.

    It is what the `holder` has, the node itself or one that decrypts: that follows from the key
    that it is given; if it is given none, both have agreed on one.
    """
    path, element = experiment.nodes[node].path, experiment.nodes[node].element
    assert isinstance(element, SecurityEnd)  # noqa: S101 -- as `find_encrypting` has it
    vc = element.find_key_owner(connection)
    names = ("cells", path, str(vc), str(element.number_key(jump)))
    holds = element if holder is None else experiment.nodes[holder].element
    assert isinstance(holds, SecurityEnd)  # noqa: S101 -- likewise
    for given in (*holds.keys, *element.keys):
        if given is not None:
            if given.is_withheld:
                break
            return Key.derive(given, CELL_KEY_BYTES, names)
    return Key.draw(CELL_KEY_BYTES, (*experiment.seed, *names))


def has_shared_key(experiment: Experiment, node: int, connection: int) -> bool:
    """Return whether a VC has the key of another one, so that its counter needs a nonce."""
    element = experiment.nodes[node].element
    assert isinstance(element, SecurityEnd)  # noqa: S101 -- as `find_encrypting` has it
    return element.find_key_owner(connection) != connection


def find_encrypting(experiment: Experiment, node: int) -> list[int]:
    """Return the nodes that have encrypted what leaves a node: nothing is encrypted twice."""
    before: dict[int, list[int]] = {}
    for wire in experiment.wires:
        before.setdefault(wire.to, []).append(wire.node)
    waiting, seen, found = [node], {node}, []
    while waiting:
        here = waiting.pop()
        element = experiment.nodes[here].element
        if isinstance(element, SecurityEnd):
            found += [here] * element.encrypts
            continue
        new = set(before.get(here, ())) - seen
        seen |= new
        waiting += sorted(new)
    return sorted(found)
