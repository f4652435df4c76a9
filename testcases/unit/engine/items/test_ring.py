"""A ring with more places keeps its rows."""

import numpy as np
import pytest

from qospec.engine.items.ring import double_ring


@pytest.mark.parametrize("head", [0, 3, 4, 7, 100])
def test_rows_keep_their_numbers(head):
    ring = np.zeros((4, 2), np.int64)
    for number in range(head, head + 4):
        ring[number % 4] = number, -number
    after = double_ring(ring.ravel(), 2, head, head + 4).reshape(-1, 2)
    assert len(after) == 8
    for number in range(head, head + 4):
        assert after[number % 8].tolist() == [number, -number]
