"""The record of searches, points, and what depends on them, for any number of workers."""

import json

import pytest
from click.testing import CliRunner

from qospec import cli

TEXT = """qos 1
import std.media

device box(room: Packets) {
  port west, east: packet
  cpu = processor { per_packet = 100 us, limit = room }
  q = fifo { limit = 100 pkt }
  west.rx -> cpu.entry[0]
  cpu.exit[0] -> q -> east.tx
  east.rx -> west.tx
}
topology bench(room: Packets) {
  a, b = host
  dut = box(room = room)
  link a -- dut.west via media.fast_ethernet
  link dut.east -- b via media.fast_ethernet
}
test t on bench(room = room) {
  sweep room in [2 pkt, 8 pkt, 32 pkt]
  search rate in 100 pkt/s .. 100_000 pkt/s {
    goal ndr { loss = 0 }
    goal pdr { loss = 5%, width = 2% }
    trial = 50 ms, total = 250 ms
  }
  flow f = packets { rate = rate, size = 64 B @frame, gaps = poisson } from a to b
  run { repeat = 2 }
  require offered: f.sent within 20% of f.planned
  expect ndr.rate < pdr.rate
  report [ndr.lower, pdr.upper]
}
test phases on bench(room = 8 pkt) {
  search rate in 100 pkt/s .. 100_000 pkt/s {
    goal ndr { loss = 0, width = 5% }
    trial = 50 ms, total = 150 ms
  }
  point busy { rate = 1.2 * ndr.rate, measure = 50 ms, repeat = 3 }
  search back in 1_000 pkt/s .. 9_000 pkt/s step 2_000 pkt/s {
    goal free { loss = 0 }
    rate = ndr.rate
    method = step
    trial = 20 ms
  }
  point last { rate = ndr.rate / 2, back = free.back, measure = 20 ms, repeat = 2 }
  flow f = packets { rate = rate, size = 64 B @frame, gaps = poisson } from a to b
  flow g = packets { rate = back, size = 64 B @frame } from b to a
  run { repeat = 2 }
  expect late: busy.f.latency.max < 1 ms
  report [last.f.latency.mean, last.g.received]
}
test cut on bench(room = 2 pkt) {
  search rate in 100 pkt/s .. 100_000 pkt/s {
    goal ndr { loss = 0 }
    trial = 50 ms
    method = binary
  }
  point never { rate = ndr.rate, measure = 20 ms }
  flow f = packets { rate = rate, size = 64 B @frame, gaps = poisson } from a to b
  run { repeat = 3 }
  require enough: f.sent > 300 pkt
  report never.f.latency.mean
}
test plain on bench(room = 8 pkt) {
  flow f = packets { rate = 5_000 pkt/s, size = 64 B @frame } from a to b
  run { measure = 1 s }
  expect f.lost == 0 pkt
}
"""


@pytest.mark.slow
def test_ndr_is_the_same_with_any_number_of_workers(tmp_path) -> None:
    path = tmp_path / "a.qos"
    path.write_text(TEXT, encoding="utf-8")
    found = []
    for jobs in (1, 2, 3):
        records = tmp_path / f"records{jobs}"
        result = CliRunner().invoke(
            cli.qos, ["run", str(path), "-j", str(jobs), "--record", str(records)]
        )
        assert result.exit_code in (0, 1, 3), result.output
        (outcome,) = records.glob("*/outcome.json")
        found.append(outcome.read_bytes())
    assert found[0] == found[1] == found[2]
    cases = json.loads(found[0])["cases"]
    assert [len(case.get("phases", ())) for case in cases] == [2, 2, 2, 8, 1, 0]
    *_, phases, cut, plain = cases
    assert [phase["repeats"] for phase in phases["phases"] if phase["kind"] == "point"] == [
        3,
        2,
    ] * 2
    assert len(cut["phases"][0]["trials"]) > 1
    assert "the case ended before" in cut["phases"][0]["goals"][0]["notes"][-1]
    assert (cut["verdict"], plain["verdict"]) == ("inconclusive", "pass")
    assert len({trial["load"]["value"] for trial in cases[0]["phases"][0]["trials"]}) > 3
