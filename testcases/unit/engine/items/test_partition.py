"""A batch is parted by outputs and by losses; each part keeps its order and all columns."""

import numpy as np
import pytest

from qospec.engine.items.batch import Batch, build_batch, count_columns, make_empty
from qospec.engine.items.partition import partition, split


def numbered(numbers: list[int], *, sealed: bool = False) -> Batch:
    """Return items of which every column tells the number, each in its own way."""
    n = np.array(numbers, np.int64)
    batch = build_batch(
        at_ps=10 * n,
        sent_ps=10 * n - 3,
        connection=(n % 4).astype(np.int32),
        size_bytes=(53 + n).astype(np.int32),
        marks=(100 + n).astype(np.uint32),
    )
    return batch.with_column("seal", 7 * n) if sealed else batch


@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize(
    ("lost", "stay", "go"),
    [
        ([0, 1, 0, 0, 1], [1, 3, 4], [2, 5]),
        ([1, 0, 0, 2, 0], [2, 3, 5], [1, 4]),  # whatever the cause
        ([1, 1, 1, 1, 0], [5], [1, 2, 3, 4]),
        ([0, 0, 0, 0, 255], [1, 2, 3, 4], [5]),
    ],
)
def test_what_goes_on_and_what_is_lost_keep_their_order(lost, stay, go, sealed):
    batch = numbered([1, 2, 3, 4, 5], sealed=sealed)
    kept, gone = split(batch, np.array(lost, np.uint8), len(go))
    assert kept.equals(numbered(stay, sealed=sealed))
    assert gone.equals(numbered(go, sealed=sealed))
    assert kept.width == gone.width == sealed * count_columns("seal")


def test_a_batch_that_stays_whole_is_not_copied():
    batch = numbered([1, 2])
    kept, gone = split(batch, np.zeros(2, np.uint8), 0)
    assert (kept is batch, gone is make_empty()) == (True, True)
    kept, gone = split(batch, np.ones(2, np.uint8), 2)
    assert (kept is make_empty(), gone is batch) == (True, True)


@pytest.mark.parametrize("sealed", [False, True])
def test_the_items_of_each_output_keep_their_order(sealed):
    batch = numbered([1, 2, 3, 4, 5], sealed=sealed)
    parts = partition(batch, np.array([2, 0, 2, 3, 0], np.uint8), (2, 0, 2, 1))
    expected = ([2, 5], [], [1, 3], [4])
    assert all(
        part.equals(numbered(numbers, sealed=sealed))
        for part, numbers in zip(parts, expected, strict=True)
    )
