"""The rate of bits that arrive, by layer."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue import metric
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.engine.tally import Tally

HEADER_BYTES = 5


@metric(source="ITU-T I.361, 2 (a cell has 53 octets, 48 of them payload)")
class BitRate:
    """Divide the bits that arrived in the window by its length, in bit/s.

    `cell` counts the 53 octets of each cell, `payload` the 48 behind its header.
    """

    dimension = "rate"
    better = "more"
    least = 0
    statistics: tuple[str, ...] = ("cell", "payload")
    exact = False
    needs: frozenset[str] = frozenset()

    def measure(self, tally: Tally, statistic: str) -> Fraction | None:
        """Return bit/s in one layer; None if the window has no length."""
        if statistic not in self.statistics:
            raise ValueError(f"bit_rate has no statistic `{statistic}`")
        if not tally.window_ps:
            return None
        size_bytes = tally.size_bytes - (HEADER_BYTES if statistic == "payload" else 0)
        return Fraction(tally.carried * size_bytes * 8 * PS_PER_S, tally.window_ps)
