"""Adaptation by numbers that are computed without the product, or printed in the standards."""

from fractions import Fraction

import numpy as np
import pytest

from qospec.capture.adaptation import compute_crc10, compute_crc32, cut_aal5, encapsulate
from qospec.capture.cells import build_oam_payload, build_security_payload
from qospec.protocol.aal import AALS, CLASSICAL_IP_MTU_BYTES, ENCAPSULATIONS, Adaptation

CELL_BITS = 424
STM_1_BIT_S = 149_760_000


@pytest.mark.parametrize(
    ("payload_bit_s", "slot_bytes", "mbit_s"),
    [
        (STM_1_BIT_S, 53, "135.6317"),
        (599_040_000, 53, "542.5268"),
        (2_396_160_000, 53, "2170.1072"),
        (48_384_000, 53, "43.8195"),
        (138_240_000, 53, "125.1985"),
        (33_920_000, 53, "30.7200"),
        (40_704_000, 53, "36.8640"),
        (44_210_000, 53, "40.0392"),
        (1_920_000, 53, "1.7389"),
        (1_536_000, 53, "1.3911"),
        (6_144_000, 53, "5.5644"),
        (100_000_000, 54, "88.8889"),  # TAXI: a start code ahead of each cell
        (25_600_000, 54, "22.7556"),  # likewise, a command byte
    ],
)
def test_the_payload_of_aal5_on_a_line(payload_bit_s, slot_bytes, mbit_s):
    """ITU-T I.432.2, G.707, G.804 and G.832; af-phy-0040: 48 B of each cell."""
    cells_per_s = Fraction(payload_bit_s, 8 * slot_bytes)
    assert f"{float(cells_per_s * AALS['aal5'].cell_bytes * 8 / 10**6):.4f}" == mbit_s


@pytest.mark.parametrize(
    ("mtu_bytes", "mbit_s"), [(576, "125.198"), (1_500, "132.453"), (9_180, "135.102")]
)
def test_the_ceiling_of_classical_ip_on_stm_1(mtu_bytes, mbit_s):
    """RFC 2225 and I.363.5: packets of one size, one behind the other."""
    cells = Adaptation("aal5", "llc_snap").count_cells(mtu_bytes)
    rate = Fraction(STM_1_BIT_S * mtu_bytes * 8, CELL_BITS * cells)
    assert f"{float(rate / 10**6):.3f}" == mbit_s


def test_the_mtu_of_classical_ip():
    """RFC 2225, 7; it and a header of LLC/SNAP have room in an SDU of 9,188 B."""
    around = ENCAPSULATIONS["llc_snap"]
    assert around.mtu_bytes == CLASSICAL_IP_MTU_BYTES == 9_180
    assert around.count_sdu_bytes(9_180) == 9_188


@pytest.mark.parametrize(
    ("packet_bytes", "sdu_bytes"),
    [(46, 62), (1_500, 1_516), (4_528, 4_544), (9_218, 9_234), (18_174, 18_190)],
)
def test_an_sdu_of_lan_emulation(packet_bytes, sdu_bytes):
    """af-lane-0021, 4: 2 B and a frame without its check sequence; 62 B at least."""
    assert ENCAPSULATIONS["lane"].count_sdu_bytes(packet_bytes) == sdu_bytes


@pytest.mark.parametrize("name", ["lane_multiplexed", "mpoa_tagged"])
def test_the_prefix_of_lan_emulation_over_llc_and_of_mpoa_has_12_bytes(name):
    """af-lane-0084; af-mpoa-0114: LLC/SNAP of 8 B and 4 B of an emulated LAN, or of a tag."""
    packet = np.arange(100, dtype=np.uint8).reshape(1, -1)
    without = {"lane_multiplexed": "lane", "mpoa_tagged": "vc_multiplexed"}[name]
    [longer], [shorter] = (encapsulate(packet, aal, "ipv4") for aal in (name, without))
    assert longer[12:].tobytes() == shorter.tobytes()
    assert longer[:3].tobytes().hex() == "aaaa03"


@pytest.mark.parametrize(
    ("packet_bytes", "cells"),
    [
        (120, 3),  # G.711, 10 ms
        (200, 5),  # G.711 and G.722, 20 ms
        (280, 7),  # G.711, 30 ms
        (160, 4),  # G.726 at 32 kbit/s, 30 ms
        (80, 2),  # G.728, 20 ms
        (60, 2),  # G.729, 20 ms
        (70, 2),  # G.729, 30 ms, and iLBC
        (64, 2),  # G.723.1
        (73, 2),  # GSM
        (78, 2),  # iLBC, 20 ms
        (90, 3),  # iLBC, 30 ms
    ],
)
def test_the_cells_of_a_packet_of_voice(packet_bytes, cells):
    """RFC 3551, of payloads and 40 B of IP, UDP and RTP; LLC/SNAP and a trailer of 8 B each."""
    assert Adaptation("aal5", "llc_snap").count_cells(packet_bytes) == cells


def test_a_pdu_of_aal5_without_a_payload_is_one_cell():
    assert AALS["aal5"].count_cells(0) == 1


def test_a_pdu_with_its_crc_leaves_the_residue_of_aal5():
    """I.363.5, 9.2.1.2: what a receiver's register holds behind a PDU without errors."""
    content = np.arange(89, dtype=np.uint8).reshape(1, -1)
    [cells] = cut_aal5(content, np.array([1]))
    assert 0xFFFFFFFF - compute_crc32(cells.tobytes()) == 0xC704DD7B


def test_the_crc_of_10_bits_has_its_check_value():
    """CRC-10/ATM in the catalogue of parametrised CRC algorithms; zeros ahead change nothing."""
    number = int.from_bytes(b"123456789", "big")
    assert compute_crc10((number >> 6).to_bytes(9, "big"), number & 63) == 0x199


@pytest.mark.parametrize(
    ("content", "crc"),
    [
        (bytes([0x10]) + b"\x6a" * 45, 0x3B9),  # AIS
        (
            bytes([0x18, 1]) + bytes([0, 0, 0, 1]) + b"\xff" * 32 + b"\x6a" * 8,
            0x393,  # a loopback: its indication, a tag, and two identifiers of 16 B
        ),
    ],
)
def test_the_crc_of_an_oam_cell(content, crc):
    """ITU-T I.610, 10; computed by long division."""
    assert len(content) == 46
    assert compute_crc10(content) == crc


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        (build_oam_payload(), 0x14),  # fault management, continuity check
        (build_security_payload(b""), 0xF2),  # system management, security in real time
    ],
)
def test_the_type_of_an_oam_cell(payload, kind):
    """ITU-T I.610 (1999), 10.1: the type and that of the function, of 4 bits each; unused 6A."""
    assert payload[:2] == bytes([kind, 0x6A])
