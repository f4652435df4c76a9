"""Cells note of which frame they are, as the source meant them, however time is cut."""

from fractions import Fraction

import numpy as np
import pytest

from qospec.catalogue.kinds import SizeMix
from qospec.engine.items.batch import build_batch
from qospec.engine.items.piece import MORE_FOLLOW, number_in, read_whole
from qospec.engine.random import Draws
from qospec.engine.source.changing import Changing
from qospec.engine.source.framing import Framing, Numbering
from qospec.traffic.segmented import Segmented

CONNECTIONS = 3
UNTIL_PS = 10**9
MIX = SizeMix(((40, 1), (100, 2), (300, 1)), "ip")
"""Packets of 2, 3 and 7 cells, with 16 B around each."""


@pytest.mark.parametrize("gaps", ["constant", "poisson"])
@pytest.mark.parametrize("changes", [0, 3])
@pytest.mark.parametrize("step_ps", [UNTIL_PS, 7_777_777])
def test_frames_of_drawn_sizes_are_those_that_their_source_draws(gaps, changes, step_ps):
    """All cells of a frame are ready at once, so that is where it ends; also behind a change."""
    drawn = Segmented(rate=Fraction(500_000), size=MIX, gaps=gaps)
    process = Changing(tuple((n * 237_000_000, drawn) for n in range(changes + 1)))
    draws = Draws(("source",))
    state = process.start(CONNECTIONS, "random", draws)
    framing = Framing((2, 3, 7), CONNECTIONS, drawn.in_cells)
    numbering = Numbering(framing, process, 0, CONNECTIONS, draws)
    frames: dict[tuple[int, int], list[int]] = {}
    for until_ps in range(step_ps, UNTIL_PS + step_ps, step_ps):
        at_ps, connection = process.emit(state, until_ps)
        marks, size_bytes = np.zeros(len(at_ps), np.uint32), np.full(len(at_ps), 53, np.int32)
        batch = numbering.note_frames(
            build_batch(
                at_ps=at_ps,
                sent_ps=at_ps,
                connection=connection,
                size_bytes=size_bytes,
                marks=marks,
            )
        )
        for c, ready_ps, piece in zip(
            connection.tolist(), at_ps.tolist(), batch.read_column("frame").tolist(), strict=True
        ):
            frames.setdefault((c, ready_ps), []).append(piece)
    assert len(frames) > 1_000
    assert {len(pieces) for pieces in frames.values()} == {2, 3, 7}
    for pieces in frames.values():
        assert [number_in(piece) for piece in pieces] == list(range(len(pieces)))
        assert [piece & MORE_FOLLOW for piece in pieces] == [*[1] * (len(pieces) - 1), 0]
    for c in range(CONNECTIONS):
        numbers = [read_whole(pieces[0]) for (of, _), pieces in sorted(frames.items()) if of == c]
        assert numbers == sorted(set(numbers))
