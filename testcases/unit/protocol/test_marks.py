"""Marks as fields of one number."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.check.device.predicates import ATTRIBUTES, MAX_VALUES, WORDS
from qospec.protocol.marks import ALL, ALL_BITS, COLOURS, MARKS, set_marks

values = st.fixed_dictionaries({name: st.integers(0, mark.highest) for name, mark in MARKS.items()})


@given(values)
def test_each_field_holds_its_own_value(drawn):
    marks = set_marks(**drawn)
    assert {name: mark.read(marks) for name, mark in MARKS.items()} == drawn
    assert 0 <= marks <= ALL_BITS


@given(values, st.data())
def test_a_field_is_changed_alone(drawn, data):
    name = data.draw(st.sampled_from(sorted(MARKS)))
    value = data.draw(st.integers(0, MARKS[name].highest))
    assert MARKS[name].put(set_marks(**drawn), value) == set_marks(**{**drawn, name: value})


@pytest.mark.parametrize("value", [-1, 64])
def test_a_field_holds_no_more_than_its_bits(value):
    with pytest.raises(ValueError, match="6 bits"):
        set_marks(dscp=value)


def test_the_language_asks_for_marks_as_they_are():
    """It knows no arrays, so it says again what a field holds."""
    assert WORDS["colour"][2] == COLOURS
    assert set(ALL) <= set(ATTRIBUTES.values())
    highest = {name: mark.highest for name, mark in ALL.items() if not mark.words}
    assert {name: MAX_VALUES[name] for name in highest} == highest
