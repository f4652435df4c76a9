"""Items that pass a place: numbered as they are sent, handed on when their fate is known."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pytest

from qospec.capture.sightings import Sightings
from qospec.engine.experiment import Tap
from qospec.engine.items.batch import Batch, allocate_batch
from qospec.payload.flight import Items

Row = tuple[int, int, int, int, int]
"""When it passed, connection, when it was sent, its number, and its fate."""


def batch(connection: Sequence[int], sent_ps: Sequence[int], at_ps: Sequence[int] = ()) -> Batch:
    n = len(connection)
    return allocate_batch(n)._replace(
        at_ps=np.array(at_ps or sent_ps),
        sent_ps=np.array(sent_ps),
        connection=np.array(connection, np.int32),
        size_bytes=np.arange(n, dtype=np.int32) + 100,
        marks=np.zeros(n, np.uint32),
    )


def recording() -> tuple[Sightings, list[Row]]:
    rows: list[Row] = []

    def take(items: Items) -> None:
        batch = items.batch
        columns = (batch.at_ps, batch.connection, batch.sent_ps, items.number, items.fate)
        rows.extend(zip(*(column.tolist() for column in columns), strict=True))

    return Sightings(Tap("a -> b", 0, 0), 3, take), rows


def test_items_are_numbered_in_their_connection_even_if_they_pass_in_another_order() -> None:
    sightings, rows = recording()
    sightings.note_start(batch([0, 1, 0, 1], [5, 5, 6, 7]))
    sightings.note_passage("a -> b", batch([1, 0, 0], [7, 6, 5], [20, 21, 22]))
    sightings.note_end(batch([0, 1, 0, 1], [5, 5, 6, 7]), "")
    sightings.advance()
    sightings.note_start(batch([0, 2], [9, 9]))
    sightings.note_passage("a -> b", batch([0, 2], [9, 9], [30, 31]))
    sightings.note_end(batch([0, 2], [9, 9]), "")
    sightings.advance()
    assert rows == [
        (20, 1, 7, 1, 0),
        (21, 0, 6, 1, 0),
        (22, 0, 5, 0, 0),
        (30, 0, 9, 2, 0),
        (31, 2, 9, 0, 0),
    ]
    assert sightings.unsettled == 0


def test_what_passes_behind_an_item_in_flight_waits_for_it() -> None:
    sightings, rows = recording()
    sightings.note_start(batch([0, 0, 0], [1, 2, 3]))
    sightings.note_passage("a -> b", batch([0, 0, 0], [1, 2, 3], [4, 5, 6]))
    sightings.note_end(batch([0], [2]), "queue (overflow)")
    sightings.advance()
    assert (rows, sightings.unsettled) == ([], 3)
    sightings.note_end(batch([0], [1]), "")
    sightings.advance()
    assert (rows, sightings.unsettled) == ([(4, 0, 1, 0, 0), (5, 0, 2, 1, 1)], 1)
    assert sightings.losses == ["", "queue (overflow)"]
    sightings.note_end(batch([0], [3]), "queue (red)")
    sightings.advance()
    assert rows[-1] == (6, 0, 3, 2, 2)


def test_an_item_that_passes_twice_has_one_fate() -> None:
    sightings, rows = recording()
    sightings.note_start(batch([0], [1]))
    sightings.note_passage("a -> b", batch([0], [1], [2]))
    sightings.note_passage("a -> b", batch([0], [1], [8]))
    sightings.note_end(batch([0], [1]), "loop (expired)")
    sightings.advance()
    assert rows == [(2, 0, 1, 0, 1), (8, 0, 1, 0, 1)]


def test_batches_may_be_overwritten_after_the_call() -> None:
    sightings, rows = recording()
    for note in (sightings.note_start, partial(sightings.note_passage, "a -> b")):
        mine = batch([0], [1], [2])
        note(mine)
        mine.at_ps[:] = 99
    sightings.note_end(batch([0], [1]), "")
    sightings.advance()
    assert rows == [(2, 0, 1, 0, 0)]


def test_an_item_that_was_never_sent_is_an_error() -> None:
    sightings, _ = recording()
    sightings.note_passage("a -> b", batch([0], [1]))
    with pytest.raises(ValueError, match="never sent"):
        sightings.advance()
