"""Given instants."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.traffic.replay import Replay


@given(
    at=st.lists(st.integers(0, 40), min_size=1).map(sorted),
    connections=st.integers(1, 3),
    until_ps=st.integers(0, 45),
    cuts=st.lists(st.integers(0, 45), max_size=4),
)
def test_each_instant_comes_once_for_each_connection(flow, at, connections, until_ps, cuts):
    expected = [(t, c) for t in at for c in range(connections) if t < until_ps]
    assert flow.cells(Replay(tuple(at)), until_ps, connections, cuts=cuts) == expected
    assert Replay(tuple(at)).count_most_items(connections, until_ps) == len(expected)


def test_as_a_load_it_counts_at_its_mean_interval():
    assert Replay((0, 2 * 10**9, 4 * 10**9)).compute_mean_rate(3) == 1_500
    assert Replay((5, 5)).compute_mean_rate(1) == 2


@pytest.mark.parametrize(
    ("at", "says"), [((), "at least one time"), ((2, 1), "before the previous one")]
)
def test_what_is_no_schedule_is_refused(at, says):
    with pytest.raises(ValueError, match=says):
        Replay(at)
