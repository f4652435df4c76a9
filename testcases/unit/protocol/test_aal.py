"""Adaptation in numbers: how many cells packets become, by the Recommendations and by hand."""

import pytest

from qospec.protocol.aal import AALS, ENCAPSULATIONS, Adaptation


@pytest.mark.parametrize(
    ("sdu_bytes", "cells"),
    [
        (1, 1),
        (40, 1),  # 40 B and a trailer of 8 B fill a cell
        (41, 2),
        (64, 2),
        (88, 2),
        (89, 3),
        (576, 13),
        (1_500, 32),
        (1_508, 32),
        (1_516, 32),
        (9_180, 192),
        (9_188, 192),
        (9_208, 192),
        (9_209, 193),
        (65_535, 1_366),
    ],
)
def test_cells_of_an_sdu_over_aal5(sdu_bytes, cells):
    assert AALS["aal5"].count_cells(sdu_bytes) == cells


@pytest.mark.parametrize(
    ("sdu_bytes", "cells"),
    [
        (36, 1),  # header and trailer of 4 B each, in the 44 B of a cell
        (37, 2),  # padded to 40 B
        (80, 2),
        (81, 3),
        (4_656, 106),  # 4,664 B with both
        (4_657, 107),
        (65_535, 1_490),
    ],
)
def test_cells_of_an_sdu_over_aal3_4(sdu_bytes, cells):
    assert AALS["aal3_4"].count_cells(sdu_bytes) == cells


@pytest.mark.parametrize(
    ("encapsulation", "packet_bytes", "cells"),
    [
        ("vc_multiplexed", 40, 1),
        ("llc_snap", 40, 2),
        ("llc_snap", 1_500, 32),
        ("llc_snap", 9_180, 192),
        ("llc_snap_bridged", 46, 2),  # 60 B and 10 B ahead of them, and a trailer
        ("llc_snap_bridged", 20, 2),  # padded to the same frame
        ("lane", 46, 2),  # a frame of 64 B with its FCS: 62 B
        ("lane", 75, 3),  # 89 B without FCS and 2 B ahead: 91 B, of which 88 B have room in two
        ("lane", 72, 2),
        ("lane", 73, 3),
        ("lane", 1_500, 32),  # 1,516 B
        ("mpoa_tagged", 1_500, 32),
        ("ppp", 38, 1),
        ("ppp", 39, 2),
        ("pppoe_llc_snap", 64, 3),  # 32 B ahead: 96 B, and a trailer
        ("pppoe_llc_snap", 1_500, 33),
    ],
)
def test_cells_of_a_packet_over_aal5(encapsulation, packet_bytes, cells):
    assert Adaptation("aal5", encapsulation).count_cells(packet_bytes) == cells


@pytest.mark.parametrize("name", ENCAPSULATIONS)
def test_the_largest_packet_has_room_in_an_sdu(name):
    around = ENCAPSULATIONS[name]
    assert around.count_sdu_bytes(around.largest_mtu_bytes) <= 65_535
    assert around.mtu_bytes <= around.largest_mtu_bytes


@pytest.mark.parametrize(
    ("frame_bytes", "lan_emulation", "routed", "tagged"),
    [
        (64, 2, 2, 2),
        (128, 3, 3, 3),
        (256, 6, 6, 6),
        (512, 11, 11, 11),
        (1_024, 22, 22, 22),
        (1_280, 27, 27, 27),
        (1_518, 32, 32, 32),
    ],
)
def test_a_shortcut_has_as_many_cells_as_lan_emulation(frame_bytes, lan_emulation, routed, tagged):
    """Detken, "Measurement of the Performance of IP Packets over ATM Environment via MPOA"."""
    packet_bytes = frame_bytes - 18
    by_name = {"lane": lan_emulation, "llc_snap": routed, "mpoa_tagged": tagged}
    for name, cells in by_name.items():
        assert Adaptation("aal5", name).count_cells(packet_bytes) == cells
