"""Links that fail and come back: what is on them is lost, and nothing else."""

import pytest

from qospec.engine.graph import emulation
from qospec.engine.measure.ledger import Account

WIRE = """
topology wire {
  a, b = host
  link a -- b via media.gigabit_ethernet { length = LENGTH }
}
test flap on wire {
  flow f = packets { rate = 1_000 pkt/s, size = 100 B @ip, phases = even } from a to b
  run { warmup = 10 ms, measure = 100 ms }
  at 40 ms { down = END }
  at 50 ms { up = a }
  at 98.5 ms { down = b }
  expect f.lost > 0 pkt
}
"""


@pytest.mark.parametrize("by_events", [False, True])
@pytest.mark.parametrize(
    ("length", "lost"),
    [
        # Those of 50 to 59 ms since the beginning, and that of 109 ms.
        ("0 m", 10 + 1),
        # With 5 ms on the way also those that were sent from 45 ms on, and from 104 ms on.
        ("1_000 km", 15 + 6),
    ],
)
def test_what_is_on_a_link_while_it_is_down_is_lost(planned, length, lost, by_events):
    """Packets are sent at 0, 1, … ms, and take 1.104 us: a frame of 118 B and the preamble."""
    (case,) = planned(WIRE.replace("LENGTH", length).replace("END", "a"))
    seen = emulation.run(case.networks[""].experiment, by_events=by_events)
    account = seen.ledger.accounts["a -> b (down)", "user", "items"]
    assert account == Account(came=110, left=110 - lost, lost=lost)


def test_ports_and_devices_name_their_links_and_the_rest_stays_up(planned, problems):
    text = """
device switch {
  port p[3]: packet
  fabric = router { ports = 3 }
  for i in 0 .. 2 {
    out = fifo { limit = 64 pkt }
    p[i].rx -> fabric.entry[i]
    fabric.exit[i] -> out -> p[i].tx
  }
}
topology star {
  h = host(count = 3)
  s = switch
  for i in 0 .. 2 {
    link h[i] -- s.p[i] via media.fast_ethernet
  }
}
test t on star {
  flow f = packets { rate = 1_000 pkt/s, size = 100 B @ip, phases = even } from h[0] to h[1]
  flow g = packets { rate = 1_000 pkt/s, size = 100 B @ip, phases = even } from h[0] to h[2]
  run { measure = 20 ms }
  at 9.5 ms { down = s.p[1] }
  expect f.received == 10 pkt
  expect gone: f.lost.link_down == 10 pkt
  expect g.lost == 0 pkt
  expect behind_the_link: f.items.at(s.p[1].tx) == 20 pkt
}
"""
    (case,) = planned(text)
    assert not problems.all
    nodes = [node.path for node in case.networks[""].experiment.nodes]
    assert [path for path in nodes if "(down)" in path] == ["s.p[1] -> h[1] (down)"]
    accounts = emulation.run(case.networks[""].experiment).ledger.accounts
    assert accounts["s.p[1] -> h[1] (down)", "user", "items"] == Account(came=20, left=10, lost=10)
