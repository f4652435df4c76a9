"""Which keys encrypted the items of each connection, as their devices held them.

What a device has noted of an item says which key it was, and keys are compared by their bytes: a
device that gives one key to all connections has one, however many it says it has.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from qospec.engine.arrays import np
from qospec.engine.security.association import Association
from qospec.engine.security.seal import LARGEST_INDEX, SIZE_BITS, UNTAMPERED
from qospec.engine.security.state_vector import count_jumps
from qospec.payload.associations import derive_cell_key, list_associations

if TYPE_CHECKING:
    from qospec.ciphers.key import Key
    from qospec.engine.arrays import Whole
    from qospec.engine.experiment import Experiment
    from qospec.engine.items.batch import Batch

NONE = -1


class KeysInUse:
    """The keys with which items of users that were sent within the window were encrypted."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        self._last: dict[int, Whole] = {}
        self._used: set[tuple[int, int, int]] = set()
        self._associations = cache(lambda node: list_associations(experiment, node))

    def note_passage(self, node: int, batch: Batch) -> None:
        """Take note of items that a node has encrypted."""
        streams, measurement = self._experiment.streams, self._experiment.measurement
        seal = batch.read_column("seal") & UNTAMPERED
        number: Whole = seal >> SIZE_BITS & LARGEST_INDEX
        if not self._is_association(node):
            number = count_jumps(seal)
        last = self._last.setdefault(node, np.full(streams.indices, NONE, np.int64))
        of = batch.connection
        new = number != last[of]
        if new.any():  # of few batches
            new &= (seal != 0) & (of < streams.count)
            new &= (batch.sent_ps >= measurement.start_ps) & (batch.sent_ps < measurement.stop_ps)
            last[of[new]] = number[new]
            self._used.update(
                (node, *row) for row in zip(of[new].tolist(), number[new].tolist(), strict=True)
            )

    def list_by_connection(self) -> dict[int, frozenset[Key]]:
        """Return the keys of each connection that has any."""
        found: dict[int, set[Key]] = {}
        for node, connection, number in sorted(self._used):
            found.setdefault(connection, set()).add(self._find(node, connection, number))
        return {connection: frozenset(keys) for connection, keys in found.items()}

    def _find(self, node: int, connection: int, number: int) -> Key:
        if self._is_association(node):
            return self._associations(node)[number].encryption_key
        return derive_cell_key(self._experiment, node, connection, number)

    def _is_association(self, node: int) -> bool:
        return isinstance(self._experiment.nodes[node].element, Association)
