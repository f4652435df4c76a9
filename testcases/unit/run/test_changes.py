"""Variables that change during a trial, in each driver and in windows of any size."""

from fractions import Fraction

import pytest

from qospec.engine.graph.emulation import run
from qospec.plan.plan import Bounds, CasePlan, plan_trial

DRAIN = """
device narrow {
  port west, north, east: cell
  q = fifo { limit = 64 cell, drop = clp_first { at = 25% } }
  west.rx -> q -> east.tx
  north.rx -> q
  east.rx -> discard
}
topology bench {
  a, c, b = host
  dut = narrow
  link a -- dut.west via media.stm1
  link c -- dut.north via media.stm1
  link dut.east -- b via line { rate = 33.92 Mbit/s @cell }
}
test t on bench {
  point over {
    load = 110_000 cell/s
    warmup = 1 ms
    measure = 20 ms
    at 8 ms { load = 40_000 cell/s }
    CHANGE
  }
  flow urgent = ubr { pcr = 353_000 cell/s, source = SOURCE { rate = load } } from a to b
  flow tagged = ubr { pcr = 10_000 cell/s, phases = even, clp = 1 } from c to b
  report [over.tagged.recovery_time, over.urgent.longest_outage, over.urgent.recovery_time]
  report over.urgent.delay.p99
}
"""


@pytest.fixture
def trial(planned):
    """Return a maker of the plan of the trial."""

    def make(source: str, change: str) -> CasePlan:
        (whole,) = planned(DRAIN.replace("SOURCE", source).replace("CHANGE", change))
        (point,) = whole.case.phases
        assert whole.maker is not None
        found = plan_trial(whole, point, whole.maker(point, None, {}), Bounds())
        assert isinstance(found, CasePlan)
        return found

    return make


def tallies(plan: CasePlan, **how):
    """Return what is counted of each flow."""
    (network,) = plan.networks.values()
    seen = run(network.experiment, **how)
    return {
        population.name: seen.pool(population.first, population.stop)
        for population in network.populations.values()
    }


@pytest.mark.parametrize("source", ["constant", "poisson"])
def test_neither_driver_nor_window_changes_anything(trial, source) -> None:
    plan = trial(source, "at 10 ms { load = 120_000 cell/s }")
    whole = tallies(plan)
    assert whole["urgent"].sent > 0
    assert tallies(plan, by_events=True) == whole
    for chunk in (7, 100, 3_001):
        assert tallies(plan, chunk=chunk) == whole


def test_one_flow_sends_each_rate_in_its_time(trial) -> None:
    sent = tallies(trial("constant", "at 10 ms { load = 20_000 cell/s }"))["urgent"].sent
    assert abs(sent - (110 * 8 + 40 * 2 + 20 * 10)) <= 1


def test_recovery_takes_as_long_as_the_queue_drains(trial) -> None:
    """Above 16 cells tagged ones are lost; 48 cells drain at 80,000 - 40,000 cell/s."""
    seen = tallies(trial("constant", ""))
    assert seen["urgent"].lost_count > 0
    outages = seen["tagged"].outages
    recovery_ps = outages.lost_ps - 8 * 10**9
    drained_ps = Fraction(48 * 10**12, 40_000)
    interval_ps = 10**8
    assert drained_ps - 2 * interval_ps <= recovery_ps <= drained_ps + interval_ps
    assert outages.changed_ps == 8 * 10**9
    assert outages.longest_ps > drained_ps
