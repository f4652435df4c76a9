"""Routers that tell sources what fits, and what passes them beside a source that heeds them."""

import pytest
from drivers import seen

ROUTERS = """
device telling(mtu: Data) {
  port inner, outer: packet
  fit = tell_mtu { mtu = mtu }
  twice = duplicate { probability = 0.5 }
  inner.rx -> fit.there
  fit.there -> outer.tx
  outer.rx -> twice -> fit.back
  fit.back -> inner.tx
}

device doubling {
  port inner, outer: packet
  twice = duplicate { probability = 0.5 }
  inner.rx -> outer.tx
  outer.rx -> twice -> inner.tx
}

topology half_way {
  client, server = host
  near = doubling
  router = telling(mtu = 1_000 B)
  link client -- near.inner via media.gige { length = 50 km }
  link near.outer -- router.inner via media.gige { length = 50 km }
  link router.outer -- server via media.gige { length = 50 km }
}
"""
PLAIN = "flow plain = packets { rate = 1_000 pkt/s, size = mix [1_200 B @ip, 80 B @ip] }"
SEEKING = "tcp { path_mtu_discovery = true, ack_every = 1"


def write(*flows, ms=8):
    lines = "\n".join(flows)
    report = "report plain.lost" if "plain" in lines else "report copy.lost"
    return f"{ROUTERS}\ntest t on half_way {{\n{lines}\nrun {{ measure = {ms} ms }}\n{report}\n}}\n"


@pytest.mark.parametrize(
    "others", [(), (f"flow copy = {SEEKING}, transfer = 20_000 B }} from client to server",)]
)
def test_plain_packets_pass_beside_what_is_told_and_have_no_notices(planned, ran, others):
    (case,) = planned(write(f"{PLAIN} from client to server", *others, ms=20))
    repeat = ran(case)
    values = {
        name: value for name, metric, value, _ in repeat.readings.list_all() if metric == "lost"
    }
    assert values["plain"] == 10
    assert "plain.notices" not in case.networks[""].populations
    assert ("copy.notices" in case.networks[""].populations) == bool(others)


def test_windows_of_time_change_nothing_of_connections_both_ways(planned):
    """With blocks and stamps, and notices and acknowledgements of which some come twice."""
    options = "sack = true, time_stamps = true, connections = 3"
    flows = (
        f"flow copy = {SEEKING}, {options} }} from client to server",
        f"flow other = {SEEKING} }} from server to client",
        f"{PLAIN} from client to server",
    )
    (case,) = planned(write(*flows))
    experiment = case.networks[""].experiment
    whole = seen(experiment, 10**8, by_events=False)
    assert seen(experiment, 97, by_events=False) == whole
    told = experiment.streams.list_indices("notices")
    assert sum(count for row, count in whole.made.items() if row[2] in told) > 30
