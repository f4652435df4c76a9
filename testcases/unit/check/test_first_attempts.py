"""First attempts in the words of other tools: each is told what to write here.

Each is what its user would write at first. What is told of it names what is meant, and nothing
else that merely is spelt alike.
"""

import pytest

from qospec.catalogue.words import explain_word, load_words, translate

NETWORK = """
import std.media, std.traffic.imix
device dut {{
  port p, q: packet
  {element}
  p.rx -> q.tx
  q.rx -> p.tx
}}
topology t {{
  a, b = host
  box = dut
  link a -- box.p via media.gigabit_ethernet
  link box.q -- b via media.fast_ethernet
}}
test x on t {{
  flow usual = packets {{ rate = 1 Mbit/s @ip, size = 100 B @ip }} from a to b
  run {{ measure = 1 s }}
  {statement}
}}
"""
USUAL = "rate = 1 Mbit/s @ip, size = 100 B @ip"
ATTEMPTS = [
    ("tc", "out = tbf { rate = 1 Mbit/s @ip, burst = 4 KiB }", "", ["write `shape`"]),
    (
        "tc, then",
        "out = shape { rate = 1 Mbit/s @ip, burst = 4 KiB, latency = 400 ms, limit = 9 pkt }",
        "",
        ["a word of tc: how long one may wait follows from the `limit` of a queue"],
    ),
    ("netem", "out = netem { delay = 100 ms }", "", ["write `delay`"]),
    (
        "netem, then",
        "out = delay { time = 100 ms, distribution = normal, loss = 1% }",
        "",
        ["`jitter` draws delays", "here it is `lost`, `lose`"],
    ),
    ("htb", "out = htb { rate = 1 Mbit/s }", "", ["(HTB): not modelled"]),
    (
        "iperf",
        "",
        "flow f = tcp { window = 64 KiB, parallel = 4, congestion = cubic } from a to b",
        ["write `receive_buffer`", "write `connections`", "write `algorithm`"],
    ),
    (
        "iperf, then",
        "",
        "expect usual.bandwidth > 1 Mbit/s\n  flow f = tcp { interval = 1 s } from a to b",
        ["write `bit_rate`", "`report user.bit_rate every 1 s` shows"],
    ),
    (
        "TRex",
        "",
        "flow f = packets { pps = 1_000 pkt/s, size = imix } from a to b",
        ["write `rate`", "such as `imix.simple`"],
    ),
    (
        "TRex, then",
        "",
        "flow f = packets { rate = 50%, size = imix { 64 B: 7, 1_518 B: 1 } @frame } from a to b",
        ["write `mix`"],
    ),
    (
        "Open Traffic Generator",
        "",
        f"""flow f = packets {{ {USUAL}, pcp = 5, vlan_id = 9 }} from a to b
        expect usual.frames_rx == 125 pkt""",
        ["write `priority`", "write `vlan`", "write `received`"],
    ),
    (
        "ns-3",
        "out = DropTailQueue { MaxSize = 100 pkt }",
        "flow f = packets { DataRate = 5 Mbit/s @ip, PacketSize = 100 B @ip } from a to b",
        ["write `fifo`", "write `rate`", "write `size`"],
    ),
    (
        "Cisco",
        "out = shape { average = 1 Mbit/s @ip, bc = 1 KiB, be = 1 KiB, tc = 8 ms, limit = 9 pkt }",
        f"flow f = packets {{ {USUAL}, tos = 184 }} from a to b",
        ["write `rate`", "write `burst`", "add it to `burst`", "write `refill`", "a quarter of it"],
    ),
    (
        "Cisco, then",
        "out = police { cir = 1 Mbit/s @ip, bc = 1 KiB, conform_action = drop }",
        "expect usual.output_drops == 0 pkt",
        ["write `cbs`", "what conforms passes", "write `lost`"],
    ),
    (
        "Juniper",
        "out = policer { bandwidth_limit = 1 Mbit/s }",
        f"flow f = packets {{ {USUAL}, loss_priority = low, forwarding_class = ef }} from a to b",
        ["write `police`", "here it is `colour`", "here it is `classify`"],
    ),
    (
        "switches",
        "out = fifo { limit = 9 pkt, pool = 1, pfc = true, flow_control = true, alpha = 2 }",
        f"flow f = packets {{ {USUAL}, tagged = false, pvid = 20 }} from a to b",
        ["`shared_buffer`", "`pause_queue`", "`optional_tag = true`", "that a bridge gives them"],
    ),
    ("testers", "", "expect usual.delay_variation.max < 1 ms", ["write `pdv`"]),
]


@pytest.mark.parametrize(
    ("element", "statement", "said"),
    [row[1:] for row in ATTEMPTS],
    ids=[row[0] for row in ATTEMPTS],
)
def test_a_first_attempt_is_told_what_to_write(checked, element, statement, said):
    problems = checked(NETWORK.format(element=element, statement=statement))[1]
    told = [text for problem in problems for text in (problem.help, *problem.notes)]
    assert [text for text in said if not any(text in line for line in told)] == []


def test_what_is_only_spelt_alike_is_not_suggested(checked):
    """Of a word that is known nothing is guessed: `loss_priority` is no `priority`."""
    statement = f"flow f = packets {{ {USUAL}, loss_priority = low }} from a to b"
    (problem,) = [
        problem
        for problem in checked(NETWORK.format(element="", statement=statement))[1]
        if problem.code == "E0104"
    ]
    assert (problem.label, problem.help) == ("", "")


@pytest.mark.parametrize(
    ("kind", "field", "note"),
    [
        ("program", "rate = 3 pkt/s", "fields of program: command"),
        ("voice", "window = 64 KiB", "fields of voice: "),
        ("packets", "pfc = true", "a word of IEEE 802.1Qbb: here it is `pause_queue`"),
    ],
)
def test_a_word_of_the_language_is_not_told_to_be_one_of_others(checked, kind, field, note):
    """`rate` is no word of tc where other traffic has one, and `cir` is none that it could have."""
    statement = f"flow f = {kind} {{ {field} }} from a to b"
    (problem,) = [
        problem
        for problem in checked(NETWORK.format(element="", statement=statement))[1]
        if problem.code == "E0104"
    ]
    (told,) = problem.notes
    assert told.startswith(note)


@pytest.mark.parametrize(
    ("written", "meant"),
    [("delay_warning", ""), ("delay_readings", "delay_reading"), ("mean_delay", "delay")],
)
def test_another_word_of_a_metric_is_not_taken_for_a_misspelt_one(checked, written, meant):
    """`delay_reading` has a word of `delay_warning`, and another one: it is another quantity."""
    text = NETWORK.format(element="", statement=f"expect usual.{written}.max < 1 ms")
    (problem,) = [problem for problem in checked(text)[1] if problem.code == "E0501"]
    assert problem.label == (f"did you mean `{meant}`?" if meant else "")


@pytest.mark.parametrize("word", ["PacketSize", "packet_size", "Packet_Size", "packetsize"])
def test_a_word_is_known_however_its_parts_are_joined(word):
    assert translate(word, {"size"}) == "size"


def test_each_word_in_the_tables_is_explained():
    words = load_words()
    for word in (*words.called, *words.otherwise, *words.not_modelled):
        assert explain_word(word)
    assert explain_word("what_nobody_says") == ""


def test_a_share_by_itself_is_told_to_be_one_of_a_line(checked):
    statement = "flow f = packets { rate = 50%, size = 100 B @ip } from a to b"
    problems = checked(NETWORK.format(element="", statement=statement))[1]
    assert "write `50% of 1 Gbit/s @line`, with the rate of the line" in [p.help for p in problems]


def test_a_port_of_packets_is_told_of_a_medium_for_packets(checked):
    text = NETWORK.format(element="", statement="").replace("media.fast_ethernet", "media.stm1")
    told = [problem.help for problem in checked(text)[1] if problem.code == "E0425"]
    assert told == ["use a medium for packets, such as `media.ethernet { rate = … @line }`"]
