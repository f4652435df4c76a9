"""The heap of places gives the earliest event, at equal times that of the first place."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qospec.engine.event import places as heap

PLACES = 7
Answer = None
SCHEDULED = st.tuples(st.integers(0, PLACES - 1), st.integers(0, 5))


def no_events() -> heap.Places:
    row, first, last, node, port = np.zeros((5, PLACES), np.int64)
    due, fed = np.zeros((PLACES + 1, 2), np.int64), np.zeros((PLACES, 2), np.int64)
    return heap.Places(due, row, first, last, node, port, fed)


@given(st.lists(SCHEDULED | st.just(Answer), max_size=60))
def test_an_answered_place_makes_way_for_the_next(steps):
    places, expected = no_events(), {}
    for step in [*steps, *[Answer] * PLACES]:
        if step is not Answer:
            heap.schedule(places, *step)
            expected[step[0]] = step[1]
            continue
        heap.fill_gap(places)
        assert places.due[0, heap.COUNT] == len(expected)
        if expected:
            time, place = min((time, place) for place, time in expected.items())
            assert places.due[1].tolist() == [time, place]
            heap.vacate(places, place)
            del expected[place]
