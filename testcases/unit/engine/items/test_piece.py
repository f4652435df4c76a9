"""Notes of pieces: what is noted is read again, of the longest whole too."""

import pytest

from qospec.engine.items.piece import (
    LARGEST_NUMBER,
    MORE_FOLLOW,
    note_piece,
    number_in,
    read_whole,
)


@pytest.mark.parametrize("follow", [0, MORE_FOLLOW])
@pytest.mark.parametrize(("whole", "number"), [(1, 0), (7, 191), (2**50, LARGEST_NUMBER)])
def test_a_note_is_read_as_it_was_made(whole, number, follow):
    piece = note_piece(whole, number, follow)
    assert (read_whole(piece), number_in(piece), piece & MORE_FOLLOW) == (whole, number, follow)
    assert piece > 0


def test_the_longest_frames_have_fewer_cells_than_there_are_numbers():
    """AAL3/4 carries 44 B in each cell, behind a header and ahead of a trailer of 4 B."""
    assert LARGEST_NUMBER >= -(-(65_535 + 1 + 8) // 44) - 1
