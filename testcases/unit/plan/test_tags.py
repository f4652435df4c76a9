"""Frames with a tag beside others on one link: a packet of a flow with a tag takes 4 bytes more."""

import io
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner
from scapy.layers.l2 import Dot1Q, Ether
from scapy.utils import RawPcapNgReader

from qospec import cli
from qospec.catalogue.kinds import discover
from qospec.engine.graph import emulation
from qospec.run.trial import run

WIRE = """
device hub {
  port near, far: packet
  near.rx -> far.tx
  far.rx -> near.tx
}
topology wire {
  a, b = host
  box = hub
  link a -- box.near via media.mixed_fast_ethernet
  link box.far -- b via media.mixed_fast_ethernet
}
test t on wire {
  flow voice = packets { RATE, size = SIZE B @ip, priority = 5, vlan = 100 } from a to b
  flow data = packets { RATE, size = SIZE B @ip, offset = 50 us } from a to b
  run { measure = 10 ms }
  expect voice.lost == 0 pkt
  report voice.delay.max
  report data.delay.max
  report voice.latency.max
  report data.latency.max
  report voice.sent
  report data.sent
  report voice.bytes.frame.at(box.near.rx)
  report data.bytes.frame.at(box.far.tx)
}
"""
SWITCHED = """
import std.devices.generic
topology floor {
  phone, server, centre = host
  switch = generic.ethernet_switch(ports = 3)
  link phone -- switch.p[0] via media.mixed_fast_ethernet
  link server -- switch.p[1] via media.fast_ethernet
  link switch.p[2] -- centre via media.mixed_fast_ethernet
}
test t on floor {
  flow talk = packets { rate = 1_000 pkt/s, size = 100 B @ip, priority = 5 } from phone to centre
  flow backup = packets { rate = LOAD pkt/s, size = 1_500 B @ip } from server to centre
  run { measure = 20 ms, overload = true }
  expect talk.lost == 0 pkt
  report talk.delay.max
  report switch.p[2].tx.bytes.ip
}
"""


def read(planned, text, **given):
    """Return what is measured, by flow and metric, the plan of the case, and what it observes."""
    for name, value in given.items():
        text = text.replace(name, str(value))
    (case,) = planned(text)
    result = run(case, discover(), lambda _: None)
    assert not result.errors
    values = {
        (flow, metric): value for flow, metric, value, _ in result.repeats[0].readings.list_all()
    }
    return values, case, emulation.run(case.networks[""].experiment)


def volume(observed, place, flow):
    """Return how many packets of a flow of one connection pass a place, and their bytes."""
    tally = observed.passages.pool(place, slice(flow, flow + 1), packets=True)
    return tally.carried, tally.volume.ip, tally.volume.frame, tally.volume.line


def seconds(byte_count, after=0):
    """Return the time of some bytes at 100 Mbit/s."""
    return Fraction(8 * byte_count, 10**8) + after


@pytest.mark.parametrize(
    ("size", "tagged", "untagged"),
    [(100, 122, 118), (46, 68, 64), (42, 64, 64), (1_500, 1_522, 1_518)],
)
def test_a_frame_is_as_long_as_its_flow_says(planned, size, tagged, untagged):
    """One whose tag all frames had, or none, would be equal for both flows; 42 B fill both up."""
    found, case, observed = read(planned, WIRE, RATE="rate = 1_000 pkt/s", SIZE=size)
    assert found["voice", "transfer_delay.max"] == 2 * seconds(tagged) + seconds(8)
    assert found["data", "transfer_delay.max"] == 2 * seconds(untagged) + seconds(8)
    assert found["voice", "latency.max"] == seconds(tagged + 8)
    assert found["data", "latency.max"] == seconds(untagged + 8)
    for tap in case.networks[""].experiment.measurement.taps:
        for flow, frame in enumerate((tagged, untagged)):
            packets, *passed = volume(observed, tap.place, flow)
            assert passed == [packets * length for length in (size, frame, frame + 20)]
            assert packets in {9, 10}  # one of the last may still be on its way


def test_a_rate_of_frames_counts_the_tag_where_there_is_one(planned):
    """9.76 Mbit/s are 10,000 frames of 122 B in a second, and 10,338 of 118 B."""
    found, *_ = read(planned, WIRE, RATE="rate = 9.76 Mbit/s @frame", SIZE=100)
    assert (found["voice", "sent"], found["data", "sent"]) == (100, 103)


@pytest.mark.parametrize(("rate", "fits"), [(44_642, True), (44_643, False)])
def test_a_line_is_full_by_frames_as_they_are(planned, problems, rate, fits):
    """142 and 138 B for each pair: 44,642.86 pairs in a second; were all tagged, 44,014."""
    planned(WIRE.replace("RATE", f"rate = {rate} pkt/s").replace("SIZE", "100"))
    assert [problem.code for problem in problems.errors] == ([] if fits else ["E0305"])


def test_a_switch_serves_them_by_their_tags(planned):
    """The worst wait is for one frame of 1,500 B without a tag: 1,538 B of its line."""
    alone, *_ = read(planned, SWITCHED, LOAD=1)
    found, case, observed = read(planned, SWITCHED, LOAD=8_100)
    ways = 2 * seconds(122) + seconds(8) + Fraction(10, 10**6)  # two lines, and the switch
    assert alone["talk", "transfer_delay.max"] == ways
    assert ways + seconds(1_300) < found["talk", "transfer_delay.max"] <= ways + seconds(1_538)
    proved = case.networks[""].proofs.find_delay(0, 1).most_ps
    assert proved == (ways + seconds(1_538)) * 10**12
    ((place, *_),) = case.networks[""].experiment.measurement.taps
    packets, ip, frame, _ = volume(observed, place, 0)
    assert (ip, frame) == (100 * packets, 122 * packets)
    packets, ip, frame, _ = volume(observed, place, 1)
    assert (ip, frame) == (1_500 * packets, 1_518 * packets)


def test_both_drivers_see_the_same(planned):
    _, case, _ = read(planned, SWITCHED, LOAD=8_000)
    experiment = case.networks[""].experiment
    batches, events = (emulation.run(experiment, by_events=how) for how in (False, True))
    for name in ("sent", "delays", "planned"):
        assert getattr(batches, name).tolist() == getattr(events, name).tolist()
    place = experiment.measurement.taps[0].place
    both = [seen.passages.pool(place, slice(0, 2), packets=True) for seen in (batches, events)]
    assert both[0] == both[1]
    assert batches.ledger == events.ledger
    assert not batches.ledger.imbalance


def test_nothing_is_inserted_where_no_flow_has_a_tag(planned):
    _, case, _ = read(
        planned, WIRE.replace(", priority = 5, vlan = 100", ""), RATE="rate = 1_000 pkt/s", SIZE=100
    )
    assert [node.path for node in case.networks[""].experiment.nodes] == [
        "a -> box.near",
        "box.far -> b",
    ]


@pytest.mark.parametrize(("meter", "wanted"), [("@frame", "E0311"), ("@ip", "")])
def test_a_meter_of_frames_needs_flows_of_one_kind(planned, problems, meter, wanted):
    text = f"""
    device gate {{
      port west, east: packet
      check = police {{ cir = 1 Mbit/s {meter}, cbs = 10 kB }}
      west.rx -> check -> east.tx
      east.rx -> west.tx
    }}
    topology wire {{
      a, b = host
      box = gate
      link a -- box.west via media.mixed_fast_ethernet
      link box.east -- b via media.mixed_fast_ethernet
    }}
    test t on wire {{
      flow voice = packets {{ rate = 10 pkt/s, size = 100 B @ip, vlan = 100 }} from a to b
      flow data = packets {{ rate = 10 pkt/s, size = 100 B @ip }} from a to b
      run {{ measure = 1 s }}
      expect voice.lost == 0 pkt
    }}
    """
    planned(text)
    assert [problem.code for problem in problems.errors] == ([wanted] if wanted else [])


def test_a_capture_has_the_tags_of_frames_that_have_one(tmp_path: Path) -> None:
    text = WIRE.replace("RATE", "rate = 1_000 pkt/s").replace("SIZE", "100")
    source = tmp_path / "a.qos"
    source.write_text("qos 1\nimport std.media\n" + text, "utf-8")
    record = tmp_path / "record"
    done = CliRunner().invoke(
        cli.qos, ["run", str(source), "--record", str(record), "--no-progress"]
    )
    assert done.exit_code in (0, 3), done.output
    (made,) = record.iterdir()
    capture = tmp_path / "x.pcapng"
    done = CliRunner().invoke(
        cli.qos, ["pcap", str(made), "t", "a -> box.near", "-o", str(capture)]
    )
    assert done.exit_code == 0, done.output
    frames = [Ether(data) for data, _ in RawPcapNgReader(io.BytesIO(capture.read_bytes()))]
    seen = {(Dot1Q in frame, len(frame)) for frame in frames}
    assert seen == {(True, 122), (False, 118)}
    assert {(frame[Dot1Q].vlan, frame[Dot1Q].prio) for frame in frames if Dot1Q in frame} == {
        (100, 5)
    }
