"""The receiving end of cell encryption: what a lost cell garbles, and what ends that."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.elements.cell_decrypt import CellDecrypt
from qospec.elements.cell_encrypt import CellEncrypt
from qospec.engine.items.batch import join_batches

VC, OAM = 0, 2
"""The connection index of the cells of the first of two VCs, and of its OAM cells."""
EVERY = 10
"""An OAM cell comes ahead of each tenth user cell."""


@pytest.fixture
def encrypted(lab, two_vcs):
    """Return 30 user cells behind an encryptor, each tenth behind an OAM cell."""
    connection = ([OAM] + [VC] * EVERY) * 3
    cells = lab.cells(range(len(connection)), connection=connection)
    return lab.carry(CellEncrypt(), two_vcs, cells).departures[0]


@pytest.mark.parametrize(
    ("gone", "garbled"),
    [
        ([], []),
        ([4], range(5, 11)),  # a user cell: what follows, up to the OAM cell at 11
        ([10], []),  # the last one before an OAM cell
        ([11], range(12, 22)),  # an OAM cell: up to the next one at 22
        ([0, 11, 22], [*range(1, 11), *range(12, 22), *range(23, 33)]),
        ([4, 11], [*range(5, 11), *range(12, 22)]),  # the next OAM cell is at 22
        ([4, 5, 11, 22], [*range(6, 11), *range(12, 22), *range(23, 33)]),
    ],
)
def test_cell_encryption_garbles_until_it_is_synchronous_again(
    lab, two_vcs, encrypted, gone, garbled
):
    arrived = encrypted.select(np.setdiff1d(np.arange(33), gone))
    outcome = lab.carry(CellDecrypt(), two_vcs, arrived, cuts=[7, 20])
    assert [item for *_, item in outcome.lost] == [*garbled]
    assert {cause for cause, *_ in outcome.lost} <= {"undecipherable"}
    assert outcome.departures[0].count == 33 - len(gone) - len(garbled)
    assert not outcome.departures[0].read_column("seal").any()


def test_a_cell_that_was_inserted_on_the_way_garbles_what_follows(lab, two_vcs, encrypted):
    order = [*range(5), 3, *range(5, 33)]
    arrived = encrypted.select(np.array(order)).with_times(np.arange(34))
    outcome = lab.carry(CellDecrypt(), two_vcs, arrived)
    assert [item for *_, item in outcome.lost] == [3, *range(5, 11)]


def test_a_misinserted_cell_is_garbled_itself_and_so_is_what_follows(lab, two_vcs):
    contracts = two_vcs.contracts
    setting = lab.setting(contracts=contracts, inserted=("misinserted",))
    cells = lab.cells(range(6), connection=[0, 0, 1, 0, 0, 1])
    (left,) = lab.carry(CellEncrypt(), setting, cells).departures
    of_another = lab.cells([1], connection=2, sent_ps=99)
    arrived = join_batches(left.select_range(0, 2), of_another, left.select_range(2, 6)).with_times(
        np.arange(7)
    )
    outcome = lab.carry(CellDecrypt(), setting, arrived)
    assert [item for *_, item in outcome.lost] == [99, 3, 4]


def test_a_lost_cell_and_an_inserted_one_make_the_counts_equal_again(lab, two_vcs, encrypted):
    order = [*range(4), 5, 6, 6, *range(7, 33)]  # 4 is lost, 6 comes twice
    arrived = encrypted.select(np.array(order)).with_times(np.arange(33))
    outcome = lab.carry(CellDecrypt(), two_vcs, arrived)
    assert [item for *_, item in outcome.lost] == [5, 6]


def test_a_jump_that_was_missed_is_not_made_good_by_an_inserted_cell(lab, two_vcs, encrypted):
    order = [*range(11), 12, *range(12, 33)]  # 11, an OAM cell, is lost; 12 comes twice
    arrived = encrypted.select(np.array(order)).with_times(np.arange(33))
    outcome = lab.carry(CellDecrypt(), two_vcs, arrived)
    assert [item for *_, item in outcome.lost] == [12, *range(12, 22)]


def test_cell_encryption_of_one_vc_does_not_concern_another(lab, two_vcs):
    cells = lab.cells(range(8), connection=[0, 1] * 4)
    (left,) = lab.carry(CellEncrypt(), two_vcs, cells).departures
    outcome = lab.carry(CellDecrypt(), two_vcs, left.select(np.array([0, 1, 3, 4, 5, 6, 7])))
    assert [(connection, item) for *_, connection, item in outcome.lost] == [(0, 4), (0, 6)]


def test_an_oam_cell_that_brings_nothing_changes_nothing(lab, two_vcs, encrypted):
    arrived = encrypted.with_column(
        "seal", np.where(np.arange(33) == 11, 0, encrypted.read_column("seal"))
    )
    outcome = lab.carry(CellDecrypt(), two_vcs, arrived)
    assert [item for *_, item in outcome.lost] == [*range(12, 22)]  # the jump was missed
    of_others = lab.cells([5], connection=OAM, sent_ps=99)
    arrived = join_batches(
        encrypted.select_range(0, 5), of_others, encrypted.select_range(5, 33)
    ).with_times(np.arange(34))
    assert lab.carry(CellDecrypt(), two_vcs, arrived).lost == []


def test_each_vc_has_oam_cells_of_its_own(lab, two_vcs):
    cells = lab.cells(range(8), connection=[VC, VC + 1, OAM + 1, VC + 1, VC, OAM, VC, VC + 1])
    (left,) = lab.carry(CellEncrypt(), two_vcs, cells).departures
    assert lab.carry(CellDecrypt(), two_vcs, left).lost == []
    without_one = left.select(np.array([0, 1, 3, 4, 5, 6, 7]))
    outcome = lab.carry(CellDecrypt(), two_vcs, without_one)
    assert [item for *_, item in outcome.lost] == [3, 7]


def test_what_was_never_encrypted_cannot_be_decrypted(lab, two_vcs):
    outcome = lab.carry(CellDecrypt(), two_vcs, lab.cells(range(3), connection=[VC, OAM, VC]))
    assert [item for *_, item in outcome.lost] == [0, 2]


@given(
    cells=st.lists(st.tuples(st.sampled_from([VC, VC + 1, OAM]), st.integers(0, 2)), max_size=40),
    cut=st.integers(0, 80),
)
def test_a_cell_can_be_read_if_its_vc_was_synchronised_and_lost_as_many_as_came_besides(
    lab, cells, cut
):
    """Each cell that was sent arrives so many times: lost, once, or with a copy behind it."""
    setting = lab.setting(contracts=lab.setting().contracts * 2)
    sent = lab.cells(range(len(cells)), connection=[connection for connection, _ in cells])
    (left,) = lab.carry(CellEncrypt(), setting, sent).departures
    arrived = left.select(np.repeat(np.arange(len(cells)), [times for _, times in cells]))
    outcome = lab.carry(
        CellDecrypt(), setting, arrived.with_times(np.arange(arrived.count)), cuts=[cut]
    )

    garbled = []
    synchronised, too_many = {VC: True, VC + 1: True}, Counter()
    for item, (connection, times) in enumerate(cells):
        if connection == OAM:
            synchronised[VC], too_many[VC] = times > 0, 0
            continue
        if times == 0:
            too_many[connection] -= 1
        for copy in range(times):
            too_many[connection] += copy
            if not synchronised[connection] or too_many[connection]:
                garbled.append(item)
    assert [item for *_, item in outcome.lost] == garbled
