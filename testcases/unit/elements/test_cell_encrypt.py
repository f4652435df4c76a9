"""The sending end of cell encryption: each VC counts its user cells, and OAM cells say how far."""

from qospec.elements.cell_encrypt import CellEncrypt


def test_cell_encryption_counts_the_user_cells_of_each_vc(lab, two_vcs):
    cells = lab.cells(range(6), connection=[0, 1, 0, 0, 1, 0])
    (left,) = lab.carry(CellEncrypt(), two_vcs, cells, cuts=[3]).departures
    assert left.seal.tolist() == [1, 1, 2, 3, 2, 4]
    assert left.with_seals(cells.seal).equals(cells)


def test_cell_encryption_gives_an_oam_cell_the_number_of_the_user_cell_after_it(lab, two_vcs):
    cells = lab.cells(range(6), connection=[0, 2, 0, 2, 3, 1])  # 2 and 3: OAM cells of 0 and 1
    (left,) = lab.carry(CellEncrypt(), two_vcs, cells).departures
    assert left.seal.tolist() == [1, 2, 2, 3, 1, 1]
