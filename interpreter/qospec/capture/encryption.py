"""Encrypted cells in a capture: their payloads, what OAM cells announce, and the keys of VCs.

Which device encrypted the cells of a VC is seen in the trial, behind each that may have; what it
noted of a cell is its position. Keys are drawn from the seed, for each device and VC its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.ciphers.octets import encode_big_endian
from qospec.engine.arrays import np
from qospec.engine.experiment import Tap
from qospec.engine.security.end import SecurityEnd
from qospec.engine.security.seal import UNTAMPERED
from qospec.engine.security.state_vector import count_jumps
from qospec.payload.associations import derive_cell_key, find_encrypting
from qospec.payload.flight import UNKNOWN
from qospec.payload.keystreams import Keystreams

if TYPE_CHECKING:
    from qospec.ciphers.key import Key
    from qospec.engine.arrays import Whole
    from qospec.engine.experiment import Experiment
    from qospec.engine.items.batch import Batch
    from qospec.payload.flight import Items
    from qospec.payload.packets import Bytes

HEADING = "VPI,VCI,key,secret"
"""Of the table of keys."""


class CellEncryption:
    """What encrypts the cells that go over a link.

    Attributes:
        taps: Behind each device that may have.
    """

    def __init__(self, experiment: Experiment, node: int) -> None:
        """Look for what encrypts ahead of the output of a node."""
        self._experiment = experiment
        self._sender = np.full(experiment.streams.count, UNKNOWN)
        self._keystreams = Keystreams(experiment)
        self._keys: dict[tuple[int, int], Key] = {}
        self.taps = tuple(Tap(str(index), index, 0) for index in find_encrypting(experiment, node))

    def note_passage(self, place: str, batch: Batch) -> None:
        """Take note of which device encrypts which VC."""
        self._sender[self._experiment.streams.find_connection(batch.connection)] = int(place)

    def encrypt(self, items: Items, plain: Bytes) -> Bytes:
        """Return the payloads of user cells as they are on the link."""
        made, seal = plain.copy(), items.batch.read_column("seal") & UNTAMPERED
        which = np.flatnonzero(seal)
        if len(which):
            vc = self._find_vc(items)[which]
            self._keep_keys(vc, count_jumps(seal[which]))
            made[which] = self._keystreams.xor(self._sender[vc], vc, seal[which], plain[which])
        return made

    def find_announced(self, items: Items) -> tuple[Whole, Bytes]:
        """Return which OAM cells announce a state vector; and (n, 9) what.

        A byte has the bank of the key, 0 or 1; then come the jump number and the number of cells
        since, of 4 bytes each.
        """
        seal = items.batch.read_column("seal") & UNTAMPERED
        which = np.flatnonzero(seal)
        made = np.empty((len(which), 9), np.uint8)
        made[:, 1:] = encode_big_endian(seal[which], 8)
        rows = zip(
            self._find_vc(items)[which].tolist(), count_jumps(seal[which]).tolist(), strict=True
        )
        made[:, 0] = [self._number_key(vc, jump) & 1 for vc, jump in rows]
        return which, made

    def list_keys(self, paths: Whole, channels: Whole) -> str:
        """Return the keys of the cells that went over the link, a line for each, from 0.

        Args:
            paths: (n,) The VPI of each VC.
            channels: (n,) Its VCI.
        """
        rows = [
            f"{paths[vc]},{channels[vc]},{number},0x{key.reveal().hex()}"
            for (vc, number), key in sorted(self._keys.items())
        ]
        return "".join(f"{row}\n" for row in (HEADING, *rows))

    def _keep_keys(self, vc: Whole, jump: Whole) -> None:
        for of, after in np.unique(np.stack([vc, jump]), axis=1).T.tolist():
            number = self._number_key(of, after)
            if (of, number) not in self._keys:
                key = derive_cell_key(self._experiment, int(self._sender[of]), of, after)
                self._keys[of, number] = key

    def _find_vc(self, items: Items) -> Whole:
        vc: Whole = self._experiment.streams.find_connection(
            items.batch.connection.astype(np.int64)
        )
        return vc

    def _number_key(self, vc: int, jump: int) -> int:
        element = self._experiment.nodes[self._sender[vc]].element
        assert isinstance(element, SecurityEnd)  # noqa: S101 -- as `find_encrypting` has it
        return element.number_key(jump)
