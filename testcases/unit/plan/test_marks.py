"""Marks on their way: what is written, what a line leaves of it, and what classes make of it."""

import pytest

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.plan.survey import verify
from qospec.run.trial import run

DEVICES = """
let blocked = police { cir = 8 bit/s @ip, cbs = 0 B }

device meter {
  port west, east: packet
  red = remark { colour = red }
  tagging = remark { priority = 5 }
  west.rx -> red -> tagging -> east.tx
  east.rx -> west.tx
}
device filter {
  port west, east: packet
  classes = classify { ours = CONDITION, rest = otherwise }
  none = blocked
  west.rx -> classes
  classes.ours -> east.tx
  classes.rest -> none -> east.tx
  east.rx -> west.tx
}
topology chain {
  a, b = host
  one = meter
  two = filter
  link a -- one.west via media.tagged_fast_ethernet
  link one.east -- two.west via media.fast_ethernet { vlan_tags = TAGS }
  link two.east -- b via media.tagged_fast_ethernet
}
test t on chain {
  flow f = packets { rate = 1_000 pkt/s, size = 200 B @ip, FIELDS } from a to b
  run { measure = 20 ms }
  expect f.lost == 0 pkt
  report f.received
}
"""


def readings(case):
    """Return what is measured of each flow."""
    result = run(case, discover(), lambda _: None)
    assert not result.errors
    return {
        (flow, metric): value for flow, metric, value, _ in result.repeats[0].readings.list_all()
    }


def received(planned, condition: str, fields: str = "dscp = 46", tags: int = 1) -> int:
    """Return how many of 20 packets a condition lets pass."""
    text = DEVICES.replace("CONDITION", condition).replace("FIELDS", fields)
    (case,) = planned(text.replace("TAGS", str(tags)))
    return readings(case)["f", "received"]


@pytest.mark.usefixtures("problems")
@pytest.mark.parametrize(
    ("condition", "fields", "passes"),
    [
        ("pkt.dscp == 46 and not pkt.dscp in (0 .. 45)", "dscp = 46", True),
        ("pkt.precedence == 5", "dscp = 46", True),
        ("pkt.size <= 200 B @ip and pkt.dscp == 46", "dscp = 46", True),
        ("pkt.size < 200 B", "dscp = 0", False),
        ("pkt.size in (100 B .. 199 B) or pkt.size > 200 B", "dscp = 0", False),
        ("pkt.size != 200 B", "dscp = 0", False),
        ("pkt.precedence == 5", "dscp = 10", False),
        ("pkt.priority == 5", "priority = 1", True),
        ("pkt.vlan == 100", "vlan = 100", True),
        ("pkt.vlan in (100 .. 199)", "vlan = 200", False),
        ("pkt.vlan == 0", "dscp = 0", True),
        ("pkt.colour == green", "dscp = 0", True),  # a colour ends with its device
        ("pkt.colour != green", "dscp = 0", False),
        ("pkt.input == west", "dscp = 0", True),
        ("pkt.input != west", "dscp = 0", False),
        ("pkt.input in [east, west]", "dscp = 0", True),
        ("pkt.protocol == udp and pkt.source_port in (5 .. 7)", "source_port = 7", True),
        ("pkt.protocol == udp and pkt.source_port in (5 .. 7)", "source_port = 8", False),
        ('pkt.source_address in "10.1.0.0/16"', 'source_address = "10.1.255.255"', True),
        ('pkt.source_address in "10.1.0.0/16"', 'source_address = "10.2.0.0"', False),
        ('pkt.source_address == "10.2.0.0"', 'source_address = "10.2.0.0"', True),
        ('pkt.source_address in ["10.2.0.1", "::/0"]', 'source_address = "10.2.0.1"', True),
        ('pkt.source_address in ["10.2.0.1", "::/0"]', 'source_address = "10.2.0.0"', False),
        (
            'pkt.destination_address in "2001:db8::/32" and pkt.family == ipv6',
            'family = ipv6, destination_address = "2001:db8::1"',
            True,
        ),
        (
            'pkt.destination_address in "0.0.0.0/0"',
            'family = ipv6, destination_address = "2001:db8::1"',
            False,
        ),
    ],
)
def test_a_class_takes_what_its_condition_says(planned, condition, fields, passes):
    assert received(planned, condition, fields) == (20 if passes else 0)


@pytest.mark.usefixtures("problems")
@pytest.mark.parametrize(
    ("condition", "passes"),
    [
        ("pkt.vlan == 100 and pkt.inner_vlan == 7", True),
        ("pkt.inner_vlan == 100 or pkt.vlan == 7", False),
    ],
)
def test_a_class_tells_the_outer_tag_from_the_inner_one(planned, condition, passes):
    text = DEVICES.replace("tagged_fast_ethernet", "fast_ethernet { vlan_tags = 2 }")
    text = text.replace("CONDITION", condition).replace("FIELDS", "vlan = 100, inner_vlan = 7")
    (case,) = planned(text.replace("TAGS", "2"))
    assert readings(case)["f", "received"] == (20 if passes else 0)


@pytest.mark.usefixtures("problems")
def test_packets_of_one_flow_have_the_classes_of_their_sizes(planned):
    """Of 20 packets that repeat 200 B, 60 B and 200 B, seven are short and thirteen are not."""
    sizes = "size = mix [200 B, 60 B, 200 B] @ip"
    for condition, count in (("pkt.size <= 60 B", 7), ("pkt.size > 60 B", 13)):
        text = DEVICES.replace("size = 200 B @ip", sizes).replace("CONDITION", condition)
        (case,) = planned(text.replace("FIELDS", "dscp = 0, phases = even").replace("TAGS", "1"))
        assert readings(case)["f", "received"] == count


def test_a_priority_ends_with_a_line_whose_frames_have_no_tag(planned, problems):
    assert received(planned, "pkt.priority == 5 or pkt.dscp == 46", "dscp = 46") == 20
    text = DEVICES.replace("CONDITION", "pkt.priority == 0 or pkt.dscp == 63")
    text = text.replace("FIELDS", "dscp = 46").replace("TAGS", "0")
    assert not planned(text)
    assert [error.code for error in problems.errors] == ["E0426", "E0426"]


def test_a_priority_is_gone_behind_a_line_without_tags(planned, problems):
    """It is borne on the first line, and nobody writes it again before the third."""
    text = DEVICES.replace("CONDITION", "pkt.priority == 1").replace("TAGS", "0")
    text = text.replace("FIELDS", "priority = 1")
    for before, after in (
        ("  red = remark { colour = red }\n  tagging = remark { priority = 5 }\n", ""),
        ("west.rx -> red -> tagging -> east.tx", "west.rx -> east.tx"),
        ("two = filter", "two = meter\n  three = filter"),
        (
            "link two.east -- b",
            "link two.east -- three.west via media.tagged_fast_ethernet\n  link three.east -- b",
        ),
    ):
        assert before in text
        text = text.replace(before, after)
    (case,) = planned(text)
    assert not problems.errors
    assert readings(case)["f", "received"] == 0
    tagged = text.replace("{ vlan_tags = 0 }", "{ vlan_tags = 1 }")
    (case,) = planned(tagged)
    assert readings(case)["f", "received"] == 20


ARRAY = """
device hub {
  port p[3], out: packet
  classes = classify { first = pkt.input == p[0], others = pkt.input in p, none = otherwise }
  b = police { cir = 8 bit/s @ip, cbs = 0 B }
  for i in 0 .. 2 {
    p[i].rx -> classes
  }
  classes.first -> out.tx
  classes.others -> b -> out.tx
  classes.none -> discard
  out.rx -> discard
}
topology star {
  hosts = host(count = 3)
  b = host
  box = hub
  for i in 0 .. 2 {
    link hosts[i] -- box.p[i] via media.fast_ethernet
  }
  link box.out -- b via media.fast_ethernet
}
test t on star {
  flow f = packets { rate = 1_000 pkt/s, size = 200 B @ip } from hosts[0] to b
  flow g = packets { rate = 1_000 pkt/s, size = 200 B @ip } from hosts[2] to b
  run { measure = 20 ms }
  expect f.lost == 0 pkt
  report [f.received, g.received]
}
"""


@pytest.mark.usefixtures("problems")
def test_ports_of_an_array_are_distinguished(planned):
    (case,) = planned(ARRAY)
    found = readings(case)
    assert (found["f", "received"], found["g", "received"]) == (20, 0)


@pytest.mark.parametrize(
    ("codes", "warned"), [("[0, 46]", ["W0605"]), ("[0, 10]", []), ("[10]", [])]
)
def test_a_class_that_no_case_feeds_is_reported_once(tmp_path, codes, warned):
    text = DEVICES.replace("CONDITION", "pkt.dscp == 10").replace("TAGS", "1")
    text = text.replace("FIELDS", "dscp = code")
    path = tmp_path / "a.qos"
    sweep = f"test t on chain {{\n  sweep code in {codes}"
    text = f"qos 1\nimport std.media\n{text.replace('test t on chain {', sweep)}"
    path.write_text(text, encoding="utf-8")
    problems = Problems()
    verify(check([path], discover(), problems), problems)
    assert [problem.code for problem in problems.all] == warned
