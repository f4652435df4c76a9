"""An element that works event by event is one of batches, too."""

import numpy as np
import pytest

from qospec.elements.delay import Delay
from qospec.engine.element import BrokenPromiseError, Setting
from qospec.engine.event.process import build_process
from qospec.engine.event.transition import DONE, MARKS, Transition, report_wait, send
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.kernel import kernel
from qospec.engine.random import Draws


@kernel
def wait(state, items, item, port, now_ps, out):  # noqa: ARG001
    report_wait(out, items[item, MARKS], now_ps, now_ps + 7)
    send(out, 0, item, now_ps + 7)
    return DONE


class TwoQueues(Delay):
    """An element with a queue of its own and another: the marks of an item say which it takes."""

    process = None

    def build_transition(self, setting):  # noqa: ARG002
        return Transition(np.zeros(0, np.int64), wait, queues=("", "other"))


def test_waits_are_told_by_queue(vcs, batch_of):
    process = build_process(TwoQueues(7), Setting(*vcs(1), Draws(("test",)), watched=True))
    batch = batch_of([0, 10, 20])
    step = process((batch.with_marks(np.array([0, 1, 0], np.uint32)),), FOREVER_PS)
    waits = {path: [column.tolist() for column in times] for path, times in step.waits.items()}
    assert waits == {"": [[0, 20], [7, 27]], "other": [[10], [17]]}
    assert step.departures[0].at_ps.tolist() == [7, 17, 27]


class Hasty(TwoQueues):
    """An element that claims to take longer than it does."""

    def find_lookahead_ps(self, clock):  # noqa: ARG002
        return 100


def test_an_item_that_leaves_sooner_than_the_element_claims_is_reported(vcs, batch_of):
    process = build_process(Hasty(7), Setting(*vcs(1), Draws(("test",)), path="dut.q"))
    process((batch_of([0]),), 50)
    with pytest.raises(BrokenPromiseError, match=r"`dut\.q` sent an item below its watermark"):
        process((batch_of([60]),), FOREVER_PS)
