"""Captures of cells of packets, decoded here: packets come out as they went in, byte for byte."""

import contextlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner
from scapy.layers.inet import IP
from scapy.layers.l2 import Ether
from scapy.utils import RawPcapNgReader

from qospec import cli

SPEC = """qos 1
import std.media

device edge(aal: Name) {{
  port lan: packet
  port wan: cell
  cut = aal_segment {{ aal = aal }}
  join = aal_reassemble {{ aal = aal }}
  out = fifo {{ limit = 1_000 cell }}
  back = fifo {{ limit = 100 pkt }}
  lan.rx -> cut -> out -> wan.tx
  wan.rx -> join -> back -> lan.tx
}}
topology bench {{
  a, b = host
  left, right = edge(aal = {aal})
  link a -- left.lan via media.fast_ethernet
  link left.wan -- right.wan via media.stm1
  link right.lan -- b via media.fast_ethernet
}}
test mixed on bench {{
  flow f = packets {{
    rate = 4_000 pkt/s
    size = mix {{ 40 B: 2, 576 B: 1, 1_400 B: 1 }} @ip
    connections = 3
  }} from a to b
  run {{ measure = 25 ms }}
  expect f.lost == 0 pkt
}}
"""
PACKETS = 300


def records(path: Path) -> Iterator[bytes]:
    with RawPcapNgReader(str(path)) as reader:
        for data, _ in reader:
            yield data


@pytest.fixture(scope="module")
def captures(tmp_path_factory):
    """Return what runs a trial with an AAL in a folder, once, with the captures of two links."""

    @cache
    def capture(aal: str) -> Path:
        folder = tmp_path_factory.mktemp(aal)
        with contextlib.chdir(folder):
            Path("mixed.qos").write_text(SPEC.format(aal=aal), encoding="utf-8")
            to = ("--record", "records", "--no-progress")
            run = CliRunner().invoke(cli.qos, ["run", "mixed.qos", *to])
            assert run.exit_code == 0, run.output
            record = next(Path("records").iterdir())
            for name, link, *options in (
                ("cells", "left.wan -> right.wan"),
                ("frames", "right.lan -> b"),
                *([("joined", "left.wan -> right.wan", "--frames")] * (aal == "aal5")),
            ):
                asked = ["pcap", str(record), "mixed", link, "-o", f"{name}.pcapng", *options]
                given = CliRunner().invoke(cli.qos, asked)
                assert given.exit_code == 0, given.output
        return folder

    return capture


@pytest.fixture
def captured(captures, monkeypatch):
    """Return the records of two links of a trial with an AAL: of cells, and of frames behind."""

    def capture(aal: str) -> tuple[list[bytes], list[bytes]]:
        monkeypatch.chdir(captures(aal))
        return list(records(Path("cells.pcapng"))), list(records(Path("frames.pcapng")))

    return capture


def cell_of(record: bytes) -> tuple[int, int, bytes]:
    """Return VCI, payload type and payload of a cell in ERF."""
    assert record[8] & 0x7F == 3
    header = int.from_bytes(record[16:20], "big")
    assert header >> 20 == 0  # VPI
    return header >> 4 & 0xFFFF, header >> 1 & 7, record[20:]


def divide(content: bytes, generator: int, width: int) -> int:
    """Return the rest of dividing a content by a generator without its first term."""
    rest, places = 0, (1 << width) - 1
    for byte in content:
        ahead = rest >> width - 8 ^ byte
        rest = rest << 8 & places ^ divide_byte(ahead, generator, width)
    return rest


@cache
def divide_byte(byte: int, generator: int, width: int) -> int:
    """Return the rest of a byte with as many zeros behind it as the rest is wide, bit by bit."""
    rest, top = byte << width - 8, 1 << width - 1
    for _ in range(8):
        first = rest & top
        rest = rest << 1 & (1 << width) - 1 ^ (generator if first else 0)
    return rest


def crc32(content: bytes) -> int:
    """Return the CRC of I.363.5: the first 32 bits inverted, and the rest, too."""
    inverted = bytes(byte ^ 0xFF for byte in content[:4]) + content[4:]
    return divide(inverted, 0x04C11DB7, 32) ^ 0xFFFFFFFF


def packets_of_aal5(cells: list[bytes]) -> list[bytes]:
    """Return the packets of frames of AAL5 with LLC/SNAP."""
    under_way: dict[int, bytes] = {}
    found = []
    for record in cells:
        channel, payload_type, payload = cell_of(record)
        assert payload_type in (0, 1)
        under_way[channel] = under_way.get(channel, b"") + payload
        if payload_type == 1:
            whole = under_way.pop(channel)
            length = int.from_bytes(whole[-6:-4], "big")
            assert whole[-8:-6] == b"\0\0"
            assert 0 <= len(whole) - 8 - length < 48
            assert crc32(whole[:-4]) == int.from_bytes(whole[-4:], "big")
            assert whole[:8] == bytes.fromhex("aaaa03 000000 0800")
            found.append(whole[8:length])
    assert not under_way
    return found


def packets_of_aal3_4(cells: list[bytes]) -> list[bytes]:
    """Return the packets of frames of AAL3/4 with LLC/SNAP."""
    under_way: dict[int, bytes] = {}
    following: dict[int, int] = {}
    found = []
    for record in cells:
        channel, payload_type, payload = cell_of(record)
        assert payload_type == 0
        assert divide(payload, 0x233, 10) == 0  # with its check at the end, nothing is left
        header, trailer = (int.from_bytes(payload[at : at + 2], "big") for at in (0, 46))
        begins, ends = header >> 15, header >> 14 & 1
        if begins:
            assert channel not in under_way
            under_way[channel], following[channel] = b"", header >> 10 & 15
        assert header >> 10 & 15 == following[channel]
        following[channel] = (following[channel] + 1) % 16
        under_way[channel] += payload[2 : 2 + (trailer >> 10)]
        if ends:
            whole = under_way.pop(channel)
            length = int.from_bytes(whole[-2:], "big")
            assert whole[1] == whole[-3]  # both tags
            assert whole[2:4] == whole[-2:]
            assert whole[4:12] == bytes.fromhex("aaaa03 000000 0800")
            found.append(whole[12 : 4 + length])
    assert not under_way
    return found


@pytest.mark.parametrize(
    ("aal", "decode"), [("aal5", packets_of_aal5), ("aal3_4", packets_of_aal3_4)]
)
def test_packets_come_out_of_cells_as_they_are_behind(captured, aal, decode):
    cells, frames = captured(aal)
    found = decode(cells)
    behind = [bytes(Ether(frame)[IP])[: Ether(frame)[IP].len] for frame in frames]
    assert len(found) == len(behind) == PACKETS
    assert found == behind
    assert {len(size) for size in found} == {40, 576, 1_400}


def test_each_connection_has_a_channel(captured):
    cells, _ = captured("aal5")
    assert {cell_of(record)[0] for record in cells} == {32, 33, 34}


def test_frames_of_aal5_are_joined_where_that_is_asked_for(captured):
    cells, _ = captured("aal5")
    joined = list(records(Path("joined.pcapng")))
    assert {record[8] for record in joined} == {4}
    split = [
        record[:8]
        + bytes([3])
        + record[9:16]
        + record[16:19]
        + bytes([place == len(record) - 48 and 2])
        + record[place : place + 48]
        for record in joined
        for place in range(20, len(record), 48)
    ]
    assert packets_of_aal5(split) == packets_of_aal5(cells)


def test_frames_are_asked_for_where_none_is(captured):
    captured("aal3_4")
    record = str(next(Path("records").iterdir()))

    def ask(link):
        asked = ["pcap", record, "mixed", link, "--frames", "-o", "none.pcapng"]
        return CliRunner().invoke(cli.qos, asked)

    none = ask("left.wan -> right.wan")
    assert none.exit_code == 2
    assert "no frame of AAL5 ends on `left.wan -> right.wan`: leave out `--frames`" in none.output
    packets = ask("right.lan -> b")
    assert packets.exit_code == 2
    assert "packets go over `right.lan -> b`: `--frames` is for a link of cells" in packets.output


FRAMES = """qos 1
import std.media
topology direct {
  a, b = host
  link a -- b via media.stm1
}
test whole on direct {
  flow user = frames { cells = 3 cell, rate = 100 frame/s } from a to b
  run { measure = 100 ms }
  expect user.frames.lost == 0 frame
}
"""


def test_frames_without_packets_are_joined_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("whole.qos").write_text(FRAMES, encoding="utf-8")
    run = CliRunner().invoke(cli.qos, ["run", "whole.qos", "--record", "records", "--no-progress"])
    assert run.exit_code == 0, run.output
    record = str(next(Path("records").iterdir()))
    for name, *options in (("cells",), ("joined", "--frames")):
        asked = ["pcap", record, "whole", "a -> b", "-o", f"{name}.pcapng", *options]
        given = CliRunner().invoke(cli.qos, asked)
        assert given.exit_code == 0, given.output
    types = [cell_of(record)[1] for record in records(Path("cells.pcapng"))]
    joined = list(records(Path("joined.pcapng")))
    assert types[:6] == [0, 0, 1, 0, 0, 1]
    assert len(joined) == len(types) // 3 >= 10
    assert {len(record) for record in joined} == {16 + 4 + 3 * 48}
