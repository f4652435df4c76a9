"""What is seen of bytes, by connection: what arrived errored, and what encrypted it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from qospec.engine.arrays import Whole


class Payloads(NamedTuple):
    """What a trial that makes bytes has seen of them.

    Attributes:
        errored: (n,) Of those of `sent` that arrived, by connection, those with other bytes.
        keys: By connection, the keys with which its own items sent within the window were
            encrypted; equal if they have the same bytes.
    """

    errored: Whole
    keys: Mapping[int, frozenset[Hashable]] = {}

    def count_errored(self, part: slice) -> int:
        """Return how many items of some connections were errored."""
        return int(self.errored[part].sum())

    def count_keys(self, part: slice) -> int:
        """Return how many different keys some connections have."""
        its = (self.keys.get(number, frozenset()) for number in range(part.start, part.stop))
        return len(frozenset().union(*its))
