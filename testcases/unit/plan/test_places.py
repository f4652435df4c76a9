"""What passes inside the network: at sides of ports, and at outputs of elements."""

import pytest

from qospec.model.expression import list_measurements

GATEWAY = """
device gateway(header: Data = 20 B) {
  port inner, outer: packet
  wrap = encapsulate { header = header }
  unwrap = decapsulate { header = header }
  sort = classify { urgent = pkt.dscp == 46, rest = otherwise }
  urgent, rest, back = fifo { limit = 64 pkt }
  top = strict { order = [urgent, rest] }
  inner.rx -> wrap -> sort
  sort.urgent -> urgent -> top.urgent
  sort.rest -> rest -> top.rest
  top -> outer.tx
  outer.rx -> unwrap -> back -> inner.tx
}
topology tunnel {
  a, b = host
  left, right = gateway
  link a -- left.inner via media.fast_ethernet
  link left.outer -- right.outer via media.fast_ethernet
  link right.inner -- b via media.fast_ethernet
}
traffic sized(size: Data, rate: PacketRate, code: Int) = packets {
  rate = rate
  size = size @ip
  dscp = code
}
"""
TWO_FLOWS = """
test t on tunnel {
  flow web = sized(size = 1_000 B, rate = 1 kpkt/s, code = 0) from a to b
  flow voice = sized(size = 60 B, rate = 500 pkt/s, code = 46) from a to b
  run { warmup = 10 ms, measure = 100 ms }
STATEMENTS
}
"""


def verdicts(planned, ran, *conditions: str, text: str = GATEWAY + TWO_FLOWS) -> list[str]:
    """Return the verdict of each condition, or its text where it is not `pass`."""
    lines = "\n".join(f"  expect e{n}: {criterion}" for n, criterion in enumerate(conditions))
    (case,) = planned(text.replace("STATEMENTS", lines))
    judged = ran(case).judgements
    return [
        condition
        for condition, judgement in zip(conditions, judged, strict=True)
        if judgement.verdict != "pass"
    ]


def test_items_and_bytes_of_all_flows_and_of_one(planned, ran):
    """In 100 ms 100 packets of 1,000 B pass, and 50 of 60 B; in the tunnel each has 20 B more."""
    assert not verdicts(
        planned,
        ran,
        "left.inner.rx.items == 150 pkt",
        "left.outer.tx.items == 150 pkt",
        "web.items.at(left.outer.tx) == 100 pkt",
        "voice.items.at(left.outer.tx) == 50 pkt",
        "a.tx.bytes.ip == 100 * 1_000 B + 50 * 60 B",
        "left.outer.tx.bytes.ip == 100 * 1_020 B + 50 * 80 B",
        "right.inner.tx.bytes.ip == 100 * 1_000 B + 50 * 60 B",
        "left.outer.tx.bytes.frame == 100 * 1_038 B + 50 * 98 B",
        "left.outer.tx.bytes.line == 100 * 1_058 B + 50 * 118 B",
        "web.bytes.payload.at(a.tx) == 100 * 972 B",
        "left.outer.tx.throughput within 0.001 pkt/s of 1_500 pkt/s",
        "web.bit_rate.ip.at(left.outer.tx) within 1 bit/s of 8.16 Mbit/s @ip",
        "web.bit_rate.ip within 1 bit/s of 8 Mbit/s @ip",
    )


def test_both_ends_of_a_link_are_one_place(planned, ran):
    assert not verdicts(
        planned,
        ran,
        "left.outer.tx.items == right.outer.rx.items",
        "b.rx.bytes.line == right.inner.tx.bytes.line",
        "web.items.at(a.tx) == web.items.at(left.inner.rx)",
        "b.tx.items == 0 pkt",
        "b.tx.bit_rate.line < 1 bit/s",
    )


def test_outputs_of_elements_are_places_too(planned, ran):
    assert not verdicts(
        planned,
        ran,
        "left.wrap.items == 150 pkt",
        "left.wrap.bytes.ip == 100 * 1_020 B + 50 * 80 B",
        "left.wrap.out.items == left.wrap.items",
        "right.unwrap.bytes.ip == 100 * 1_000 B + 50 * 60 B",
        "left.sort.urgent.items == 50 pkt",
        "left.sort.rest.items == 100 pkt",
        "web.items.at(left.sort.urgent) == 0 pkt",
        "web.bit_rate.ip.at(left.sort.rest) within 1 bit/s of 8.16 Mbit/s @ip",
        "right.wrap.items == 0 pkt",  # nothing goes that way
    )


def test_an_element_that_would_be_left_out_is_kept_where_it_is_measured(planned, ran):
    text = GATEWAY + TWO_FLOWS.replace("code = 46", "code = 0")
    conditions = ("left.sort.rest.items == 150 pkt", "left.sort.urgent.items == 0 pkt")
    assert not verdicts(planned, ran, *conditions, text=text)
    lean, whole = (
        planned(text.replace("STATEMENTS", f"  expect e: {criterion}"))[0].networks[""].experiment
        for criterion in ("web.lost == 0 pkt", conditions[0])
    )
    assert {node.path for node in whole.nodes} - {node.path for node in lean.nodes} == {"left.sort"}
    assert lean.measurement.taps == ()


CELLS = """
device switch {
  port p[3]: cell
  oam = oam_insert { rate = 100 cell/s }
  fabric = vc_switch { ports = 3 }
  p[0].rx -> oam -> fabric.entry[0]
  p[1].rx -> fabric.entry[1]
  p[2].rx -> fabric.entry[2]
  for i in 0 .. 2 {
    out = fifo { limit = 64 cell }
    fabric.exit[i] -> out -> p[i].tx
  }
}
topology star {
  a, b, c = host
  hub = switch
  link a -- hub.p[0] via media.stm1
  link b -- hub.p[1] via media.stm1
  link c -- hub.p[2] via media.stm1
}
test t on star {
  flow user = ubr { pcr = 1_000 cell/s } from a to c
  flow other = ubr { pcr = 2_000 cell/s } from b to c
  flow back = ubr { pcr = 4_000 cell/s } from c to a
  run { warmup = 100 ms, measure = 100 ms }
STATEMENTS
}
"""


def test_cells_of_all_inputs_of_a_switch_are_counted_at_an_output(planned, ran):
    """Each input of a switch is a node of its own. The OAM cells of a connection count apart."""
    assert not verdicts(
        planned,
        ran,
        "hub.fabric.exit[2].items == 310 cell",
        "hub.fabric.exit[0].items == 400 cell",
        "hub.fabric.exit[1].items == 0 cell",
        "user.items.at(hub.fabric.exit[2]) == 100 cell",
        "user.oam.items.at(hub.fabric.exit[2]) == 10 cell",
        "user.oam.items.at(a.tx) == 0 cell",
        "hub.p[2].tx.bytes.cell == 310 * 53 B",
        "hub.p[2].tx.bytes.payload == 310 * 48 B",
        "hub.p[2].tx.bit_rate.cell within 1 bit/s of 3_100 * 424 bit/s @cell",
        text=CELLS,
    )


SHARED = """
device shared {
  port p[2]: packet
  cpu = processor { ports = 2, per_packet = 5 us, limit = 64 pkt }
  fabric = router { ports = 2 }
  for i in 0 .. 1 {
    out = fifo { limit = 64 pkt }
    p[i].rx -> cpu.entry[i]
    cpu.exit[i] -> fabric.entry[i]
    fabric.exit[i] -> out -> p[i].tx
  }
}
topology chain {
  a, b = host
  r, s = shared
  link a -- r.p[0] via media.fast_ethernet
  link r.p[1] -- s.p[0] via media.fast_ethernet
  link s.p[1] -- b via media.fast_ethernet
}
test t on chain {
  flow there = packets { rate = 2_000 pkt/s, size = 200 B @ip } from a to b
  flow back = packets { rate = 1_000 pkt/s, size = 500 B @ip } from b to a
  run { warmup = 10 ms, measure = 100 ms }
STATEMENTS
}
"""


@pytest.mark.parametrize("chunk", ["7", "100000"])
def test_elements_on_a_cycle_are_places_like_others(planned, ran, monkeypatch, chunk):
    """Processors that both directions share make a cycle, which runs event by event."""
    monkeypatch.setenv("QOS_CHUNK", chunk)
    assert not verdicts(
        planned,
        ran,
        "r.cpu.exit[0].items == 200 pkt",
        "r.cpu.exit[1].items == 100 pkt",
        "there.bytes.ip.at(s.cpu.exit[0]) == 200 * 200 B",
        "back.items.at(s.cpu.exit[0]) == 0 pkt",
        "r.fabric.exit[1].items == 200 pkt",
        "r.p[1].tx.bytes.ip == 200 * 200 B",
        "r.p[1].rx.bytes.ip == 100 * 500 B",
        "b.rx.items == 200 pkt",
        text=SHARED,
    )


def test_cells_and_packets_may_pass_one_network(planned, ran):
    text = """
topology side_by_side {
  a, b, c, d = host
  link a -- b via media.stm1
  link c -- d via media.fast_ethernet
}
test t on side_by_side {
  flow f = ubr { pcr = 1_000 cell/s } from a to b
  flow g = packets { rate = 1_000 pkt/s, size = 1_000 B @ip } from c to d
  run { warmup = 10 ms, measure = 100 ms }
STATEMENTS
}
"""
    assert not verdicts(
        planned,
        ran,
        "f.bit_rate.cell within 1 bit/s of 424 kbit/s @cell",
        "f.bit_rate.payload within 1 bit/s of 384 kbit/s @payload",
        "g.bit_rate.ip within 1 bit/s of 8 Mbit/s @ip",
        "a.tx.bytes.cell == 5_300 B",
        "d.rx.bytes.ip == 100_000 B",
        text=text,
    )
    report = "  report rate: f.bit_rate.cell every 50 ms"
    (case,) = planned(text.replace("STATEMENTS", report))
    (leaf,) = list_measurements(case.case.statements[0].expression)
    assert ran(case).readings.read_series(leaf, 50 * 10**9) == [424_000, 424_000]


def test_members_of_a_flow_between_arrays_are_counted_apart_and_together(planned, ran):
    text = """
topology pairs {
  left, right = host(count = 2)
  for i in 0 .. 1 {
    link left[i] -- right[i] via media.stm1
  }
}
test t on pairs {
  flow f = ubr { pcr = 1_000 cell/s } from left to right
  run { measure = 100 ms }
STATEMENTS
}
"""
    assert not verdicts(
        planned,
        ran,
        "f.items.at(left[0].tx) == 100 cell",
        "f[0].items.at(left[0].tx) == 100 cell",
        "f[1].items.at(left[0].tx) == 0 cell",
        "worst(f.items.at(left[1].tx)) == 0 cell",
        text=text,
    )


def test_repeats_are_judged_by_their_mean(planned):
    text = GATEWAY + TWO_FLOWS.replace("measure = 100 ms", "measure = 20 ms, repeat = 5")
    condition = "left.outer.tx.bit_rate.ip > 1 Mbit/s @ip with 95% confidence"
    (case,) = planned(text.replace("STATEMENTS", f"  expect e: {condition}"))
    assert case.trials == 5
