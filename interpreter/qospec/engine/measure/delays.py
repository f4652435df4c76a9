"""Delay statistics: count, sums and extremes per connection, and a histogram.

All values are exact integers, so neither the order of batches nor the machine affects a digit. A
square has twice the bits of its delay, so sums are kept in two words; overflow of the upper word is
resolved at the end of the trial.

The histogram is log-linear: an octave holds 512 buckets of equal width. A delay's bucket is the
upper bits of the delay written as a double: its exponent and nine bits of its fraction.
"""

from __future__ import annotations

import mmap
from functools import cache
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.items.delay_row import (
    BELOW_ONE,
    BUCKETS,
    COUNT,
    FRACTION_SHIFT,
    LARGEST,
    LEAST,
    LOW_31,
    NO_DELAY_PS,
    SQUARES_BITS,
    SQUARES_LOW,
    SQUARES_MODULUS,
    SUM_BITS,
    SUM_HIGH,
    SUM_LOW,
    add_delay,
    add_long_delay,
)
from qospec.engine.kernel import kernel, link_kernel, read_double_bits
from qospec.engine.measure.tally import Delays

if TYPE_CHECKING:
    from qospec.engine.arrays import Indices, Rows, Times, Whole

NORMALISE_AFTER = 2**31
"""The number of cells after which sums are normalised: a lower word holds twice as many."""
PER_OCTAVE = 512
ROW_BUCKETS = 62 * PER_OCTAVE + 1
"""One bucket for no delay, then 62 octaves. A double is exact up to 2**53 ps, 2.5 hours."""


def create_rows(histogram_row: Whole) -> Whole:
    """Return (n, 8) empty rows, given (n,) the histogram row of each, or -1."""
    rows = np.zeros((len(histogram_row), 8), np.int64)
    rows[:, LEAST] = NO_DELAY_PS
    rows[:, LARGEST] = -1
    rows[:, BUCKETS] = np.where(histogram_row < 0, -1, histogram_row * ROW_BUCKETS)
    return rows


@cache  # of all buckets, at most: trials that are alike fill the same ones
def find_bucket_start_ps(bucket: int) -> int:
    """Return the shortest delay, in whole ps, that falls in `bucket` or in one above it."""
    if bucket <= 0:
        return 0
    octave, part = divmod(bucket - 1, PER_OCTAVE)
    return -(-((PER_OCTAVE + part) << octave) // PER_OCTAVE)


def find_bucket(delay_ps: int) -> int:
    """Return the bucket in which a delay falls."""
    return max(0, (read_double_bits(delay_ps) >> FRACTION_SHIFT) - BELOW_ONE)


class DelaySummary(NamedTuple):
    """The delay statistics of a finished trial.

    Attributes:
        rows: (n, 8) One per connection.
        histogram: (rows, buckets) Counts of delays, from the first filled bucket to the last.
        first_bucket: The bucket of the first column of the histogram.
    """

    rows: Whole
    histogram: Whole
    first_bucket: int

    def pool(self, part: slice) -> Delays:
        """Return the delays of a range of connections."""
        rows = self.rows[part]
        rows = rows[rows[:, COUNT] > 0]
        if not len(rows):
            return Delays()
        count = int(rows[:, COUNT].sum())
        return Delays(
            count=count,
            sum_ps=sum_words(rows, SUM_LOW, SUM_BITS),
            sum_of_squares_ps2=sum_squares_ps2(rows),
            min_ps=int(rows[:, LEAST].min()),
            max_ps=int(rows[:, LARGEST].max()),
            buckets=self._list_buckets(rows, count),
        )

    def _list_buckets(self, rows: Whole, count: int) -> tuple[tuple[int, int, int], ...]:
        """Return the buckets of `rows`; none if other rows share them, or a row has none."""
        starts = rows[:, BUCKETS] if len(rows) == 1 else np.unique(rows[:, BUCKETS])
        if starts[0] < 0:
            return ()
        counts = np.zeros(self.histogram.shape[1], np.int64)
        for row in starts // ROW_BUCKETS:
            counts += self.histogram[row]
        if int(counts.sum()) != count:
            return ()
        filled = np.nonzero(counts)[0]
        bounds = ((int(b) + self.first_bucket, int(counts[b])) for b in filled)
        return tuple(
            (find_bucket_start_ps(b), find_bucket_start_ps(b + 1), items) for b, items in bounds
        )


def sum_words(rows: Whole, low: int, bits: int) -> int:
    """Return the sum of two-word numbers; the upper word is in the column after the lower one."""
    return int(sum(rows[:, low].tolist())) + (int(sum(rows[:, low + 1].tolist())) << bits)


def sum_squares_ps2(rows: Whole) -> int | None:
    """Return the sum of the squares of delays; None if it is unknown.

    The upper word of a sum overflows at 2**64, as with 47 delays of 11 days. The number of
    overflows follows from the other columns, except for hundreds of delays that are days apart.
    """
    if int(rows[:, COUNT].max()) * int(rows[:, LARGEST].max()) ** 2 < SQUARES_MODULUS // 2:
        return sum_words(rows, SQUARES_LOW, SQUARES_BITS)
    found = [_recover_squares(*map(int, row)) for row in rows.tolist()]
    known = [square for square in found if square is not None]
    return sum(known) if len(known) == len(found) else None


def _recover_squares(  # noqa: PLR0913, PLR0917 -- a row, by its columns
    count: int, least: int, largest: int, low: int, high: int, squares: int, upper: int, _: int
) -> int | None:
    """Return a row's sum of squares.

    It is the square of the sum over the count, plus the count times the variance. The latter is at
    least 0 and at most (largest - mean)(mean - least). Source: Bhatia and Davis, Am. Math. Mon. 107
    (2000), 353.
    """
    together = low + (high << SUM_BITS)
    if (count * largest - together) * (together - count * least) >= count * SQUARES_MODULUS:
        return None
    at_least = -(-together * together // count)
    return at_least + (squares + (upper << SQUARES_BITS) - at_least) % SQUARES_MODULUS


class Histogram:
    """Rows of buckets, flat."""

    __slots__ = ("_long", "_unnormalised", "counts")

    def __init__(self, rows: int) -> None:
        self.counts = _create_zeros(rows * ROW_BUCKETS)
        self._unnormalised = 0
        self._long = False

    def add(self, at_ps: Times, sent_ps: Times, connection: Indices, rows: Whole) -> None:
        """Add the delays of some cells to the rows of their connections, and to the buckets.

        `rows` must be the same array in each call.
        """
        self.normalise(len(at_ps), rows)
        # Unsigned indices need no check for counting from the end.
        indices = connection.view(np.uint32)
        add = _add_long if self._long else _add
        if add(at_ps, sent_ps, indices, rows, self.counts) > LOW_31:
            self._long = True

    def normalise(self, more: int, rows: Whole) -> None:
        """Carry from the lower to the upper words of sums if `more` delays could overflow them."""
        self._unnormalised += more
        if self._unnormalised > NORMALISE_AFTER:
            rows[..., SUM_HIGH] += rows[..., SUM_LOW] >> SUM_BITS
            rows[..., SUM_LOW] &= LOW_31
            self._unnormalised = more

    def pool(self, rows: Whole) -> Delays:
        """Return the delays of some of the rows that were added to."""
        return DelaySummary(rows, self.counts.reshape(-1, ROW_BUCKETS), 0).pool(slice(None))

    def build_summary(self, rows: Whole) -> DelaySummary:
        """Return the rows with the buckets that they can have filled."""
        seen = rows[rows[:, COUNT] > 0]
        low = high = 0
        if len(seen):
            low = find_bucket(int(seen[:, LEAST].min()))
            high = find_bucket(int(seen[:, LARGEST].max())) + 1
        counts = self.counts.reshape(-1, ROW_BUCKETS)
        return DelaySummary(rows, counts[:, low:high].copy(), low)


def _create_zeros(count: int) -> Whole:
    """Return zeros of which only the pages that are written to take memory.

    A row has room for all possible delays and uses few of its pages. NumPy allocates large arrays
    in pages of 2 MB, so that thousands of rows would take a gigabyte.
    """
    if not count:
        return np.zeros(0, np.int64)
    memory = mmap.mmap(-1, 8 * count, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, np.int64)


@kernel
def _add(at_ps: Times, sent_ps: Times, connection: Rows, rows: Whole, buckets: Whole) -> int:
    """Add delays: up to 2**32 for each connection before its sums are normalised.

    Return the last delay that was larger than all before it on its connection; 0 if none was.

    Args:
        at_ps: (n,) When the cells arrived.
        sent_ps: (n,) When they were sent; not later.
        connection: (n,) Row of each.
        rows: (connections, 8) Updated.
        buckets: (rows * ROW_BUCKETS,) Updated.
    """
    record_ps = 0
    for i in range(len(at_ps)):
        row, delay_ps = rows[connection[i]], at_ps[i] - sent_ps[i]
        record_ps = add_delay(row, delay_ps, record_ps, buckets)
    return record_ps


_add_long = link_kernel(_add, "long", {"add_delay": add_long_delay})


@kernel
def count(connection: Rows, counts: Whole, step: int) -> None:
    """Add `step` for each cell.

    Args:
        connection: (n,) The connection of each cell.
        counts: (connections,) Updated.
        step: What each cell adds.
    """
    for i in range(len(connection)):
        counts[connection[i]] += step
