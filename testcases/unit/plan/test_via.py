"""Flows that pass a switch several times, by cables between its own ports."""

from fractions import Fraction

import pytest
from drivers import seen

from qospec.capture.error import CaptureError
from qospec.capture.links import find_link
from qospec.engine.graph.components import find_components, is_cyclic

CELL_US = 424 / Fraction("149.76")

OWN_INPUTS = """
device dut {
  port p[8]: cell
  fabric = vc_switch { ports = 8, latency = 5 us, arbitration = round_robin }
  for i in 0 .. 7 {
    out = fifo { limit = 200 cell }
    p[i].rx -> fabric.entry[i]
    fabric.exit[i] -> out -> p[i].tx
  }
}
"""
SHARED_BUS = """
device dut {
  port p[8]: cell
  waits = fifo { limit = 500 cell }
  bus = line { rate = 299.52 Mbit/s @cell, slotted = false }
  fabric = vc_switch { ports = 8, entries = 1 }
  for i in 0 .. 7 {
    out = fifo { limit = 200 cell }
    p[i].rx -> waits
    fabric.exit[i] -> out -> p[i].tx
  }
  waits -> bus -> fabric.entry[0]
}
"""
BENCH = """
topology bench {
  m = host(count = 4)
  box = dut
  link m[0] -- box.p[0] via media.stm1
  link m[1] -- box.p[4] via media.stm1
  link m[2] -- box.p[3] via media.stm1
  link m[3] -- box.p[7] via media.stm1
  link box.p[1] -- box.p[2] via media.stm1
  link box.p[5] -- box.p[6] via media.stm1
}

traffic steady(rate: CellRate = 10_000 cell/s) = cbr { pcr = rate, cdvt = 1 ms }
"""
WAYS = """
test t on bench {
  flow straight = steady from m[0] to m[1]
  flow once = steady from m[1] to m[0] via box.p[1]
  flow against = steady from m[3] to m[2] via box.p[2]
  flow twice = steady from m[2] to m[3] via box.p[1], box.p[5]
  run { measure = 10 ms }
  expect all: straight.lost + once.lost + against.lost + twice.lost == 0 cell
  expect first: twice.items.at(box.p[1].tx) == 100 cell and twice.items.at(box.p[2].rx) == 100 cell
  expect second: twice.items.at(box.p[5].tx) == 100 cell
  expect never: twice.items.at(box.p[2].tx) == 0 cell and straight.items.at(box.p[1].tx) == 0 cell
  expect back: against.items.at(box.p[1].rx) == 100 cell
%s}
"""


@pytest.mark.parametrize(
    ("device", "passage_us", "comes_round"),
    [(OWN_INPUTS, Fraction(5), ""), (SHARED_BUS, CELL_US / 2, "box.waits")],
    ids=["inputs of their own", "a shared bus"],
)
def test_a_flow_passes_the_same_switch_as_often_as_its_way_says(
    planned, ran, device: str, passage_us: Fraction, comes_round: str
) -> None:
    exact = "".join(
        f"  expect {flow}_takes: abs({flow}.delay.min - {us:.6f} us) <= 0.002 ns\n"
        for n, flow in enumerate(("straight", "once", "twice"), 1)
        if (us := float(n * passage_us + (n + 1) * CELL_US))
    )
    (case,) = planned(device + BENCH + WAYS % exact)
    experiment = case.networks[""].experiment
    onward = [
        {w.to for w in experiment.wires if w.node == n and w.to >= 0}
        for n in range(len(experiment.nodes))
    ]
    rounds = [component for component in find_components(onward) if is_cyclic(component, onward)]
    passed = [{experiment.nodes[n].path for n in numbers} for numbers in rounds]
    assert [comes_round in names for names in passed] == [True] * bool(comes_round)
    assert [j.verdict for j in ran(case).judgements] == ["pass"] * 8


@pytest.mark.parametrize("device", [OWN_INPUTS, SHARED_BUS])
def test_the_drivers_agree_on_ways(planned, device: str) -> None:
    (case,) = planned(device + BENCH + WAYS % "")
    experiment = case.networks[""].experiment
    batches = seen(experiment, 10**7, by_events=False)
    assert seen(experiment, 10**5, by_events=True) == batches


def test_delays_are_proved_where_nothing_comes_round(planned) -> None:
    (case,) = planned(OWN_INPUTS + BENCH + WAYS % "")
    most_ps = [delay.most_ps for delay in case.networks[""].proofs.delays.values()]
    assert most_ps[3] >= 15_000_000 + 4 * 2_831_197
    (case,) = planned(SHARED_BUS + BENCH + WAYS % "")
    whys = [delay.why for delay in case.networks[""].proofs.delays.values()]
    assert [why[:19] for why in whys] == ["", *["it may come round to"[:19]] * 3]


def test_a_line_is_offered_a_flow_as_often_as_it_passes(planned, problems) -> None:
    planned(
        SHARED_BUS
        + BENCH
        + """
test t on bench {
  flow twice = steady(rate = 300_000 cell/s) from m[2] to m[3] via box.p[1], box.p[5]
  run { measure = 10 ms }
  expect arrives: twice.received > 0
}
"""
    )
    (error,) = problems.errors
    assert error.code == "E0305"
    assert "381.6 Mbit/s" in error.label  # 3 * 300,000 * 424 bit


@pytest.mark.parametrize("device", [OWN_INPUTS, SHARED_BUS])
def test_what_is_inserted_on_the_way_goes_on_with_its_flow(planned, ran, device: str) -> None:
    """Cells of the second leg have its way, not that of the first."""
    watch = "watch = oam_insert { rate = 1_000 cell/s }\n    p[i].rx -> watch ->"
    (case,) = planned(
        device.replace("p[i].rx ->", watch)
        + BENCH
        + """
test t on bench {
  flow twice = steady from m[2] to m[3] via box.p[1], box.p[5]
  run { measure = 100 ms }
  expect none: twice.oam.lost == 0 cell
  expect some: twice.oam.received == 300 cell
  expect legs: twice.oam.items.at(box.p[2].rx) == 100 cell
    and twice.oam.items.at(box.p[6].rx) == 200 cell
}
"""
    )
    assert [j.verdict for j in ran(case).judgements] == ["pass"] * 3


def test_links_on_the_way_can_be_captured_by_their_names(planned) -> None:
    """What counts legs is behind a line, and is no link."""
    (case,) = planned(OWN_INPUTS + BENCH + WAYS % "")
    network, planned_network = case.case.networks[""], case.networks[""]
    with pytest.raises(CaptureError) as error:
        find_link(network, planned_network, "")
    links = {element.path for element in network.elements if " -> " in element.path}
    assert set(error.value.choices) < links
    assert find_link(network, planned_network, "box.p[5].tx").name == "box.p[5] -> box.p[6]"


def test_a_way_has_as_many_ports_as_a_mark_counts(planned, problems) -> None:
    many = """
device wide {
  port p[300]: cell
  for i in 0 .. 299 {
    p[i].rx -> discard
  }
}
topology bench {
  a, b = host
  box = wide
}
"""
    ports = ", ".join(f"box.p[{number}]" for number in range(256))
    text = f"test t on bench {{\n  flow f = ubr {{ pcr = 1 cell/s }} from a to b via {ports}\n}}\n"
    planned(many + text)
    (found,) = [problem for problem in problems.errors if problem.code == "E0317"]
    assert found.message == "`f` has more than 255 ports"
    assert found.help == "name at most 255 of them"
