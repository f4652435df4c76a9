"""Planning: loops that cannot run."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from qospec import cli
from qospec.diagnostics import Problems
from qospec.elements.fifo import Fifo
from qospec.engine.switching import Fabric

BOTH_WAYS = """
device box {
  port p[2]: packet
  cpu = processor { ports = 2, per_packet = 10 us, limit = 64 pkt }
  core = router { ports = 2 }
  q, r = fifo { limit = 64 pkt }
  p[0].rx -> cpu.entry[0]
  p[1].rx -> cpu.entry[1]
  cpu.exit[0] -> core.entry[0]
  cpu.exit[1] -> core.entry[1]
  core.exit[0] -> q -> p[0].tx
  core.exit[1] -> r -> p[1].tx
}

topology bench {
  a, b = host
  left, right = box
  link a -- left.p[0] via media.fast_ethernet
  link left.p[1] -- right.p[0] via media.fast_ethernet
  link right.p[1] -- b via media.fast_ethernet
}

test both_ways on bench {
  flow there = packets { rate = 1_000 pkt/s, size = 64 B @frame } from a to b
  flow back = packets { rate = 1_000 pkt/s, size = 64 B @frame } from b to a
  run { measure = 10 ms }
  expect there.lost == 0 and back.lost == 0
}
"""


ONE_WAY = """
device edge {
  port w, e: packet
  wait = fifo { limit = 9 pkt }
  w.rx -> wait -> e.tx
  e.rx -> w.tx
}

topology bench {
  a, b = host
  d = edge
  link a -- d.w via media.fast_ethernet
  link d.e -- b via media.ethernet
}

test one_way on bench {
  flow there = packets { rate = 1_000 pkt/s, size = 64 B @frame } from a to b
  run { measure = 10 ms }
  expect there.lost == 0
}
"""


def test_an_element_that_works_in_batches_only_is_refused_in_a_loop(
    planned, problems: Problems, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Fabric, "build_transition", None)
    planned(BOTH_WAYS)
    (error,) = problems.errors
    assert error.code == "E0590"
    assert error.message == "`left.core` in a loop cannot be executed yet"
    assert error.span.source.text[error.span.start :].startswith("core")
    assert error.notes[0] == (
        "left.core -> left.r -> right.cpu -> right.core -> right.q -> left.cpu -> left.core"
    )
    assert error.help == "write its `build_transition`, or take `left.core` out of the loop"


def test_what_waits_where_nothing_reports_it_cannot_be_observed(
    planned, problems: Problems, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Fifo, "build_transition", None)
    (case,) = planned(ONE_WAY)
    assert case
    planned(ONE_WAY.replace("there.lost == 0", "d.wait.occupancy.max < 9 pkt"))
    (error,) = problems.errors
    assert (error.code, error.message) == (
        "E0590",
        "what waits in `d.wait` cannot be observed yet",
    )
    assert error.span.source.text[error.span.start :].startswith("wait")


def test_a_check_says_so_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.qos"
    path.write_text(f"qos 1\nimport std.media\n{BOTH_WAYS}", encoding="utf-8")
    invoked = CliRunner().invoke(cli.qos, ["check", str(path)])
    assert (invoked.exit_code, invoked.stderr) == (0, "")
    monkeypatch.setattr(Fabric, "build_transition", None)
    invoked = CliRunner().invoke(cli.qos, ["check", str(path)])
    assert invoked.exit_code == 2
    assert "E0590" in invoked.stderr


def test_outside_of_loops_it_may_work_in_batches_only(
    planned, problems: Problems, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Fabric, "build_transition", None)
    one_way = "\n".join(line for line in BOTH_WAYS.splitlines() if "flow back" not in line)
    (case,) = planned(one_way.replace(" and back.lost == 0", ""))
    assert not problems.errors
    assert "" in case.networks


def test_every_element_may_be_in_a_loop(planned, problems: Problems) -> None:
    assert planned(BOTH_WAYS)
    assert not problems.errors


def test_links_that_carry_no_colours_may_be_in_a_loop(planned, ran, problems: Problems) -> None:
    """Where a link strips the colour of packets, an element of the planner's own is in the loop."""
    metered = BOTH_WAYS.replace(
        "  q, r = fifo",
        "  m, n = police { cir = 100 kbit/s @ip, cbs = 2_000 B, exceed = mark }\n  q, r = fifo",
    )
    metered = metered.replace("rx -> cpu.entry[0]", "rx -> m -> cpu.entry[0]")
    metered = metered.replace("rx -> cpu.entry[1]", "rx -> n -> cpu.entry[1]")
    plans = planned(metered)
    assert not problems.errors, problems.all
    (case,) = plans
    paths = [node.path for node in case.networks[""].experiment.nodes]
    assert "left.p[1] -> right.p[0] (marks)" in paths
    assert ran(case).judgements[0].verdict == "pass"
