"""Where the time went in a case that fails for its delays, from a run to what is printed."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from qospec import cli
from qospec.elements.fifo import Fifo

SPEC = """qos 1
import std.media
device router {
  port west, east: packet
  q = fifo { limit = 100 pkt }
  back = fifo { limit = 100 pkt }
  west.rx -> q -> east.tx
  east.rx -> back -> west.tx
}
topology narrow {
  a, b = host
  r = router
  link a -- r.west via media.gigabit_ethernet
  link r.east -- b via media.ethernet
}
test bursts on narrow {
  flow f = packets {
    rate = 100 pkt/s
    size = 1_000 B @ip
    source = burst { size = 10 pkt }
    phases = even
  } from a to b
  flow steady = packets { rate = 50 pkt/s, size = 100 B @ip } from b to a
  run { TIMES }
  expect CRITERION
}
"""


def ran(folder: Path, criterion: str, times: str = "measure = 1 s") -> tuple[dict[str, Any], str]:
    """Run the test with a criterion; return the document of its case, and what is printed."""
    folder.mkdir(exist_ok=True)
    path = folder / "a.qos"
    path.write_text(SPEC.replace("CRITERION", criterion).replace("TIMES", times), "utf-8")
    words = ["run", str(path), "--record", str(folder / "records"), "--no-progress"]
    printed = CliRunner().invoke(cli.qos, words).output
    (record,) = (folder / "records").iterdir()
    (case,) = json.loads((record / "outcome.json").read_text("utf-8"))["cases"]
    return case, printed


def test_what_was_slow_is_told_with_where_it_waited(tmp_path: Path) -> None:
    """Ten packets come back to back each 100 ms, by a line that is 100 times as fast.

    With preamble and gap each has 1,038 B, which take 830.4 us on the slow line. So packet k waits
    for k * 822.096 us, and the ten bursts of 1 s for 45 * 822.096 us each, by nine packets. When
    the last packet of one comes, 9 wait.
    """
    case, printed = ran(tmp_path, "f.delay.max < 1 ms")
    (wait,) = case["waits"]
    assert wait["flow"] == "f"
    (place,) = wait["places"]
    assert place["element"] == "r.q"
    assert place["most"]["value"] == "9"
    assert Fraction(place["mean"]["value"]) == 10 * 45 * Fraction(822_096, 10**9)
    assert Fraction(place["mean_wait"]["value"]) == 5 * Fraction(822_096, 10**9)
    assert Fraction(place["longest_wait"]["value"]) == 9 * Fraction(822_096, 10**9)
    assert "waiting at r.q (4.11 ms on average, 7.399 ms at most)" in printed
    assert printed.index("f took 8") < printed.index("no packet was discarded")


def test_waits_are_told_whole_if_they_are_longer_than_the_window(tmp_path: Path) -> None:
    """Of the burst that comes when the window of 1 ms begins, one packet begins to leave in it."""
    case, _ = ran(tmp_path, "f.delay.max < 1 ms", times="warmup = 100 ms, measure = 1 ms")
    [[place]] = (wait["places"] for wait in case["waits"])
    assert Fraction(place["mean_wait"]["value"]) == 5 * Fraction(822_096, 10**9)
    assert Fraction(place["longest_wait"]["value"]) == 9 * Fraction(822_096, 10**9)


def test_what_fails_for_losses_alone_is_not_watched(tmp_path: Path) -> None:
    case, _ = ran(tmp_path, "f.lost > 0 pkt")
    assert (case["verdict"], "waits" in case) == ("fail", False)


def test_what_passes_is_not_watched(tmp_path: Path) -> None:
    case, _ = ran(tmp_path, "f.delay.max < 1 s")
    assert (case["verdict"], "waits" in case) == ("pass", False)


def test_of_a_flow_that_nothing_holds_up_this_is_said(tmp_path: Path) -> None:
    case, printed = ran(tmp_path, "steady.delay.min < 1 us")
    assert case["waits"] == [{"flow": "steady", "places": []}]
    assert "nothing waited on its way" in printed


def test_what_no_element_reports_is_unknown_and_the_verdict_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An element may have a `process` only; what waits in it, nothing reports."""
    whole, _ = ran(tmp_path / "whole", "f.delay.max < 1 ms")
    monkeypatch.setattr(Fifo, "build_transition", None)
    case, printed = ran(tmp_path / "batches", "f.delay.max < 1 ms")
    assert (case["verdict"], "waits" in case) == ("fail", False)
    assert (case["statements"], case["metrics"]) == (whole["statements"], whole["metrics"])
    assert "what waited at r.q on the way of f is unknown" in printed
    assert "nothing waited" not in printed


def test_a_failure_to_watch_costs_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outside of a loop, and if no statement names it, a transition runs for the watching only."""

    def fail(*_: object) -> None:
        raise LookupError("no such state")

    monkeypatch.setattr(Fifo, "build_transition", fail)
    case, printed = ran(tmp_path, "f.delay.max < 1 ms")
    assert (case["verdict"], case["errors"], "waits" in case) == ("fail", [], False)
    assert "where f waited is unknown: to watch it failed: LookupError: no such state" in printed
