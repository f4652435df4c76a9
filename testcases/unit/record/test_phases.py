"""Searches and operating points in the record: what is checked of them when a record is read."""

import copy
import json
from pathlib import Path

import pytest

from qospec.record.schema import CASE, violations

EXAMPLE = Path(__file__).parents[1] / "report" / "phases.json"


@pytest.fixture
def case():
    """Return a case with two searches and two points."""
    return copy.deepcopy(json.loads(EXAMPLE.read_text(encoding="utf-8"))[0])


def test_a_case_with_phases_has_its_shape(case) -> None:
    assert not list(violations(case, CASE))
    assert {phase["kind"] for phase in case["phases"]} == {"search", "point"}


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("kind", "walk", "`phases[0].kind` is not one of search, point"),
        ("kind", 1, "`phases[0].kind` is not a text"),
        ("kind", "point", "`phases[0]` has no `measure`"),
        ("goals", {}, "`phases[0].goals` is not a list"),
    ],
)
def test_what_is_wrong_with_a_phase_is_named(case, field, value, why) -> None:
    case["phases"][0][field] = value
    assert why in list(violations(case, CASE))


def test_a_phase_that_is_no_object_is_named(case) -> None:
    case["phases"][1] = "step"
    assert list(violations(case, CASE)) == ["`phases[1]` is not an object"]


def test_a_trial_is_good_or_bad(case) -> None:
    case["phases"][0]["trials"][0]["verdicts"]["ndr"] = "fair"
    (why,) = violations(case, CASE)
    assert why == '`phases[0].trials[0].verdicts.ndr` is not "good" or "bad"'
