"""Sizes that are drawn: the same however the items are cut, and as often as they should be."""

from collections import Counter
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from qospec.engine.draws import Draws
from qospec.engine.sizes import BLOCK, CELLS, Sizes

MIX = Sizes((40, 576, 1_500), (7, 4, 1))


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(0, 2 * BLOCK), max_size=6))
def test_cuts_change_nothing(counts):
    whole = MIX.start(Draws(("test",))).next(sum(counts))
    cut = MIX.start(Draws(("test",)))
    pieces = [cut.next(count) for count in counts]
    assert np.array_equal(np.concatenate([np.empty(0, np.int32), *pieces]), whole)


def test_weights_count_items():
    count = 120_000
    drawn = Counter(MIX.start(Draws(("test",))).next(count).tolist())
    for size, weight in zip(MIX.size_bytes, MIX.weights, strict=True):
        share = weight / 12
        assert abs(drawn[size] - count * share) < 5 * (count * share * (1 - share)) ** 0.5


def test_items_of_one_size_draw_nothing():
    sizes = CELLS.start(Draws(("test",)))
    assert set(sizes.next(5).tolist()) | set(sizes.next(3).tolist()) == {53}
    assert CELLS.mean_of(lambda size: 2 * size) == 106
    assert MIX.mean_of(lambda size: size) == Fraction(7 * 40 + 4 * 576 + 1_500, 12)
