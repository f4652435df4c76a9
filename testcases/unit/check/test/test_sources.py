"""What packets and cells come by: a rate and a shape, or a source that says all."""

from fractions import Fraction

import pytest

from qospec.catalogue.kinds import Duration

MS = 10**9
CABLE = """
import std.media
topology cable {
  a, b = host
  link a -- b via media.fast_ethernet
}
"""
TEST = """
test t on cable {{
  flow f = packets {{ {fields} }} from a to b
  run {{ measure = 10 ms }}
  expect f.lost == 0
}}
"""


@pytest.fixture
def sent(checked):
    def run(fields):
        suite, problems = checked(CABLE + TEST.format(fields=fields))
        assert problems == ()
        return suite.tests[0].cases[0].flows[0]

    return run


@pytest.mark.parametrize(
    ("source", "follows"),
    [
        ("on_off { on = exponential(2 ms), off = 3 ms }", {"at": 15_625}),
        ("mmpp { calm = 3 ms, busy = 1 ms, share = 75% }", {"rate": 6_250}),
        ("burst { size = 10 pkt }", {"every": Fraction(16, 10) * MS}),
        ("burst { size = 10 pkt, at = 8_000 pkt/s }", {"every": Fraction(16, 10) * MS}),
        ("poisson", {"rate": 6_250}),
        ("constant", {"rate": 6_250}),
    ],
)
def test_one_field_follows_from_the_rate(sent, source, follows):
    """10 Mbit/s in packets of 200 bytes are 6,250 a second, on the mean of whatever it is."""
    flow = sent(f"rate = 10 Mbit/s @ip, size = 200 B @ip, source = {source}")
    assert {name: getattr(flow.arrivals, name) for name in follows} == follows
    assert flow.arrivals.compute_mean_rate(1) == flow.packets.contract.peak_cell_rate == 6_250


@pytest.mark.parametrize(
    ("source", "packet_rate"),
    [
        ("on_off { on = 2 ms, off = 3 ms, at = 1_000 pkt/s }", 400),
        ("mmpp { rate = 400 pkt/s, calm = 30 ms, busy = 10 ms, share = 75% }", 400),
        ("burst { size = 10 pkt, every = 20 ms }", 500),
        ("poisson { rate = 7 pkt/s }", 7),
        ("greedy { rate = 7 pkt/s }", 7),
        ("pattern { intervals = [1 ms, 3 ms] }", 500),
        ("replay { at = [0 ms, 4 ms, 8 ms] }", 250),
    ],
)
def test_a_source_that_says_all_is_the_rate(sent, source, packet_rate):
    flow = sent(f"size = 200 B @ip, source = {source}")
    assert flow.arrivals.compute_mean_rate(1) == flow.packets.contract.peak_cell_rate == packet_rate
    assert flow.traffic.rate.amount == packet_rate


def test_the_peak_of_a_contract_is_that_while_on(checked):
    """The example of the language's plan: 16 ms of 40 at 30,000 cell/s are 12,000."""
    suite, problems = checked("""
topology bench {
  a, b = host
  link a -- b via line { rate = 149.76 Mbit/s @cell }
}
traffic video = vbr_rt {
  pcr = 30_000 cell/s
  scr = 12_000 cell/s
  mbs = 200 cell
  cdvt = 100 us
  source = on_off { on = exponential(16 ms), off = exponential(24 ms) }
}
test t on bench {
  flow f = video from a to b
  run { measure = 1 s }
  expect f.lost == 0
}
""")
    assert problems == ()
    arrivals = suite.tests[0].cases[0].flows[0].arrivals
    assert arrivals.on == Duration(16 * MS, "exponential")
    assert arrivals.compute_mean_rate(1) == 12_000


def test_a_bit_rate_of_a_mix_follows_through_the_link(sent):
    """A fifth of the line in bursts of the simple mix: bytes on the line, 381.8 on average."""
    flow = sent(
        "rate = 20 Mbit/s @line, size = mix { 40 B: 7, 576 B: 4, 1_500 B: 1 } @ip,"
        " source = burst { size = 6 pkt }"
    )
    mean_bytes = Fraction(7 * 84 + 4 * 614 + 1_538, 12)
    assert flow.arrivals.compute_mean_rate(1) == 20 * 10**6 / (8 * mean_bytes)


def test_an_address_is_kept_in_its_shortest_form(sent):
    flow = sent('rate = 1 pkt/s, size = 64 B @ip, family = ipv6, source_address = "2001:DB8:0::7"')
    assert flow.packets.header_fields["source_address"] == "2001:db8::7"
    assert flow.packets.header_fields["destination_address"] == "::"
