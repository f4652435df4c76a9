"""Packets from the text to the numbers: framing, marks, classes, loss."""

from fractions import Fraction

import pytest

from qospec.catalogue.kinds import discover
from qospec.run.trial import run

TOPOLOGY = """
device edge {
  port west, east: packet
  classes = classify { ef = pkt.dscp == 46, be = otherwise }
  bulk = remark { dscp = 10 }
  again = classify { known = pkt.dscp in [10, 46], new = otherwise }
  ef = fifo { limit = 8 pkt }
  be = fifo { limit = 16 KiB }
  top = strict { order = [ef, be] }
  west.rx -> classes
  classes.ef -> ef -> top.ef
  classes.be -> bulk -> again
  again.known -> be -> top.be
  again.new -> discard
  top -> east.tx
  east.rx -> west.tx
}
topology narrow(last: Data = 1_500 B) {
  a, b = host
  box = edge
  link a -- box.west via media.gige
  link box.east -- b via media.fast_ethernet { mtu = last }
}
topology jumbo {
  a, b = host
  link a -- b via media.gige { preamble = 9 B }
}
"""
TEST = """
test t on narrow{more} {{
  flow voice = packets {{ rate = 1_000 pkt/s, size = 200 B @ip, dscp = 46 }} from a to b
  flow bulk = packets {{ rate = 1 Gbit/s @line, size = 1_500 B @ip }} from a to b
  {control}
  run {{ measure = 20 ms, overload = {overload} }}
  expect voice.lost == 0 pkt
  report [bulk.loss, bulk.throughput]
}}
"""


def text(more: str = "", control: str = "", overload: str = "true") -> str:
    return TOPOLOGY + TEST.format(more=more, control=control, overload=overload)


@pytest.mark.usefixtures("problems")
def test_the_urgent_class_is_served_first_and_bulk_fills_what_is_left(planned):
    (case,) = planned(text())
    result = run(case, discover(), lambda _: None)
    assert not result.errors
    measured = {
        (population, metric): value
        for population, metric, value, _ in result.repeats[0].readings.list_all()
    }
    assert measured["voice", "lost"] == 0
    assert measured["voice", "sent"] == 20
    # A bulk frame on Fast Ethernet may be ahead, and then its own time: 200 + 18 bytes behind 8.
    byte_s = Fraction(8, 10**8)
    assert measured["voice", "transfer_delay.max"] < (1_538 + 226) * byte_s + Fraction(4, 10**6)
    line = measured["voice", "bit_rate.line"] + measured["bulk", "bit_rate.line"]
    assert Fraction(99, 100) < line / 10**8 <= 1
    assert measured["bulk", "bit_rate.ip"] == measured["bulk", "throughput"] * 1_500 * 8


@pytest.mark.parametrize(
    ("headers", "payload"),
    [
        ("", 172),
        (", protocol = tcp", 160),
        (", protocol = none", 180),
        (", family = ipv6", 152),
        (", family = ipv6, protocol = tcp", 140),
    ],
)
def test_payload_is_what_is_behind_all_headers(planned, headers, payload):
    """Of 200 B, IP takes 20 or 40, UDP 8, TCP 20; 18 are around them in a frame, 20 around that."""
    wire = "topology wire {\n  a, b = host\n  link a -- b via media.gige\n}\n"
    (case,) = planned(
        f"""{wire}
test t on wire {{
  flow f = packets {{ rate = 1_000 pkt/s, size = 200 B @ip{headers} }} from a to b
  flow g = packets {{ rate = 8 Mbit/s @payload, size = 200 B @ip{headers} }} from a to b
  run {{ measure = 1 s }}
  report [f.bit_rate.payload, g.bit_rate.payload]
}}
"""
    )
    result = run(case, discover(), lambda _: None)
    seen = {(flow, name): v for flow, name, v, _ in result.repeats[0].readings.list_all()}
    layers = {layer: seen["f", f"bit_rate.{layer}"] / 8 for layer in ("line", "frame", "ip")}
    assert layers == {"line": 238_000, "frame": 218_000, "ip": 200_000}
    assert seen["f", "bit_rate.payload"] / 8 == 1_000 * payload
    assert seen["g", "bit_rate.payload"] == pytest.approx(8_000_000, rel=0.001)


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"overload": "false"}, "E0305", "these flows ask for more"),
        ({"more": "(last = 1_000 B)"}, "E0309", "but `box.east -> b` takes at most 1000 B"),
        ({"control": "control other = jumbo"}, "E0309", "differs on the control `other`"),
    ],
)
def test_what_a_line_does_not_take_is_reported_before_the_run(
    planned, problems, changes, code, words
):
    assert not planned(text(**changes))
    assert {problem.code for problem in problems.all} == {code}
    assert any(words in problem.message for problem in problems.all)


def test_a_link_that_is_too_narrow_is_shown_where_it_is(planned, problems):
    assert not planned(text(more="(last = 1_000 B)"))
    for told in problems.all:
        (link,) = told.secondary
        assert link.span.text.startswith("link box.east -- b")


def test_packets_without_a_path_are_named(planned, problems):
    one_way = text().replace("east.rx -> west.tx", "east.rx -> discard")
    assert not planned(one_way.replace("from a to b", "from b to a", 1))
    (told,) = problems.all
    assert (told.code, told.message) == ("E0308", "no path for packets of `voice` from `b` to `a`")


@pytest.mark.usefixtures("problems")
def test_a_full_line_with_macsec_carries_frames_of_96_bytes(planned):
    """Those of 64 without it: 107,758.62 of them per second, with 20 bytes around each."""
    (case,) = planned("""
topology secured {
  a, b = host
  link a -- b via media.macsec_fast_ethernet
}
test t on secured {
  flow f = packets { rate = 100 Mbit/s @line, size = 46 B @ip } from a to b
  run { measure = 100 ms }
  expect f.lost == 0 pkt
}
""")
    result = run(case, discover(), lambda _: None)
    measured = {
        (population, metric): value
        for population, metric, value, _ in result.repeats[0].readings.list_all()
    }
    frames = Fraction(10**7, 8 * (8 + 64 + 32 + 12))
    assert round(frames, 3) == Fraction("10775.862")
    assert abs(measured["f", "sent"] - frames) < 1
