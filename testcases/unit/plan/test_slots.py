"""What warnings say of tolerances behind slots is what a run shows, and of arbitration, why."""

import pytest

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.plan.plan import Bounds, plan
from qospec.plan.survey import verify

TEXT = """
device policer {
  port west, east: cell
  upc = gcra
  west.rx -> upc -> east.tx
  east.rx -> west.tx
}
topology bench {
  a, b = host
  box = policer
  link a -- box.west via line { rate = 424 kbit/s @cell }
  link box.east -- b via line { rate = 424 kbit/s @cell }
}
test t on bench {
  flow f = cbr { pcr = RATE cell/s, cdvt = CDVT } from a to b
  run { measure = 1 s }
  expect kept: f.lost == 0
}
"""
"""Slots of 1 ms."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "below", "enough"), [("400", "0.49 ms", "0.5 ms"), ("160", "0.74 ms", "0.75 ms")]
)
def test_a_flow_alone_loses_cells_just_below_the_bound_and_none_at_it(
    planned, ran, problems, rate, below, enough
):
    for cdvt, warned in ((enough, []), (below, ["W0613"])):
        (case,) = planned(TEXT.replace("RATE", rate).replace("CDVT", cdvt))
        assert [problem.code for problem in problems.all] == warned
        assert [judgement.verdict for judgement in ran(case).judgements] == [
            "fail" if warned else "pass"
        ]


def test_a_delay_on_the_way_keeps_the_slots(planned, problems):
    behind = TEXT.replace("upc = gcra", "upc = gcra\n  pipe = delay { time = 3 us }")
    behind = behind.replace("west.rx -> upc", "west.rx -> pipe -> upc")
    planned(behind.replace("RATE", "400").replace("CDVT", "0.49 ms"))
    assert [problem.code for problem in problems.all] == ["W0613"]


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("RATE", "100").replace("CDVT", "0 s"),
        TEXT.replace("RATE", "160").replace("CDVT", "0 s, source = constant { rate = 80 cell/s }"),
        TEXT.replace("RATE", "160").replace("CDVT", "0 s").replace("1 s }", "40 ms }"),
        TEXT.replace("RATE", "160")
        .replace("CDVT", "0 s")
        .replace("upc = gcra", "upc = merge { ports = 1 }"),
    ],
    ids=["whole slots", "a slower source", "a short run", "no policer"],
)
def test_what_may_conform_is_not_reported(planned, problems, text):
    planned(text)
    assert problems.all == ()


CROSSING = """
device crossing {
  port p[3]: cell
  fabric = vc_switch { ports = 3, arbitration = random }
  for i in 0 .. 2 {
    out = fifo { limit = 9 cell }
    p[i].rx -> fabric.entry[i]
    fabric.exit[i] -> out -> p[i].tx
  }
}
topology bench {
  a, b, c = host(slotted = false)
  box = crossing
  link a -- box.p[0] via media.stm1
  link b -- box.p[1] via media.stm1
  link c -- box.p[2] via media.stm1
}
test t on bench {
  flow f = ubr { pcr = 400 cell/s, SENT } from a to c
  flow g = ubr { pcr = 400 cell/s, SENT } from b to c
  run { measure = 10 ms }
  expect kept: f.lost + g.lost == 0
}
"""


@pytest.mark.parametrize(
    ("sent", "warned"),
    [
        ("phases = random", ["W0633"]),
        ("source = poisson { rate = 100 cell/s }", ["W0633"]),
        ("phases = even", []),
        ("source = replay { at = [1 ms, 5 ms] }", []),
    ],
)
def test_what_comes_at_the_same_times_is_arbitrated_without_slots(tmp_path, problems, sent, warned):
    path = tmp_path / "a.qos"
    path.write_text("qos 1\nimport std.media\n" + CROSSING.replace("SENT", sent), encoding="utf-8")
    verify(check([path], discover(), problems), problems)
    assert [problem.code for problem in problems.all] == warned


@pytest.mark.parametrize(
    ("hosts", "aligned", "sent", "warned"),
    [
        ("(slotted = false)", ", slotted = false", "phases = random", ["W0633"]),
        ("(slotted = false)", ", slotted = false", "phases = even", []),
        ("", ", slotted = false", "phases = random", []),
        ("(slotted = false)", "", "phases = random", []),
    ],
)
def test_a_line_without_slots_aligns_nothing(tmp_path, problems, hosts, aligned, sent, warned):
    """It passes cells on as they come, so those that begin at random still meet by chance."""
    align = f"align = line {{ rate = 149.76 Mbit/s @cell{aligned} }}"
    text = CROSSING.replace("SENT", sent).replace("host(slotted = false)", f"host{hosts}")
    text = text.replace("p[i].rx ->", f"{align}\n    p[i].rx -> align ->")
    path = tmp_path / "a.qos"
    path.write_text("qos 1\nimport std.media\n" + text, encoding="utf-8")
    verify(check([path], discover(), problems), problems)
    assert [problem.code for problem in problems.all] == warned


@pytest.mark.parametrize(("whole", "warned"), [(True, ["W0633"]), (False, [])])
def test_a_plan_of_all_cases_warns_as_a_check_does(tmp_path, problems, whole, warned):
    """Another case may have something to decide, so of some cases it says nothing."""
    path = tmp_path / "a.qos"
    text = CROSSING.replace("SENT", "phases = random")
    path.write_text("qos 1\nimport std.media\n" + text, encoding="utf-8")
    assert plan(check([path], discover(), problems), "0", Bounds(), problems, whole=whole)
    assert [problem.code for problem in problems.all] == warned
