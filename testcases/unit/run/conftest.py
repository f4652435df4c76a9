"""Specifications of a few lines, planned and run."""

from collections.abc import Callable
from pathlib import Path

import pytest

from qospec.catalogue import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.run import trial
from qospec.run.plan import Bounds, CasePlan, plan

Plan = Callable[..., tuple[CasePlan, ...]]

STAR = """
device switch(ports: Int, transit: Time = 3 us) {
  port p[ports]: cell
  fabric = vc_switch { ways = ports, latency = transit }
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

    def make(text: str, seed: str = "0", most_cells: int = 10**9) -> tuple[CasePlan, ...]:
        path = tmp_path / "a.qos"
        path.write_text("qos 1\nimport std.media\n" + text, encoding="utf-8")
        suite = check([path], discover(), problems)
        return () if problems.errors else plan(suite, seed, Bounds(most_cells), problems)

    return make


@pytest.fixture
def star() -> str:
    """Return three hosts round a switch, on a fast and on a slow one, and traffic for them."""
    return STAR


@pytest.fixture
def ran() -> Callable[[CasePlan], trial.Repeat]:
    """Return what runs a case's one repeat."""

    def run(case: CasePlan) -> trial.Repeat:
        result = trial.run(case, discover(), lambda _: None)
        assert result.errors == ()
        (repeat,) = result.repeats
        return repeat

    return run
