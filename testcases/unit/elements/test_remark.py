"""Marks that are written, whatever was there, into all packets or by colour."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.elements.remark import Remark
from qospec.protocol.marks import ALL, ALL_BITS, COLOURS, MARKS

NAMES = ("dscp", "priority", "traffic_class")


def codes(name):
    """Return a value for all packets, or one for each of some colours."""
    value = st.integers(0, MARKS[name].highest)
    by_colour = st.dictionaries(st.sampled_from(COLOURS), value, min_size=1)
    return st.one_of(value.map(lambda code: {"": code}), by_colour)


@given(
    written=st.dictionaries(st.sampled_from(NAMES), st.none(), min_size=1).flatmap(
        lambda chosen: st.fixed_dictionaries({name: codes(name) for name in chosen})
    ),
    colour=st.none() | st.sampled_from(COLOURS),
    marks=st.lists(st.integers(0, ALL_BITS), min_size=1, max_size=20),
)
def test_what_is_given_is_written_and_the_rest_stays(lab, written, colour, marks):
    fields = {name: tuple(table.items()) for name, table in written.items()}
    remark = Remark(**fields, colour=colour)
    batch = lab.cells(range(len(marks)), marks=marks)
    setting = lab.setting()
    (left,) = lab.carry(remark, setting, batch).departures
    for before, after in zip(marks, left.marks.tolist(), strict=True):
        assert remark.predict_marks(before, setting.contracts[0]) == (after,)
        colour_on_arrival = COLOURS[min(MARKS["colour"].read(before), 2)]
        for name, mark in MARKS.items():
            table = written.get(name, {})
            expected = table.get("", table.get(colour_on_arrival, mark.read(before)))
            if name == "colour" and colour is not None:
                expected = COLOURS.index(colour)
            assert mark.read(after) == expected
    assert left.at_ps.tolist() == batch.at_ps.tolist()
    assert set(remark.marks_written) == {*written, *(["colour"] if colour else [])}


@pytest.mark.parametrize("by_events", [False, True])
def test_a_colour_that_nobody_gives_counts_as_red(lab, by_events):
    remark = Remark(dscp=(("green", 1), ("yellow", 2), ("red", 3)))
    batch = lab.cells(range(4), marks=[MARKS["colour"].put(0, n) for n in range(4)])
    (left,) = lab.carry(remark, lab.setting(), batch, by_events=by_events).departures
    assert [MARKS["dscp"].read(marks) for marks in left.marks.tolist()] == [1, 2, 3, 3]


@pytest.mark.parametrize(
    ("fields", "came", "left"),
    [
        ({"priority": ((46, 5), (34, 4))}, ("dscp", [46, 34, 26]), ("priority", [5, 4, 7])),
        ({"dscp": ((46, 8), (0, 46))}, ("dscp", [46, 0, 8]), ("dscp", [8, 46, 8])),
        (
            {"traffic_class": ((5, 6),), "by": "priority"},
            ("priority", [5, 4]),
            ("traffic_class", [6, 7]),
        ),
        ({"precedence": ((2, 1),), "by": "precedence"}, ("dscp", [17, 9]), ("dscp", [9, 9])),
    ],
)
def test_a_map_is_from_values_of_another_mark(lab, fields, came, left):
    """What is not in the map stays as it was: here 7 of what has three bits."""
    maps = {
        name: tuple((str(a), b) for a, b in table) for name, table in fields.items() if name != "by"
    }
    remark = Remark(**{**fields, **maps})
    usual = MARKS["priority"].put(MARKS["traffic_class"].put(0, 7), 7)
    marks = [MARKS[came[0]].put(usual, value) for value in came[1]]
    batch = lab.cells(range(len(marks)), marks=marks)
    for by_events in (False, True):
        (after,) = lab.carry(remark, lab.setting(), batch, by_events=by_events).departures
        assert [MARKS[left[0]].read(marks) for marks in after.marks.tolist()] == left[1]


@pytest.mark.parametrize("before", range(64))
def test_the_precedence_is_the_first_half_of_the_code_point(lab, before):
    batch = lab.cells([0], marks=MARKS["dscp"].put(0, before))
    remark = Remark(precedence=(("", 5),))
    setting = lab.setting()
    (left,) = lab.carry(remark, setting, batch).departures
    assert MARKS["dscp"].read(left.marks.item(0)) == 5 * 8 + before % 8
    assert ALL["precedence"].read(left.marks.item(0)) == 5


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "no mark is set"),
        ({"dscp": ()}, "no mark is set"),
        ({"dscp": (("", 46),), "precedence": (("", 5),)}, "part of the DSCP"),
        ({"priority": (("blue", 5),)}, "`blue` is not a colour"),
        ({"priority": (("64", 5),)}, "`64` is not a value of `dscp`; expected one of 0 to 63"),
        ({"priority": (("46", 5), ("green", 1))}, "`green` is not a value of `dscp`"),
        ({"dscp": (("8", 5),), "by": "priority"}, "`8` is not a value of `priority`"),
        ({"dscp": (("", 5),), "by": "priority"}, "by: there is no map"),
    ],
)
def test_fields_that_make_no_sense_are_refused(fields, words):
    with pytest.raises(ValueError, match=words):
        Remark(**fields)
