"""Devices inside devices: the same network as if their elements stood there by themselves."""

import pytest

from qospec.check import Limits

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
    paths = [each.path.replace("inner.wait", "inner_wait") for each in network.elements]
    ends = {
        (paths[wire.element], wire.output, wire.end, wire.end == "element" and paths[wire.to])
        for wire in network.wires
    }
    return {(path, e.element) for path, e in zip(paths, network.elements, strict=True)}, ends


def test_a_device_inside_is_as_if_its_elements_stood_there(network):
    assert wired(network(INSIDE)) == wired(network(BY_HAND))


def test_an_element_s_path_names_the_devices_around_it(network):
    assert "middle.inner.wait" in [each.path for each in network(INSIDE).elements]


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
    assert "middle.inner.wait" not in [each.path for each in network(device).elements]


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
    counting = "device seen { port p: cell\n p.rx -> p.tx\n invariant p.rx.count >= 0 cell }\n"
    box = "device box { port p: cell\n inner = seen\n p.rx -> inner.p.rx\n inner.p.tx -> p.tx }\n"
    assert codes(counting + box) == ["E0190"]


def test_a_part_with_a_mistake_is_told_once(codes):
    broken = "device broken { port p: cell\n x = fifo { limt = 1 cell }\n p.rx -> x -> p.tx }\n"
    box = "device box { port p: cell\n i = broken\n p.rx -> i.p.rx\n i.p.tx -> p.tx }\n"
    assert codes(broken + box) == ["E0104"]


def test_parts_of_parts_come_to_an_end(codes):
    doubled = "".join(
        f"device d{n + 1} {{ port p: cell\n i, j = d{n}\n p.rx -> i.p.rx\n i.p.tx -> j.p.rx\n"
        " j.p.tx -> p.tx }\n"
        for n in range(40)
    )
    first = "device d0 { port p: cell\n x = delay { time = 1 us }\n p.rx -> x -> p.tx }\n"
    assert set(codes(first + doubled, limits=Limits(elements=1_000))) == {"E0602"}
