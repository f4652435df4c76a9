"""The state of a processor: lists behind its fields, each as long as it is."""

from qospec.catalogue.kinds import Curve
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.kernel import get_function
from qospec.engine.processor.interruptions import Interruptions, Periodic, RandomInterruptions
from qospec.engine.processor.service import (
    BYTE_PS,
    FEWEST_PLACES,
    NO_PLACES,
    QUEUES,
    Lists,
    _view_arrays,
    build_idle_state,
    replenish,
)
from qospec.engine.random import Draws

CURVE = Curve(((60, 1_000), (1_500, 9_000)))


def test_each_list_begins_where_the_one_before_it_ends():
    none = RandomInterruptions(0, 10**9, "constant")
    interruptions = Interruptions(Periodic(10**6, 10**9, 5), none, Draws(("test",)))
    lists = Lists(2, (50, 90), CURVE)
    state = build_idle_state(range(1, QUEUES - BYTE_PS + 1), lists, interruptions)
    for places in (FEWEST_PLACES, 2 * FEWEST_PLACES):
        found = get_function(_view_arrays)(state)
        assert found.waiting.tolist() == [0, 0]
        assert found.restarts.tolist() == [50, 90, FOREVER_PS]
        assert found.points.tolist() == [list(point) for point in CURVE.points]
        assert (found.ring.shape, found.ring.any()) == ((places, 3), False)
        assert found.pauses.tolist() == interruptions.known.tolist()
        state = replenish(interruptions, state, NO_PLACES)
