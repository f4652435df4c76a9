"""Cells of packets as bytes: checks by vectors, and what is put around packets."""

import numpy as np
import pytest

from qospec.capture.adaptation import (
    build_aal1_header,
    compute_crc10,
    compute_crc32,
    cut_aal1,
    cut_aal3_4,
    cut_aal5,
    encapsulate,
)
from qospec.protocol.aal import ENCAPSULATIONS


def rows(content: bytes) -> np.ndarray:
    return np.frombuffer(content, np.uint8).reshape(1, -1)


def test_the_headers_of_aal1():
    """CSI and count, then CRC-3 and even parity: by hand, of ITU-T I.363.1, 2.4.2."""
    headers = bytes(build_aal1_header(number) for number in range(16))
    assert headers.hex(" ") == "00 17 2d 3a 4e 59 63 74 8b 9c a6 b1 c5 d2 e8 ff"


def test_cells_of_a_circuit_count_to_8_and_have_47_bytes_of_it():
    payloads = np.tile(np.arange(48, dtype=np.uint8), (3, 1))
    cells = cut_aal1(payloads, np.array([6, 7, 8]), np.array([47, 47, 10]))
    assert cells[:, 0].tolist() == [0x63, 0x74, 0x00]
    assert cells[:, 1:].tolist() == [list(range(47))] * 2 + [[*range(10), *[0] * 37]]


def test_the_crc_of_aal5_has_its_check_value():
    """CRC-32/BZIP2 in the catalogue of parametrised CRC algorithms."""
    assert compute_crc32(b"123456789") == 0xFC891918


@pytest.mark.parametrize(
    ("sdu", "crc"),
    [
        (bytes(40), "864d7f99"),
        (b"\xff" * 40, "c55e457a"),
        (bytes(range(1, 41)), "bf671ed0"),
    ],
)
def test_the_examples_of_aal5(sdu, crc):
    """ITU-T I.363.5, I: three SDUs of 40 octets, each in one cell."""
    [[cell]] = cut_aal5(rows(sdu), np.array([1]))
    assert cell.tobytes() == sdu + bytes.fromhex("0000 0028" + crc)


def test_a_pad_and_a_trailer_fill_the_last_cell_of_aal5():
    [cells] = cut_aal5(rows(b"\x55" * 41), np.array([1]))
    whole = cells.tobytes()
    assert len(whole) == 96
    assert whole[:41] == b"\x55" * 41
    assert whole[41:88] == bytes(47)
    assert whole[88:92] == bytes.fromhex("0000 0029")


def test_the_crc_of_10_bits_is_a_rest_of_division():
    assert compute_crc10(b"1234", 0b001101) == divide(b"1234", 0b001101)


def divide(content: bytes, last: int) -> int:
    """Return the rest of a long division, of the content, 6 bits and 10 of 0."""
    value = (int.from_bytes(content, "big") << 6 | last) << 10
    for place in reversed(range(10, len(content) * 8 + 16)):
        if value >> place & 1:
            value ^= 0b11000110011 << place - 10
    return value


@pytest.mark.parametrize(
    ("size", "cells", "last"), [(36, 1, 44), (37, 2, 4), (80, 2, 44), (82, 3, 4)]
)
def test_the_cells_of_aal3_4(size, cells, last):
    sdu = bytes(range(1, size + 1))
    [found] = cut_aal3_4(rows(sdu), np.array([0x1207]))
    assert len(found) == cells
    whole = b""
    for number, cell in enumerate(blocks.tobytes() for blocks in found):
        header, trailer = int.from_bytes(cell[:2], "big"), int.from_bytes(cell[46:], "big")
        assert header >> 15 == (number == 0)  # it begins the message
        assert header >> 14 & 1 == (number == cells - 1)  # it ends it
        assert header >> 10 & 15 == number
        assert header & 0x3FF == 0
        assert trailer >> 10 == (last if number == cells - 1 else 44)
        assert trailer & 0x3FF == divide(cell[:46], trailer >> 10)
        whole += cell[2 : 2 + (trailer >> 10)]
    length = size.to_bytes(2, "big")
    assert whole == b"\x00\x07" + length + sdu + bytes(-size % 4) + b"\x00\x07" + length


@pytest.mark.parametrize(
    ("name", "ahead"),
    [
        ("llc_snap", "aaaa03 000000 0800"),
        ("vc_multiplexed", ""),
        ("mpoa_tagged", "aaaa03 000000 884c 00000000"),
        ("ppp", "0021"),
        ("ppp_llc", "fefe03cf 0021"),
        ("llc_snap_bridged", "aaaa03 0080c2 0007 0000 020000000002 020000000001 0800"),
        ("vc_multiplexed_bridged", "0000 020000000002 020000000001 0800"),
        ("lane", "0001 020000000002 020000000001 0800"),
        ("lane_multiplexed", "aaaa03 00a03e 000c 00000001 0001 020000000002 020000000001 0800"),
        ("pppoe", "0000 020000000002 020000000001 8864 1100 0001 0066 0021"),
        (
            "pppoe_llc_snap",
            "aaaa03 0080c2 0007 0000 020000000002 020000000001 8864 1100 0001 0066 0021",
        ),
    ],
)
def test_what_is_put_ahead_of_a_packet(name, ahead):
    packet = bytes(range(100))
    [sdu] = encapsulate(rows(packet), name, "ipv4")
    assert sdu.tobytes() == bytes.fromhex(ahead) + packet


def test_a_bridged_frame_may_have_its_check_sequence():
    """The rest of a frame with its check is always the same."""
    [sdu] = encapsulate(rows(bytes(20)), "llc_snap_bridged_fcs", "ipv4")
    frame = sdu.tobytes()[10:]
    assert len(frame) == 64
    rest = 0xFFFFFFFF
    for byte in frame:
        rest ^= byte
        for _ in range(8):
            rest = rest >> 1 ^ (0xEDB88320 if rest & 1 else 0)
    assert rest == 0xDEBB20E3


@pytest.mark.parametrize("name", ENCAPSULATIONS)
@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
@pytest.mark.parametrize("size", [40, 46, 100, 1_400])
def test_an_sdu_is_as_long_as_it_is_emulated(name, family, size):
    [sdu] = encapsulate(rows(bytes(size)), name, family)
    assert len(sdu) == ENCAPSULATIONS[name].count_sdu_bytes(size)
