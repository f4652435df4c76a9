"""Arrivals at a scheduler's queues: in order of time, simultaneous ones in order of the rows."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qospec.engine.items.batch import build_batch, join_batches
from qospec.engine.items.columns import build_columns
from qospec.engine.items.partition import RoutingTable
from qospec.engine.scheduler.arrivals import group_by_input, group_by_routes, sort_arrivals

TIMES = st.lists(st.integers(0, 20), max_size=12).map(sorted)
INPUTS = st.lists(TIMES, min_size=1, max_size=5)


def batch(at_ps, connection):
    """Return packets of these times; `sent_ps` is the time too."""
    times = np.array(at_ps, np.int64)
    return build_batch(
        at_ps=times,
        sent_ps=times.copy(),
        connection=np.full(len(times), connection, np.int32),
        size_bytes=np.full(len(times), 100, np.int32),
        marks=np.zeros(len(times), np.uint32),
    )


def routes(inputs):
    """Return a table that leads connection n to input n."""
    table = np.arange(inputs, dtype=np.uint8)[:, None]
    return RoutingTable(table, build_columns([0]), -1)


@given(INPUTS, st.randoms(use_true_random=False))
def test_arrivals_are_ordered_by_time_and_then_by_row(inputs, random):
    rows = list(range(1, len(inputs) + 1))
    random.shuffle(rows)
    batches = tuple(batch(at_ps, n) for n, at_ps in enumerate(inputs))
    turns = sort_arrivals(
        group_by_input(batches), join_batches(*batches).at_ps, np.array(rows, np.uint32)
    )
    wanted, number = [], 0
    for row, at_ps in zip(rows, inputs, strict=True):
        for time in at_ps:
            wanted.append((time, row, number))
            number += 1
    assert [*zip(turns.rows.tolist(), turns.numbers.tolist(), strict=True)] == [
        (row, number) for _, row, number in sorted(wanted)
    ]


def test_simultaneous_arrivals_are_in_the_order_of_their_rows():
    """Row 3 has items 0 and 1, row 1 items 2 and 3, row 2 item 4; all but the first come at 7."""
    batches = (batch([5, 7], 0), batch([7, 7], 1), batch([7], 2))
    rows = np.array([3, 1, 2], np.uint32)
    turns = sort_arrivals(group_by_input(batches), join_batches(*batches).at_ps, rows)
    assert turns.rows.tolist() == [3, 1, 1, 2, 3]
    assert turns.numbers.tolist() == [0, 2, 3, 4, 1]


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 2)), min_size=2, max_size=20))
def test_one_batch_for_all_inputs_is_in_the_same_order_as_one_per_input(cells):
    cells.sort()
    whole = batch([time for time, _ in cells], 0)
    ways = np.array([way for _, way in cells], np.int32)
    whole = whole._replace(connection=ways)
    rows = np.array([3, 1, 2], np.uint32)
    parts = tuple(whole.select(ways == n) for n in range(3))
    coming = group_by_routes(whole, routes(3), 3)
    told = sort_arrivals(coming, join_batches(*coming.batches).at_ps, rows)
    known = sort_arrivals(group_by_input(parts), join_batches(*parts).at_ps, rows)

    def seen(turns, batches):
        came = join_batches(*batches)
        return [*zip(turns.rows.tolist(), came.at_ps[turns.numbers].tolist(), strict=True)]

    assert coming.counts == tuple(part.count for part in parts)
    assert seen(told, coming.batches) == seen(known, parts)


def test_a_batch_with_simultaneous_items_is_partitioned():
    whole = batch([1, 2, 2, 3], 0)._replace(connection=np.array([0, 1, 0, 1], np.int32))
    assert len(group_by_routes(whole, routes(2), 2).batches) == 2
    apart = whole.with_times(np.array([1, 2, 3, 4]))
    assert len(group_by_routes(apart, routes(2), 2).batches) == 1


def test_a_batch_that_all_takes_one_output_is_that_input_s():
    whole = batch([1, 2, 3], 1)
    coming = group_by_routes(whole, routes(2), 2)
    assert coming.counts == (0, 3)
    assert coming.batches[1] is whole
