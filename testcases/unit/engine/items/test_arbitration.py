"""Arbiters: what each rule promises, whatever the ties, the inputs and the batches."""

from collections import Counter
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.engine.items.arbitration import DRAWN, FIRST, KEY, arbitrate_batches, build_arbiter
from qospec.engine.items.batch import Batch, build_batch, join_batches
from qospec.engine.random import Draws, draw_threefry

DRAWS = Draws(("test",))
INPUTS = 4


def batches_of(inputs: list[list[int]]) -> list[Batch]:
    """Return the items that arrive at these times; the connection is the input."""
    found = []
    for number, at_ps in enumerate(inputs):
        found.append(
            build_batch(
                at_ps=np.array(sorted(at_ps), np.int64),
                sent_ps=np.arange(len(at_ps)),
                connection=np.full(len(at_ps), number, np.int32),
                size_bytes=np.full(len(at_ps), 53, np.int32),
                marks=np.zeros(len(at_ps), np.uint32),
            )
        )
    return found


def ties(batch: Batch) -> list[list[int]]:
    """Return the inputs of the items of each ps, in the order in which they went on."""
    times, starts = np.unique(batch.at_ps, return_index=True)
    assert times.tolist() == sorted(times.tolist())
    return [part.tolist() for part in np.split(batch.connection, starts[1:])]


def saturated(rule: str, inputs: int, slots: int) -> list[list[int]]:
    """Return the order of inputs that all have an item in each slot."""
    every = batches_of([list(range(slots))] * inputs)
    return ties(arbitrate_batches(every, build_arbiter(rule, DRAWS)))


arriving = st.lists(st.lists(st.integers(0, 12), max_size=15), min_size=INPUTS, max_size=INPUTS)
rules = st.sampled_from(["fixed_order", "round_robin", "random"])


@given(arriving, rules)
def test_all_go_on_in_order_of_time_and_each_input_in_its_own(inputs, rule):
    batches = batches_of(inputs)
    got = arbitrate_batches(batches, build_arbiter(rule, DRAWS))
    assert (np.diff(got.at_ps) >= 0).all()
    for number, batch in enumerate(batches):
        assert got.select(got.connection == number).equals(batch)


@given(arriving, rules, st.lists(st.integers(0, 12), max_size=4))
def test_where_batches_end_decides_nothing(inputs, rule, cuts):
    batches, whole, pieces = (
        batches_of(inputs),
        build_arbiter(rule, DRAWS),
        build_arbiter(rule, DRAWS),
    )
    parts, bounds = [], [0, *sorted(cuts), 100]
    for start_ps, stop_ps in pairwise(bounds):
        part = [
            batch.select_range(*batch.at_ps.searchsorted([start_ps, stop_ps])) for batch in batches
        ]
        parts.append(arbitrate_batches(part, pieces))
    assert join_batches(*parts).equals(arbitrate_batches(batches, whole))
    assert pieces.tolist() == whole.tolist()


@given(arriving)
def test_in_a_fixed_order_the_lowest_input_goes_first(inputs):
    got = arbitrate_batches(batches_of(inputs), build_arbiter("fixed_order", DRAWS))
    assert all(tie == sorted(tie) for tie in ties(got))


@given(arriving)
def test_in_turn_the_next_input_goes_first(inputs):
    """Behind the one that was first in the last tie, and round from there, one item each."""
    before = -1
    for tie in ties(arbitrate_batches(batches_of(inputs), build_arbiter("round_robin", DRAWS))):
        contenders = sorted(set(tie))
        if len(contenders) > 1:
            order = sorted(contenders, key=lambda contender: (contender <= before, contender))
            left, expected = Counter(tie), []
            while any(left.values()):
                expected += [item for item in order if left[item]]
                left.subtract(item for item in order if left[item])
            assert tie == expected
            before = tie[0]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("fixed_order", [[0, 1, 2], [0, 2, 2], [1], [0, 1, 2]]),
        # The second tie begins behind input 0, the third behind input 2.
        ("round_robin", [[0, 1, 2], [2, 0, 2], [1], [0, 1, 2]]),
    ],
)
def test_four_moments_by_hand(rule, expected):
    """All three inputs, then two of them, of which one has two items, one alone, and all again."""
    batches = batches_of([[10, 20, 40], [10, 30, 40], [10, 20, 20, 40]])
    assert ties(arbitrate_batches(batches, build_arbiter(rule, DRAWS))) == expected


@pytest.mark.parametrize("places", [1, 2, 3])
@pytest.mark.parametrize("inputs", [2, 3, 5])
def test_in_turn_each_saturated_input_has_the_same_share(inputs, places):
    """Of what finds room behind, `places` in each slot; over whole rounds, exactly."""
    places = min(places, inputs)
    first = Counter(n for tie in saturated("round_robin", inputs, 60) for n in tie[:places])
    assert first == dict.fromkeys(range(inputs), 60 * places // inputs)


def test_in_turn_a_slower_input_is_first_in_every_other_tie():
    inputs = [list(range(60)), list(range(0, 60, 3))]
    contested = [
        tie
        for tie in ties(arbitrate_batches(batches_of(inputs), build_arbiter("round_robin", DRAWS)))
        if len(tie) > 1
    ]
    assert contested == [[0, 1], [1, 0]] * 10


@pytest.mark.untraced
def test_at_random_all_orders_are_equally_frequent():
    """24 orders, 24,000 ties: 1,000 of each, with a standard deviation of 31."""
    found = Counter(map(tuple, saturated("random", INPUTS, 24_000)))
    assert set(found) == set(permutations(range(INPUTS)))
    assert all(abs(count - 1_000) < 5 * 31 for count in found.values())


@pytest.mark.untraced
def test_at_random_each_saturated_input_has_about_the_same_share():
    first = Counter(tie[0] for tie in saturated("random", 3, 30_000))
    assert all(abs(count - 10_000) < 5 * 82 for count in first.values())


def test_at_random_all_bits_of_the_key_count():
    every, orders = batches_of([list(range(60))] * 2), []
    for word in range(2):
        for add in (0, 1):
            one = build_arbiter("random", DRAWS)
            one[KEY + word] += add
            orders.append(ties(arbitrate_batches(every, one)))
    assert orders[0] == orders[2]
    assert orders[0] != orders[1] != orders[3] != orders[0]


@pytest.mark.parametrize("rule", ["round_robin", "random"])
def test_without_a_tie_of_inputs_nothing_is_drawn_and_no_turn_passes(rule):
    one = build_arbiter(rule, DRAWS)
    arbitrate_batches(batches_of([[1, 1, 3], [2, 4, 4]]), one)
    assert (one[DRAWN], one[FIRST]) == (0, -1)
    arbitrate_batches(batches_of([[1, 1, 3], [2, 3, 4]]), one)
    assert (one[DRAWN], one[FIRST]) == ((1, -1) if rule == "random" else (0, 0))


def test_two_arbiters_draw_different_numbers():
    one, other = (build_arbiter("random", DRAWS.derive(name)) for name in ("exit[0]", "exit[1]"))
    batches = batches_of([list(range(50))] * 2)
    assert ties(arbitrate_batches(batches, one)) != ties(arbitrate_batches(batches, other))


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        (0, (0, 0), (0x6B200159, 0x99BA4EFE)),
        (-1, (2**32 - 1, 2**32 - 1), (0x1CB996FC, 0xBB002BE7)),
        (0x85A308D3243F6A88 - 2**64, (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_threefry_gives_the_published_words(counter, key, words):
    """Random123, kat_vectors: threefry2x32, 20 rounds; a negative counter is one above 2^63."""
    assert draw_threefry(key, counter) == words
