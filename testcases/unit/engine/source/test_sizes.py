"""Sizes drawn or in order: the same however the items are cut, and as often as they should be."""

from collections import Counter
from fractions import Fraction
from itertools import cycle, islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.engine.random import Draws
from qospec.engine.source.sizes import BLOCK, CELLS, Sizes, _look_up, _mix

MIX = Sizes((40, 576, 1_500), (7, 4, 1))
GENOME = Sizes((64, 594, 64, 1_518), (3, 1, 2, 1), in_order=True)


def alone(count):
    """Return whose so many items of a single connection are."""
    return np.zeros(count, np.int32)


@pytest.mark.parametrize("sizes", [MIX, GENOME, CELLS])
@given(counts=st.lists(st.integers(0, 2 * BLOCK), max_size=6))
def test_cuts_change_nothing(sizes, counts):
    whole = sizes.start(1, Draws(("test",))).take_next(alone(sum(counts)))
    cut = sizes.start(1, Draws(("test",)))
    pieces = [cut.take_next(alone(count)) for count in counts]
    assert np.array_equal(np.concatenate([np.empty(0, np.int32), *pieces]), whole)


def test_weights_count_items():
    count = 120_000
    drawn = Counter(MIX.start(1, Draws(("test",))).take_next(alone(count)).tolist())
    for size, weight in zip(MIX.size_bytes, MIX.weights, strict=True):
        share = weight / 12
        assert abs(drawn[size] - count * share) < 5 * (count * share * (1 - share)) ** 0.5


@pytest.mark.parametrize("weights", [(7, 4, 1), (1, 2, 9_000, 1, 1, 4), (1,) * 300])
def test_a_drawn_number_has_the_size_of_its_range(weights):
    sizes = tuple(range(40, 40 + len(weights)))
    numbers = np.arange(sum(weights), dtype=np.int32)
    found = np.empty_like(numbers)
    _look_up(numbers, _mix(Sizes(sizes, weights)), found)
    assert found.tolist() == np.repeat(sizes, weights).tolist()


@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(1, 3)), min_size=1, max_size=9),
    st.lists(st.integers(0, 40), max_size=8),
)
def test_an_order_is_kept_and_begins_again(runs, counts):
    """As written out: each size as often in a row as it says, carried on from batch to batch."""
    written = cycle([size for size, times in runs for _ in range(times)])
    ordered = Sizes(*map(tuple, zip(*runs, strict=True)), in_order=True)
    state = ordered.start(1, Draws(("test",)))
    for count in counts:
        taken = state.take_next(alone(count))
        assert taken.dtype == np.int32
        assert taken.tolist() == list(islice(written, count))


@given(st.integers(2, 7), st.lists(st.lists(st.integers(0, 6), max_size=40), max_size=4))
def test_each_connection_has_the_order_for_itself(connections, batches):
    """Even if there are as many connections as sizes, and one after the other sends."""
    written = [64, 64, 64, 594, 64, 64, 1_518]
    state = GENOME.start(connections, Draws(("test",)))
    seen = dict.fromkeys(range(connections), 0)
    for batch in batches:
        whose = [number % connections for number in batch]
        for index, size in zip(
            whose, state.take_next(np.array(whose, np.int32)).tolist(), strict=True
        ):
            assert size == written[seen[index] % 7]
            seen[index] += 1


def test_an_order_does_not_depend_on_the_seed():
    first, second = (
        GENOME.start(1, Draws((seed,))).take_next(alone(70)).tolist() for seed in ("one", "two")
    )
    assert first == second == 10 * [64, 64, 64, 594, 64, 64, 1_518]
    assert GENOME.compute_mean(lambda size: size) == Fraction(sum(first), 70)
    assert not GENOME.alike
    assert Sizes((64, 64), (1, 2), in_order=True).alike


def test_items_of_one_size_draw_nothing():
    sizes = CELLS.start(2, Draws(("test",)))
    whose = np.array([0, 1, 1, 0, 1], np.int32)
    assert set(sizes.take_next(whose).tolist()) | set(sizes.take_next(whose).tolist()) == {53}
    assert CELLS.compute_mean(lambda size: 2 * size) == 106
    assert MIX.compute_mean(lambda size: size) == Fraction(7 * 40 + 4 * 576 + 1_500, 12)
