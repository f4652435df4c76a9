"""Batches are rows of columns that are shared, joined and cut."""

from collections.abc import Callable

import numpy as np

from qospec.engine.items.batch import Batch, is_well_formed, join_batches, make_empty

Maker = Callable[..., Batch]


def test_a_part_shares_its_columns(batch_of: Maker) -> None:
    batch = batch_of([1, 2, 3], [7, 8, 9])
    part = batch.select_range(1, 3)
    assert part.equals(batch_of([2, 3], [8, 9]))
    assert np.shares_memory(part.connection, batch.connection)


def test_cells_are_selected_by_mask_and_by_number(batch_of: Maker) -> None:
    batch = batch_of([1, 2, 3], [7, 8, 9])
    expected = batch_of([1, 3], [7, 9])
    assert batch.select(np.array([True, False, True])).equals(expected)
    assert batch.select(np.array([0, 2])).equals(expected)


def test_batches_are_equal_only_in_all_columns(batch_of: Maker) -> None:
    batch = batch_of([1, 2])
    assert batch.equals(batch_of([1, 2]))
    assert not batch.equals(batch._replace(marks=np.array([0, 1], np.uint32)))
    assert not batch.equals(batch.select_range(0, 1))


def test_joining_one_or_none_copies_nothing(batch_of: Maker) -> None:
    batch = batch_of([1])
    assert join_batches(make_empty(), batch, make_empty()) is batch
    assert join_batches() is make_empty()
    assert join_batches(batch_of([1]), batch_of([1]), batch_of([4])).equals(batch_of([1, 1, 4]))


def test_times_that_fall_are_not_well_formed(batch_of: Maker) -> None:
    assert is_well_formed(batch_of([1, 1, 2]))
    assert not is_well_formed(batch_of([2, 1]))
    assert not is_well_formed(batch_of([1, 2])._replace(marks=np.zeros(1, np.uint32)))
    assert is_well_formed(make_empty())
