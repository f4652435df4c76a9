"""Ways that change during a trial: round links that are down, or by other ports."""

import pytest
from drivers import seen

from qospec.engine.graph import emulation
from qospec.plan.plan import Bounds, plan_trial

TRIANGLE = """
import std.devices.generic
topology triangle {
  a, b = host
  near, far = generic.ip_router(ports = 3)
  spare = generic.ip_router
  link a -- near.p[0] via media.gigabit_ethernet
  link far.p[0] -- b via media.gigabit_ethernet
  link near.p[1] -- far.p[1] via media.gigabit_ethernet { length = 200 km }
  link near.p[2] -- spare.p[0] via media.gigabit_ethernet { length = 2_000 km }
  link spare.p[1] -- far.p[2] via media.gigabit_ethernet {OTHER}
}
"""
PACKETS = "packets { rate = 1_000 pkt/s, size = 100 B @ip, phases = even }"
RUN = """
test protection on triangle {
  flow f = TRAFFIC from a to b
  run { warmup = 10 ms, measure = 100 ms }
  CHANGES
  expect f.sent > 0
}
"""
POINT = """
test protection on triangle {
  flow f = TRAFFIC from a to b via near.p[out]
  run { warmup = 10 ms }
  point all { out = 2, measure = 100 ms, CHANGES }
  expect all.f.reordered == 9 pkt
}
"""
BACK = "\n  at 60 ms { up = far.p[1], reroute = 0 s }"
CUT = "at 40 ms { down = near.p[1], reroute = 10 ms }"


def write_test(test, changes, traffic=PACKETS, other=""):
    text = TRIANGLE.replace("{OTHER}", f"{{ {other} }}") + test.replace("CHANGES", changes)
    return text.replace("TRAFFIC", traffic)


def count_lost(observation):
    accounts = observation.ledger.accounts.items()
    return sum(it.lost for (path, _, unit), it in accounts if unit == "items" and "(down)" in path)


@pytest.mark.parametrize("by_events", [False, True])
@pytest.mark.parametrize(
    ("changes", "lost"),
    [
        # Packets are sent each millisecond, the first 10 before the measurement; the link takes
        # 1 ms. That of 49 ms is on it then, and those of 50 to 59 ms go on to it.
        (CUT, 1 + 10),
        ("at 40 ms { down = near.p[1], reroute = 0 s }", 1),
        ("at 40 ms { down = near.p[1] }", 1 + 60),
        # It is up again before anything goes round it: also that of 54 ms is lost.
        ("at 40 ms { down = near.p[1], reroute = 10 ms }\n  at 45 ms { up = near.p[1] }", 1 + 5),
        # The way comes back, and the link fails again: with those of 70 to 74 ms.
        (
            CUT + BACK + "\n  at 60.5 ms { down = near.p[1], reroute = 4 ms }",
            11 + 5,
        ),
        # Nothing leads round these: those of 50 to 59 ms, and all from 49 ms on.
        ("at 40 ms { down = a, reroute = 0 s }\n  at 50 ms { up = a, reroute = 0 s }", 10),
        ("at 40 ms { down = [near.p[1], spare], reroute = 10 ms }", 1 + 60),
    ],
)
def test_what_is_lost_is_the_rate_times_the_outage(planned, changes, lost, by_events):
    (case,) = planned(write_test(RUN, changes))
    observation = emulation.run(case.networks[""].experiment, by_events=by_events)
    assert count_lost(observation) == lost


def test_the_drivers_agree_on_ways_that_change(planned):
    poisson = PACKETS.replace("phases = even", "gaps = poisson").replace("1_000", "50_000")
    (case,) = planned(write_test(RUN, CUT, poisson))
    experiment = case.networks[""].experiment
    assert seen(experiment, 10**7, by_events=True) == seen(experiment, 10**10, by_events=False)


def test_a_shorter_way_lets_packets_overtake_and_a_source_goes_on(planned):
    """The long way takes 10.034 ms and the short one 1.023: 9 arrive behind that of 60 ms."""
    (whole,) = planned(write_test(POINT, "at 50 ms { out = 1 }"))
    (point,) = whole.case.phases
    trial = plan_trial(whole, point, whole.maker(point, None, {}), Bounds())
    tally = emulation.run(trial.networks[""].experiment).pool(0, 1)
    assert (tally.sent, tally.received, tally.variation.reordering.packets) == (100, 100, 9)


def test_answers_take_the_other_way_too(planned, ran):
    """Or else what is asked again after 25 ms would have no answer."""
    echo = "echo { size = 100 B @ip, timeout = 25 ms }"
    lost = "f.lost + f.answers.lost == 1 pkt and f.exchanges.lost == 0 pkt"
    (case,) = planned(write_test(RUN, CUT, echo).replace("f.sent > 0", lost))
    assert [judgement.verdict for judgement in ran(case).judgements] == ["pass"]


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        (
            write_test(RUN, CUT, PACKETS.replace("100 B", "1_400 B"), "mtu = 1_000 B"),
            "E0309",
            "`spare.p[1] -> far.p[2]` takes at most 1000 B",
        ),
        (
            write_test(RUN, CUT, PACKETS, "rate = 1 Mbit/s @line"),
            "E0305",
            "this flow asks for more than the link can carry",
        ),
        (write_test(POINT, "at 50 ms { out = 0 }"), "E0308", "packets of `f` end, from 50 ms on"),
    ],
)
def test_each_way_is_checked(planned, problems, text, code, says):
    planned(text)
    (error,) = problems.errors
    assert error.code == code
    assert says in error.message
