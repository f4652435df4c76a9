"""Plans that a broken pass of the planner would make: each is refused, and the element named."""

from dataclasses import replace

import pytest

from qospec.plan import plan as planning
from qospec.plan.legal import IllegalPlanError

NETWORK = """
device edge {
  port w, e: packet
  meter = srtcm { cir = 1 Mbit/s @ip, cbs = 2_000 B @ip, ebs = 2_000 B @ip }
  sort = classify { good = pkt.colour == green, poor = otherwise }
  high, low = fifo { limit = 9 pkt }
  out = strict { order = [high, low] }
  w.rx -> meter -> sort
  sort.good -> high -> out.high
  sort.poor -> low -> out.low
  out -> e.tx
  e.rx -> w.tx
}

topology bench {
  a, b = host
  dut = edge
  link a -- dut.w via media.fast_ethernet
  link dut.e -- b via media.fast_ethernet
}

test t on bench {
  flow f = packets { rate = 1_000 pkt/s, size = 200 B @ip, connections = 3 } from a to b
  run { measure = 10 ms }
  expect f.lost == 0 pkt
}
"""


def broken(monkeypatch: pytest.MonkeyPatch, name: str, change) -> None:
    """Let a pass of the planner do something else to what it returns."""
    usual = getattr(planning, name)
    monkeypatch.setattr(planning, name, lambda *given: change(usual(*given)))


def without_wires(end: str, path: str):
    """Return what leaves out the wires whose `end`, "node" or "to", is an element."""

    def change(lowered):
        number = [node.path for node in lowered.nodes].index(path)
        wires = [
            (wire, host)
            for wire, host in zip(lowered.wires, lowered.arrives_at, strict=True)
            if getattr(wire, end) != number
        ]
        kept, hosts = zip(*wires, strict=True)
        return replace(lowered, wires=kept, arrives_at=hosts)

    return change


def with_node(path: str, **fields: object):
    """Return what gives a node other fields."""

    def change(lowered):
        nodes = (n._replace(**fields) if n.path == path else n for n in lowered.nodes)
        return replace(lowered, nodes=tuple(nodes))

    return change


def to_another_input(lowered):
    """Let the first wire lead to an input that the element behind it does not have."""
    (first, *others) = lowered.wires
    return replace(lowered, wires=(first._replace(input=7), *others))


def shifted(sources):
    """Let sources send on connections that are not theirs."""
    return (source._replace(first=source.first + 1) for source in sources)


GREEN, YELLOW, RED = (colour << 1 for colour in range(3))  # as in `protocol.marks`

BROKEN = {
    "no wire": (
        "lower",
        without_wires("to", "dut.meter"),
        r"after lowering, `dut\.meter` is fed nothing of `f`: what may pass",
    ),
    "no wire for some": (
        "with_endpoints",
        without_wires("to", "dut.out"),
        r"after endpoints, `dut\.out` is fed nothing of `f`",
    ),
    "no wire to where it goes": (
        "lower",
        without_wires("node", "dut.out"),
        r"after lowering, `dut\.out` has no wire for `f` at output 0: what leaves",
    ),
    "an input that is not there": (
        "with_restarts",
        to_another_input,
        r"after restarts, `dut\.sort` has a wire to input 7 from `dut\.meter`",
    ),
    "another size": (
        "with_machines",
        with_node("dut.out", size_bytes=201),
        r"after machines, `dut\.out` is fed other sizes than 201 B: an element is fed what",
    ),
    "a column that nothing writes": (
        "lower",
        with_node("dut.sort", columns=(GREEN, YELLOW, RED | 8)),
        r"after lowering, `dut\.sort` asks for marks 0xc, which nothing on the way writes",
    ),
    "a column too few": (
        "lower",
        with_node("dut.sort", columns=(GREEN, YELLOW)),
        r"after lowering, `dut\.sort` has no column for marks 0x4",
    ),
    "another stream": (
        "_build_sources",
        shifted,
        r"after measurement, `a -> dut\.w` is fed by `f` beyond its stream: every index",
    ),
}


@pytest.mark.parametrize(("name", "change", "said"), BROKEN.values(), ids=BROKEN)
def test_what_a_pass_breaks_is_found_behind_it(planned, monkeypatch, name, change, said):
    (whole,) = planned(NETWORK)
    assert whole.networks[""].experiment.nodes
    broken(monkeypatch, name, change)
    with pytest.raises(IllegalPlanError, match=said):
        planned(NETWORK)


def test_plans_are_not_checked_unless_asked(planned, monkeypatch):
    broken(monkeypatch, "lower", without_wires("to", "dut.meter"))
    monkeypatch.delenv("QOS_CHECK")
    (whole,) = planned(NETWORK)
    assert "dut.meter" in [node.path for node in whole.networks[""].experiment.nodes]
