"""Specifications of a few lines, planned and run, the record of one, and books of schedulers."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from books import BOOKS, First, Fluid
from click.testing import CliRunner

from qospec import cli
from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.judge import evidence
from qospec.judge.result import Repeat
from qospec.plan.plan import Bounds, CasePlan, plan
from qospec.run import trial

Plan = Callable[..., tuple[CasePlan, ...]]

STAR = """
device switch(ports: Int, transit: Time = 3 us) {
  port p[ports]: cell
  fabric = vc_switch { ports = ports, latency = transit }
  for i in 0 .. ports - 1 {
    upc = gcra { oam = separate }
    sort = classify { fast = vc.category in [cbr], slow = otherwise }
    fast = fifo { limit = 8 cell }
    slow = fifo { limit = 8 cell }
    out = strict { order = [fast, slow] }
    p[i].rx -> upc -> fabric.entry[i]
    fabric.exit[i] -> sort
    sort.fast -> fast -> out.fast
    sort.slow -> slow -> out.slow
    out -> p[i].tx
  }
}

topology star {
  a, b, c = host
  hub = switch(ports = 3)
  link a -- hub.p[0] via media.stm1
  link b -- hub.p[1] via media.stm1
  link c -- hub.p[2] via media.stm1
}

topology slow_star {
  a, b, c = host
  hub = switch(ports = 3, transit = 9 us)
  link a -- hub.p[0] via media.stm1
  link b -- hub.p[1] via media.stm1
  link c -- hub.p[2] via media.stm1
}

traffic steady(rate: CellRate) = cbr { pcr = rate, cdvt = 1 ms }
traffic random(rate: CellRate) = ubr {
  pcr = rate
  connections = 5
  source = poisson { rate = rate }
}
"""


@pytest.fixture
def problems() -> Problems:
    return Problems()


@pytest.fixture
def planned(tmp_path: Path, problems: Problems) -> Plan:
    """Return the plan of a text; its mistakes go to `problems`."""

    def make(text: str, seed: str = "0", most_items: int = 10**9) -> tuple[CasePlan, ...]:
        path = tmp_path / "a.qos"
        path.write_text("qos 1\nimport std.media\n" + text, encoding="utf-8")
        suite = check([path], discover(), problems)
        if problems.errors:
            return ()
        plans = plan(suite, seed, Bounds(most_items), problems)
        for warning in evidence.warn_of_evidence(plans):
            problems.add(warning)
        return plans

    return make


@pytest.fixture
def star() -> str:
    """Return three hosts round a switch, on a fast and on a slow one, and traffic for them."""
    return STAR


@pytest.fixture
def ran() -> Callable[[CasePlan], Repeat]:
    """Return what runs a case's one repeat."""

    def run(case: CasePlan) -> Repeat:
        result = trial.run(case, discover(), lambda _: None)
        assert result.errors == ()
        (repeat,) = result.repeats
        return repeat

    return run


RECORDED = """qos 1
import std.media

## A number that was published.
reference paper "A paper, table 1" { delay = 2.8 us }

device narrow {
  port west, east: cell
  q = fifo { limit = 2 cell }
  west.rx -> q -> east.tx
  east.rx -> discard
  invariant room: q.occupancy.max <= 2 cell
}

topology bench {
  a, b = host
  dut = narrow
  link a -- dut.west via media.stm1
  link dut.east -- b via media.e3
}

topology wire {
  a, b = host
  link a -- b via media.stm1
}

## Few cells and too many, and the same without a device.
test t on bench {
  covers = ["table 1"]
  sweep rate in [1_000 cell/s, 200_000 cell/s]
  control bare = wire
  flow f = cbr { pcr = rate, cdvt = 1 us, source = poisson { rate = rate } } from a to b
  run { warmup = 1 ms, measure = 10 ms, repeat = 5, overload = true }
  expect soon: f.delay.mean > 1 us with 95% confidence
  expect whole: f.received within 10% of f.sent
  report late: f.delay.p99
}

test skipped on wire {
  skip unless 1 s > 2 s "never"
  flow f = cbr { pcr = 1 cell/s, cdvt = 1 us } from a to b
  run { measure = 1 ms }
  expect f.lost == 0 cell
}
"""


class Recorded(NamedTuple):
    """The files of a record."""

    planned: dict[str, Any]
    outcome: dict[str, Any]
    timing: dict[str, Any]


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Return what a run left; not to be changed."""
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "a.qos").write_text(RECORDED, encoding="utf-8")
    result = CliRunner().invoke(cli.qos, ["run", f"{folder}/a.qos", "--record", f"{folder}/kept"])
    assert result.exit_code in {0, 1}, result.stderr
    (kept,) = (folder / "kept").iterdir()
    names = ("run.json", "outcome.json", "timing.json")
    return Recorded(*(json.loads((kept / name).read_text(encoding="utf-8")) for name in names))


@pytest.fixture(scope="session")
def books() -> Mapping[str, type[First]]:
    """Return the book of each kind of scheduler; it is made of its inputs' numbers and the line."""
    return BOOKS


@pytest.fixture(scope="session")
def fluid() -> type[Fluid]:
    """Return a fluid server, which is made of its inputs' weights."""
    return Fluid
