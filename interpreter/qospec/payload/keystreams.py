"""What encrypts the payloads of cells, and decrypts them: the keystreams of all VCs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.ciphers.cells import CellCipher
from qospec.engine.arrays import np
from qospec.engine.security.state_vector import jump_of
from qospec.payload.associations import cell_key

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.experiment import Experiment
    from qospec.payload.packets import Bytes


class Keystreams:
    """The keystreams of a trial."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment, self._count = experiment, experiment.connections.count
        self._streams: tuple[Whole, CellCipher] = np.zeros((0, 3), np.int64), CellCipher(())

    def xored(self, sender: Whole, vc: Whole, position: Whole, cells: Bytes) -> Bytes:
        """Return the payloads of cells, each with its part of a keystream added.

        That encrypts as well as it decrypts. Each jump is a stream, as positions in one lie
        together. That none is used twice for encrypting is known where cells are encrypted.

        Args:
            sender: (n,) The node that encrypts each cell.
            vc: (n,) Its VC, from 0.
            position: (n,) Where in the VC's keystream it is.
            cells: (n, 48) The payloads.
        """
        kinds = np.stack([sender, vc, jump_of(position)], axis=1)
        one_of_each = np.full(self._count, -1)
        one_of_each[vc] = np.arange(len(vc))
        if (kinds == kinds[one_of_each[vc]]).all():  # no VC has jumped
            used = one_of_each >= 0
            streams, first = (np.cumsum(used) - 1)[vc], one_of_each[used]
        else:
            # As one number each: rows are sorted ten times as slowly.
            one = (kinds[:, 2] * len(self._experiment.nodes) + sender) * self._count + vc
            _, first, streams = np.unique(one, return_index=True, return_inverse=True)
        return self._cipher(kinds[first]).open(streams, position, cells)

    def _cipher(self, kinds: Whole) -> CellCipher:
        """Return the streams of (sender, VC, jump); the last ones are kept."""
        if not np.array_equal(kinds, self._streams[0]):
            keys = [cell_key(self._experiment, *kind) for kind in kinds.tolist()]
            self._streams = kinds, CellCipher(keys)
        return self._streams[1]
