"""Devices that restart during a trial, in each driver and in windows of any size."""

import pytest

from qospec.engine.graph.emulation import run

RESTARTING = """
device router(boot: Time) {
  port west, east: packet
  core = processor { per_packet = 50 us, limit = 64 pkt, restart_time = boot }
  west.rx -> core -> east.tx
  east.rx -> west.tx
}
topology bench(boot: Time = 5 ms) {
  a, b = host
  dut = router(boot = boot)
  link a -- dut.west via media.fast_ethernet
  link dut.east -- b via media.fast_ethernet
}
test t on bench {
  control slow = bench(boot = 8 ms)
  run { warmup = 1 ms, measure = 30 ms }
  CHANGES
  flow user = packets { SENT } from a to b
  expect user.lost.reboot > 0 pkt
  report [user.lost, user.longest_outage, user.recovery_time, slow.user.longest_outage]
  report user.delay.p99
}
"""
EVEN = "rate = 10_000 pkt/s, size = 64 B @frame, phases = even"
ODD = """rate = 18_000 pkt/s
    size = mix { 64 B: 3, 1_500 B: 1 } @ip
    gaps = poisson"""


@pytest.fixture
def plan_of(planned, problems):
    def make(changes: str, sent: str = EVEN):
        plans = planned(RESTARTING.replace("CHANGES", changes).replace("SENT", sent))
        assert not problems.errors
        (plan,) = plans
        return plan

    return make


def tally(planned_network, **how):
    seen = run(planned_network.experiment, **how)
    population = planned_network.populations["user"]
    return seen.pool(population.first, population.stop)


@pytest.mark.parametrize("sent", [EVEN, ODD])
def test_neither_driver_nor_window_changes_anything(plan_of, sent) -> None:
    plan = plan_of("at 5 ms { restart = dut }\n  at 20 ms { restart = dut.core }", sent)
    for network in plan.networks.values():
        whole = tally(network)
        assert whole.lost_count > 0
        assert tally(network, by_events=True) == whole
        for chunk in (7, 100, 3_001):
            assert tally(network, chunk=chunk) == whole


def test_what_comes_in_five_ms_is_lost(plan_of) -> None:
    """A packet comes each 100 us, and none waits. Times are those since the measurement began."""
    seen = tally(plan_of("at 5 ms { restart = dut }").networks[""])
    assert seen.lost == {("dut.core", "reboot"): 50}
    assert seen.outages.longest_ps == 5_100 * 10**6
    assert seen.outages.changed_ps == 5 * 10**9
    assert seen.outages.lost_ps // 10**6 == 9_900


def test_an_outage_is_as_long_as_two_restarts_that_follow_each_other(plan_of) -> None:
    plan = plan_of("at 5 ms { restart = dut }\n  at 13 ms { restart = dut }")
    assert tally(plan.networks["slow"]).outages.longest_ps >= 16 * 10**9


def test_a_control_restarts_the_same_devices(plan_of) -> None:
    """Times count from the beginning of the measurement, 1 ms after that of the trial."""
    plan = plan_of("at 5 ms { restart = dut }\n  at 20 ms { restart = dut.core }")
    for network in plan.networks.values():
        told = {node.path: node.restarts_ps for node in network.experiment.nodes}
        assert told.pop("dut.core") == (6 * 10**9, 21 * 10**9)
        assert not any(told.values())


def test_without_a_restart_nothing_is_lost(plan_of) -> None:
    assert tally(plan_of("").networks[""]).lost_count == 0
