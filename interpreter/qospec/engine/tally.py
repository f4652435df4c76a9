"""What was seen of one population (a flow, a member, its OAM cells), as exact plain numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from qospec.engine.volume import Volume


def share_of(quantile: str) -> Fraction | None:
    """Return the share that a quantile is named for, 999/1000 for `p99_9`; None for other names."""
    named = re.fullmatch(r"p(\d+)(?:_(\d+))?", quantile)
    if named is None:
        return None
    whole, digits = named[1], named[2] or ""
    share = Fraction(int(whole + digits), 100 * 10 ** len(digits))
    return share if share <= 1 else None


@dataclass(frozen=True)
class Delays:
    """The transfer delays of a population, in ps.

    `buckets` holds (lowest delay of the bucket, lowest delay above it, count), in rising order; a
    bucket's width is at most 1/512 of its lowest delay.
    """

    count: int = 0
    sum_ps: int = 0
    sum_of_squares_ps2: int = 0
    min_ps: int | None = None
    max_ps: int | None = None
    buckets: tuple[tuple[int, int, int], ...] = ()

    def quantile_ps(self, share: Fraction) -> int | None:
        """Return the delay that `share` of the cells do not exceed; None without cells or buckets.

        The smallest d with at least share * count delays <= d. The bucket's middle stands for its
        cells, kept within min and max, so the error is at most 0.1 %.
        """
        if not self.count or self.min_ps is None or self.max_ps is None:
            return None
        wanted = -(-share * self.count // 1)
        if wanted <= 1:
            return self.min_ps
        if wanted >= self.count:
            return self.max_ps
        seen = 0
        for low, high, count in self.buckets:
            seen += count
            if seen >= wanted:
                return min(max((low + high) // 2, self.min_ps), self.max_ps)
        return None


@dataclass(frozen=True)
class Tally:
    """Counts of one population in one trial.

    Attributes:
        connections: How many connections it holds.
        up: Over how many of them at least one cell arrived.
        planned: Cells that the source had ready in the window.
        sent: Cells whose first bit left the source's line in the window; for OAM: inserted.
        received: Those of `sent` that arrived, whenever.
        carried: Cells that arrived in the window, whenever they were sent.
        lost: Those of `sent` that ended on the way, by (element's path, cause).
        size_bytes: Length of a cell.
        window_ps: Length of the window.
        delays: Of `received`.
        volume: Of packets: the bytes of `carried`, by layer.
        sent_volume: Likewise, of `sent`.
        clumping_max_ps: Largest 1-point CDV y_k (cells early, in clumps), with `Watch.clumping`.
        clumping_min_ps: Smallest y_k (gaps).
    """

    connections: int
    up: int
    planned: int
    sent: int
    received: int
    lost: dict[tuple[str, str], int]
    size_bytes: int
    window_ps: int
    carried: int = 0
    delays: Delays = field(default_factory=Delays)
    volume: Volume | None = None
    sent_volume: Volume | None = None
    clumping_max_ps: int | None = None
    clumping_min_ps: int | None = None

    @property
    def lost_count(self) -> int:
        """Return how many cells ended on the way, whatever the cause."""
        return sum(self.lost.values())


class Metric(Protocol):
    """What is read off a population.

    Attributes:
        dimension: Of its value: "cells", "cell rate" (cells/s), "rate" (bit/s), "time" (ps),
            "ratio" or "count".
        statistics: The names of its numbers, "p*" for all quantiles; empty if it is one number.
        exact: Whether it counts, so that it may be compared with ==.
        better: "more" if its least value is the worst of a group; may be left out, and then the
            greatest is.
        least: What it is never below; may be left out, and then there is nothing to say of that.
        most: What it is never above; likewise.
        needs: What the trial must record for it: "histogram" (for quantiles only), "clumping".
    """

    dimension: str
    statistics: tuple[str, ...]
    exact: bool
    needs: frozenset[str]

    def measure(self, tally: Tally, statistic: str = "", /) -> Fraction | int | None:
        """Return its value, or None where there is no data.

        Raises:
            ValueError: It has no such statistic.
        """
