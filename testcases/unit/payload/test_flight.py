"""Items in flight: fragments have the number and the length of their packet."""

import numpy as np

from qospec.engine.items.batch import Batch, build_batch
from qospec.engine.items.piece import note_piece
from qospec.payload.flight import Flight


def items(
    connection: list[int],
    sent_ps: list[int],
    size_bytes: int = 1_500,
    numbers: tuple[int, ...] = (),
) -> Batch:
    """Return items; of fragments, `numbers` are those within their packets."""
    count = len(sent_ps)
    batch = build_batch(
        at_ps=np.arange(count),
        sent_ps=np.array(sent_ps, np.int64),
        connection=np.array(connection, np.int32),
        size_bytes=np.full(count, size_bytes, np.int32),
        marks=np.zeros(count, np.uint32),
    )
    notes = [note_piece(1, number, 0) for number in numbers]
    return batch.with_column("fragment", np.array(notes)) if notes else batch


def test_fragments_are_those_of_the_packet_sent_just_before() -> None:
    flight = Flight(4, {"fragments": range(2, 4)})
    flight.add(items([0, 1, 0], [1_000, 1_001, 2_000]))
    flight.add(items([2, 3, 2, 2], [2_001, 1_003, 2_300, 2_002], 600, (1, 2, 1_300, 2)))
    seen = flight.identify(items([0, 2, 2, 3, 2], [2_000, 2_001, 2_002, 1_003, 2_300], 600), "here")
    assert seen.number.tolist() == [1, 1, 1, 0, 0]
    assert seen.fragment.tolist() == [0, 1, 2, 2, 1_300]
    assert seen.sent_bytes.tolist() == [1_500] * 5


def test_fragments_keep_their_packet_once_it_is_lost() -> None:
    flight = Flight(2, {"fragments": range(1, 2)})
    flight.add(items([0, 0, 1], [1_000, 2_000, 2_001], numbers=(0, 0, 1)))
    flight.remove(np.array([0, 0], np.int32), np.array([1_000, 2_000]))
    seen = flight.identify(items([1], [2_001], 600), "here")
    assert (seen.number.tolist(), seen.fragment.tolist()) == ([1], [1])
