"""Tables fit a page: all results are in one of them, and no table is wider than the page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.report.arrangement import (
    PADDING,
    ROOM,
    arrange_tables,
    repeat_parts,
    split_columns,
    value_parts,
)
from qospec.report.views import arrange_columns


def quantity(text):
    return {"value": "1", "unit": "cell", "text": text}


def cases(count, labels, text="1 cell", interval=None):
    return [
        {
            "name": f"t:load={n}",
            "parameters": {"load": str(n)},
            "statements": [
                {
                    "label": label, "kind": "expect", "verdict": "pass", "text": f"{label} < 3",
                    "measured": quantity(text), "comparison": "<", "bound": quantity("3 cell"),
                    "tolerance": None, "note": "", "confidence": "95 %", "interval": interval,
                }
                for label in labels
            ],
        }
        for n in range(count)
    ]  # fmt: skip


def arranged(its):
    return arrange_tables(arrange_columns(its), its)


def shape(tables):
    return [(table["beside"], len(table["cases"]), len(table["columns"])) for table in tables]


@pytest.mark.parametrize(
    ("count", "labels", "expected"),
    [
        (3, ["one"], [(False, 3, 1)]),
        (3, ["one", "two", "three", "four"], [(True, 3, 4)]),
        (40, ["one", "two", "three", "four"], [(False, 40, 4)]),
    ],
    ids=["few criteria", "more criteria than cases", "many cases"],
)
def test_what_fits_is_one_table(count, labels, expected):
    assert shape(arranged(cases(count, labels))) == expected


def test_what_does_not_fit_is_parted_and_nothing_is_left_out():
    labels = [f"criterion_{n}" for n in range(20)]
    its = cases(9, labels, "123 456 cell/s")
    tables = arranged(its)
    assert len(tables) > 1
    assert [column["label"] for table in tables for column in table["columns"]] == labels
    assert all(table["cases"] == its for table in tables)


def test_cases_beside_each_other_are_parted_with_their_own_results():
    its = cases(6, [f"criterion_{n}" for n in range(9)], "123 456 789 cell/s")
    tables = arranged(its)
    assert [table["beside"] for table in tables] == [True, True]
    assert [case for table in tables for case in table["cases"]] == its
    for table in tables:
        for column in table["columns"]:
            assert len(column["statements"]) == len(table["cases"])


def test_an_interval_takes_no_more_room_than_its_longer_end():
    ends = {"lower": quantity("28 098 cell/s"), "upper": quantity("30 242 cell/s"), "repeats": 10}
    its = cases(9, ["throughput"] * 4, "29 170 cell/s", ends)
    assert len(arranged(its)) == 1


@given(st.lists(st.floats(1, 200), max_size=40), st.floats(0, 60))
def test_parts_hold_every_column_once_and_fit_if_one_does(widths, fixed):
    found = split_columns(widths, fixed)
    assert [index for part in found for index in part] == list(range(len(widths)))
    for part in found:
        wide = fixed + sum(widths[index] + PADDING for index in part)
        assert wide <= ROOM + 1e-6 or len(part) == 1


def test_metrics_and_repeats_are_parted_too():
    names = [f"metric_{n}" for n in range(12)]
    row = dict.fromkeys(names, quantity("123 456 789 cell/s"))
    found = value_parts(names, [("flow", row)])
    assert len(found) > 1
    assert [name for part in found for name in part] == names
    numbers = repeat_parts([("flow", "sent", [quantity("123 456 cell")] * 30)])
    assert len(numbers) > 1
    assert [number for part in numbers for number in part] == list(range(30))
    assert repeat_parts([]) == []
