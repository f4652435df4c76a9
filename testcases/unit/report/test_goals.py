"""What searches have found, in lines for a terminal."""

import copy
import json
from pathlib import Path

import pytest

from qospec.report.goals import goal_lines

EXAMPLE = Path(__file__).with_name("phases.json")


@pytest.fixture
def case():
    """Return a case with two searches and two points."""
    return copy.deepcopy(json.loads(EXAMPLE.read_text(encoding="utf-8"))[0])


def test_each_goal_has_a_line_and_each_search_says_what_it_took(case) -> None:
    assert goal_lines(case) == [
        "ndr: 26.76 Mbit/s to 26.86 Mbit/s",
        "pdr: 26.86 Mbit/s to 26.95 Mbit/s; loss inversion: 26.9 Mbit/s lost more than 27.3 Mbit/s",
        "load: 13 trials, 13 s emulated, by mlrsearch",
        "loss_free: 20 Mbit/s to 30 Mbit/s",
        "offered: 9 trials, 540 s emulated, by step",
    ]


@pytest.mark.parametrize(
    ("ends", "complete", "words"),
    [
        (("lower",), True, "26.76 Mbit/s, irregular"),
        (("lower",), False, "at least 26.76 Mbit/s, irregular"),
        (("upper",), True, "below 26.86 Mbit/s, irregular"),
        ((), False, "nothing found, irregular"),
    ],
)
def test_a_bound_that_is_missing_is_named(case, ends, complete, words) -> None:
    ndr = case["phases"][0]["goals"][0]
    ndr["complete"] = complete
    for each in {"lower", "upper"} - set(ends):
        ndr[each] = None
    assert goal_lines(case)[0] == f"ndr: {words}"


def test_repeats_are_told_apart_and_a_plain_case_has_no_line(case) -> None:
    case["run"]["repeat"] = 2
    assert goal_lines(case)[0].startswith("repeat 1: ndr: ")
    del case["phases"]
    assert goal_lines(case) == []
