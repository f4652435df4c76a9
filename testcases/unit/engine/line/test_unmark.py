"""What clears the marks that a line does not carry."""

import pytest
from connected import connected

from qospec.engine.element import Setting
from qospec.engine.event.process import EventProcess, process_of
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.items.contract import Contract
from qospec.engine.line.unmark import Unmark
from qospec.engine.random import Draws


@pytest.mark.parametrize(
    "driver", [process_of, lambda *given: EventProcess(*given).process], ids=["batch", "event"]
)
def test_only_the_bits_that_are_carried_stay(batch_of, driver):
    connections = connected((Contract("cbr", 1_000, 0),))
    batch = batch_of([3, 4, 4])
    batch.marks[:] = [0b1111, 0b0100, 0b1000]
    process = driver(Unmark(0b0110), Setting(*connections, Draws(("test",)), None))
    (left,) = process((batch,), FOREVER_PS).departures
    assert left.marks.tolist() == [0b0110, 0b0100, 0]
    assert left.at_ps.tolist() == [3, 4, 4]
