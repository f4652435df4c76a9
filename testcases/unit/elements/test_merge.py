"""A merge is a stable sort by time."""

from hypothesis import given
from hypothesis import strategies as st

from qospec.elements.merge import Merge


@given(
    inputs=st.lists(st.lists(st.integers(0, 10), max_size=20), min_size=1, max_size=5),
    cuts=st.lists(st.integers(0, 10), max_size=3),
)
def test_cells_are_in_order_of_time_then_of_inputs(lab, inputs, cuts):
    batches = [lab.cells(sorted(at_ps), connection=number) for number, at_ps in enumerate(inputs)]
    (left,) = lab.carry(Merge(len(inputs)), lab.setting(), *batches, cuts=cuts).departures
    expected = sorted((t, number) for number, at_ps in enumerate(inputs) for t in at_ps)
    assert list(zip(left.at_ps.tolist(), left.connection.tolist(), strict=True)) == expected


def test_its_inputs_are_numbered():
    assert Merge(2).inputs == ("in[0]", "in[1]")
