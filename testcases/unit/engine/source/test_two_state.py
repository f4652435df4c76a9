"""Sources of two states, draw by draw."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qospec.engine.source import two_state
from qospec.engine.source.two_state import ConnectionStates, ConstantGap

DRAWN = np.array(
    [
        [30, 31, 32, 33, 34, 35],  # stays in the first state
        [20, 21, 22, 23, 24, 25],  # and in the second
        [40, 100, 9, 50, 9, 9],  # gaps in the first state
        [5, 11, 12, 6, 60, 9],  # and in the second
    ],
    np.int64,
)


def test_each_stay_and_each_gap_takes_the_next_draw_of_its_state():
    """It leaves the first state at 50, 100 and 152, the second at 70 and 121."""
    one = np.zeros(1, np.int64)
    states = ConnectionStates(
        np.array([False]), one + 50, one + 3, one.copy(), one.copy(), one + 3, np.zeros(1, np.int32)
    )
    used, at_ps, connection = np.zeros(4, np.int64), np.zeros(9, np.int64), np.zeros(9, np.int32)
    at_random = True
    count, done = two_state._advance(
        125, states, ConstantGap(0, 0, 1), at_random, (DRAWN, used), (at_ps, connection)
    )
    assert done
    assert at_ps[:count].tolist() == [3, 43, 55, 66, 79, 106]
    assert used.tolist() == [2, 2, 5, 5]
    assert states.leaves_ps.tolist() == [152]


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=12),
    st.lists(st.integers(0, 2), max_size=20),
)
def test_of_connections_that_are_due_together_the_first_is_next(due, later):
    due_ps = np.array(due, np.int64)
    heap = due_ps.argsort(kind="stable").astype(np.int32)
    for more in later:
        due_ps[heap[0]] += more
        two_state._sift_down(heap, due_ps)
        assert sorted(heap.tolist()) == [*range(len(due))]
        assert heap[0] == min(range(len(due)), key=lambda i: (due_ps[i], i))
