"""The work of a scheduler by any time, of which frames around packets are no part."""

import numpy as np
import pytest

from qospec.engine.kernel import get_function
from qospec.engine.scheduler.tree import FIELDS, VIRTUAL
from qospec.engine.scheduler.virtual_time import (
    BEGUN,
    END_PS,
    EXTRA,
    FINE,
    HEADER,
    LEAST,
    PER_PS,
    SEEN,
    UNITS,
    WORK,
    compute_work,
    restart,
)

END = 10**6
FRAMED = {HEADER: 18, LEAST: 64, EXTRA: 20}


@pytest.mark.parametrize(
    ("framing", "size_bytes", "left_ps", "left_halves"),
    [
        ({}, 1_500, 0, 0),
        ({}, 1_500, -1, 0),
        ({}, 1_500, 8 * 1_500, 1_500),
        ({}, 1_500, 8 * 1_500 + 7, 1_500),
        ({}, 1_500, 8 * 3_001, 3_000),  # it has not begun
        (FRAMED, 1_500, 8 * 1_538, 1_500),
        (FRAMED, 1_500, 8 * 1_537, 1_499),
        (FRAMED, 40, 8 * 84, 40),  # padded
    ],
)
def test_what_is_left_of_a_packet_is_not_done(framing, size_bytes, left_ps, left_halves):
    """Work is in halves of a byte, each of which takes 8 ps."""
    tree = np.zeros((1, FIELDS), np.int64)
    fields = {WORK: 2_000, BEGUN: size_bytes, END_PS: END, FINE: 1, UNITS: 1, PER_PS: 8, **framing}
    tree[0, [*fields]] = [*fields.values()]
    assert get_function(compute_work)(tree, 0, END - left_ps) == 2 * 2_000 - left_halves


def test_a_busy_period_begins_without_what_was_done_in_the_last():
    tree = np.full((2, FIELDS), 7, np.int64)
    get_function(restart)(tree, 1)
    assert sorted(np.flatnonzero(tree[1] == 0)) == sorted([VIRTUAL, SEEN, WORK, BEGUN, END_PS])
    assert (tree[0] == 7).all()
