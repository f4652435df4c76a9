"""Sums are exact at any size; a bucket is never wider than 1/512 of what it holds."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from qospec.engine.items import delay_row
from qospec.engine.items.batch import Batch
from qospec.engine.measure import delays

EDGES = [
    0,
    1,
    2,
    511,
    512,
    513,
    1023,
    1024,
    1025,
    2**31 - 1,
    2**31,
    2**31 + 1,
    3 * 2**31 + 7,
    2**52,
]
EXACT_UP_TO_PS = 2**53


def kept(values: list[int], histogram_row: int = 0) -> tuple[list[int], np.ndarray]:
    """Return the row and the buckets of one connection with these delays.

    They come in two batches: once one was long, those of later batches are counted as long ones.
    """
    rows = delays.create_rows(np.array([histogram_row]))
    histogram = delays.Histogram(1)
    for batch in (values[: len(values) // 2], values[len(values) // 2 :]):
        sent_ps = np.arange(len(batch), dtype=np.int64)
        at_ps = sent_ps + np.array(batch, np.int64)
        histogram.add(at_ps, sent_ps, np.zeros(len(batch), np.int32), rows)
    return rows[0].tolist(), histogram.counts


def exact_sums(row: list[int]) -> tuple[int, int]:
    low, high = row[delay_row.SUM_LOW], row[delay_row.SUM_HIGH]
    squares_low, squares_high = row[delay_row.SQUARES_LOW], row[delay_row.SQUARES_HIGH]
    return low + (high << delay_row.SUM_BITS), squares_low + (
        squares_high << delay_row.SQUARES_BITS
    )


def test_a_row_without_cells() -> None:
    row, counts = kept([])
    assert row[delay_row.COUNT] == 0
    assert exact_sums(row) == (0, 0)
    assert not counts.any()


@pytest.mark.parametrize("seed", range(3))
def test_sums_and_extremes_equal_those_of_plain_integers(seed: int) -> None:
    stream = np.random.Generator(np.random.Philox(seed))
    values = [int(2 ** stream.uniform(0, 53)) for _ in range(200)] + EDGES
    row, _ = kept(values)
    assert row[delay_row.COUNT] == len(values)
    assert (row[delay_row.LEAST], row[delay_row.LARGEST]) == (min(values), max(values))
    assert exact_sums(row) == (sum(values), sum(value**2 for value in values))


@pytest.mark.parametrize("first_ps", [5, 2**31])
def test_short_and_long_delays_may_take_turns(first_ps: int) -> None:
    values = [first_ps, *[2**31 - 1, 2**40 + 3, 7] * 300]
    row, _ = kept(values)
    assert exact_sums(row) == (sum(values), sum(value**2 for value in values))
    assert 0 <= row[delay_row.SQUARES_LOW] < 2**delay_row.SQUARES_BITS


def test_a_square_of_the_longest_delays_is_exact() -> None:
    values = [2**59 - 1, 2**59 - 12_345]
    row, _ = kept(values)
    assert exact_sums(row) == (sum(values), sum(value**2 for value in values))


@pytest.mark.parametrize("delay_ps", [*EDGES, 7_123_456, 10**12, 2**53 - 1])
def test_a_delay_lies_within_its_bucket(delay_ps: int) -> None:
    _, counts = kept([delay_ps])
    (bucket,) = np.nonzero(counts)[0].tolist()
    start_ps, end_ps = delays.find_bucket_start_ps(bucket), delays.find_bucket_start_ps(bucket + 1)
    assert start_ps <= delay_ps < end_ps
    assert bucket == delays.find_bucket(delay_ps)
    assert end_ps - start_ps <= max(1, start_ps / 512)


ELEVEN_DAYS_PS = 95 * 10**16


@pytest.mark.parametrize(
    "values",
    [
        [ELEVEN_DAYS_PS + n for n in range(60)],
        [ELEVEN_DAYS_PS + n * 10**9 for n in range(3_000)],
        [0, *[ELEVEN_DAYS_PS] * 200],
        [n % 2 * ELEVEN_DAYS_PS for n in range(250)],
        [2**31 - 1] * 5,
    ],
)
def test_squares_that_go_round_are_found(values: list[int]) -> None:
    row, _ = kept(values)
    assert delays.sum_squares_ps2(np.array([row])) == sum(value**2 for value in values)


def test_squares_that_may_have_overflowed_more_than_once_are_unknown() -> None:
    row, _ = kept([n % 2 * ELEVEN_DAYS_PS for n in range(1_000)])
    assert delays.sum_squares_ps2(np.array([row])) is None
    all_delays = delays.DelaySummary(np.array([row]), np.zeros((1, 1), np.int64), 0).pool(
        slice(None)
    )
    assert all_delays.read("mean") == Fraction(ELEVEN_DAYS_PS, 2)
    assert all_delays.reduce(1).read("std") is None
    assert all_delays.read("sample_std") is None


def test_buckets_rise_without_gap() -> None:
    starts = [delays.find_bucket_start_ps(bucket) for bucket in range(delays.ROW_BUCKETS)]
    assert starts == sorted(starts)
    assert starts[:2] == [0, 1]
    assert starts[-1] > EXACT_UP_TO_PS


def test_a_connection_without_histogram_adds_to_no_bucket() -> None:
    row, counts = kept([5, 6], histogram_row=-1)
    assert row[delay_row.COUNT] == 2
    assert not counts.any()


def test_connections_keep_apart(batch_of: Callable[..., Batch]) -> None:
    rows = delays.create_rows(np.array([1, -1, 0]))
    histogram = delays.Histogram(2)
    batch = batch_of([10, 20, 30], connection=[0, 2, 0], sent_ps=[4, 10, 20])
    histogram.add(batch.at_ps, batch.sent_ps, batch.connection, rows)
    assert rows[:, delay_row.COUNT].tolist() == [2, 0, 1]
    assert exact_sums(rows[0].tolist()) == (16, 136)
    assert exact_sums(rows[2].tolist()) == (10, 100)
    by_row = histogram.counts.reshape(2, -1)
    assert by_row.sum(axis=1).tolist() == [1, 2]


def test_count_adds_a_step_per_cell() -> None:
    counts = np.array([5, 0, 0], np.int64)
    delays.count(np.array([0, 2, 2], np.uint32), counts, -2)
    assert counts.tolist() == [3, 0, -4]


def test_sums_are_exact_of_any_number_of_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words are set in order now and then: a sum's lower one would be full after 2^32 cells."""
    monkeypatch.setattr(delays, "NORMALISE_AFTER", 3)
    rows, histogram = delays.create_rows(np.array([-1])), delays.Histogram(0)
    sent_ps, whose = np.arange(2, dtype=np.int64), np.zeros(2, np.int32)
    for _ in range(5):
        histogram.add(sent_ps + 2**31 - 1, sent_ps, whose, rows)
        assert rows[0, delay_row.SUM_LOW] < 4 * 2**31
    assert exact_sums(rows[0].tolist())[0] == 10 * (2**31 - 1)
