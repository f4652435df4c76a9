"""The range of sizes in which a packet is, noted as a mark."""

import numpy as np
import pytest
from connected import connected

from qospec.engine.element import Setting
from qospec.engine.event.process import EventProcess, build_process
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.items.contract import Contract
from qospec.engine.random import Draws
from qospec.engine.size_range import NoteSizeRange
from qospec.protocol.marks import MARKS, SIZE_RANGE


@pytest.mark.parametrize(
    "driver", [build_process, lambda *given: EventProcess(*given).process], ids=["batch", "event"]
)
def test_a_range_begins_with_its_bound_and_other_marks_stay(batch_of, driver):
    connections = connected((Contract("packets", 1_000, 0),))
    batch = batch_of([1, 2, 3, 4]).with_sizes(np.array([63, 64, 199, 200], np.int32))
    expedited = MARKS["dscp"].put(0, 46)
    batch.marks[:] = SIZE_RANGE.put(expedited, 5)
    process = driver(NoteSizeRange((64, 200)), Setting(*connections, Draws(("test",))))
    (left,) = process((batch,), FOREVER_PS).departures
    ranges = [0, 1, 1, 2]
    assert left.marks.tolist() == [SIZE_RANGE.put(expedited, number) for number in ranges]
    assert left.at_ps.tolist() == [1, 2, 3, 4]
