"""Reassembly: packets from cells of which some are lost, changed, or of others."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qospec.catalogue.form import EndsDifferError, Form
from qospec.catalogue.kinds import UnfitError
from qospec.elements.aal_reassemble import AalReassemble
from qospec.elements.aal_segment import AalSegment
from qospec.elements.cell_encrypt import CellEncrypt
from qospec.engine.event.process import build_process
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.items.merge import merge_batches
from qospec.engine.items.piece import MORE_FOLLOW, number_in
from qospec.engine.security.seal import TAMPERED

PACKET_BYTES = 200
"""208 B with LLC/SNAP: 5 cells of AAL5, and 5 of AAL3/4."""
CELLS = 5
MOST_CELLS = 9
"""Of AAL5 in a packet of 400 B: 416 B in 48 B each."""


@pytest.fixture
def setting(lab):
    return lab.setting(inserted=("cells",))


@pytest.fixture
def cells(lab, setting):
    """Return the cells of packets, 100 ps apart, and each 1 ps from the next."""

    def make(count, aal="aal5", size_bytes=PACKET_BYTES):
        times = np.arange(count) * 100_000
        packets = lab.cells(times, size_bytes=size_bytes, sent_ps=times)
        (left,) = build_process(AalSegment(aal), setting)((packets,), FOREVER_PS).departures
        return left.with_times(np.arange(left.count))

    return make


def without(cells, *missing):
    return cells.select(np.array([n for n in range(cells.count) if n not in missing], np.int64))


def received(lab, setting, cells, **fields):
    """Return which packets left, and what was lost: numbers of packets and causes."""
    found = lab.carry(AalReassemble(**fields), setting, cells, cuts=range(3, cells.count, 7))
    (left,) = found.departures
    lost = [(cause, sent_ps // 100_000) for cause, _, _, sent_ps in found.lost]
    assert not left.read_column("frame").any()
    return (left.sent_ps // 100_000).tolist(), lost


@pytest.mark.parametrize("aal", ["aal5", "aal3_4"])
@pytest.mark.parametrize("size_bytes", [40, 41, 88, 89, 576, 1_500, 9_180])
def test_a_packet_has_its_size_again(lab, setting, cells, aal, size_bytes):
    found = lab.carry(AalReassemble(aal), setting, cells(3, aal, size_bytes))
    (left,) = found.departures
    assert left.size_bytes.tolist() == [size_bytes] * 3
    assert left.connection.tolist() == [0] * 3
    assert left.sent_ps.tolist() == [0, 100_000, 200_000]
    assert not found.lost


@pytest.mark.parametrize("missing", range(CELLS - 1))
def test_aal5_finds_a_missing_cell_by_its_crc(lab, setting, cells, missing):
    came = without(cells(3), CELLS + missing)
    assert received(lab, setting, came) == ([0, 2], [("crc_error", 1)])


def test_aal5_loses_the_next_packet_with_a_last_cell(lab, setting, cells):
    """The last cell is lost elsewhere with its packet; the one behind it fails the CRC."""
    came = without(cells(4), 2 * CELLS - 1)
    assert received(lab, setting, came) == ([0, 3], [("crc_error", 2)])


def test_aal5_tells_cells_of_two_packets_that_together_have_the_right_number(lab, setting, cells):
    """Three cells of one and two of the next have the length of one: only a CRC tells."""
    came = without(cells(3), 3, 4, 5, 6, 7)
    assert received(lab, setting, came) == ([2], [("crc_error", 1)])


def test_aal5_gives_up_what_is_longer_than_the_mtu(lab, setting, cells):
    """Two packets without an end between them have 9 cells, and the largest has 6: one too many."""
    came = without(cells(3), CELLS - 1)
    found = [2], [("crc_error", 1), ("too_long", 1)]
    assert received(lab, setting, came, mtu=272) == found
    assert received(lab, setting, came, mtu=416) == ([2], [("crc_error", 1)])


def test_aal3_4_loses_no_other_packet_with_a_last_cell(lab, setting, cells):
    """The first cell of the next packet shows that the one before had no end, and counts for it."""
    came = without(cells(4, "aal3_4"), 2 * CELLS - 1)
    found = [0, 2, 3], [("sequence_violation", 2)]
    assert received(lab, setting, came, aal="aal3_4") == found


@pytest.mark.parametrize(
    ("aal", "lost"),
    [
        ("aal5", [("too_long", 1), ("too_long", 3)]),
        ("aal3_4", [("sequence_violation", n) for n in (1, 2, 3)]),
    ],
)
def test_packets_that_never_end_are_counted(lab, setting, cells, aal, lost):
    """Four times four cells without an end: in AAL5 seven are too many, twice, and two are held."""
    came = without(cells(4, aal), *range(CELLS - 1, 4 * CELLS, CELLS))
    assert received(lab, setting, came, aal=aal, mtu=272) == ([], lost)


def test_where_no_other_cell_shows_it_the_next_one_does(lab, setting):
    """A packet of one cell goes on, and is none of the cells by which a lost end is counted."""
    packets = lab.cells([0, 100, 200, 300], size_bytes=[200, 28, 200, 28], sent_ps=[0, 1, 2, 3])
    (left,) = build_process(AalSegment("aal3_4"), setting)((packets,), FOREVER_PS).departures
    came = without(left.with_times(np.arange(left.count)), CELLS - 1)
    found = lab.carry(AalReassemble("aal3_4"), setting, came)
    assert found.departures[0].sent_ps.tolist() == [1, 2, 3]
    assert [(cause, sent_ps) for cause, _, _, sent_ps in found.lost] == [("sequence_violation", 2)]


@settings(max_examples=settings().max_examples // 2)
@given(
    aal=st.sampled_from(["aal5", "aal3_4"]),
    sizes=st.lists(st.sampled_from([28, 200, 400]), min_size=1, max_size=12),
    missing=st.sets(st.integers(0, 99), max_size=12),
)
def test_whatever_is_missing_each_frame_is_received_or_lost_once(lab, aal, sizes, missing):
    """It ends with its last cell, in AAL5 with one too many, in AAL3/4 where another one begins.

    What another one shows is `owed` until a cell comes that is no last one.
    """
    setting = lab.setting(inserted=("cells",))
    times = np.arange(len(sizes)) * 100
    packets = lab.cells(times, size_bytes=sizes, sent_ps=times)
    (left,) = build_process(AalSegment(aal), setting)((packets,), FOREVER_PS).departures
    came = without(left.with_times(np.arange(left.count)), *missing)
    ended, cells, owed = 0, 0, False
    for piece in came.read_column("frame").tolist():
        begins = aal == "aal3_4" and not number_in(piece)
        owed = owed or (begins and cells > 0)
        cells = 1 if begins else cells + 1
        if not piece & MORE_FOLLOW or (aal == "aal5" and cells > MOST_CELLS):
            ended, cells = ended + 1, 0
        elif owed:
            ended, owed = ended + 1, False
    found = lab.carry(AalReassemble(aal, mtu=400), setting, came)
    assert found.departures[0].count + len(found.lost) == ended


@pytest.mark.parametrize("missing", range(CELLS - 1))
def test_aal3_4_finds_a_missing_cell_by_its_number(lab, setting, cells, missing):
    came = without(cells(3, "aal3_4"), CELLS + missing)
    assert received(lab, setting, came, aal="aal3_4") == ([0, 2], [("sequence_violation", 1)])


@pytest.mark.parametrize(
    ("missing", "cause"),
    [(15, "sequence_violation"), (16, "length_violation"), (32, "length_violation")],
)
def test_aal3_4_finds_16_missing_cells_by_their_length(lab, setting, cells, missing, cause):
    """Numbers have 4 bits."""
    came = without(cells(2, "aal3_4", 9_180), *range(20, 20 + missing))
    assert received(lab, setting, came, aal="aal3_4") == ([1], [(cause, 0)])


@pytest.mark.parametrize("aal", ["aal5", "aal3_4"])
@pytest.mark.parametrize("changed", [0, 2, CELLS - 1])
def test_a_changed_cell_fails_the_crc(lab, setting, cells, aal, changed):
    came = cells(2, aal)
    seal = np.where(np.arange(came.count) == changed, TAMPERED, 0)
    noted = came.with_column("seal", seal)
    assert received(lab, setting, noted, aal=aal) == ([1], [("crc_error", 0)])


@pytest.mark.parametrize(("aal", "left"), [("aal5", [1]), ("aal3_4", [0, 1])])
def test_a_cell_of_another_user_spoils_a_frame_of_aal5(lab, cells, aal, left):
    """In AAL3/4 it has another identifier and no place in the sequence."""
    setting = lab.setting(inserted=("misinserted", "cells"))
    came, alien = cells(2, aal), lab.cells([1], connection=1, sent_ps=[-1])
    came = came._replace(connection=came.connection * np.int32(2))  # cells are behind the others
    found, lost = received(lab, setting, merge_batches((came, alien)), aal=aal)
    assert found == left
    assert lost == [("crc_error", 0)] * (2 - len(left))


def test_oam_cells_end_there(lab, cells):
    setting = lab.setting(inserted=("oam", "cells"))
    came = cells(1)
    came = came._replace(connection=came.connection * np.int32(2))
    oam = lab.cells([1, 3], connection=1, sent_ps=[-1, -2])
    assert received(lab, setting, merge_batches((came, oam))) == ([0], [])


def test_frames_of_several_connections_may_come_mixed(lab, setting):
    setting = lab.setting(contracts=setting.contracts * 2, inserted=("cells",))
    packets = lab.cells([0, 0], size_bytes=[200, 300], connection=[0, 1], sent_ps=[0, 100])
    (left,) = build_process(AalSegment(), setting)((packets,), FOREVER_PS).departures
    mixed = left.select(np.array([0, 5, 1, 6, 7, 2, 3, 8, 9, 10, 4, 11])).with_times(np.arange(12))
    (found,) = lab.carry(AalReassemble(), setting, mixed).departures
    assert found.connection.tolist() == [0, 1]
    assert found.size_bytes.tolist() == [200, 300]


def test_packets_have_their_form_again():
    packets = Form("packet", ((40, 3), (1_500, 1)), 4, family="ipv4")
    assert AalReassemble().predict_form(AalSegment().predict_form(packets)) == packets


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"aal": "aal3_4"}, EndsDifferError, "made with `aal5` and `llc_snap`, and not with `aal3"),
        ({"encapsulation": "lane"}, EndsDifferError, "and not with `aal5` and `lane`"),
        ({"mtu": 1_500}, EndsDifferError, "cut with an MTU of 9180 B, and not of 1500 B"),
        ({"mtu": 9_188}, EndsDifferError, "cut with an MTU of 9180 B, and not of 9188 B"),
    ],
)
def test_two_ends_that_do_not_agree(fields, error, message):
    cells = AalSegment().predict_form(Form("packet", ((1_500, 1),)))
    with pytest.raises(error, match=message):
        AalReassemble(**fields).predict_form(cells)


def test_cells_that_carry_no_packets():
    with pytest.raises(UnfitError, match="carry no packets"):
        AalReassemble().predict_form(Form("cell", ((53, 1),)))


def test_cells_that_are_still_encrypted():
    cells = AalSegment().predict_form(Form("packet", ((1_500, 1),)))
    with pytest.raises(UnfitError, match="still encrypted"):
        AalReassemble().predict_form(CellEncrypt().predict_form(cells))


@pytest.mark.parametrize("aal", ["aal5", "aal3_4"])
def test_a_frame_that_takes_too_long_is_given_up(lab, setting, cells, aal):
    """Five cells, 1 ps apart but for the last, which comes when the timeout ends, or 1 ps later."""
    for late, expected in ((7, ([0, 1], [])), (8, ([1], [("reassembly_timeout", 0)]))):
        came = cells(2, aal)
        times = np.array([0, 1, 2, 3, late, 100, 101, 102, 103, 104])
        assert received(lab, setting, came.with_times(times), aal=aal, timeout=7) == expected


def test_a_timeout_saves_the_packet_behind_a_lost_last_cell(lab, setting, cells):
    came = without(cells(2), CELLS - 1)
    given_up = ("reassembly_timeout", 1)
    for at_ps, expected in ((7, ([], [("crc_error", 1), given_up])), (8, ([1], [given_up]))):
        times = np.array([0, 1, 2, 3, *range(at_ps, at_ps + CELLS)])
        assert received(lab, setting, came.with_times(times), timeout=7) == expected


def test_in_aal3_4_the_time_of_a_frame_begins_with_its_first_cell(lab, setting, cells):
    came = without(cells(2, "aal3_4"), CELLS - 1)
    times = np.array([0, 1, 2, 3, 4, 5, 6, 7, 11])
    found = [1], [("sequence_violation", 1)]
    assert received(lab, setting, came.with_times(times), aal="aal3_4", timeout=7) == found


def test_without_a_timeout_a_frame_may_take_any_time(lab, setting, cells):
    times = np.array([0, 1, 2, 3, 10**18])
    assert received(lab, setting, cells(1).with_times(times)) == ([0], [])


def test_causes_depend_on_the_layer_and_on_the_timeout():
    assert AalReassemble().discards_for == ("crc_error", "too_long")
    assert AalReassemble(timeout=1).discards_for == ("crc_error", "too_long", "reassembly_timeout")
    sequenced = ("crc_error", "length_violation", "sequence_violation")
    assert AalReassemble("aal3_4").discards_for == sequenced
