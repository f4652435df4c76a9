"""The merge keeps the order of time, then of inputs, and every column."""

import numpy as np
import pytest

from qospec.engine.items.batch import Batch, build_batch, make_empty
from qospec.engine.items.merge import merge_batches


def drawn(stream: np.random.Generator, count: int, first: int) -> Batch:
    """Return cells at few different times, so that many are equal; `sent_ps` numbers them."""
    batch = build_batch(
        at_ps=np.sort(stream.integers(0, 20, count)),
        sent_ps=np.arange(first, first + count),
        connection=stream.integers(0, 9, count).astype(np.int32),
        size_bytes=stream.integers(1, 99, count).astype(np.int32),
        marks=stream.integers(0, 2, count).astype(np.uint32),
    )
    noted = first % 200 == 0
    return batch.with_column("seal", stream.integers(0, 9, count)) if noted else batch


@pytest.mark.parametrize("inputs", [2, 3, 4, 5, 16, 17])
def test_cells_come_in_order_of_time_then_of_input(inputs: int) -> None:
    stream = np.random.Generator(np.random.Philox(inputs))
    batches = [drawn(stream, int(stream.integers(0, 40)), 100 * i) for i in range(inputs)]
    # Python's sort is stable, and the inputs are given to it one after the other.
    items = (
        row for batch in batches for row in zip(*batch[:5], batch.read_column("seal"), strict=True)
    )
    rows = sorted(items, key=lambda row: row[0])
    both = merge_batches(batches)
    assert [tuple(row) for row in zip(*both[:5], both.read_column("seal"), strict=True)] == rows
    assert [column.dtype for column in both] == [column.dtype for column in make_empty()]


def test_a_tie_goes_to_the_earlier_input() -> None:
    stream = np.random.Generator(np.random.Philox(1))
    one, two = (drawn(stream, 1, n)._replace(at_ps=np.array([7])) for n in (1, 2))
    assert merge_batches([one, two]).sent_ps.tolist() == [1, 2]
    assert merge_batches([two, one]).sent_ps.tolist() == [2, 1]


def test_a_single_input_with_cells_is_passed_on_as_it_is() -> None:
    batch = drawn(np.random.Generator(np.random.Philox(1)), 5, 0)
    assert merge_batches([make_empty(), batch, make_empty()]) is batch


def test_nothing_merged_is_nothing() -> None:
    assert merge_batches([]).count == 0
    assert merge_batches([make_empty(), make_empty()]).count == 0


def test_inputs_are_not_changed() -> None:
    stream = np.random.Generator(np.random.Philox(3))
    one, two = drawn(stream, 9, 0), drawn(stream, 9, 9)
    copies = [batch._make(column.copy() for column in batch) for batch in (one, two)]
    merge_batches([one, two])
    assert one.equals(copies[0])
    assert two.equals(copies[1])
