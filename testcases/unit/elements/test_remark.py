"""Marks that are written, whatever was there."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qospec.elements.remark import Remark
from qospec.engine.marks import MARKS, VALUES

optional = {
    name: st.none() | st.integers(0, MARKS[name].highest)
    for name in ("dscp", "priority", "traffic_class")
}


@settings(deadline=None, max_examples=60)
@given(
    written=st.fixed_dictionaries(optional).filter(
        lambda w: any(v is not None for v in w.values())
    ),
    marks=st.lists(st.integers(0, VALUES - 1), min_size=1, max_size=20),
)
def test_what_is_given_is_written_and_the_rest_stays(lab, written, marks):
    remark = Remark(**written)
    batch = lab.cells(range(len(marks)), marks=marks)
    (left,) = lab.carry(remark, lab.setting(), batch).departures
    for before, after in zip(marks, left.marks.tolist(), strict=True):
        assert after == remark.remarked(before)
        for name, mark in MARKS.items():
            expected = written.get(name)
            assert mark.of(after) == (mark.of(before) if expected is None else expected)
    assert left.at_ps.tolist() == batch.at_ps.tolist()


def test_a_marker_that_marks_nothing_is_refused():
    with pytest.raises(ValueError, match="nothing is marked"):
        Remark()
