"""What a record says of lines and nodes: their parameters, and which nobody gave."""

from pathlib import Path

import pytest

from qospec.catalogue.kinds import NESTED, discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.plan.plan import Bounds, plan
from qospec.record.outcome import describe_frame

TEXT = """qos 1
import std.media

let code = "00112233445566778899aabbccddeeff"

device edge(depth: Packets = 20 pkt, quick: Time, pass_key: Text = code) {
  port a, b: packet
  early = fifo { limit = 64 pkt, drop = red { low = 8 pkt, high = 32 pkt, p = 10% } }
  gate = processor { per_packet = quick, limit = 9 pkt }
  sort = classify { one = pkt.dscp == 46, two = pkt.dscp == 10, three = otherwise }
  out = strict { order = [one, two, three] }
  for i in 0 .. 1 {
    wait = fifo { limit = depth }
  }
  a.rx -> gate.entry[0]
  gate.exit[0] -> sort
  sort.one -> wait[0] -> out.one
  sort.two -> wait[1] -> out.two
  sort.three -> early -> out.three
  out -> b.tx
  b.rx -> a.tx
}

topology path(haul: Length) {
  left, right = host
  clocked = host(clock = 20 ppm)
  r[2] = edge
  near, far = edge(quick = 3 us)
  other = edge(quick = 3 us, depth = 7 pkt)
  link left -- near.a via media.fast_ethernet
  link near.b -- far.a via media.fast_ethernet { length = haul, rate = 10 Mbit/s @line }
  link far.b -- right via media.fast_ethernet
  link clocked -- other.a via media.fast_ethernet
}

test t on path(haul) {
  sweep haul in [10 km, 20 km]
  flow f = packets { rate = 100 pkt/s, size = 100 B @ip } from left to right
  flow g = tcp { transfer = 20 kB } from left to right
  run { measure = 1 ms }
  expect f.lost == 0 pkt
}
""".replace("  r[2] = edge\n", "")


@pytest.fixture(scope="module")
def frame():
    problems = Problems()
    path = Path("networks.qos")
    checked = check([path], discover(), problems, texts={path.resolve(): TEXT})
    assert [str(problem) for problem in problems.errors] == []
    plans = plan(checked, "0", Bounds(10**9), problems)
    assert [str(problem) for problem in problems.errors] == []
    return describe_frame(checked.suite, plans, "0", {"qospec": "", "sources": []})


def find(items, name):
    (found,) = [item for item in items if name in item["names"]]
    return found


def test_lines_have_rates_and_delays_from_the_least_to_the_most(frame):
    lines = frame["tests"][0]["networks"][""]["lines"]
    named = {tuple(ends): line for line in lines for ends in line["links"]}
    # 10 and 20 km at 5 ns/m; the other lines have no length
    assert named["near.b", "far.a"]["delay"] == "50 us to 100 us"
    assert named["near.b", "far.a"]["rate"] == "10 Mbit/s @line"
    assert named["left", "near.a"] is named["far.b", "right"]
    assert named["left", "near.a"]["delay"] == "0 s"
    assert ["delay_per_length", "5 ns/m"] not in named["left", "near.a"]["defaults"]
    assert named["clocked", "other.a"]["rate"] == "100 Mbit/s @line"


def test_parameters_of_devices_are_given_or_defaults_and_keys_are_withheld(frame):
    nodes = frame["tests"][0]["networks"][""]["nodes"]
    near, other = find(nodes, "near"), find(nodes, "other")
    assert near["names"] == ["near", "far"]
    assert near["device"] == "edge"
    assert near["given"] == [["quick", "3 us"]]
    assert near["defaults"][0] == ["depth", "20 pkt"]
    assert other["given"] == [["depth", "7 pkt"], ["quick", "3 us"]]
    assert "00112233" not in str(nodes)
    assert find(nodes, "clocked")["given"] == [["clock", "20 ppm"]]


def test_elements_have_what_was_given_and_what_nobody_gave(frame):
    elements = find(frame["tests"][0]["networks"][""]["nodes"], "near")["elements"]
    assert find(elements, "wait[0]") == {
        "names": ["wait[0]", "wait[1]"],
        "kind": "fifo",
        "given": [["limit", "20 pkt"]],
        "defaults": [["drop", "tail"]],
    }
    early = find(elements, "early")
    assert early["given"][:4] == [
        ["limit", "64 pkt"],
        ["drop", "red"],
        ["drop.low", "8 pkt"],
        ["drop.high", "32 pkt"],
    ]
    assert ["drop.weight", "1/512"] in [
        [n, v.replace("0.001953125", "1/512")] for n, v in early["defaults"]
    ]
    gate = find(elements, "gate")
    assert ["per_packet", "3 us"] in gate["given"]
    # it is never interrupted, so how often decides nothing
    assert {"housekeeping_every", "segment"} & {name for name, _ in gate["defaults"]} == set()


def test_algorithms_that_nobody_named_are_defined(frame):
    named = {(d["role"], d["name"]) for d in frame["definitions"]}
    assert {("dropping", "tail"), ("dropping", "red"), ("congestion", "newreno")} <= named


def test_what_a_field_implies_does_what_the_field_without_it_does():
    implied = {
        (kind.name, parameter.name): (kind, parameter)
        for kind in discover().kinds.values()
        for parameter in kind.parameters.values()
        if parameter.domain.implied
    }
    assert {name for name, _ in implied} == {"fifo", "tcp"}
    made = {
        parameter.domain.implied: discover()
        .select_role(NESTED[parameter.domain.name])[parameter.domain.implied]
        .build()
        for _, parameter in implied.values()
    }
    fifo, tcp = (
        discover().find(role, name) for role, name in (("element", "fifo"), ("traffic", "tcp"))
    )
    assert made["tail"].list_rules(None) == {}, "no rule but the limit"
    assert tcp.build()._control.hooks == made["newreno"].hooks
    assert tcp.build()._control.repairs_all == made["newreno"].repairs_all
    assert fifo.find_parameter("drop").default is None
