"""Topologies become flat networks."""

import pytest

BOX = """
device box(buffer: Count = 8 cell) {
  port p[3]: cell
  fabric = vc_switch { ports = 3 }
  for i in 0 .. 2 {
    out = fifo { limit = buffer }
    p[i].rx -> fabric.entry[i]
    fabric.exit[i] -> out -> p[i].tx
  }
}
let fast = line { rate = 149.76 Mbit/s @cell, slotted = false }
topology star {
  a = host
  b = host(slotted = false)
  middle = box
  link a -- middle.p[0] via fast
  link b -- middle.p[1] via fast { length = 1 km }
}
traffic load = ubr { pcr = 1 cell/s }
test t on star {
  flow f = load from a to b
  run { measure = 1 s }
  expect f.lost == 0 cell
}
"""


@pytest.fixture
def network(checked):
    suite, problems = checked(BOX)
    assert problems == ()
    return suite.tests[0].cases[0].networks[""]


def test_a_link_is_a_line_in_each_direction(network):
    lines = {
        element.path: element.element for element in network.elements if element.kind.duty == "line"
    }
    assert list(lines) == [
        "a -> middle.p[0]", "middle.p[0] -> a", "b -> middle.p[1]", "middle.p[1] -> b",
    ]  # fmt: skip
    assert [line.slotted for line in lines.values()] == [True, False, False, False]
    assert [line.length for line in lines.values()] == [0, 0, 1_000, 1_000]


def test_nothing_waits_for_a_port_without_a_link(network):
    paths = [element.path for element in network.elements]
    assert "middle.out[1]" in paths
    assert "middle.out[2]" not in paths
    fabric = paths.index("middle.fabric")
    assert [wire.end for wire in network.wires if wire.element == fabric] == [
        "element",
        "element",
        "discard",
    ]


def test_hosts_know_the_line_that_they_send_on(network):
    assert [host.path for host in network.hosts] == ["a", "b"]
    assert [network.elements[host.line].path for host in network.hosts] == [
        "a -> middle.p[0]", "b -> middle.p[1]",
    ]  # fmt: skip
    arriving = [wire for wire in network.wires if wire.end == "host"]
    assert [(network.elements[wire.element].path, wire.to) for wire in arriving] == [
        ("middle.p[0] -> a", 0), ("middle.p[1] -> b", 1),
    ]  # fmt: skip


def test_cells_go_from_a_line_into_the_device(network):
    paths = [element.path for element in network.elements]
    (wire,) = [found for found in network.wires if found.element == paths.index("b -> middle.p[1]")]
    assert (wire.end, paths[wire.to], wire.input) == ("element", "middle.fabric", 1)


def test_equal_cases_share_one_network(checked):
    text = BOX.replace("  flow f", "  sweep x in [1, 2]\n  flow f")
    suite, _ = checked(text)
    first, second = suite.tests[0].cases
    assert first.networks[""] is second.networks[""]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("link a -- middle.p[2] via fast", "E0411"),
        ("link middle.p -- middle.p[2] via fast", "E0412"),
        ("link middle -- middle.p[2] via fast", "E0412"),
        ("link middle.q -- middle.p[2] via fast", "E0401"),
        ("link middle.p[3] -- middle.p[2] via fast", "E0215"),
        ("c = host\n  link c -- middle.p[2] via load", "E0413"),
        ("c = host\n  link c -- middle.p[2] via line { rate = 5 Mbit/s }", "E0210"),
        ("c = box(bufer = 3 cell)", "E0104"),
        ("c = box(buffer = 3 s)", "E0204"),
        ("c = fast", "E0420"),
        ("let r = middle.p[2].rate", "E0422"),
        ("for i in 0 .. 1 { c = host }", "E0112"),
    ],
)
def test_links_and_nodes_keep_the_rules(codes, line, code):
    assert codes(BOX.replace("  middle = box\n", f"  middle = box\n  {line}\n")) == [code]


def test_a_device_of_which_something_could_not_be_read_is_not_made_flat(codes):
    assert set(codes(BOX.replace("ports = 3", "ports  3"))) == {"E0004"}


def test_each_link_without_a_port_is_told_of_a_port_of_its_own(checked):
    text = BOX.replace("ports = 3", "ports = 4").replace("p[3]", "p[4]").replace("0 .. 2", "0 .. 3")
    links = [f"link {host} -- middle via fast" for host in ("c", "d", "e")]
    _, problems = checked(
        text.replace(
            "  middle = box\n", "\n  ".join(["  middle = box", "c, d, e = host", *links, ""])
        )
    )
    assert [problem.help for problem in problems if problem.code == "E0412"] == [
        "say which port: `middle.p[2]`",
        "say which port: `middle.p[3]`",
        "give it one more port: all are linked",
    ]
