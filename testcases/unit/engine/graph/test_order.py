"""The order of simultaneous events: an example of each rule, noted where it happens.

Batches and events have the same. The drawn networks of the properties meet these cases by chance.
"""

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from qospec.elements.delay import Delay
from qospec.engine.event.transition import CONNECTION, DONE, Transition, send
from qospec.engine.experiment import END, Experiment, MeasurementSpec, Node, Source, Wire
from qospec.engine.graph import emulation
from qospec.engine.source.sizes import CELLS

pytestmark = pytest.mark.parametrize("by_events", [False, True])

AT_PS = 7
Log = list[tuple[Any, ...]]


def noting(log: Log, alarm_ps: int | None = None) -> Delay:
    """Return an element that notes the input and connection of what arrives, and its alarm."""

    def arrive(state: Any, items: Any, item: int, port: int, now_ps: int, out: Any) -> int:  # noqa: ARG001
        log.append((now_ps, port, int(items[item, CONNECTION])))
        send(out, 0, item, now_ps)
        return DONE

    def wake(state: Any, items: Any, now_ps: int, out: Any) -> int:  # noqa: ARG001
        log.append((now_ps, "alarm"))
        return DONE

    class Noting(Delay):
        inputs = ("first", "second")
        outputs = ("", "round")
        process = None

        def build_transition(self, setting: Any) -> Transition:  # noqa: ARG002
            wakes = None if alarm_ps is None else wake
            return Transition(np.zeros(1, np.int64), arrive, wakes, first_alarm_ps=alarm_ps)

    return Noting(0)


@pytest.fixture
def run(vcs: Any, listed: Any, by_events: bool) -> Any:  # noqa: FBT001
    """Return what runs elements, given for each source its time, its node and its input."""

    def of(elements: list[Delay], sent: list[tuple[int, int, int]], *wires: Wire) -> None:
        sources = tuple(
            Source(f"f{n}", listed([(at_ps, 0)]), n, 1, "even", CELLS, 0, node, port)
            for n, (at_ps, node, port) in enumerate(sent)
        )
        nodes = tuple(Node(f"n{number}", element) for number, element in enumerate(elements))
        measured = MeasurementSpec(0, 1_000, (0,) * len(sent))
        experiment = Experiment(*vcs(len(sent)), sources, nodes, wires, measured, ("s",))
        emulation.run(experiment, by_events=by_events)

    return of


def test_the_first_input_is_before_the_second(run: Any) -> None:
    """Whichever of the sources is first; and a way of the same length keeps that order."""
    log, behind = Log(), Log()
    elements = [noting(log), Delay(5), noting(behind)]
    run(
        elements,
        [(AT_PS, 0, 1), (AT_PS, 0, 0)],
        Wire(0, 0, 1),
        Wire(1, 0, 2, 1),
        Wire(2, 0, END),
    )
    assert log == [(AT_PS, 0, 1), (AT_PS, 1, 0)]
    assert behind == [(AT_PS + 5, 1, 1), (AT_PS + 5, 1, 0)]


def test_of_one_input_sources_are_before_wires_and_these_in_their_order(run: Any) -> None:
    log = Log()
    run(
        [Delay(AT_PS), Delay(AT_PS), noting(log)],
        [(0, 0, 0), (0, 1, 0), (AT_PS, 2, 0)],
        Wire(1, 0, 2),
        Wire(0, 0, 2),
        Wire(2, 0, END),
    )
    assert log == [(AT_PS, 0, 2), (AT_PS, 0, 1), (AT_PS, 0, 0)]


def test_an_alarm_is_behind_all_that_arrives(run: Any) -> None:
    log = Log()
    run([noting(log, AT_PS)], [(AT_PS, 0, 1), (AT_PS, 0, 0)], Wire(0, 0, END))
    assert log == [(AT_PS, 0, 1), (AT_PS, 1, 0), (AT_PS, "alarm")]


def test_an_element_works_behind_those_that_feed_it_without_delay(run: Any) -> None:
    """What comes by two of them is there in time for the first input, and ahead of the alarm."""
    log = Log()
    run(
        [noting(log, AT_PS), Delay(0), Delay(0)],
        [(AT_PS, 0, 1), (AT_PS, 2, 0)],
        Wire(2, 0, 1),
        Wire(1, 0, 0),
        Wire(0, 0, END),
    )
    assert log == [(AT_PS, 0, 1), (AT_PS, 1, 0), (AT_PS, "alarm")]


@pytest.mark.parametrize("places", [*permutations(range(3))])
def test_so_it_is_in_a_cycle_whatever_its_numbers_are(run: Any, places: tuple[int, ...]) -> None:
    """A cycle is one component, whose elements are put in order by what takes no time there."""
    log, elements = Log(), [Delay(0)] * 3
    last, through, back = places
    elements[last], elements[through], elements[back] = noting(log, AT_PS), Delay(0), Delay(5)
    run(
        elements,
        [(AT_PS, last, 1), (AT_PS, through, 0)],
        Wire(through, 0, last),
        Wire(last, 1, back),
        Wire(back, 0, through),
        Wire(last, 0, END),
    )
    assert log == [(AT_PS, 0, 1), (AT_PS, 1, 0), (AT_PS, "alarm")]


def test_what_is_earlier_goes_first_at_whatever_place(run: Any) -> None:
    log = Log()
    run(
        [noting(log, 4), Delay(3)],
        [(5, 0, 0), (3, 0, 1), (3, 1, 0), (2, 0, 1)],
        Wire(1, 0, 0),
        Wire(0, 0, END),
    )
    assert log == [(2, 1, 3), (3, 1, 1), (4, "alarm"), (5, 0, 0), (6, 0, 2)]
