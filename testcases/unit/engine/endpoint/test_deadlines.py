"""Deadlines of any length, against a list that is searched."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qospec.engine.endpoint.deadlines import (
    DEADLINE,
    DUE,
    NO_ROW,
    clear_deadlines,
    find_earliest,
    meet_deadline,
    set_deadline,
)
from qospec.engine.items.batch import FOREVER_PS

ROWS = 9

steps = st.lists(
    st.tuples(st.just("set"), st.integers(1, ROWS), st.integers(0, 6), st.integers(0, 2))
    | st.tuples(st.sampled_from(["meet", "look"]), st.integers(1, ROWS), st.just(0), st.just(0)),
    max_size=60,
)


@given(steps=steps)
def test_the_earliest_is_found_and_of_those_due_at_once_the_lowest_rank_and_the_first_set(steps):
    rows = np.zeros((1 + ROWS, DEADLINE + 1), np.int64)
    rows[:, DEADLINE] = 77  # of the element
    clear_deadlines(rows)
    waiting = {}
    for order, (what, row, due_ps, rank) in enumerate(steps):
        if what == "set":
            set_deadline(rows, row, due_ps, rank)
            waiting[row] = due_ps, rank, order
        elif what == "meet":
            meet_deadline(rows, row)
            waiting.pop(row, None)
        else:
            found = find_earliest(rows)
            assert found == min(waiting, key=waiting.__getitem__, default=NO_ROW)
            assert rows[found, DUE] == (waiting[found][0] if waiting else FOREVER_PS)
    while waiting:
        found = find_earliest(rows)
        assert found == min(waiting, key=waiting.__getitem__)
        meet_deadline(rows, found)
        del waiting[found]
    assert find_earliest(rows) == NO_ROW
    assert (rows[:, DEADLINE] == 77).all()
