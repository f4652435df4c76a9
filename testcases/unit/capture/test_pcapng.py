"""Blocks of pcapng, read by Scapy."""

import io

import numpy as np
from scapy.utils import RawPcapNgReader

from qospec.capture.pcapng import LinkType, build_opening, build_packets

ETHERNET = LinkType(1, 4)


def test_a_reader_finds_every_packet_with_its_time_and_comment() -> None:
    at_ps = np.array([0, 1_999, 18_446_744_073_709_551, 3_600 * 10**12])
    sent = [b"", b"a", b"ab", b"abcd" * 400]
    comments = ["", "ümlaut", "four", "a comment of some words"]
    data = build_opening(ETHERNET, "a -> b", "qospec", "case x") + build_packets(
        at_ps, sent, comments
    )
    reader = RawPcapNgReader(io.BytesIO(data))
    read = list(reader)
    assert [packet for packet, _ in read] == sent
    times = [(meta.tshigh << 32) + meta.tslow for _, meta in read]
    assert times == [0, 1, 18_446_744_073_709, 3_600 * 10**9]
    assert {meta.tsresol for _, meta in read} == {10**9}
    assert {meta.linktype for _, meta in read} == {1}
    assert [meta.comments for _, meta in read] == [[comment.encode()] for comment in comments]


def test_blocks_have_equal_lengths_at_both_ends_and_fill_words() -> None:
    data = build_opening(ETHERNET, "b", "q", "c") + build_packets(np.array([5]), [b"abc"], ["x"])
    starts = []
    place = 0
    while place < len(data):
        kind, size = (int.from_bytes(data[place + k : place + k + 4], "little") for k in (0, 4))
        assert size % 4 == 0
        assert data[place + size - 4 : place + size] == size.to_bytes(4, "little")
        starts.append(kind)
        place += size
    assert starts == [0x0A0D0D0A, 1, 6]
