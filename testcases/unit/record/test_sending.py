"""What a report says of the flows of a test whose cases differ."""

from pathlib import Path

import pytest

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.plan.plan import Bounds, plan
from qospec.record.outcome import describe_flows, describe_frame

BENCH = """qos 1
import std.media

topology bench {
  a, b, c, d, e = host
  switch = hub
  link a -- switch.p[0] via media.stm1
  link b -- switch.p[1] via media.stm1
  link c -- switch.p[2] via media.stm1
  link d -- switch.p[3] via media.stm1
  link e -- switch.p[4] via media.stm1
}

device hub {
  port p[5]: cell
  fabric = vc_switch { ports = 5, latency = 1 us }
  for i in 0 .. 4 {
    p[i].rx -> fabric.entry[i]
    fabric.exit[i] -> p[i].tx
  }
}

test t on bench {
  SWEEP
  flow f = FLOW
  run { measure = 1 ms }
  expect f.lost == 0
}
"""


@pytest.mark.parametrize(
    ("sweep", "flow", "said"),
    [
        ("sweep n in [1]", "ubr { pcr = n * 100 cell/s } from a to b", "ubr, 100 cell/s"),
        (
            "sweep n in [2, 4, 1]",
            "ubr { pcr = n * 100 cell/s } from a to b",
            "ubr, 100 cell/s to 400 cell/s",
        ),
        (
            "sweep n in [2, 4]",
            "frames { cells = 9 cell, rate = n * 100 frame/s } from a to b",
            "frames, 200 frame/s to 400 frame/s",
        ),
        (
            "sweep n in [1, 1_000]",
            "ubr { pcr = 80 cell/s, connections = n } from a to b",
            "ubr, 1 to 1_000 connections of 80 cell/s",
        ),
        (
            "sweep n in [3]",
            "ubr { pcr = 80 cell/s, connections = n } from a to b",
            "ubr, 3 connections of 80 cell/s",
        ),
    ],
)
def test_rates_and_connections_are_shown_over_all_cases(tmp_path, sweep, flow, said) -> None:
    (shown,) = flows(tmp_path, sweep, flow)
    assert [shown[field] for field in ("name", "from", "to", "traffic")] == ["f", "a", "b", said]


def flows(folder: Path, sweep: str, flow: str):
    path = folder / "a.qos"
    text = BENCH.replace("SWEEP", sweep.replace("[3]", "[3]")).replace("FLOW", flow)
    path.write_text(text, encoding="utf-8")
    problems = Problems()
    suite = check([path], discover(), problems)
    assert not problems.errors, problems.errors
    return told(suite)


def told(checked):
    return describe_flows(flow for case in checked.suite.tests[0].cases for flow in case.flows)


@pytest.mark.parametrize(
    ("flow", "contract", "source"),
    [
        (
            "cbr { pcr = 100 cell/s, cdvt = 2 us } from a to b",
            [["pcr", "100 cell/s"], ["cdvt", "2 us"]],
            "constant, rate 100 cell/s",
        ),
        (
            "ubr { pcr = 9 cell/s, clp = 1, source = poisson { rate = 90 cell/s } } from a to b",
            [["pcr", "9 cell/s"], ["clp", "1"]],
            "poisson, rate 90 cell/s",
        ),
        (
            "vbr_rt { pcr = 900 cell/s, cdvt = 2 us, scr = 100 cell/s, mbs = 32 cell } from a to b",
            [["pcr", "900 cell/s"], ["scr", "100 cell/s"], ["mbs", "32 cell"], ["cdvt", "2 us"]],
            "burst",
        ),
    ],
    ids=["an honest source", "a liar", "bursts"],
)
def test_what_is_declared_and_what_is_emitted_stand_beside_each_other(
    tmp_path: Path, flow, contract, source
) -> None:
    (shown,) = flows(tmp_path, "sweep n in [1]", flow)
    assert shown["contract"] == contract
    assert shown["source"].startswith(source)


def test_of_a_program_no_rate_and_no_arrival_process_is_told(tmp_path: Path) -> None:
    path, problems = tmp_path / "a.qos", Problems()
    path.write_text(PROGRAM, encoding="utf-8")
    suite = check([path], discover(), problems)
    assert not problems.errors, problems.errors
    (shown,) = told(suite)
    assert (shown["traffic"], shown["source"]) == ("program", "what the program sends")
    words = '["python3", "-u", "-m", "http.server", "8000", "--bind", "0.0.0.0"]'
    assert shown["contract"] == [["command", words], ["ready", "8000"]]
    definitions = describe_frame(suite.suite, [], "0", {"qospec": "1"})["definitions"]
    sending = [entry["name"] for entry in definitions if entry["role"] in ("traffic", "arrivals")]
    assert sending == ["program"]


PROGRAM = """qos 1
import std.media
topology line {
  a, b = host
  link a -- b via media.ethernet
}
test t on line {
  flow f = program {
    command = ["python3", "-u", "-m", "http.server", "8000", "--bind", "0.0.0.0"]
    ready = 8_000
  } from a to b
  run { measure = 1 s }
  expect f.sent > 0 pkt
}
"""


def test_a_swept_value_that_is_the_default_is_shown_like_the_others(tmp_path: Path) -> None:
    flow = "ubr { pcr = 9 cell/s, clp = n } from a to b"
    (shown,) = flows(tmp_path, "sweep n in [0, 1]", flow)
    assert shown["contract"] == [["pcr", "9 cell/s"], ["clp", "0 to 1"]]


def test_a_law_of_sizes_is_shown_as_it_is_written() -> None:
    path = Path(__file__).parents[2] / "language" / "accept" / "sizes_drawn_by_a_law.qos"
    first, _, third = told(check([path], discover(), Problems()))
    said = ["size", "exponential(500 B, min = 40 B, max = 1500 B) @ip"]
    assert said in first["contract"]
    assert [said[0], said[1].replace("500 B,", "200 B,", 1)] in third["contract"]


PHASES = """search load in 1_000 cell/s .. 100_000 cell/s {
    goal good { loss = 0 }
    trial = 10 ms
  }
  point half { load = 50% of good.load, measure = 10 ms }
  flow f = ubr { pcr = load } from a to b
"""


def test_a_flow_of_phases_is_shown_from_its_lowest_load_to_its_highest(tmp_path: Path) -> None:
    """Half of the lowest load of the search is what the point may send at least."""
    path, problems = tmp_path / "a.qos", Problems()
    head, _, _ = BENCH.partition("  SWEEP")
    path.write_text(f"{head}  {PHASES}}}\n", encoding="utf-8")
    suite = check([path], discover(), problems)
    plans = plan(suite, "0", Bounds(), problems)
    assert not problems.errors, problems.errors
    (shown,) = describe_frame(suite.suite, plans, "0", {"qospec": "1"})["tests"][0]["flows"]
    assert shown["traffic"] == "ubr, 500 cell/s to 100_000 cell/s"
    assert shown["contract"] == [["pcr", "500 cell/s to 100_000 cell/s"]]


ALGORITHMS = """qos 1
import std.media
device box {
  port west, east: packet
  queue = fifo { limit = 20 pkt, drop = DROP }
  back = fifo { limit = 20 pkt }
  west.rx -> queue -> east.tx
  east.rx -> back -> west.tx
}
topology line {
  a, b = host
  dut = box
  link a -- dut.west via media.fast_ethernet
  link dut.east -- b via media.ethernet
}
test t on line {
  flow f = tcp { mss = 1_460 B, CONTROL } from a to b
  run { measure = 1 s }
  expect f.sent > 0 pkt
}
"""


@pytest.mark.parametrize(
    ("drop", "control", "named"),
    [
        (
            "red { low = 5 pkt, high = 15 pkt, p = 10% }",
            "algorithm = cubic",
            {"red", "cubic", "tail"},
        ),
        ("tail", "", {"tail", "newreno"}),
    ],
    ids=["named", "by default"],
)
def test_algorithms_that_are_tested_are_defined_with_their_sources(
    tmp_path: Path, drop: str, control: str, named: set[str]
) -> None:
    path, problems = tmp_path / "a.qos", Problems()
    text = ALGORITHMS.replace("DROP", drop).replace(", CONTROL", f", {control}" if control else "")
    path.write_text(text, encoding="utf-8")
    suite = check([path], discover(), problems)
    assert not problems.errors, problems.errors
    definitions = describe_frame(suite.suite, [], "0", {"qospec": "1"})["definitions"]
    found = [entry for entry in definitions if entry["role"] in ("dropping", "congestion")]
    assert {entry["name"] for entry in found} == named
    assert all(entry["source"] and entry["summary"] for entry in found)
