"""Payloads: a label, and a part of the sequence of 2^15 - 1 bits."""

import numpy as np
import pytest

from qospec.engine.items.batch import allocate_batch
from qospec.payload.fill import PERIOD, Fill, fill_payloads
from qospec.payload.flight import Items


def items(connections: list[int], numbers: list[int]) -> Items:
    n = len(connections)
    batch = allocate_batch(n)._replace(
        at_ps=np.arange(n),
        sent_ps=np.full(n, 2**40 + 5),
        connection=np.array(connections, np.int32),
    )
    return Items(batch, np.array(numbers), np.zeros(n, np.int32), *[np.zeros(n, np.int64)] * 2)


def test_every_bit_of_the_fill_is_the_sum_of_those_14_and_15_before() -> None:
    (made,) = fill_payloads(items([3], [2**40]), 9_000, Fill(17))
    bits = np.unpackbits(made[24:])
    assert (bits[15:] == bits[1:-14] ^ bits[:-15]).all()
    assert abs(bits[:PERIOD].sum() - (PERIOD + 1) // 2) == 0


def test_the_label_names_connection_number_and_time() -> None:
    (made,) = fill_payloads(items([3], [2**40]), 48, Fill(17))
    assert made[:4].tobytes() == b"QOS1"
    fields = [int.from_bytes(made[a:b].tobytes(), "big") for a, b in ((4, 8), (8, 16), (16, 24))]
    assert fields == [3, 2**40, 2**40 + 5]


@pytest.mark.parametrize("size", [0, 3, 24, 25, 65_535])
def test_a_payload_has_any_size_and_begins_alike(size: int) -> None:
    longest = fill_payloads(items([1, 2], [7, 7]), 65_535, Fill(0))
    assert (fill_payloads(items([1, 2], [7, 7]), size, Fill(0)) == longest[:, :size]).all()


def test_the_fill_depends_on_seed_connection_and_number_and_on_nothing_else() -> None:
    fills = {
        fill_payloads(items([connection], [number]), 48, Fill.from_seed(seed))[0, 24:].tobytes()
        for connection in (0, 1)
        for number in (0, 1)
        for seed in (("0", "case"), ("1", "case"))
    }
    assert len(fills) == 8
