"""A switch's fabric against a sort of all that comes in."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.elements.vc_switch import VcSwitch
from qospec.engine.items.batch import FOREVER_PS

INDICES = 6


@given(
    inputs=st.lists(
        st.lists(
            st.tuples(st.integers(0, 20), st.integers(0, INDICES - 1), st.integers(0, 1)),
            max_size=20,
        ),
        min_size=3,
        max_size=3,
    ),
    table=st.lists(st.tuples(*[st.integers(0, 2)] * 2), min_size=INDICES, max_size=INDICES),
    latency=st.sampled_from([0, 7, 10**18]),
    cuts=st.lists(st.integers(0, 20), max_size=4),
)
def test_cells_take_the_way_of_the_table(lab, inputs, table, latency, cuts):
    inputs = [sorted(arrivals, key=lambda cell: cell[0]) for arrivals in inputs]
    name, expected, batches = 0, [[], [], []], []
    for arrivals in inputs:
        names = range(name, name + len(arrivals))
        at_ps, connection, clp = zip(*arrivals, strict=True) if arrivals else ((), (), ())
        batches.append(lab.cells(at_ps, connection=connection, marks=clp, sent_ps=names))
        for (t, index, mark), own in zip(arrivals, names, strict=True):
            expected[table[index][mark]].append((t + latency, own))
        name += len(arrivals)
    where = lab.setting(outputs=np.array(table, np.uint8))
    got = lab.carry(VcSwitch(3, latency), where, *batches, cuts=cuts).departures
    for left, due in zip(got, expected, strict=True):
        pairs = zip(left.at_ps.tolist(), left.sent_ps.tolist(), strict=True)
        assert list(pairs) == sorted(due)  # names rise with the input and within it


def test_its_ports_are_numbered():
    switch = VcSwitch(2, level="vp")
    assert switch.inputs == ("entry[0]", "entry[1]")
    assert switch.outputs == ("exit[0]", "exit[1]")
    assert VcSwitch(3, entries=1).inputs == ("entry[0]",)
    assert VcSwitch(3, entries=1).outputs == ("exit[0]", "exit[1]", "exit[2]")


def test_what_goes_one_way_is_passed_on_uncopied(lab):
    switch = VcSwitch(2)
    state = switch.start(lab.setting(outputs=np.ones((2, 2), np.uint8)))
    batch = lab.cells([1, 2])
    step = switch.process(state, (batch, lab.cells([])), FOREVER_PS)
    assert step.departures[1].connection is batch.connection
    assert step.departures[0].count == 0


def test_a_cell_that_no_way_is_planned_for_is_a_mistake_of_the_engine(lab):
    switch = VcSwitch(2)
    state = switch.start(lab.setting(outputs=np.array([[0, 1], [255, 255]], np.uint8)))
    with pytest.raises(ValueError, match="connection 1 arrived"):
        switch.process(state, (lab.cells([1, 2], connection=[0, 1]), lab.cells([])), 3)


def test_without_a_table_it_cannot_start(lab):
    with pytest.raises(ValueError, match="table"):
        VcSwitch(2).start(lab.setting())
