"""What a trial has sent and lost: all flows together, and of endpoints exchanges."""

import pytest

from qospec.catalogue.kinds import discover
from qospec.run.trial import run

TEXT = """
device gateway {
  port west, east: packet
  q = fifo { limit = ROOM pkt }
  back = fifo { limit = 100 pkt }
  west.rx -> q -> east.tx
  east.rx -> back -> west.tx
}
topology bench {
  a, b = host
  g = gateway
  link a -- g.west via media.gige
  link g.east -- b via media.ethernet
}
test t on bench {
  flow ask = echo { window = 8, timeout = 3 ms, retries = 2, size = 1_000 B @ip } from a to b
  flow one = packets { rate = 200 pkt/s, size = 100 B @ip } from a to b
  flow two = packets { rate = 100 pkt/s, size = 100 B @ip } from b to a
  run { measure = 100 ms, overload = true }
  report ask.lost
}
"""


def metrics(planned, room):
    (case,) = planned(TEXT.replace("ROOM", str(room)))
    result = run(case, discover(), lambda _: None)
    assert not result.errors
    (repeat,) = result.repeats
    seen = {(whose, name): value for whose, name, value, _ in repeat.readings.list_all()}
    counts = repeat.readings.count_exchanged()
    assert [count.population for count in counts] == ["ask.exchanges", "one", "two"]
    return tuple(sum(count[part] for count in counts) for part in (2, 3)), seen


@pytest.mark.parametrize("room", [1, 100])
def test_exchanges_of_endpoints_and_packets_of_other_flows_are_pooled(planned, room) -> None:
    found, seen = metrics(planned, room)
    counted = ("ask.exchanges", "one", "two")
    assert found == tuple(
        sum(seen[population, name] for population in counted) for name in ("sent", "lost")
    )
    assert found[0] > 40


def test_a_request_that_is_sent_again_was_not_lost(planned) -> None:
    (_, lost), seen = metrics(planned, 1)
    assert seen["ask", "lost"] > 0
    assert lost - seen["one", "lost"] == seen["ask.exchanges", "lost"] < seen["ask", "lost"]
