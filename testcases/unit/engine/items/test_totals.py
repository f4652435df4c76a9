"""Totals of batches: by hand, summed item by item or known from one of them."""

from collections.abc import Callable

import pytest

from qospec.engine.items.batch import Batch
from qospec.engine.items.totals import Totals
from qospec.protocol.streams import number_flow


@pytest.mark.parametrize(
    ("connections", "expected"),
    [([1, 2, 0], [[3, 159], [0, 0]]), ([4, 5], [[0, 0], [2, 106]])],
    ids=["of users", "that were inserted"],
)
def test_cells_of_one_kind_have_the_totals_of_their_sum(
    connections: list[int], expected: list[list[int]], batch_of: Callable[..., Batch]
) -> None:
    """Indices of three connections, then of cells inserted into them; 53 bytes each."""
    batch = batch_of([0] * len(connections), connections)
    summed, known = (Totals(number_flow(3, ("oam",))) for _ in range(2))
    known.know_alike(batch)
    assert known.count(batch).tolist() == summed.count(batch).tolist() == expected
