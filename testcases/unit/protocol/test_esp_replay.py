"""The anti-replay window, against a set of everything that was seen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.engine.kernel import kernel
from qospec.protocol.replay import FRESH, REPLAYED, SIZE, STALE, enter, examine

numbers = st.lists(st.one_of(st.integers(0, 200), st.integers(150, 400)), min_size=1, max_size=120)


def verdicts(arrivals, size, window=None):
    """Return what a window says of each number; fresh ones are entered."""
    window = [0] * (size + 1) if window is None else window
    found = []
    for number in arrivals:
        found.append(examine(window, number))
        if found[-1] == FRESH:
            enter(window, number)
    return found


def expected(arrivals, size):
    """Return the same of a set that forgets nothing; source: RFC 4303, 3.4.3."""
    seen, found = set(), []
    for number in arrivals:
        if number <= max(max(seen, default=0) - size, 0):
            found.append(STALE)
        else:
            found.append(REPLAYED if number in seen else FRESH)
        seen |= {number} if found[-1] == FRESH else set()
    return found


@given(numbers, st.sampled_from([32, 64, 100]))
def test_an_esp_window_says_what_a_set_of_all_numbers_says(arrivals, size):
    assert verdicts(arrivals, size) == expected(arrivals, size)


def test_the_edge_of_an_esp_window_is_64_numbers_wide():
    assert verdicts([65, 2, 1, 2, 65, 66, 2, 3], SIZE) == [
        FRESH, FRESH, STALE, REPLAYED, REPLAYED, FRESH, STALE, FRESH,
    ]  # fmt: skip


def test_the_number_0_is_never_accepted_in_esp():
    assert verdicts([0, 1], SIZE) == [STALE, FRESH]


@pytest.mark.slow
def test_an_esp_window_runs_as_a_kernel():
    arrivals = [1, 3, 2, 3, 100, 36, 37, 37, 2**40, 5]
    window = np.zeros(SIZE + 1, np.int64)
    compiled_examine, compiled_enter = kernel(examine), kernel(enter)
    found = []
    for number in arrivals:
        found.append(compiled_examine(window, number))
        if found[-1] == FRESH:
            compiled_enter(window, number)
    assert found == verdicts(arrivals, SIZE)
