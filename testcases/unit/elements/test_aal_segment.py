"""Segmentation: the cells of packets, and what is noted of them."""

import pytest

from qospec.catalogue.form import Form
from qospec.catalogue.kinds import UnfitError
from qospec.elements.aal_segment import AalSegment
from qospec.elements.cell_encrypt import CellEncrypt
from qospec.elements.esp_encrypt import EspEncrypt
from qospec.engine.items.piece import MORE_FOLLOW, number_in, read_whole


@pytest.fixture
def setting(lab):
    return lab.setting(inserted=("cells",))


def test_a_packet_becomes_cells_of_which_the_last_stays_it(lab, setting):
    packets = lab.cells([10, 20], size_bytes=[100, 40], sent_ps=[1_000, 2_000], marks=8)
    found = lab.carry(AalSegment(), setting, packets)
    (left,) = found.departures
    assert left.at_ps.tolist() == [10, 10, 10, 20, 20]  # 108 B and 48 B, with 8 B behind them
    assert left.connection.tolist() == [1, 1, 0, 1, 0]  # cells have the index behind the packets'
    assert left.size_bytes.tolist() == [53] * 5
    assert left.sent_ps.tolist() == [1_000, 1_001, 1_000, 2_000, 2_000]
    assert left.marks.tolist() == [8] * 5
    frames = left.read_column("frame").tolist()
    assert [number_in(frame) for frame in frames] == [0, 1, 2, 0, 1]
    assert [frame & MORE_FOLLOW for frame in frames] == [1, 1, 0, 1, 0]
    first, second = (
        {read_whole(frame) for frame in frames[:3]},
        {read_whole(frame) for frame in frames[3:]},
    )
    assert len(first) == len(second) == 1
    assert first != second


def test_a_packet_of_one_cell_makes_none(lab, setting):
    element = AalSegment(encapsulation="vc_multiplexed")
    (left,) = lab.carry(element, setting, lab.cells([5], size_bytes=40)).departures
    assert left.connection.tolist() == [0]
    assert left.size_bytes.tolist() == [53]


@pytest.mark.parametrize(("aal", "cells"), [("aal5", 1_366), ("aal3_4", 1_490)])
def test_the_longest_packet_of_an_aal(lab, setting, aal, cells):
    element = AalSegment(aal, "vc_multiplexed", 65_535)
    packets = lab.cells([0, 10], size_bytes=65_535, sent_ps=[0, 10_000])
    (left,) = lab.carry(element, setting, packets).departures
    assert left.count == 2 * cells
    assert number_in(int(left.read_column("frame")[-1])) == cells - 1


def test_frames_of_connections_are_numbered_apart(lab, setting):
    setting = lab.setting(contracts=setting.contracts * 2, inserted=("cells",))
    packets = lab.cells([0, 1, 2], size_bytes=40, connection=[0, 1, 0])
    (left,) = lab.carry(AalSegment(), setting, packets).departures
    wholes = [read_whole(frame) for frame in left.read_column("frame").tolist()[::2]]
    assert wholes[0] == wholes[1] != wholes[2]


def test_what_was_noted_of_a_packet_is_noted_of_its_last_cell(lab, setting):
    packets = lab.cells([0], size_bytes=100)
    sealed = packets.with_column("seal", packets.at_ps + 77)
    (left,) = lab.carry(AalSegment(), setting, sealed).departures
    assert left.read_column("seal").tolist() == [0, 0, 77]


def test_the_form_of_cells_tells_their_number():
    mixed = Form("packet", ((40, 7), (576, 4), (1_500, 1)), 12)
    cells = AalSegment().predict_form(mixed)
    assert (cells.carries, cells.sent) == ("cell", 12)
    assert cells.sizes == ((53, 7 * 2 + 4 * 13 + 32),)  # 48, 584 and 1,508 B, and 8 B


@pytest.mark.parametrize(
    ("element", "form", "message"),
    [
        (AalSegment(), Form("packet", ((9_181, 1),)), "9181 B exceed its MTU of 9180 B"),
        (AalSegment(mtu=576), Form("packet", ((40, 1), (577, 1)), 2), "577 B exceed its MTU"),
        (AalSegment(), Form("packet", ((1_500, 1),)).cut(600), "are fragments"),
        (AalSegment(), Form("packet", ((40, 1),), copied=True), "copies that a fault made"),
    ],
)
def test_packets_that_it_does_not_cut(element, form, message):
    with pytest.raises(UnfitError, match=message):
        element.predict_form(form)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"mtu": 65_530}, "has room for packets of 65527 B with `llc_snap`, not of 65530 B"),
        ({"encapsulation": "lane", "mtu": 65_520}, "packets of 65519 B with `lane`"),
    ],
)
def test_an_mtu_that_no_sdu_has_room_for(fields, message):
    with pytest.raises(ValueError, match=message):
        AalSegment(**fields)


def test_cells_of_encrypted_packets_are_not_encrypted_once_more():
    packets = EspEncrypt(encryption="aes_128_cbc", integrity="hmac_sha1_96").predict_form(
        Form("packet", ((576, 1),))
    )
    with pytest.raises(ValueError, match="not encrypted once more"):
        CellEncrypt().predict_form(AalSegment().predict_form(packets))
