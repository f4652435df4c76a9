"""Searches and operating points in the record: what is checked of them when a record is read."""

import copy
import json
from pathlib import Path

import pytest

from qospec.plan.plan import Bounds
from qospec.record.schema import CASE, list_violations
from qospec.run.runner import run_alone

EXAMPLE = Path(__file__).parents[1] / "report" / "phases.json"


@pytest.fixture
def case():
    """Return a case with two searches and two points."""
    return copy.deepcopy(json.loads(EXAMPLE.read_text(encoding="utf-8"))[0])


def test_a_case_with_phases_has_its_shape(case) -> None:
    assert not list(list_violations(case, CASE))
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
    assert why in list(list_violations(case, CASE))


def test_a_phase_that_is_no_object_is_named(case) -> None:
    case["phases"][1] = "step"
    assert list(list_violations(case, CASE)) == ["`phases[1]` is not an object"]


def test_a_trial_is_good_or_bad(case) -> None:
    case["phases"][0]["trials"][0]["verdicts"]["ndr"] = "fair"
    (why,) = list_violations(case, CASE)
    assert why == '`phases[0].trials[0].verdicts.ndr` is not "good" or "bad"'


@pytest.mark.parametrize(("pcr", "lower"), [("rate / 100", None), ("1_000 cell/s", "100000")])
def test_a_flow_that_loses_more_than_a_goal_allows_is_named(planned, problems, pcr, lower) -> None:
    """It counts if it depends on the load; else it is the background, and only named."""
    text = """
device pair {
  port west, east, south, north: cell
  upc = gcra
  west.rx -> east.tx
  east.rx -> west.tx
  south.rx -> upc -> north.tx
  north.rx -> south.tx
}
topology bench {
  a, b, c, d = host
  dut = pair
  link a -- dut.west via media.stm1
  link dut.east -- b via media.stm1
  link c -- dut.south via media.stm1
  link dut.north -- d via media.stm1
}
test t on bench {
  search rate in 50_000 cell/s .. 100_000 cell/s step 50_000 cell/s {
    goal ndr { loss = 0 }
    goal pdr { loss = 5% }
    method = step, trial = 20 ms
  }
  flow large = ubr { pcr = rate } from a to b
  flow small = cbr {
    pcr = PCR, cdvt = 1 us, source = constant { rate = 3 * PCR }
  } from c to d
}
"""
    plans = planned(text.replace("PCR", pcr))
    assert not problems.errors
    (plan,) = plans
    document = run_alone(plan, Bounds(), lambda: None)
    ndr, pdr = document["phases"][0]["goals"]
    assert (ndr["lower"] and ndr["lower"]["value"], pdr["lower"]["value"]) == (lower, "100000")
    for goal in (pdr,) if lower is None else (ndr, pdr):
        (note,) = [note for note in goal["notes"] if "large" in note or "small" in note]
        assert note == "`small` lost 70 % of its cells at the load found"


def test_a_search_says_that_copies_arrived(planned, problems):
    """Of each packet one; nothing is lost, so that nothing else would show it."""
    text = """
device copier {
  port west, east: packet
  twice = duplicate { probability = 100% }
  west.rx -> twice -> east.tx
  east.rx -> west.tx
}
topology bench {
  a, b = host
  dut = copier
  link a -- dut.west via media.fast_ethernet
  link dut.east -- b via media.ethernet { rate = 1 Gbit/s @line }
}
test t on bench {
  search rate in 1_000 pkt/s .. 10_000 pkt/s {
    goal ndr { loss = 0 }
    method = binary, trial = 10 ms
  }
  flow user = packets { rate = rate, size = 64 B @frame, phases = even } from a to b
}
"""
    plans = planned(text)
    assert not problems.errors
    (plan,) = plans
    document = run_alone(plan, Bounds(), lambda: None)
    (ndr,) = document["phases"][0]["goals"]
    note = "beside 100 packets of `user`, 100 copies arrived at the load found"
    assert ndr["notes"] == ["no load was bad, up to the highest of the range", note]
