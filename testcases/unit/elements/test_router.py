"""A router's fabric: packets by the table of their destinations."""

import numpy as np
import pytest

from qospec.elements.router import Router


def test_packets_leave_by_their_destination_after_the_latency(lab):
    first = lab.cells([0, 5], connection=[0, 1], sent_ps=[0, 1], size_bytes=[40, 1_500], marks=368)
    second = lab.cells([5], connection=[1], sent_ps=[2], size_bytes=[576], marks=368)
    where = lab.setting(outputs=np.array([[0], [1]], np.uint8), columns=(368,))
    batches = (
        batch._replace(marks=np.full_like(batch.marks, 46 << 3)) for batch in (first, second)
    )
    one, other = lab.carry(Router(2, 7), where, *batches).departures
    assert (one.at_ps.tolist(), one.size_bytes.tolist()) == ([7], [40])
    assert (other.at_ps.tolist(), other.sent_ps.tolist()) == ([12, 12], [1, 2])


def test_marks_that_nobody_planned_for_are_a_mistake_of_the_engine(lab):
    where = lab.setting(outputs=np.array([[0], [1]], np.uint8), columns=(8,))
    with pytest.raises(ValueError, match="connection 0 arrived"):
        lab.carry(Router(2), where, lab.cells([1]), lab.cells([]))
