"""What becomes of marks on a line."""

import pytest
from connected import connected

from qospec.engine.element import Setting
from qospec.engine.event.process import EventProcess, build_process
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.items.contract import Contract
from qospec.engine.line.relabel import Relabel, Turn
from qospec.engine.random import Draws
from qospec.protocol.marks import LEG


@pytest.mark.parametrize(
    "driver", [build_process, lambda *given: EventProcess(*given).process], ids=["batch", "event"]
)
def test_the_bits_that_are_carried_stay_and_legs_are_counted(batch_of, driver):
    """Of the second connection of three alone, whose legs were 0 and 2.

    Leg 0 ends with the item of 4 ps, and with none that comes before the turn.
    """
    connections = connected((Contract("cbr", 1_000, 0),) * 3)
    batch = batch_of([3, 4, 4])
    batch.connection[:] = [0, 1, 1]
    leg = 1 << LEG.first
    batch.marks[:] = [0b1111, 0b0100, 0b1000 + 2 * leg]
    turns = (Turn(1, 2, 0, 5), Turn(1, 2, 0, 1, 4), Turn(1, 2, 0, 7, 5), Turn(1, 2, 2, 3))
    relabel = Relabel(LEG.mask + 0b0110, turns)
    process = driver(relabel, Setting(*connections, Draws(("test",)), None))
    (left,) = process((batch,), FOREVER_PS).departures
    assert left.marks.tolist() == [0b0110, 0b0100 + leg, 3 * leg]
    assert left.at_ps.tolist() == [3, 4, 4]
