"""Which packets of a queue found no room, and which were dropped when their turn came, by hand."""

import pytest

from qospec.engine.arrays import np
from qospec.linux.causes import find_overflows

LINE_NS = 10
"""How long a packet takes on the line."""


@pytest.mark.parametrize(
    ("came_ns", "begun_ns", "limit", "overflows"),
    [
        # The first is sent at once, two wait, and the fourth finds no room; the fifth does again.
        ([0, 1, 2, 3, 11], [0, 10, 20, -1, 30], 2, [3]),
        # The same, but there would be room for all: the fourth was dropped at the head, at 30.
        ([0, 1, 2, 3, 11], [0, 10, 20, -1, 30], 4, []),
        # The second was dropped at the head at 10, as the third was sent: until then both wait.
        ([0, 1, 2, 9, 11], [0, -1, 10, -1, 20], 2, [3]),
        # A place is free in the very ns in which a packet's turn comes.
        ([0, 1, 10], [0, 10, -1], 1, []),
        # Of two that are missing one after the other, one was in the queue.
        ([0, 1, 2, 3], [0, -1, -1, 20], 2, []),
        ([0, 1, 2], [0, -1, -1], 1, [2]),
        ([], [], 1, []),
    ],
)
def test_a_packet_finds_no_room_where_as_many_wait_as_may(came_ns, begun_ns, limit, overflows):
    found = find_overflows(np.array(came_ns, np.int64), np.array(begun_ns, np.int64), limit)
    assert np.nonzero(found)[0].tolist() == overflows
