"""Captures as traffic, from files whose bytes are put together here."""

import struct
from fractions import Fraction

import numpy as np
import pytest

from qospec.catalogue.kinds import CaptureFile, UnfitError
from qospec.engine.source.headers import UNSPECIFIED
from qospec.engine.source.sizes import Sizes
from qospec.protocol.encapsulation import Encapsulation
from qospec.protocol.marks import MARKS
from qospec.traffic.capture import Capture

ETHERNET = Encapsulation(8, 18, 64, 12, 1_500)
TAGGED = Encapsulation(8, 22, 64, 12, 1_500, vlan_tags=1)
STATIONS = b"\2\0\0\0\0\1\2\0\0\0\0\2"
US = 10**6
"""Picoseconds."""


def ipv4(size, *, dscp=0, ecn=0, protocol=17, ports=(1_000, 2_000), to="10.0.0.2"):
    """Return a frame of Ethernet without its check sequence, up to the ports. RFC 791, 3.1."""
    addresses = bytes([10, 0, 0, 1, *map(int, to.split("."))])
    header = struct.pack(">BBHHHBBH", 0x45, dscp << 2 | ecn, size, 0, 0, 64, protocol, 0)
    return STATIONS + b"\x08\0" + header + addresses + struct.pack(">HH", *ports), size + 14


def tagged(frame, priority, vlan):
    """Return a frame with a tag. IEEE 802.1Q, 9."""
    data, length = frame
    return data[:12] + struct.pack(">HH", 0x8100, priority << 13 | vlan) + data[12:], length + 4


def pcap(frames, *, order="<", magic=0xA1B2C3D4, link=1):
    """Return a file of frames, each (data, length) with its time in ticks."""
    out = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 65_535, link)
    for ticks, (data, length) in frames:
        seconds, part = divmod(ticks, 10**9 if magic == 0xA1B23C4D else 10**6)
        out += struct.pack(f"{order}IIII", seconds, part, len(data), length) + data
    return out


def block(order, kind, body):
    size = struct.pack(f"{order}I", len(body) + 12)
    return struct.pack(f"{order}I", kind) + size + body + size


def option(order, code, value):
    return struct.pack(f"{order}HH", code, len(value)) + value + bytes(-len(value) % 4)


def pcapng(frames, *, order="<", resolution=9, options=b"", application=b""):
    """Return a file with one interface, whose times are in units of 10^-resolution s."""
    opening = struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1) + application
    options = options or option(order, 9, bytes([resolution]))
    out = block(order, 0x0A0D0D0A, opening)
    out += block(order, 1, struct.pack(f"{order}HHI", 1, 0, 0) + options)
    for ticks, (data, length) in frames:
        head = struct.pack(f"{order}IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF, len(data), length)
        out += block(order, 6, head + data + bytes(-len(data) % 4))
    return out


@pytest.fixture
def sent(tmp_path):
    """Return what is sent of a file with these bytes."""

    def sent(content, link=ETHERNET, **fields):
        path = tmp_path / "x.pcap"
        path.unlink(missing_ok=True)  # a file that is written over is waited for
        path.write_bytes(content)
        file = CaptureFile("x.pcap", str(path), str(hash(content)))
        return Capture(file=file, **fields).describe_packets(link)

    return sent


def times(packets):
    return [*packets.source[1]["at"]]


def sizes(packets):
    return np.frombuffer(packets.sizes.order, np.int32).tolist()


BEGAN = 1_700_000_000 * 10**9
"""Nanoseconds since 1970."""
FEW = [(0, ipv4(60)), (30, ipv4(1_500)), (70, ipv4(60))]
THREE = [(BEGAN + at, ipv4(size)) for at, size in ((0, 60), (30_000, 1_500), (70_001, 60))]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    "write",
    [
        lambda order: pcap(THREE, order=order, magic=0xA1B23C4D),
        lambda order: pcapng(THREE, order=order),
    ],
)
def test_sizes_and_times_are_those_of_the_file(sent, write, order):
    packets = sent(write(order))
    assert times(packets) == [0, 30 * US, 70_001_000]
    assert sizes(packets) == [60, 1_500, 60]
    assert packets.sizes == Sizes((60, 1_500), (2, 1), in_order=True, order=packets.sizes.order)
    assert packets.contract.peak_cell_rate == Fraction(2 * 10**9, 70_001)


def test_the_units_of_times_are_read(sent):
    frames = [(at, ipv4(60)) for at in (7, 19)]
    assert times(sent(pcap(frames))) == [0, 12 * US]
    assert times(sent(pcapng(frames, resolution=3))) == [0, 12 * 10**9]


def test_first_bits_follow_from_last_bits_and_the_rate(sent):
    """At 1 Gbit/s a frame of 1,518 B takes 12.144 us, one of 60 + 18 B 0.624 us."""
    packets = sent(pcapng(THREE), line_rate=Fraction(10**9))
    assert times(packets) == [0, 30 * US - 11_520_000, 70_001_000]


def test_marks_are_those_that_the_link_carries(sent):
    frames = [(0, ipv4(60)), (1, tagged(ipv4(60, dscp=46, ecn=2), 5, 100))]
    for link, priority in ((ETHERNET, 0), (TAGGED, 5)):
        packets = sent(pcap(frames), link)
        marked = np.frombuffer(packets.mark_order, np.uint32).tolist()
        assert marked[0] == packets.marks == 0
        assert packets.other_marks == (marked[1],)
        values = {name: MARKS[name].read(marked[1]) for name in ("dscp", "ecn", "priority")}
        assert values == {"dscp": 46, "ecn": 2, "priority": priority}


MIXED = [
    (0, ipv4(60, dscp=46)),
    (10, ipv4(61, to="10.0.0.3")),
    (25, ipv4(62, protocol=6)),
    (30, tagged(tagged(ipv4(63), 0, 9), 0, 7)),
    (31, (STATIONS + b"\x08\x06" + bytes(28), 42)),  # ARP
    (35, ipv4(64, ports=(1_000, 53))),
    (36, ipv4(65, protocol=1)),
]


@pytest.mark.parametrize(
    ("fields", "chosen"),
    [
        ({}, [60, 61, 62, 63, 64, 65]),
        ({"dscp": 46}, [60]),
        ({"destination_address": "10.0.0.3"}, [61]),
        ({"protocol": "tcp"}, [62]),
        ({"protocol": "none"}, [65]),
        ({"vlan": 7}, [63]),
        ({"inner_vlan": 9}, [63]),
        ({"destination_port": 53}, [64]),
        ({"protocol": "udp", "source_port": 1_000, "dscp": 0}, [61, 63, 64]),
    ],
)
def test_headers_choose_packets(sent, fields, chosen):
    assert sizes(sent(pcap(MIXED), **fields)) == chosen


def test_what_all_agree_about_classifiers_know(sent):
    known = sent(pcap(MIXED), protocol="udp").header_fields
    assert known["source_address"] == "10.0.0.1"
    assert (known["protocol"], known["source_port"], known["destination_port"]) == ("udp", 1_000, 0)
    assert known["destination_address"] == UNSPECIFIED["ipv4"]


def test_both_tags_are_known(sent):
    headers = sent(pcap(MIXED), vlan=7).header_fields
    assert (headers["vlan"], headers["inner_vlan"]) == (7, 9)
    single = sent(pcap([(0, tagged(ipv4(63), 0, 7))])).header_fields
    assert (single["vlan"], single["inner_vlan"]) == (7, 0)


def test_ipv6_and_labels_are_read(sent):
    """RFC 8200, 3: 20 bytes behind 40 of header; RFC 3032, 2.1: label 16, class 5, the last one."""
    header = struct.pack(">IHBB", 6 << 28 | 46 << 22, 20, 17, 64)
    inside = header + bytes(15) + b"\1" + bytes(15) + b"\2" + bytes(20)
    frame = STATIONS + b"\x88\x47" + struct.pack(">I", 16 << 12 | 5 << 9 | 1 << 8) + inside
    packets = sent(pcap([(0, (frame, len(frame)))]), Encapsulation(8, 22, 64, 12, 1_500, labels=1))
    assert sizes(packets) == [60]
    assert packets.header_fields["destination_address"] == "::2"
    assert [MARKS[name].read(packets.marks) for name in ("dscp", "traffic_class")] == [46, 5]


def test_it_is_sent_faster_and_again(sent):
    """Twice as fast 15 and 20.0005 us apart; the next round begins a mean gap behind the last."""
    packets = sent(pcapng(THREE), speed=Fraction(2), rounds=2)
    once = [0, 15 * US, 35_000_500]
    assert times(packets) == [*once, *(52_500_750 + at for at in once)]


def test_a_round_of_packets_without_a_gap_is_a_second_behind_the_last(sent):
    content = pcap([(0, ipv4(60)), (0, ipv4(60))])
    assert times(sent(content, rounds=2)) == [0, 0, 10**12, 10**12]


def test_rounds_are_bounded(sent):
    """2 packets 1,000 s apart: the millionth round would begin behind 2^63 ps, 107 days."""
    content = pcap([(0, ipv4(60)), (1_000 * 10**6, ipv4(60))])
    assert times(sent(content, rounds=500))[-1] == 999_000 * 10**12
    for fields, message in (
        ({"rounds": 1_000_000}, "rounds: all of it takes more than 11 days"),
        ({"speed": Fraction(1, 1_001)}, "speed: all of it takes more than 11 days"),
        ({"speed": Fraction(10**6), "rounds": 5_000_001}, "rounds: more than 10_000_000 packets"),
    ):
        with pytest.raises(UnfitError, match=message) as caught:
            sent(content, **fields)
        assert caught.value.help


@pytest.mark.parametrize(
    ("content", "begins_ps"),
    [
        (pcap([(0, ipv4(20)), (1, ipv4(100))], link=1), US - (118 - 64) * 8_000),
        (pcap([(0, ipv4(20)), (1, ipv4(100))], link=0x24000001), US - (114 - 64) * 8_000),
    ],
)
def test_a_check_sequence_in_the_file_is_not_added_again(sent, content, begins_ps):
    """The word of the link type says so: bit 26, and the number of its 2 bytes from bit 28 on.

    Frames have 64 B at least, so the first is as long with it as without.
    """
    assert times(sent(content, line_rate=Fraction(10**9))) == [0, begins_ps]


def test_an_offset_of_times_is_that_of_its_interface(sent):
    """Both packets say 0; the second's interface begins 3 s later. draft-ietf-opsawg-pcapng, 4.2"""
    first = pcapng([(0, ipv4(60))], options=option("<", 14, struct.pack("<q", -1)))
    second = pcapng([(0, ipv4(60))], options=option("<", 14, struct.pack("<q", 2)))
    assert times(sent(first + second)) == [0, 3 * 10**12]


PACKET_ALONE, INTERFACE_ALONE = block("<", 6, b""), block("<", 1, b"")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (pcapng(THREE, options=option("<", 9, b"")), "is damaged behind packet 0"),
        (pcapng(THREE, options=option("<", 13, b"")), "is damaged behind packet 0"),
        (pcapng(THREE) + PACKET_ALONE, "is cut, or damaged behind packet 3"),
        (pcapng(THREE) + PACKET_ALONE + pcapng(THREE), "is cut, or damaged behind packet 3"),
        (pcapng([]) + INTERFACE_ALONE, "is cut, or damaged behind packet 0"),
        (pcap([(0, (ipv4(60)[0], 0xFFFFFFFF))]), "is damaged behind packet 0"),
        (
            pcap([(0, ipv4(60)), (0xFFFFFFFF * 10**6, ipv4(60))]),
            "goes on for more than 11 days behind packet 1",
        ),
        (
            pcapng([(0, ipv4(60)), (2**60, ipv4(60))], resolution=0),
            "goes on for more than 11 days behind packet 1",
        ),
        (pcap(FEW)[:4] + b"\3" + pcap(FEW)[5:], "has version 3 of its format"),
        (pcapng(THREE)[:12] + b"\2" + pcapng(THREE)[13:], "has version 2 of its format"),
        (pcapng(THREE)[:-4] + bytes(4), "is damaged behind packet 2"),
        (b"", "`x.pcap` is empty"),
        (b"\x1f\x8b\x08\0", "`x.pcap` is no capture"),
        (pcapng(THREE)[:-20], "is cut, or damaged behind packet 2"),
        (pcap(FEW)[:-1], "is cut behind packet 2"),
        (pcap([]), "has no IP packet"),
        (pcap([(0, (STATIONS + b"\x08\x06" + bytes(28), 42))]), "has no IP packet"),
        (pcap(FEW, link=105), "has packets of link type 105"),
        (pcap([(0, (ipv4(60)[0][:30], 74))]), "holds less of packet 1 than its headers"),
        (pcap([(2, ipv4(60)), (1, ipv4(60))]), "packet 2 was there before the one ahead of it"),
        (pcap([(0, ipv4(9_000))]), "a packet of `x.pcap` has 9000 B @ip"),
    ],
)
def test_what_cannot_be_sent_is_refused_with_a_remedy(sent, content, message):
    with pytest.raises(UnfitError, match=message) as caught:
        sent(content)
    assert caught.value.help


def test_a_filter_that_nothing_passes_is_refused(sent):
    with pytest.raises(UnfitError, match="has no packet with dscp = 10"):
        sent(pcapng(THREE), dscp=10)


def test_a_rate_that_is_not_that_of_the_line_is_refused(sent):
    """At 100 Mbit/s the second would have begun 91 us before it was there."""
    with pytest.raises(UnfitError, match=r"line_rate: in .* packet 2 would have begun"):
        sent(pcapng(THREE), line_rate=Fraction(10**8))


@pytest.mark.slow
def test_a_damaged_file_is_read_or_refused(sent):
    """Each beginning of two small files, and 150 changes of one byte of each."""
    named = option("<", 4, b"qospec 1") + option("<", 0, b"")
    speed = option("<", 8, struct.pack("<Q", 10**9)) + option("<", 14, bytes(8))
    data, length = ipv4(60)
    said = data + bytes(-len(data) % 4) + option("<", 1, b"here at 5 ps")
    ours = pcapng([(0, ipv4(60))], options=speed, application=named)
    ours += block("<", 6, struct.pack("<IIIII", 0, 0, 9, len(data), length) + said)
    draws, messages = np.random.default_rng(1), []
    for whole in (pcap(FEW[:2]), ours):
        contents = [whole[:end] for end in range(len(whole))]
        for _ in range(150):
            changed = bytearray(whole)
            changed[draws.integers(len(whole))] = draws.integers(256)
            contents.append(bytes(changed))
        for content in contents:
            try:
                found = times(sent(content))
            except UnfitError as cause:
                messages.append(str(cause))
            else:
                assert found == sorted(found)
    assert all(message.startswith("file: ") for message in messages)
    assert 300 < len(messages) < 600
