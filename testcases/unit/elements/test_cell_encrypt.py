"""The sending end of cell encryption: VCs count user cells, and jump at each of their OAM cells."""

from qospec.elements.cell_encrypt import CellEncrypt

JUMP = 2**32


def test_cell_encryption_counts_the_user_cells_of_each_vc(lab, two_vcs):
    cells = lab.cells(range(6), connection=[0, 1, 0, 0, 1, 0])
    (left,) = lab.carry(CellEncrypt(), two_vcs, cells, cuts=[3]).departures
    assert left.read_column("seal").tolist() == [1, 1, 2, 3, 2, 4]
    assert left.with_column("seal", cells.read_column("seal")).equals(cells)


def test_an_oam_cell_brings_the_position_to_which_its_vc_jumps(lab, two_vcs):
    cells = lab.cells(range(7), connection=[0, 2, 0, 2, 3, 1, 0])  # 2 and 3: OAM cells of 0 and 1
    (left,) = lab.carry(CellEncrypt(), two_vcs, cells).departures
    assert left.read_column("seal").tolist() == [
        1, JUMP, JUMP + 1, 2 * JUMP, JUMP, JUMP + 1, 2 * JUMP + 1
    ]  # fmt: skip


def test_no_user_cell_of_a_vc_has_the_position_of_another(lab, two_vcs):
    cells = lab.cells(range(90), connection=[0, 0, 2, 1, 3, 3, 0, 1, 2] * 10)
    (left,) = lab.carry(CellEncrypt(), two_vcs, cells, cuts=[30, 31]).departures
    for vc in (0, 1):
        positions = left.read_column("seal")[cells.connection == vc].tolist()
        assert positions == sorted(set(positions))


def test_cells_of_resource_management_pass_in_the_clear_and_misinserted_ones_are_encrypted(lab):
    setting = lab.setting(inserted=("oam", "rm", "misinserted"))
    cells = lab.cells(range(5), connection=[0, 2, 3, 0, 2])
    (left,) = lab.carry(CellEncrypt(), setting, cells).departures
    assert left.read_column("seal").tolist() == [1, 0, 2, 3, 0]
