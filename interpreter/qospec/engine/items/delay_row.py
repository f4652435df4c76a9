"""A row of delay statistics: what is kept of the delays of a connection, as exact integers.

A square has twice the bits of its delay, so sums are kept in two words; see `measure.delays`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.kernel import kernel, link_kernel, read_double_bits

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole

COUNT, LEAST, LARGEST, SUM_LOW, SUM_HIGH, SQUARES_LOW, SQUARES_HIGH, BUCKETS = range(8)
"""Columns of a row, which fills one cache line. BUCKETS is where the histogram row of the
connection begins, or -1."""

SUM_BITS, SQUARES_BITS = 31, 62
"""The unit of the upper word of each sum, as a power of two."""
SQUARES_MODULUS = 1 << (64 + SQUARES_BITS)
"""Two words hold a sum of squares modulo this."""
NO_DELAY_PS = 2**62
"""`LEAST` of a row without cells."""

FRACTION_SHIFT = 52 - 9
BELOW_ONE = (1023 << 9) - 1
"""By which a bucket follows from the bits of a delay as a double."""
LOW_31 = 2**31 - 1
_LOW_30, _LOW_62 = 2**30 - 1, 2**62 - 1

LONG = False
"""Whether delays above 2 ms are expected: if they are frequent, treating all as long costs less
than testing each."""


@kernel
def add_delay(row: Whole, delay_ps: int, record_ps: int, buckets: Whole) -> int:
    """Add one delay to its row and bucket; return it if it is larger than all before.

    Else `record_ps` is returned: to answer yes or no, and let the caller ask, takes 8 % longer.
    """
    start = row[BUCKETS]
    if start >= 0:
        bits = read_double_bits(delay_ps)
        buckets[start + max(0, (bits >> FRACTION_SHIFT) - BELOW_ONE)] += 1
    row[COUNT] += 1
    # Rarely true, hence branches: without a store no later cell waits for it.
    if delay_ps < row[LEAST]:  # noqa: PLR1730
        row[LEAST] = delay_ps
    if delay_ps > row[LARGEST]:
        row[LARGEST] = record_ps = delay_ps
    # (a 2^31 + b)^2 = a^2 2^62 + ab 2^32 + b^2. Below 2 ms there is no a.
    a, b = delay_ps >> SUM_BITS, delay_ps & LOW_31
    row[SUM_LOW] += b
    low = row[SQUARES_LOW] + b * b
    if LONG or a > 0:
        row[SUM_HIGH] += a
        row[SQUARES_HIGH] += a * a + (a * b >> 30) + (low >> SQUARES_BITS)
        low = (low & _LOW_62) + ((a * b & _LOW_30) << 32)
    if LONG or low > _LOW_62:
        row[SQUARES_HIGH] += low >> SQUARES_BITS
        low &= _LOW_62
    row[SQUARES_LOW] = low
    return record_ps


add_long_delay = link_kernel(add_delay, "long", {"LONG": True})
