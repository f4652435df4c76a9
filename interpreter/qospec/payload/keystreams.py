"""What encrypts the payloads of cells, and decrypts them: the keystreams of all VCs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.ciphers.cells import CellCipher
from qospec.engine.arrays import np
from qospec.engine.security.state_vector import count_jumps
from qospec.payload.associations import derive_cell_key, has_shared_key

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.experiment import Experiment
    from qospec.payload.packets import Bytes


class Keystreams:
    """The keystreams of a trial, as what encrypts has them, or as a `holder` that decrypts."""

    def __init__(self, experiment: Experiment, holder: int | None = None) -> None:
        self._holder = holder
        self._experiment, self._count = experiment, experiment.streams.count
        self._kinds = np.full((self._count, 3), -1)
        self._stream = np.zeros(self._count, np.int64)
        self._cipher = CellCipher(())

    def xor(self, sender: Whole, vc: Whole, position: Whole, cells: Bytes) -> Bytes:
        """Return the payloads of cells, each with its part of a keystream added.

        That encrypts as well as it decrypts. Each jump is a stream, as positions in one lie
        together. That none is used twice for encrypting is known where cells are encrypted.

        Args:
            sender: (n,) The node that encrypts each cell.
            vc: (n,) Its VC, from 0.
            position: (n,) Where in the VC's keystream it is.
            cells: (n, 48) The payloads.
        """
        kinds = np.stack([sender, vc, count_jumps(position)], axis=1)
        one_of_each = np.full(self._count, -1)
        one_of_each[vc] = np.arange(len(vc))
        if (kinds == kinds[one_of_each[vc]]).all():  # no VC has jumped
            self._know(kinds[one_of_each[one_of_each >= 0]])
            return self._cipher.xor(self._stream[vc], position, cells)
        # As one number each: rows are sorted ten times as slowly.
        one = (kinds[:, 2] * len(self._experiment.nodes) + sender) * self._count + vc
        _, first, streams = np.unique(one, return_index=True, return_inverse=True)
        return self._build_cipher(kinds[first]).xor(streams, position, cells)

    def _know(self, kinds: Whole) -> None:
        """Keep the streams of some VCs, by (sender, VC, jump), beside those of others."""
        if (self._kinds[kinds[:, 1]] == kinds).all():
            return
        self._kinds[kinds[:, 1]] = kinds
        known = np.flatnonzero(self._kinds[:, 1] >= 0)
        self._stream[known] = np.arange(len(known))
        self._cipher = self._build_cipher(self._kinds[known])

    def _build_cipher(self, kinds: Whole) -> CellCipher:
        """Return the streams of (sender, VC, jump)."""
        return CellCipher(
            [
                derive_cell_key(self._experiment, sender, vc, jump, self._holder)
                for sender, vc, jump in kinds.tolist()
            ],
            [
                vc * has_shared_key(self._experiment, sender, vc)
                for sender, vc in kinds[:, :2].tolist()
            ],
        )
