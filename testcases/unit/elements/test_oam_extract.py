"""OAM cells are told by their index."""

from hypothesis import given
from hypothesis import strategies as st

from qospec.elements.oam_extract import OamExtract
from qospec.engine.event.process import build_process


@given(st.lists(st.integers(0, 3), max_size=30))
def test_user_and_oam_cells_part(lab, connection):
    where = lab.setting(contracts=[lab.setting().contracts[0]] * 2)
    batch = lab.cells(range(len(connection)), connection=connection)
    user, oam = lab.carry(OamExtract(), where, batch).departures
    assert user.at_ps.tolist() == [t for t, index in enumerate(connection) if index < 2]
    assert oam.at_ps.tolist() == [t for t, index in enumerate(connection) if index >= 2]


def test_without_oam_cells_nothing_is_copied(lab):
    batch = lab.cells([1, 2])
    user, oam = build_process(OamExtract(), lab.setting())((batch,), 3).departures
    assert user is batch
    assert oam.count == 0
