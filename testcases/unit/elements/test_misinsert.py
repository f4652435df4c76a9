"""Cells of nobody among those of a connection: where they are, and as what they count."""

import numpy as np
import pytest

from qospec.elements.misinsert import Misinsert

OAM, MISINSERTED = 2, 4
"""The connection indices of such cells of the first of two VCs."""


@pytest.fixture
def setting(lab, two_vcs):
    contracts = two_vcs.contracts
    return lab.setting(contracts=contracts, inserted=("oam", "misinserted"))


@pytest.mark.parametrize("by_events", [False, True])
def test_a_cell_is_inserted_ahead_of_the_user_cell_of_a_number_on_each_vc(lab, setting, by_events):
    cells = lab.cells([10, 20, 20, 30, 40, 50, 60], connection=[0, OAM, 1, 0, 1, OAM, 0])
    fault = Misinsert(first=2)
    (left,) = lab.carry(fault, setting, cells, cuts=[25], by_events=by_events).departures
    assert left.connection.tolist() == [0, OAM, 1, MISINSERTED, 0, MISINSERTED + 1, 1, OAM, 0]
    assert left.at_ps.tolist() == [10, 20, 20, 30, 30, 40, 40, 50, 60]


def test_what_is_inserted_among_encrypted_cells_is_in_the_clear(lab, setting):
    cells = lab.cells(range(4), marks=[0, 1, 0, 1]).with_column("seal", np.array([5, 6, 7, 8]))
    (left,) = lab.carry(Misinsert(first=2, count=2), setting, cells).departures
    assert left.read_column("seal").tolist() == [5, 0, 6, 0, 7, 8]
    assert left.marks.tolist() == [0, 0, 1, 0, 0, 1]
    assert left.sent_ps.tolist() == [0, 1, 1, 2, 2, 3]


def test_what_is_inserted_is_reported_as_made(lab, setting):
    cells = lab.cells(range(4), connection=[0, 0, 1, 0])
    fault = Misinsert(first=1, count=2)
    (made,) = fault.process(fault.start(setting), (cells,), 10).made
    assert made.connection.tolist() == [MISINSERTED, MISINSERTED, MISINSERTED + 1]
    assert made.sent_ps.tolist() == made.at_ps.tolist() == [0, 1, 2]
    assert set(made.size_bytes.tolist()) == {53}
