"""What a statement asks for is recorded, and nothing else: from the text to the numbers."""

import pytest

from qospec.catalogue.kinds import discover
from qospec.run.trial import run

DEVICES = """
device edge {
  port west, east: packet
  classes = classify { ef = pkt.dscp == 46, be = otherwise }
  for i in 0 .. 1 {
    q = fifo { limit = 8 pkt }
  }
  top = strict { order = [first, second] }
  west.rx -> classes
  classes.ef -> q[0] -> top.first
  classes.be -> q[1] -> top.second
  top -> east.tx
  east.rx -> discard
  invariant room: q[1].occupancy.max <= 8 pkt
}
topology narrow {
  a, b = host
  box = edge
  link a -- box.west via media.gige
  link box.east -- b via media.fast_ethernet
}
topology pairs {
  a, b = host(count = 3)
  for i in 0 .. 2 {
    link a[i] -- b[i] via media.fast_ethernet
  }
}
"""
TEST = """
test t on narrow {{
  flow voice = packets {{ rate = 1_000 pkt/s, size = 200 B @ip, dscp = 46 }} from a to b
  flow bulk = packets {{
    rate = 200 Mbit/s @line
    size = mix {{ 64 B: 1, 1_000 B: 1 }} @ip
    gaps = poisson
    connections = 4
  }} from a to b
  {control}
  run {{ warmup = 1 ms, measure = 20 ms, overload = true }}
  expect {condition}
}}
"""


def text(condition: str, control: str = "") -> str:
    return DEVICES + TEST.format(condition=condition, control=control)


def measured(planned, text):
    """Return all that a run shows, and whether what it expects held."""
    (case,) = planned(text)
    result = run(case, discover(), lambda _: None)
    assert not result.errors
    (repeat,) = result.repeats
    shown = {(whose, metric): value for whose, metric, value, _ in repeat.readings.list_all()}
    return shown, [judgement.verdict for judgement in repeat.judgements]


def test_only_the_requested_flow_is_followed(planned):
    shown, verdicts = measured(planned, text("bulk.jitter.mean > 0"))
    assert verdicts == ["pass", "pass"]
    assert shown["bulk", "jitter.max"] >= shown["bulk", "jitter.mean"] > 0
    assert ("voice", "jitter.max") not in shown
    assert ("bulk", "latency.mean") not in shown


def test_latency_is_requested_alone(planned):
    shown, _ = measured(planned, text("bulk.latency.mean < 1 s"))
    assert 0 < shown["bulk", "latency.min"] < shown["bulk", "transfer_delay.min"]
    assert ("bulk", "jitter.max") not in shown


def test_a_control_is_requested_separately(planned):
    (case,) = planned(text("bare.voice.jitter.mean < 1 s", "control bare = narrow"))
    watched = {name: made.experiment.measurement.followed for name, made in case.networks.items()}
    assert watched == {"": (), "bare": (("variation", 0, 1),)}


def test_losses_by_cause_are_all_losses(planned):
    condition = "bulk.lost.overflow == bulk.lost and bulk.lost > 0 and bulk.lost.discarded == 0"
    _, verdicts = measured(planned, text(condition))
    assert verdicts == ["pass", "pass"]


@pytest.mark.parametrize(
    ("condition", "verdict"),
    [
        ("box.q[1].occupancy.max == 8 pkt", "pass"),
        ("box.q[1].occupancy.max > 8 pkt", "fail"),
        ("box.q[1].occupancy.mean > 5 pkt", "pass"),
        ("box.q[0].occupancy.max <= 1 pkt", "pass"),
        ("box.q[1].lost >= bulk.lost", "pass"),
        ("box.q[0].lost == 0 pkt", "pass"),
    ],
)
def test_a_criterion_asks_for_a_queue_of_a_device(planned, condition, verdict):
    _, verdicts = measured(planned, text(condition).replace("warmup = 1 ms, ", ""))
    assert verdicts == [verdict, "pass"]


def test_queues_are_watched_that_statements_name(planned):
    (case,) = planned(text("box.q[0].occupancy.max < 8 pkt"))
    assert case.networks[""].experiment.measurement.queues == ("box.q[0]", "box.q[1]")


def test_fairness_is_among_the_members_of_a_group(planned):
    """Two connections each, all alike: as much for each of the three."""
    group = (
        DEVICES
        + """
test t on pairs {
  flow f = packets { rate = 1_000 pkt/s, size = 64 B @frame, connections = 2 } from a to b
  run { measure = 1 s }
  expect f.jain_fairness within 1% of 1
}
"""
    )
    shown, verdicts = measured(planned, group)
    assert verdicts == ["pass"]
    assert shown["f", "fairness_index"] <= 1
