"""Classes by a table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.elements.classify import Classify

INDICES = 6


@given(
    arrivals=st.lists(
        st.tuples(st.integers(0, 20), st.integers(0, INDICES - 1), st.integers(0, 1)), max_size=30
    ),
    table=st.lists(st.tuples(*[st.integers(0, 2)] * 2), min_size=INDICES, max_size=INDICES),
)
def test_each_cell_is_of_one_class(lab, arrivals, table):
    arrivals.sort(key=lambda cell: cell[0])
    at_ps, connection, clp = zip(*arrivals, strict=True) if arrivals else ((), (), ())
    batch = lab.cells(at_ps, connection=connection, marks=clp)
    where = lab.setting(outputs=np.array(table, np.uint8))
    got = lab.carry(Classify(("a", "b", "c")), where, batch).departures
    for number, left in enumerate(got):
        due = [i for i, (_, index, mark) in enumerate(arrivals) if table[index][mark] == number]
        assert left.sent_ps.tolist() == due
        assert left.at_ps.tolist() == [at_ps[i] for i in due]


def test_marks_of_more_values_than_a_byte_are_distinguished(lab):
    values = tuple(range(0, 3_000, 10))
    table = np.array([[number % 3 for number in range(len(values))]], np.uint8)
    batch = lab.cells(range(len(values)), marks=values)
    where = lab.setting(outputs=table, columns=values)
    got = lab.carry(Classify(("a", "b", "c")), where, batch).departures
    assert [left.sent_ps.tolist() for left in got] == [
        list(range(way, len(values), 3)) for way in range(3)
    ]


def test_its_outputs_are_its_classes():
    assert Classify(("real_time", "other")).outputs == ("real_time", "other")


@pytest.mark.parametrize("classes", [(), tuple(f"c{number}" for number in range(256))])
def test_there_are_classes_but_not_too_many(classes):
    with pytest.raises(ValueError, match=r"at (least|most)"):
        Classify(classes)


def test_without_a_table_it_cannot_start(lab):
    with pytest.raises(ValueError, match="table"):
        Classify(("rest",)).start(lab.setting())
