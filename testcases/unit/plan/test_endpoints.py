"""Endpoints at hosts: one, several at a host, and beside flows that nobody answers."""

import pytest

from qospec.engine.endpoint.host import Host
from qospec.engine.experiment import END
from qospec.engine.graph.emulation import run

PAIR = """
topology pair {
  a, b = host
  link a -- b via media.fast_ethernet
}
let asking = echo { size = 100 B @ip, window = 3, timeout = 10 ms }
"""


def network(planned, flows):
    text = PAIR + f"test t on pair {{\n{flows}  run {{ measure = 10 ms }}\n  report f.sent\n}}\n"
    (case,) = planned(text)
    return case.networks[""]


def test_what_arrives_at_a_host_of_one_endpoint_goes_there(planned):
    experiment = network(planned, "  flow f = asking from a to b\n").experiment
    nodes = [node.path for node in experiment.nodes]
    assert nodes == ["a -> b", "b -> a", "a.f", "b.f"]
    onward = {(nodes[w.node], nodes[w.to]) for w in experiment.wires if w.to != END}
    assert onward == {("a -> b", "b.f"), ("b.f", "b -> a"), ("b -> a", "a.f"), ("a.f", "a -> b")}


def test_a_host_hands_items_to_the_endpoint_of_their_connection(planned):
    flows = (
        "  flow f = asking { connections = 2 } from a to b\n"
        "  flow g = asking from b to a\n"
        "  flow h = packets { rate = 10_000 pkt/s, size = 100 B @ip } from a to b\n"
    )
    found = network(planned, flows)
    experiment = found.experiment
    hosts = {node.path: node.element for node in experiment.nodes if isinstance(node.element, Host)}
    # In order of connections: requests and answers of f, those of g, and h.
    assert {path: host.endpoints for path, host in hosts.items()} == {
        "a": ((2, 4), (4, 5)),
        "b": ((0, 2), (5, 6)),
    }
    seen = run(experiment)
    for name in ("f", "f.answers", "f.exchanges", "g", "g.answers", "g.exchanges", "h"):
        population = found.populations[name]
        tally = seen.pool(population.first, population.stop)
        assert tally.sent == tally.received > 50, name
    assert not seen.ledger.imbalance


DOUBLING = """
device doubling {
  port west, east: packet
  there, back = duplicate { first = 2, every = 3 }
  west.rx -> there -> east.tx
  east.rx -> back -> west.tx
}
topology doubled {
  a, b = host
  box = doubling
  link a -- box.west via media.fast_ethernet
  link box.east -- b via media.fast_ethernet
}
"""


@pytest.mark.parametrize(
    "traffic", ["echo { size = 100 B @ip, window = 3, timeout = 10 ms }", "tcp { sack = true }"]
)
def test_copies_have_arrived_and_are_kept_from_endpoints(planned, traffic):
    """Their indices are beyond those of the endpoint's connections."""
    text = f"{DOUBLING}test t on doubled {{\n  flow f = {traffic} from a to b\n"
    (case,) = planned(text + "  run { measure = 10 ms }\n  report f.copies.sent\n}\n")
    found = case.networks[""]
    seen = run(found.experiment)
    copies = found.populations["f.copies"]
    tally = seen.pool(copies.first, copies.stop)
    assert tally.sent == tally.received > 5
    assert not seen.ledger.imbalance
