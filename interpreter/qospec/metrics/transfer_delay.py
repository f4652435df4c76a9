"""The cell transfer delay."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING

from qospec.catalogue import metric
from qospec.engine.tally import share_of

if TYPE_CHECKING:
    from qospec.engine.tally import Delays, Tally


@metric(source="ITU-T I.356, 6 (cell transfer delay)", aliases=("delay", "ctd"))
class TransferDelay:
    """Measure from the first bit that leaves the source to the last bit that arrives, in ps.

    `mean`, `min`, `max` and `std` are exact; `std` is that of the population, not of a sample, and
    rounded down to 1/n ps. A quantile `pN` is the least delay that N % of the cells do not exceed,
    from a histogram, so up to 0.1 % off; `p99_9` is that of 99.9 %.
    """

    dimension = "time"
    least = 0
    statistics: tuple[str, ...] = ("mean", "min", "max", "std", "p*")
    exact = False
    needs: frozenset[str] = frozenset({"histogram"})

    def measure(self, tally: Tally, statistic: str) -> Fraction | int | None:
        """Return ps; None if no cell arrived, or for a quantile if no histogram was kept."""
        delays = tally.delays
        share = share_of(statistic)
        if share is None and statistic not in self.statistics[:4]:
            raise ValueError(f"transfer_delay has no statistic `{statistic}`")
        if not delays.count:
            return None
        if share is not None:
            return delays.quantile_ps(share)
        if statistic == "mean":
            return Fraction(delays.sum_ps, delays.count)
        if statistic == "std":
            return _standard_deviation_ps(delays)
        return delays.min_ps if statistic == "min" else delays.max_ps


def _standard_deviation_ps(delays: Delays) -> Fraction:
    spread = delays.count * delays.sum_of_squares_ps2 - delays.sum_ps**2
    return Fraction(isqrt(spread), delays.count)
