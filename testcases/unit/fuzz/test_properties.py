"""Properties are drawn, judged and written as files without anything drawn."""

import re
from pathlib import Path

import pytest

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.fuzz.explore import Block, explore
from qospec.fuzz.properties import PropertyTarget
from qospec.rendering import render_all
from qospec.run.functions import FUNCTIONS
from qospec.units import PS_PER_S

BLOCK = Block(0, 100, "0")

WRONG = """qos 1

let fastest = 353_207 cell/s
let unused = 5 s

property burst {
  forall rate: CellRate in 1 cell/s .. fastest
  forall tau: Time in 0 s .. 1 ms
  forall other: Time in 0 s .. 1 ms
  forall arrivals in cells(at_most = 100)
  let passed = police(arrivals, pcr = rate, cdvt = tau)
  expect few: count(passed) <= 2 cell
  expect other <= 1 ms
}
"""

SMALLEST = re.escape("""qos 1

# `few` does not hold: 3 cell, needed <= 2 cell

let fastest = 353_207 cell/s

property burst_few {
  forall rate: CellRate in [@]
  forall tau: Time in [@]
  forall arrivals in [cells(at = [@, @, @])]
  let passed = police(arrivals, pcr = rate, cdvt = tau)
  expect few: count(passed) <= 2 cell
}
""").replace("@", "[0-9_]+ (?:cell/s|s|ms|us|ns)")


@pytest.fixture
def found(tmp_path: Path):
    """Return a function that gives what was found of the one property of a text."""

    def explored(text: str, block: Block = BLOCK, functions=FUNCTIONS):
        path = tmp_path / "a.qos"
        path.write_text(text, encoding="utf-8")
        problems = Problems()
        checked = check([path], discover(), problems)
        assert not problems.errors, render_all(problems.all)
        (subject,) = checked.suite.properties
        examine = checked.examiners[subject.name]
        return explore(PropertyTarget(subject, examine, functions), block)

    return explored


@pytest.mark.slow
def test_the_smallest_example_is_a_file_without_what_it_does_not_need(found) -> None:
    (finding,) = found(WRONG).findings
    assert re.fullmatch(SMALLEST, finding.text), finding.text
    assert finding.reason == "3 cell, needed <= 2 cell"


def test_a_mistake_that_only_some_values_make_is_a_finding(found) -> None:
    explored = found("qos 1\nproperty p { forall n: Int in 0 .. 5, expect 10 / n > 0 }\n")
    (finding,) = explored.findings
    assert "division by zero" in finding.reason
    assert "forall n: Int in [0]" in finding.text


@pytest.mark.slow
def test_a_where_that_nothing_meets_is_told_with_its_place(found) -> None:
    # Of whole numbers the checker would refuse it; no rational one is a root of 2 either.
    explored = found("qos 1\nproperty p { forall n in 1 .. 5 where n * n == 2, expect n > 5 }\n")
    ((condition, count),) = explored.refused.items()
    assert condition.endswith("a.qos:2:39: where n * n == 2")
    assert count == explored.examples > 0


def test_a_value_may_depend_on_one_drawn_before(found) -> None:
    text = "property p { forall n: Int in 1 .. 5, forall m: Int in n .. 9, expect m >= n }\n"
    explored = found(f"qos 1\n{text}")
    assert explored.findings == ()
    assert explored.examples > 20


@pytest.mark.parametrize(
    ("values", "condition", "written"),
    [
        ("in [true, false]", "not x", "[true]"),
        ("in [10%, 50%]", "x < 20%", "[50%]"),
        ("in 0 .. 1 us", "x < 300 ns", "[300 ns]"),
        ("in 1 Mbit/s @ip .. 10 Mbit/s @ip", "x < 1500 kbit/s @ip", "[2 Mbit/s @ip]"),
        (": Int in 3 .. 90", "x < 7", "[7]"),
        ("in 10% .. 90%", "x < 37%", "[40%]"),
    ],
)
def test_values_are_written_as_an_author_would(found, values, condition, written) -> None:
    (finding,) = found(
        f"qos 1\nproperty p {{ forall x{'' if values[0] == ':' else ' '}{values}, "
        f"expect {condition} }}\n"
    ).findings
    assert f" in {written}\n" in finding.text


POLICED = """qos 1
property policed {
  forall rate: CellRate in 1 cell/s .. 353_207 cell/s
  forall tau: Time in 0 s .. 1 ms
  forall arrivals in cells(at_most = 1_000)
  expect conforms(police(arrivals, pcr = rate, cdvt = tau), pcr = rate, cdvt = tau)
}
"""


def forgetful(arrivals, pcr, cdvt=0):
    """Police as if each cell that conforms were the first: its earliness is forgotten."""
    due, passed = 0, []
    for number, at_ps in enumerate(arrivals.at_ps.tolist()):
        if at_ps >= due - cdvt * PS_PER_S:
            passed.append(number)
            due = at_ps + PS_PER_S / pcr
    return arrivals.select(passed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["0", "1"])
def test_a_wrong_policer_is_found_with_the_three_cells_that_it_needs(found, seed) -> None:
    wrong = {**FUNCTIONS, "police": forgetful}
    (finding,) = found(POLICED, Block(0, 300, seed), wrong).findings
    times = finding.text.partition("at = [")[2].partition("]")[0]
    assert len(times.split(",")) == 3, finding.text


@pytest.mark.slow
def test_the_policer_of_the_engine_keeps_its_promise(found) -> None:
    assert found(POLICED).findings == ()


STEPS = """qos 1
property steps {
  forall n: Int in 0 .. 1_000
  expect modest: n < 700
  expect small: n < 10 or n >= 600
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["0", "1", "2", "3"])
def test_a_value_that_breaks_another_promise_is_no_smaller_example(found, seed) -> None:
    """What is below 700 in few digits, such as 100, breaks the other one."""
    explored = found(STEPS, BLOCK._replace(seed=seed))
    smallest = {
        finding.statement: re.findall(r"forall n: Int in \[(\d+)\]", finding.text)
        for finding in explored.findings
    }
    assert int(smallest["modest"][0]) >= 700
    assert smallest["small"] == ["10"]
