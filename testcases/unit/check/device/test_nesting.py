"""Devices inside devices: the same network as if their elements stood there by themselves."""

import time

import pytest

from qospec.check import Limits
from qospec.check.device import body as devices

STAGE = """
device stage(buffer: Count = 8 cell) {
  port entry, exit: cell
  wait = fifo { limit = buffer }
  entry.rx -> wait -> exit.tx
  exit.rx -> discard
  invariant small: wait.lost == 0 cell
}
device patch {
  port left, right: cell
  left.rx -> right.tx
  right.rx -> left.tx
}
"""

BENCH = """
topology bench {
  a, b = host
  middle = box
  link a -- middle.west via line { rate = 149.76 Mbit/s @cell }
  link middle.east -- b via line { rate = 149.76 Mbit/s @cell }
}
traffic load = ubr { pcr = 1 cell/s }
test t on bench {
  flow f = load from a to b
  run { measure = 1 s }
  expect f.lost == 0 cell
}
"""

INSIDE = """
device box {
  port west, east: cell
  upc = gcra
  inner = stage(buffer = 4 cell)
  lead = patch(count = 2)
  late = delay { time = 1 us }
  west.rx -> upc -> lead[0].left.rx
  lead[0].right.tx -> lead[1].left.rx
  lead[1].right.tx -> inner.entry.rx
  inner.exit.tx -> east.tx
  east.rx -> late -> lead[1].right.rx
  lead[1].left.tx -> lead[0].right.rx
  lead[0].left.tx -> west.tx
}
"""

BY_HAND = """
device box {
  port west, east: cell
  upc = gcra
  inner_wait = fifo { limit = 4 cell }
  late = delay { time = 1 us }
  west.rx -> upc -> inner_wait -> east.tx
  east.rx -> late -> west.tx
}
"""


@pytest.fixture
def network(checked):
    def run(device):
        suite, problems = checked(STAGE + device + BENCH)
        assert problems == ()
        return suite.tests[0].cases[0].networks[""]

    return run


def wired(network):
    """Return elements and wires by path, in any order."""
    paths = [element.path.replace("inner.wait", "inner_wait") for element in network.elements]
    ends = {
        (paths[wire.element], wire.output, wire.end, wire.end == "element" and paths[wire.to])
        for wire in network.wires
    }
    return {(path, e.element) for path, e in zip(paths, network.elements, strict=True)}, ends


def test_a_device_inside_is_as_if_its_elements_stood_there(network):
    assert wired(network(INSIDE)) == wired(network(BY_HAND))


def test_an_element_s_path_names_the_devices_around_it(network):
    assert "middle.inner.wait" in [element.path for element in network(INSIDE).elements]


def test_what_holds_of_a_device_holds_inside_another(network):
    (held,) = network(INSIDE).invariants
    assert held.label == "middle: inner: small"


def test_what_leads_to_no_line_is_left_out(network):
    device = """
    device box {
      port west, east: cell
      inner = stage
      west.rx -> inner.entry.rx
      inner.exit.tx -> discard
      east.rx -> west.tx
    }
    """
    assert "middle.inner.wait" not in [element.path for element in network(device).elements]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("port west: cell\n inner = nothing\n west.rx -> inner.entry.rx", ["E0101"]),
        ("port west: cell\n inner = stage(bufer = 1 cell)\n west.rx -> inner.x.rx", ["E0104"]),
        ("port west: cell\n inner = stage(count = 0)\n west.rx -> west.tx", []),
        (
            """
            port w[2]: cell
            for i in 0 .. 1 {
              inner = stage
              w[i].rx -> inner.entry.rx
            }
            for i in 0 .. 1 { inner[i].exit.tx -> w[i].tx }
            """,
            [],
        ),
        (
            """
            port west: cell
            inner = stage
            west.rx -> inner.entry.rx
            inner.exit.tx -> west.tx
            invariant inner.entry.rx.count == 0 cell
            """,
            ["E0423"],
        ),
    ],
)
def test_the_rules_of_devices_hold_for_those_with_others_inside(codes, body, expected):
    assert codes(f"{STAGE}device box {{\n {body}\n}}\n") == expected


def test_an_invariant_at_an_inner_port_is_refused(codes):
    counting = "device seen { port p: cell\n p.rx -> p.tx\n invariant p.rx.count == p.tx.count }\n"
    box = "device box { port p: cell\n inner = seen\n p.rx -> inner.p.rx\n inner.p.tx -> p.tx }\n"
    assert codes(counting + box) == ["E0190"]


def test_a_part_with_a_mistake_is_reported_once(codes):
    broken = "device broken { port p: cell\n x = fifo { limt = 1 cell }\n p.rx -> x -> p.tx }\n"
    box = "device box { port p: cell\n i = broken\n p.rx -> i.p.rx\n i.p.tx -> p.tx }\n"
    assert codes(broken + box) == ["E0104"]


def doubled(body: str) -> str:
    """Return devices each of which holds the one before twice, 40 times."""
    again = "".join(
        f"device d{n + 1} {{ port p: cell\n i, j = d{n}\n p.rx -> i.p.rx\n i.p.tx -> j.p.rx\n"
        " j.p.tx -> p.tx }\n"
        for n in range(40)
    )
    return f"device d0 {{ port p: cell\n {body} }}\n{again}"


ONE_ELEMENT = "x = delay { time = 1 us }\n p.rx -> x -> p.tx"
ONE_MACHINE = "p.rx -> p.tx\n machine m { state s { on begin -> s } }"


@pytest.mark.parametrize(
    ("body", "limits", "expected"),
    [
        (ONE_ELEMENT, Limits(elements=1_000), {"E0602"}),
        (ONE_ELEMENT, Limits(inner=1_000), {"E0608"}),
        (ONE_MACHINE, Limits(inner=1_000), {"E0608"}),
    ],
)
def test_parts_of_parts_come_to_an_end(codes, body, limits, expected):
    assert set(codes(doubled(body), limits=limits)) == expected


@pytest.mark.slow
def test_parts_of_parts_come_to_an_end_soon(checked):
    """Without a limit of its own the last of these would take hours, and all memory."""
    start = time.process_time()
    (reported,) = checked(doubled(ONE_ELEMENT))[1]
    assert (reported.code, reported.span.text) == ("E0608", "j")
    assert time.process_time() - start < 30


def test_a_device_without_parameters_is_worked_out_once(checked, monkeypatch):
    made = []
    template = devices.build_template
    monkeypatch.setattr(
        devices,
        "build_template",
        lambda node, *rest: made.append(node.name.text) or template(node, *rest),
    )
    checked(STAGE + INSIDE + BENCH)
    assert sorted(made) == ["box", "patch", "stage", "stage", "stage"]


CROSSED = """
device crossed {
  port i[3]: cell
  d = delay { time = 1 us }
  i[0].rx -> d -> i[1].tx
  i[1].rx -> i[0].tx
  i[2].rx -> i[2].tx
}
"""


@pytest.mark.parametrize(
    ("wires", "expected"),
    [
        ("w.rx -> x.i[0].rx\n x.i[0].tx -> w.tx", ["E0402"]),
        ("w.rx -> x.i[0].rx\n x.i[1].tx -> w.tx", []),
        ("w.rx -> x.i[1].rx\n x.i[0].tx -> w.tx", []),
        ("w.rx -> x.i[2].rx\n x.i[2].tx -> w.tx", []),
    ],
)
def test_what_leaves_by_a_port_that_is_reached_goes_somewhere(codes, wires, expected):
    assert codes(f"{CROSSED}device box {{\n port w: cell\n x = crossed\n {wires}\n}}\n") == expected


def test_a_device_whose_wires_could_not_all_be_read_is_not_looked_into(codes):
    text = """
import std.media
device patch {
  port left, right: cell
  left.rx -> right.tx
  right.rx -> left.tx
}
device switch(ports: Int = 4) {
  port p[ports]: cell
  fabric = vc_switch { ports = ports, latency = 10 us }
  panel = patch(count = ports)
  for i in 0 .. ports - 1 {
    stage = fifo { limit = 9 cell }
    p[i].rx -> panel[i].left.rx
    panel[i].right.tx -> fabric.entry[i]
    fabric.exit[i] -> stage -> panel[i].right.rx
    panel[i].left.tx -> p[i].tx
  }
}
device policed {
  port west, east: cell
  inside = switch(ports = 8)
  west.rx -> inside.p[0].rx
  inside.p[1]bit/s @cell }
}
"""
    assert set(codes(text)) <= {"E0001", "E0011", "E0013", "E0101"}
