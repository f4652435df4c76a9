"""Marks have the columns of a table, whatever their bits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.engine.items.columns import SLOTS, build_columns, find_column
from qospec.protocol.marks import ALL_BITS

marks = st.integers(0, ALL_BITS)
some = st.lists(marks | st.integers(0, 9), unique=True, max_size=40)


@given(some, st.lists(marks))
def test_marks_have_the_column_of_their_place_and_others_the_next(known, others) -> None:
    columns = build_columns(known)
    for value in (*known, *others):
        expected = known.index(value) if value in known else len(known)
        assert find_column(columns, 0, value) == expected


@pytest.mark.parametrize(
    "known", [range(64), [dscp << 3 for dscp in range(64)], [1 << bit for bit in range(32)]]
)
def test_usual_marks_take_few_slots(known) -> None:
    assert len(build_columns(known)) <= SLOTS + 2 * 16 * len(known)


def test_columns_may_begin_anywhere_in_an_array() -> None:
    columns = build_columns([3, 9])
    moved = np.concatenate([[7, 7], columns])
    assert [find_column(moved, 2, value) for value in (3, 9, 4)] == [0, 1, 2]
