"""The numbers that items are encrypted with: with one key, none may occur twice.

The nonces of a cipher follow from key and number, and the same nonce twice would reveal what was
encrypted (RFC 4106, 3.1; RFC 3686, 2.1). Each device counts for itself, and a plan refuses one key
for two of them (`plan.findings.feasibility`), so a number occurs twice only if a device counts
wrongly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.ciphers.numbering import NonceError
from qospec.engine.arrays import np
from qospec.engine.kernel import kernel
from qospec.engine.security.association import Association
from qospec.engine.security.seal import INDEX_BITS, SIZE_BITS, UNTAMPERED
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.engine.arrays import Indices, Whole
    from qospec.engine.experiment import Experiment
    from qospec.engine.items.batch import Batch

NONE = -1


class Nonces:
    """What each node of a trial has encrypted with."""

    def __init__(self, experiment: Experiment) -> None:
        self._nodes = experiment.nodes
        self._indices = experiment.streams.indices
        self._last: dict[int, Whole] = {}

    def claim(self, node: int, batch: Batch) -> None:
        """Take note of items that a node has encrypted, in order of time.

        Raises:
            NonceError: One of them has a number that the node has used.
        """
        element = self._nodes[node].element
        seal = batch.read_column("seal") & UNTAMPERED
        if isinstance(element, Association):
            # The numbers of a successor begin anew, and its index is higher.
            number = seal >> INDEX_BITS + SIZE_BITS
            index = seal >> SIZE_BITS & (1 << INDEX_BITS) - 1
            value = index << 32 | number
            stream = np.zeros(batch.count, np.int32)
        else:
            value, stream = seal, batch.connection
        last = self._last.setdefault(node, np.zeros(self._indices, np.int64))
        place = _find_repeated(stream, value, last)
        if place != NONE:
            raise NonceError(
                f"`{self._nodes[node].path}` would use a number of its key twice, at"
                f" {_format_seconds(int(batch.at_ps[place]))}: nothing is encrypted with it"
            )


def _format_seconds(at_ps: int) -> str:
    return f"{at_ps / PS_PER_S:.9f} s"


@kernel
def _find_repeated(stream: Indices, value: Whole, last: Whole) -> int:
    """Return the place of the first value that is not above the last of its stream, or NONE.

    Values of 0 are of items that are not encrypted.
    """
    for i in range(len(value)):
        if value[i] and value[i] <= last[stream[i]]:
            return i
        if value[i]:
            last[stream[i]] = value[i]
    return NONE
