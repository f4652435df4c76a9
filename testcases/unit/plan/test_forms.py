"""What items are, cells or packets and of which sizes, is known at each place of their path."""

import itertools
from collections.abc import Sequence
from fractions import Fraction

import pytest

from qospec.catalogue.form import Form
from qospec.elements.encapsulate import Encapsulate
from qospec.plan import offered
from qospec.plan.forms import FormError, Forms
from qospec.plan.tables import Hop, ItemClass, Member, Reach, Routes, State
from qospec.protocol.streams import Stream

GATEWAY = """
device gateway(header: Data = 20 B) {
  port inner, outer: packet
  wrap = encapsulate { header = header }
  unwrap = decapsulate { header = header }
  out, back = fifo { limit = 64 pkt }
  inner.rx -> wrap -> out -> outer.tx
  outer.rx -> unwrap -> back -> inner.tx
}
topology tunnel {
  a, b, c, d = host
  left, right = gateway
  link a -- left.inner via media.fast_ethernet
  link left.outer -- right.outer via media.fast_ethernet { mtu = 1_600 B }
  link right.inner -- b via media.fast_ethernet
  link c -- d via media.fast_ethernet
}
traffic sized(size: Data) = packets { rate = 100 pkt/s, size = size @ip }
"""


def test_a_node_knows_the_size_of_what_arrives_there(planned):
    text = """
test t on tunnel {
  flow f = sized(size = 1_000 B) from a to b
  flow g = sized(size = 400 B) from c to d
  run { measure = 10 ms }
  expect f.lost == 0 pkt
}
"""
    (case,) = planned(GATEWAY + text)
    assert {node.path: node.size_bytes for node in case.networks[""].experiment.nodes} == {
        "a -> left.inner": 1_000,
        "left.wrap": 1_000,
        "left.out": 1_020,
        "right.unwrap": 1_020,
        "right.back": 1_000,
        "c -> d": 400,
    }


UNI = """
device uni {
  port user, network: packet
  meter = police { cir = 10 Mbit/s @frame, cbs = 20 kB }
  smooth = shape { rate = 20 Mbit/s @line, burst = 3_000 B, limit = 64 pkt }
  out = fifo { limit = 64 pkt }
  user.rx -> meter -> smooth -> out -> network.tx
  network.rx -> user.tx
}
topology service {
  a, b = host
  dut = uni
  link a -- dut.user via media.fast_ethernet
  link dut.network -- b via media.tagged_gigabit_ethernet
}
test t on service {
  flow f = packets { rate = 100 pkt/s, size = 100 B @ip } from a to b
  run { measure = 10 ms }
  expect f.lost == 0 pkt
}
"""


def test_a_meter_counts_the_frames_that_come_and_a_shaper_those_that_leave(planned):
    """An Ethernet frame has 18 B around a packet, with a tag 22 B (IEEE 802.3, 3; 802.1Q, 9)."""
    (case,) = planned(UNI)
    elements = {node.path: node.element for node in case.networks[""].experiment.nodes}
    assert elements["dut.meter"].frames == (18, 64, 20, 0)
    assert elements["dut.smooth"].frames == (22, 64, 20, 0)


def test_a_node_that_meets_two_sizes_knows_none(planned):
    text = """
test t on tunnel {
  flow f = sized(size = 1_000 B) from a to b
  flow g = sized(size = 980 B) from a to b
  run { measure = 10 ms }
  expect f.lost == 0 pkt
}
"""
    (case,) = planned(GATEWAY + text)
    assert {node.size_bytes for node in case.networks[""].experiment.nodes} == {0}


def test_packets_take_the_time_of_their_size_on_each_line(planned, ran):
    """On Fast Ethernet a byte takes 80 ns: 1,518 + 1,538 + 1,518 of frames, twice a preamble."""
    text = """
test t on tunnel {
  flow f = sized(size = 1_500 B) from a to b
  run { measure = 100 ms }
  expect there: f.delay.max within 0.001 ns of 367_200 ns
  expect whole: f.received == 10 pkt
}
"""
    (case,) = planned(GATEWAY + text)
    assert [judgement.verdict for judgement in ran(case).judgements] == ["pass", "pass"]


def test_bits_that_arrive_are_those_of_the_sizes_that_arrive(planned, ran):
    """Ten packets of 1,020 B in 100 ms where the tunnel has no end: 816 kbit/s, of 38 B more each.

    Their payload is what is behind the first 28 B, the inner header included.
    """
    text = """
device open_end {
  port west, east: packet
  out = fifo { limit = 64 pkt }
  wrap = encapsulate { header = 20 B }
  west.rx -> wrap -> out -> east.tx
  east.rx -> discard
}
topology half {
  a, b = host
  gate = open_end
  link a -- gate.west via media.fast_ethernet
  link gate.east -- b via media.fast_ethernet
}
test t on half {
  flow f = sized(size = 1_000 B) from a to b
  run { warmup = 10 ms, measure = 100 ms }
  require whole: f.throughput within 1% of 100 pkt/s
  expect ip: f.bit_rate.ip within 1 bit/s of 816 kbit/s @ip
  expect line: f.bit_rate.line within 1 bit/s of 846_400 bit/s @line
  expect payload: f.bit_rate.payload within 1 bit/s of 793_600 bit/s @payload
}
"""
    (case,) = planned(GATEWAY + text)
    assert [judgement.verdict for judgement in ran(case).judgements] == ["pass"] * 4


# ---- what no element of the catalogue does yet


class Halve(Encapsulate):
    """An element that cuts each packet of more than `header` bytes into two."""

    def predict_form(self, form: Form) -> Form:
        pieces: dict[int, int] = {}
        for size, count in form.sizes:
            halves = [size] if size <= self.header else [size // 2, size - size // 2]
            for half in halves:
                pieces[half] = pieces.get(half, 0) + count
        return form._replace(sizes=tuple(sorted(pieces.items())))


class Segment(Encapsulate):
    """An element that makes cells of packets, 48 bytes in each."""

    def predict_form(self, form: Form) -> Form:
        cells = sum(-(-size // 48) * count for size, count in form.sizes)
        return Form("cell", ((53, cells),), form.sent)


class Draft:
    """An element in its place."""

    clock = None

    def __init__(self, element: object) -> None:
        self.element = element


MEMBER = Member("f", 0, 1, Stream(0, "user", 1), contract=None)  # type: ignore[arg-type]
MIX = Form("packet", ((100, 3), (1_000, 1)), 4)


def followed(elements: Sequence[object], way: Sequence[int], sent: Form) -> Forms:
    """Return the forms on a way through elements, each entered by its only input."""
    states = [State(element, ItemClass("user", marks=turn)) for turn, element in enumerate(way)]
    hops = [Hop(a, b, 0, straight=True) for a, b in itertools.pairwise(states)]
    reach = Reach(any={element: {0} for element in way}, hops={0: hops})
    drafts = {number: Draft(element) for number, element in enumerate(elements)}
    return Forms([sent], Routes(drafts, {}, reach), [MEMBER])  # type: ignore[arg-type]


def test_pieces_count_as_many_as_they_are():
    forms = followed([Halve(500), Encapsulate(20), Segment(1), Segment(1)], [0, 1, 2, 3], MIX)
    assert forms.list_at(1, 0) == {Form("packet", ((100, 3), (500, 2)), 4)}
    assert forms.list_at(2, 0) == {Form("packet", ((120, 3), (520, 2)), 4, (20,))}
    cells = 3 * 3 + 2 * 11
    assert forms.list_straight(3, 0) == {Form("cell", ((53, cells),), 4)}
    assert offered._compute_line_bytes(*forms.list_at(3, 0), None) == Fraction(cells * 53, 4)
    assert forms.find_only_size_bytes(3, [0]) == 53


def test_items_that_come_back_have_several_forms():
    forms = followed([Encapsulate(20), Halve(1)], [0, 1, 0, 1], Form("packet", ((64, 1),)))
    assert {form.largest_bytes for form in forms.list_at(0, 0)} == {42}
    assert {form.largest_bytes for form in forms.list_at(1, 0)} == {84, 62}
    assert forms.find_largest_bytes(1, 0) == 84
    assert forms.find_only_size_bytes(1, [0]) == 0


def test_a_loop_that_lengthens_packets_ends_at_the_largest_of_them():
    state = State(0, ItemClass("user", marks=0))
    reach = Reach(any={0: {0}}, hops={0: [Hop(state, state, 0, straight=True)]})
    routes = Routes({0: Draft(Encapsulate(4_000))}, {}, reach)  # type: ignore[dict-item]
    with pytest.raises(FormError, match="65000 B and a header of 4000 B exceed"):
        Forms([Form("packet", ((1_000, 1),))], routes, [MEMBER])


def test_a_network_that_changes_nothing_is_not_followed():
    forms = followed([Draft(None), Draft(None)], [], MIX)
    assert (forms.get_sent(0), forms.list_at(1, 0), forms.list_at_input(1, 0, 0)) == (
        MIX,
        (MIX,),
        (MIX,),
    )


TUNNEL = """
device gateway {
  port inner, outer: packet
  seal = esp_encrypt { SECURITY }
  open = esp_decrypt { SECURITY }
  out, back = fifo { limit = 64 pkt }
  inner.rx -> seal -> out -> outer.tx
  outer.rx -> open -> back -> inner.tx
}
topology tunnel {
  a, b = host
  left, right = gateway
  link a -- left.inner via media.fast_ethernet
  link left.outer -- right.outer via media.fast_ethernet
  link right.inner -- b via media.fast_ethernet { mtu = 1_600 B }
}
test t on tunnel {
  flow user = packets { size = SIZE @ip, rate = 1_000 pkt/s } from a to b
  run { measure = 10 ms }
  expect whole: user.received == 10 pkt
}
"""


@pytest.mark.parametrize(
    ("security", "largest_bytes"),
    [
        ("encryption = aes_128_cbc, integrity = hmac_sha1_96", 1_438),
        ("encryption = aes_128_cbc, integrity = hmac_sha1_96, mode = transport", 1_458),
        ("encryption = aes_128_gcm", 1_446),
        ("encryption = aes_128_gcm, mode = transport", 1_466),
    ],
)
@pytest.mark.parametrize("sent_bytes", [1_500, 1_470])
def test_the_remedy_names_the_largest_packets_that_fit(
    planned, problems, security, largest_bytes, sent_bytes
):
    """By RFC 4303: a header of 8 B, an IV, the padded payload with 2 B of trailer, and an ICV.

    CBC pads to 16 B: 20 + 8 + 16 + 1,440 + 12 = 1,496 B hold 1,438 B, one more takes 1,512 B. GCM
    pads to 4 B: 20 + 8 + 8 + 1,448 + 16 = 1,500 B. In transport mode 20 B fewer are encrypted.
    """
    text = TUNNEL.replace("SECURITY", security)
    assert planned(text.replace("SIZE", f"{largest_bytes} B"))
    assert not problems.all
    for size_bytes in (sent_bytes, largest_bytes + 1):
        assert not planned(text.replace("SIZE", f"{size_bytes} B"))
    assert {problem.help for problem in problems.all} == {
        f"send packets of at most {largest_bytes} B @ip, or use a medium that takes them"
    }


def test_where_not_even_headers_fit_no_size_is_named(planned, problems):
    """Of 80 B, 20 + 8 + 16 + 16 + 12 hold 14 B by the same sum, and IP and UDP alone have 28."""
    security = "encryption = aes_128_cbc, integrity = hmac_sha1_96"
    text = TUNNEL.replace("SECURITY", security).replace("SIZE", "28 B")
    narrow = "right.outer via media.fast_ethernet { mtu = 80 B }"
    assert not planned(text.replace("right.outer via media.fast_ethernet", narrow))
    assert [problem.help for problem in problems.all] == ["use a medium that takes them"]
