"""Whole cases made small: what is left of them, and what mends it."""

import time
from pathlib import Path

import pytest
from shrinking import shrinker_of, shrunk

from qospec.diagnostics import Problems
from qospec.shrink.draft import Draft
from qospec.shrink.prune import without_unused
from qospec.shrink.trial import Bench, Clock, Stopped, find_same_failure

BENCH = """
let size = 512 B
topology bed(box: Device, n: Int) {
  a, b = host(count = n)
  dut = box(count = n)
  for i in 0 .. n - 1 {
    link a[i] -- dut[i].west via media.fast_ethernet
    link dut[i].east -- b[i] via media.fast_ethernet
  }
}
traffic stream(load: Ratio) = packets { rate = load of 100 Mbit/s @line, size = size @ip }
"""
BOX = """
device box {
  port west, east: packet
  cpu = processor { ports = 2, per_packet = 60 us, limit = 8 pkt }
  west.rx -> cpu.entry[0]
  cpu.exit[0] -> east.tx
  east.rx -> cpu.entry[1]
  cpu.exit[1] -> west.tx
}
"""
TEST = """
test passes_all(loads: [Ratio]) on bench.bed(box = boxes.box, n = 2) {
  sweep load in loads
  for i in 0 .. 1 {
    flow f = bench.stream(load = load) from a[i] to b[i]
  }
  run { warmup = 2 ms, measure = 20 ms, repeat = 2 }
  require offered: f[0].sent > 10 pkt
  for i in 0 .. 1 {
    expect whole: f[i].lost == 0 pkt as shape
  }
  report f[0].latency.mean
}
test all_loads = passes_all(loads = [10%, 95%])
"""


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        imports = {"bench": "import std.media\n", "tests": "import bench, boxes\n"}.get(name, "")
        (folder / f"{name}.qos").write_text(f"qos 1\n{imports}{text}", encoding="utf-8")


@pytest.mark.slow
def test_a_case_of_a_sweep_of_a_template_over_arrays_is_one_flow_through_one_device(
    tmp_path: Path,
) -> None:
    write(tmp_path, bench=BENCH, boxes=BOX, tests=TEST)
    found = shrunk(tmp_path / "tests.qos", "all_loads:load=95%")
    assert found is not None
    lines = [line.strip() for line in found.text.splitlines() if line.strip()]
    assert lines[1].startswith("# `whole` does not hold: ")
    assert lines[2:8] == [
        "import std.media, boxes",
        "topology bed {",
        "a, b = host",
        "dut = boxes.box",
        "link a -- dut.west via media.fast_ethernet",
        "link dut.east -- b via media.fast_ethernet",
    ]
    assert found.complete
    assert found.mends
    assert len(lines) <= 14
    broken = Bench(tmp_path / "shrunk.qos", "0", Clock(None, lambda: None))
    tried = broken.run(found.text)
    assert tried is not None
    assert find_same_failure(tried.document, found.failure._replace(label=""))
    texts = {(tmp_path / "boxes.qos").resolve(): "qos 1" + BOX.replace("60 us", "6 us")}
    mended = Bench(tmp_path / "shrunk.qos", "0", Clock(None, lambda: None), texts).run(found.text)
    assert mended is not None
    assert mended.document["verdict"] == "pass"


@pytest.mark.slow
def test_what_there_is_when_the_time_is_up_fails_too(tmp_path: Path) -> None:
    write(tmp_path, bench=BENCH, boxes=BOX, tests=TEST)
    found = shrunk(tmp_path / "tests.qos", "all_loads:load=95%", time.monotonic() + 1.5)
    assert found is None or not found.complete


LEFT = """qos 1
import std.media
topology bed(room: Packets, other: Int) {
  a, b, c, d = host
    link a -- b via media.fast_ethernet
  link c -- d via media.fast_ethernet
}
test t on bed(8 pkt, other = 2) {
  let first = 1 ms
  let second = 2 * first
  flow f = packets { rate = 1 Mbit/s @line, size = 99 B @ip } from a to b
  run { measure = 2 ms }
  expect f.lost == 1 pkt
}
"""
"""What is stopped may leave: values, parameters and hosts that nothing uses."""


def test_what_nothing_uses_goes_with_what_only_that_uses(tmp_path: Path) -> None:
    draft = Draft.read(LEFT)
    assert draft is not None
    bench = Bench(tmp_path / "a.qos", "0", Clock(None, lambda: None))
    problems = Problems()
    text = without_unused(draft, "t", bench.check).text
    bench.check(text, problems)
    assert problems.all == ()
    assert bench.tried == 0
    assert " ".join(text.split()).replace("( )", "()") == (
        "qos 1 import std.media topology bed() { a, b = host link a -- b via media.fast_ethernet } "
        "test t on bed() { flow f = packets { rate = 1 Mbit/s @line, size = 99 B @ip } from a to b "
        "run { measure = 2 ms } expect f.lost == 1 pkt }"
    )


def test_a_sweep_that_nothing_uses_goes_too(tmp_path: Path) -> None:
    """It is left where a case that needs its name, for its draws, was stopped."""
    draft = Draft.read(LEFT.replace("  let first", "  sweep load in [95%]\n  let first"))
    assert draft is not None
    bench = Bench(tmp_path / "a.qos", "0", Clock(None, lambda: None))
    problems = Problems()
    text = without_unused(draft, "t", bench.check).text
    bench.check(text, problems)
    assert problems.all == ()
    assert "sweep" not in text


@pytest.mark.parametrize("seconds", [60.0, -1.0])
def test_what_is_stopped_is_tidied_in_one_run_if_there_is_time(tmp_path: Path, seconds) -> None:
    def wait() -> None:
        if shrinker.get_smallest() is not None:
            raise Stopped

    (tmp_path / "left.qos").write_text(LEFT, encoding="utf-8")
    shrinker = shrinker_of(tmp_path / "left.qos", "t", Clock(None, wait))
    with pytest.raises(Stopped):
        shrinker.run()
    before = shrinker.get_smallest()
    shrinker.tidy(Clock(time.monotonic() + seconds, lambda: None))
    after = shrinker.get_smallest()
    assert before is not None
    assert after is not None
    assert "let second" in before.text
    assert ("let second" in after.text) == (seconds < 0)
    assert after.tried - before.tried == (seconds > 0)
    assert not after.complete


FILLS = """
topology bed {
  a, b, c = host
  dut = boxes.box
  link a -- dut.west via media.fast_ethernet
  link dut.east -- b via media.fast_ethernet
}
test fills on bed {
  flow f = packets { rate = 95 Mbit/s @line, size = 512 B @ip } from a to b
  flow g = packets { rate = 1 Mbit/s @line, size = 100 B @ip } from b to a
  run { measure = 20 ms, repeat = 2 }
  expect some: f.loss < 99%
}
"""
LATE = """
property late {
  forall c in [cells(at = [1_000_000 s])]
  forall n in [1, 2]
  expect count(c) == 1 cell
  expect n < 3
}
"""


@pytest.mark.slow
def test_a_broken_invariant_is_the_reason_without_any_criterion(tmp_path: Path) -> None:
    box = BOX.replace("\n}", "\n  invariant never_full: cpu.lost == 0 pkt\n}")
    write(tmp_path, boxes=box, fills=f"import std.media, boxes\n{FILLS}")
    found = shrunk(tmp_path / "fills.qos", "fills")
    assert found is not None
    assert (found.failure.kind, found.failure.label) == ("invariant", "never_full")
    assert found.mends
    assert "# `never_full` does not hold: " in found.text
    for gone in ("flow g", "expect", "repeat", "c = host"):
        assert gone not in found.text


def test_an_error_is_told_as_it_is(tmp_path: Path) -> None:
    write(tmp_path, late=LATE)
    found = shrunk(tmp_path / "late.qos", "late:n=2")
    assert found is not None
    assert "# `cells`: cells come within 10_000 s\n" in found.text
    assert "forall n" not in found.text


def test_what_two_others_use_is_brought_in_once(tmp_path: Path) -> None:
    values = "let size = 100 B\nlet one = 2 * size\nlet two = 3 * size\n"
    text = "import values\nproperty small { forall n in [9], expect n * values.one < values.two }\n"
    write(tmp_path, values=values, small=text)
    found = shrunk(tmp_path / "small.qos", "small")
    assert found is not None
    assert found.text.count("= 100 B") <= 1


@pytest.mark.slow
def test_without_what_mends_it_the_device_and_the_run_stay(tmp_path: Path) -> None:
    box = BOX.replace("60 us", "1 us")
    text = FILLS.replace("some: f.loss < 99%", "some: f.lost.reboot > 0 pkt")
    write(tmp_path, boxes=box, fills=f"import std.media, boxes\n{text}")
    found = shrunk(tmp_path / "fills.qos", "fills")
    assert found is not None
    assert not found.mends
    assert "flow g" not in found.text
    for kept in ("dut = boxes.box", "measure = 20 ms"):
        assert kept in found.text
