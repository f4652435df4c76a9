"""What a specification is on a kernel: commands by hand from the manuals of `tc`."""

import pytest

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.engine.arrays import np
from qospec.linux.disciplines import EXACT, Manner
from qospec.linux.layout import lay_out, list_prefixes
from qospec.linux.observe import observe
from qospec.linux.traffic import PACKET, SEEN, plan_packets, read_seen, write_plan
from qospec.linux.trial import _list_watched
from qospec.plan.plan import Bounds, plan
from qospec.protocol.marks import CAPABLE, CONGESTION, set_marks

TEXT = """qos 1
import std.media
device gate {
  port near, far: packet
  meter = police { cir = 1 Mbit/s @ip, cbs = 10_000 B }
  sort = classify { voice = pkt.dscp == 46, data = otherwise }
  voice = fifo { limit = 20 pkt }
  data = fifo { limit = 30_000 B }
  out = strict { order = [voice, data] }
  near.rx -> meter -> sort
  sort.voice -> voice -> out.voice
  sort.data -> data -> out.data
  out -> far.tx
  far.rx -> discard
}
topology bench {
  a, b = host
  g = gate
  link a -- g.near via media.fast_ethernet { length = 1 km }
  link g.far -- b via media.ethernet
}
test t on bench {
  flow call = packets { rate = 50 pkt/s, size = 200 B @ip, dscp = 46 } from a to b
  flow rest = packets { rate = 40 pkt/s, size = 1_500 B @ip } from a to b
  run { measure = 100 ms }
  expect call.lost == 0 pkt
}
"""


def build_trial(folder, text):
    path = folder / "a.qos"
    path.write_text(text, encoding="utf-8")
    checked = check((path,), discover(), Problems())
    (planned,) = plan(checked, "0", Bounds(), Problems())
    return planned.networks[""].experiment


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    return build_trial(tmp_path_factory.mktemp("kernel"), TEXT)


@pytest.fixture(scope="module")
def marking(tmp_path_factory):
    """The same, where what is policed is marked by its code point, and sorted by the new one."""
    text = TEXT.replace("-> meter -> sort", "-> meter -> tag -> sort").replace(
        "46, data", "10, data"
    )
    text = text.replace("  sort =", "  tag = remark { dscp = { 46: 10, 0: 8 } }\n  sort =", 1)
    return build_trial(tmp_path_factory.mktemp("kernel"), text)


def test_each_element_is_what_the_manuals_say(trial):
    """100 Mbit/s: 38 B are around a packet; the gap delays no arrival."""
    said = "\n".join(lay_out(trial).commands)
    for words in (
        "htb rate 100000000bit ceil 100000000bit burst 1 cburst 1 overhead 38",
        ("stab linklayer ethernet overhead 4 netem rate 100000000bit 8 delay 5.000us"),
        "prio bands 2",
        "pfifo limit 20",
        "bfifo limit 30000",
        "police rate 1000000bit burst 10000 overhead 0 conform-exceed drop/pipe",
    ):
        assert words in said


def test_a_policer_is_made_by_the_filters_that_lead_to_it(trial):
    """Of two flows both name the same bucket; `tc actions` would ask for more privileges."""
    found = [line for line in lay_out(trial).commands if "police" in line]
    assert len(found) == 2
    assert all(line.startswith("filter add") for line in found)
    assert (
        len({line[line.index("action police") : line.index(" action mirred")] for line in found})
        == 1
    )


def test_without_netem_packets_are_seen_as_the_line_begins_them(trial):
    """The rest of their way is computed: that of 200 B at 100 Mbit/s, then at 10 Mbit/s.

    26 B of each frame are ahead of its last bit: preamble, header and check sequence.
    """
    manner = Manner(travels=False, slack_ns=100_000)
    layout, planned, watched, written = make_seen(trial, lost=set(), manner=manner)
    assert "netem" not in "".join(layout.commands)
    sizes = np.concatenate([batch.size_bytes for batch in planned.batches])
    seen = observe(trial, layout, planned, read_seen(written, planned, watched, sizes))
    frame_ps = 226 * 8 * (10**4 + 10**5)
    assert seen.pool(0, 1).delays.min_ps == 3 * 10**9 - 8 * 80_000 + frame_ps


def test_packets_find_their_class_by_address_and_code_point(trial):
    found = [line for line in lay_out(trial).commands if "skbedit priority" in line]
    assert [(line.split("ip dst ")[1].split()[0], line.split("tos ")[1][:4]) for line in found] == [
        ("10.0.0.0/32", "0xb8"),
        ("10.0.0.1/32", "0x0 "),
    ]
    assert [line.split("priority ")[1].split()[0] for line in found] == ["10:1", "10:2"]


@pytest.mark.parametrize(
    ("first", "stop", "prefixes"),
    [
        (0, 1, ["10.0.0.0/32"]),
        (5, 8, ["10.0.0.5/32", "10.0.0.6/31"]),
        (0, 257, ["10.0.0.0/24", "10.0.1.0/32"]),
        (1, 1, []),
    ],
)
def test_addresses_are_covered_once(first, stop, prefixes):
    assert list(list_prefixes(first, stop)) == prefixes


def make_seen(trial, lost, manner=EXACT):
    """Return the file of a kernel on which each place is passed 1 ms after the one before.

    Packets that are `lost` are not seen behind the policer.
    """
    layout, planned = lay_out(trial, manner), plan_packets(trial)
    watched = [*dict.fromkeys(_list_watched(trial, layout))]
    rows = []
    for first, batch, way in zip(planned.first, planned.batches, layout.ways, strict=True):
        for number, (at_ps, size) in enumerate(zip(batch.at_ps, batch.size_bytes, strict=True)):
            at_ns = int(at_ps) // 1_000
            rows.append((at_ns, 0, first + number, size, 0, way.tos, 0))
            for place, step in enumerate(way.steps, 1):
                if place > 1 and first + number in lost:
                    break
                for name in filter(None, (layout.begun.get(step.node), layout.far[step.node])):
                    seen = (at_ns + place * 10**6, 0, first + number, size, watched.index(name))
                    rows.append((*seen, step.tos, 0))
    return layout, planned, watched, np.array(rows, SEEN).tobytes()


def test_what_is_not_seen_behind_an_element_was_lost_there(trial):
    layout, planned, watched, written = make_seen(trial, lost={1, 6})
    sizes = np.concatenate([batch.size_bytes for batch in planned.batches])
    seen = observe(trial, layout, planned, read_seen(written, planned, watched, sizes))
    assert seen.sent.tolist() == [5, 4]
    assert {name: counts.tolist() for name, counts in seen.losses.items()} == {
        ("g.meter", "policed"): [1, 1]
    }
    tally = seen.pool(0, 1)
    # Three elements, 1 ms each; the first bit is sent 8 bytes of preamble after the line begins.
    assert (tally.received, tally.delays.min_ps) == (4, 3 * 10**9 - 8 * 80_000)


def test_a_marker_rewrites_the_code_point_behind_the_policer(marking):
    """8 and 10 are 0x20 and 0x28 with the two bits of ECN; both classes are found by them."""
    found = [line for line in lay_out(marking).commands if "pedit" in line]
    ways = (("0xb8", "0x28", "10:1"), ("0x0", "0x20", "10:2"))
    for line, (old, new, band) in zip(found, ways, strict=True):
        assert (
            f"ip tos {old} 0xfc action pedit ex munge ip dsfield set {new} retain 0xfc pipe" in line
        )
        assert f"pipe action csum ip4h pipe action skbedit priority {band} action mirred" in line


def test_packets_arrive_with_the_marks_that_the_kernel_wrote(marking):
    layout, planned, watched, written = make_seen(marking, lost=set())
    sizes = np.concatenate([batch.size_bytes for batch in planned.batches])
    measurement = marking.measurement._replace(followed=(("marks", 0, 2),))
    experiment = marking._replace(measurement=measurement)
    seen = observe(experiment, layout, planned, read_seen(written, planned, watched, sizes))
    assert {marks: counts.tolist() for marks, counts in seen.marked.items()} == {
        set_marks(dscp=10): [5, 0],
        set_marks(dscp=8): [0, 4],
    }
    rows = np.frombuffer(written, SEEN).copy()
    rows["tos"][rows["tos"] == 0x20] = 0
    sightings = read_seen(rows.tobytes(), planned, watched, sizes)
    with pytest.raises(ValueError, match="another DSCP or ECN"):
        observe(experiment, layout, planned, sightings)


@pytest.fixture(scope="module")
def controlled(tmp_path_factory):
    """One queue with controlled delay in place of both classes, behind the policer."""
    before, after = TEXT[: TEXT.index("  sort =")], TEXT[TEXT.index("  far.rx") :]
    queue = "  q = codel { limit = 1 pkt, target = 4 ms, mtu = 1_200 B }\n"
    chain = "  near.rx -> meter -> q -> far.tx\n"
    return build_trial(tmp_path_factory.mktemp("kernel"), before + queue + chain + after)


def test_a_queue_with_controlled_delay_is_told_of_the_largest_packet_by_its_interface(controlled):
    """The kernel adds the 14 B of Ethernet to the MTU of the interface."""
    layout = lay_out(controlled)
    (number,) = layout.begun
    (command,) = (line for line in layout.commands if " codel " in line)
    assert command.endswith("codel limit 1 target 4000.000us interval 100000.000us noecn")
    assert f"link add n{number}.0 mtu 1186 type veth peer name f{number}.0 mtu 9000" in layout.links
    assert f"link add n{number}.1 mtu 1186" in "\n".join(layout.links)


def test_a_queue_may_mark_packets_that_are_capable_and_no_others(tmp_path):
    """0b10 is ECT(0), and 0b11 CE; the first flow is capable, the second is not."""
    text = TEXT.replace("dscp = 46 }", "dscp = 46, ecn = ect0 }").replace(
        "data = fifo { limit = 30_000 B }", "data = fifo { limit = 9 pkt }"
    )
    before, after = text[: text.index("  sort =")], text[text.index("  far.rx") :]
    queue = "  q = codel { limit = 9 pkt, ecn = true }\n  near.rx -> meter -> q -> far.tx\n"
    trial = build_trial(tmp_path, before + queue + after)
    trial = trial._replace(measurement=trial.measurement._replace(followed=(("marks", 0, 2),)))
    layout, planned, watched, written = make_seen(trial, lost=set())
    assert [way.tos for way in layout.ways] == [46 << 2 | 2, 0]
    assert any(line.endswith(" ecn") for line in layout.commands)
    sizes = np.concatenate([batch.size_bytes for batch in planned.batches])
    far = watched.index(layout.far[layout.ways[0].steps[-1].node])
    rows = np.frombuffer(written, SEEN).copy()
    rows["tos"][(rows["point"] == far) & (rows["number"] < 2)] |= 1
    seen = observe(trial, layout, planned, read_seen(rows.tobytes(), planned, watched, sizes))
    capable = set_marks(dscp=46) | CAPABLE
    assert {marks: counts.tolist() for marks, counts in seen.marked.items()} == {
        capable: [3, 0],
        capable | CONGESTION: [2, 0],
        0: [0, 4],
    }
    rows["tos"][(rows["point"] == far) & (rows["number"] == 8)] |= 3
    sightings = read_seen(rows.tobytes(), planned, watched, sizes)
    with pytest.raises(ValueError, match="another DSCP or ECN"):
        observe(trial, layout, planned, sightings)


def test_losses_of_a_queue_that_drops_at_its_head_have_their_cause(controlled):
    """Nine packets come in turn, one each ms: the second waits until the third is sent, without
    being sent itself, and the fifth finds the fourth waiting."""
    layout, planned = lay_out(controlled), plan_packets(controlled)
    (number,) = layout.begun
    watched = [*dict.fromkeys(_list_watched(controlled, layout))]
    behind = {layout.begun[number], layout.far[number]}
    sizes = np.concatenate([batch.size_bytes for batch in planned.batches])
    begun_ms = {packet: packet for packet in range(9) if packet not in {1, 4}} | {3: 5, 5: 6}
    rows = []
    for way, first, stop in zip(layout.ways, (0, 5), (5, 9), strict=True):
        for packet in range(first, stop):
            for point, name in enumerate(watched):
                at_ms = begun_ms.get(packet) if name in behind else packet
                if at_ms is not None:
                    rows.append((at_ms * 10**6, 0, packet, sizes[packet], point, way.tos, 0))
    seen = read_seen(np.array(rows, SEEN).tobytes(), planned, watched, sizes)
    observation = observe(controlled, layout, planned, seen)
    path = controlled.nodes[number].path
    counts = {cause: its.tolist() for (at, cause), its in observation.losses.items() if at == path}
    assert counts == {"overflow": [1, 0], "early": [1, 0]}


def test_a_plan_holds_packets_in_order_of_time(trial):
    layout, planned = lay_out(trial), plan_packets(trial)
    written = write_plan(planned, layout.ways, ["f0.0"], 7)
    packets = np.frombuffer(written[24 + 2 * 16 :], PACKET)
    assert (np.diff(packets["at_ns"].astype(np.int64)) >= 0).all()
    assert sorted(packets["number"]) == [*range(9)]
    assert {*zip(packets["size"].tolist(), packets["tos"].tolist(), strict=True)} == {
        (200, 46 << 2),
        (1_500, 0),
    }


@pytest.mark.parametrize(("change", "message"), [("size", "was not sent"), ("twice", "twice")])
def test_what_cannot_be_is_an_error(trial, change, message):
    _, planned, watched, written = make_seen(trial, lost=set())
    rows = np.frombuffer(written, SEEN).copy()
    if change == "size":
        rows["size"][0] += 1
    else:
        rows = np.concatenate([rows, rows[:1]])
    sizes = np.concatenate([batch.size_bytes for batch in planned.batches])
    with pytest.raises(ValueError, match=message):
        read_seen(rows.tobytes(), planned, watched, sizes)
