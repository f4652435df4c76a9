"""Losses that a test injects: which items of a connection they hit."""

from fractions import Fraction

import numpy as np
import pytest

from qospec.elements.lose import Lose, list_thresholds
from qospec.engine import fault
from qospec.engine.event.process import build_process
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.random import WORD, draw_threefry

HALF = Fraction(1, 2)


def lost(lab, fault, setting, cells, **more):
    return [item for *_, item in lab.carry(fault, setting, cells, **more).lost]


@pytest.mark.parametrize(
    ("fault", "numbers"),
    [
        (Lose(first=3), [3]),
        (Lose(first=3, count=2), [3, 4]),
        (Lose(first=1, every=4), [1, 5, 9]),
        (Lose(first=2, count=3, every=4), [2, 3, 4, 6, 7, 8, 10]),
        (Lose(first=2, count=4, every=4), range(2, 11)),
        (Lose(first=11), []),
        (Lose(probability=Fraction(1)), range(1, 11)),
    ],
)
def test_items_are_lost_by_number(lab, two_vcs, fault, numbers):
    cells = lab.cells(range(1, 11), sent_ps=range(1, 11))
    assert lost(lab, fault, two_vcs, cells, cuts=[4]) == [*numbers]


def test_each_connection_and_its_oam_cells_have_numbers_of_their_own(lab, two_vcs):
    cells = lab.cells(range(9), connection=[0, 1, 0, 2, 2, 3, 1, 0, 3])  # 2 and 3: OAM cells
    assert lost(lab, Lose(first=2), two_vcs, cells) == [2, 4, 6, 8]


def test_items_are_lost_at_random_with_their_probability(lab, two_vcs):
    cells = lab.cells(range(40_000), connection=[0, 1] * 20_000)
    found = lost(lab, Lose(probability=Fraction(1, 100)), two_vcs, cells)
    assert abs(len(found) - 400) < 5 * 20  # five standard deviations of a binomial
    first, second = ({item // 2 for item in found if item % 2 == vc} for vc in (0, 1))
    assert len(first & second) < 10  # of 200 each, a hundredth


RUNS = {
    "Bernoulli": (Lose(probability=Fraction(1, 20)), 0.05, 1 / 0.95),
    "Gilbert": (Lose(probability=Fraction(1, 20), mean_run=Fraction(4)), 0.05, 4),
    "the same by its two": (Lose(good_to_bad=Fraction(1, 76), bad_to_good=Fraction(1, 4)), 0.05, 4),
    # A third is bad, and loses a half: 1/6. A loss ends with the next item if that is not lost:
    # from bad, 4/5 * 1/2 + 1/5.
    "Gilbert, half in bad": (
        Lose(good_to_bad=Fraction(1, 10), bad_to_good=Fraction(1, 5), probability_in_bad=HALF),
        1 / 6,
        1 / 0.6,
    ),
    # 2/3 * 1/10 + 1/3 * 1/2 = 7/30. A loss ends with the next item, from good and from bad:
    # 1/15 * (0.9 * 0.9 + 0.1 * 0.5) + 1/6 * (0.8 * 0.5 + 0.2 * 0.9).
    "Elliott": (
        Lose(
            probability=Fraction(1, 10),
            good_to_bad=Fraction(1, 10),
            bad_to_good=Fraction(1, 5),
            probability_in_bad=HALF,
        ),
        7 / 30,
        (7 / 30) / (0.86 / 15 + 0.58 / 6),
    ),
}
"""Faults, with the share that they lose and the mean run of losses, by the stationary chain."""


@pytest.mark.slow
@pytest.mark.untraced
@pytest.mark.parametrize(("fault", "share", "run"), RUNS.values(), ids=RUNS)
def test_losses_come_in_runs(lab, two_vcs, fault, share, run):
    """In 10^6 items; 3.5 % is three standard deviations, and 1/80 in place of 1/76 would be 4.8."""
    count = 1_000_000
    cells = lab.cells(np.arange(count), sent_ps=np.arange(count))
    process = build_process(fault, two_vcs)
    (left,) = process((cells,), FOREVER_PS).departures
    hit = np.ones(count + 1, bool)
    hit[left.sent_ps], hit[-1] = False, False
    assert hit.mean() == pytest.approx(share, rel=0.035)
    ends = np.count_nonzero(hit[:-1] & ~hit[1:])
    assert np.count_nonzero(hit) / ends == pytest.approx(run, rel=0.035)


def test_a_connection_begins_as_it_is_on_average(lab, two_vcs):
    """Of 4,000 connections that are bad for 100 items, and good for as many, half begin as bad."""
    slowly = Lose(good_to_bad=Fraction(1, 100), bad_to_good=Fraction(1, 100))
    cells = lab.cells(range(4_000), connection=range(4_000))
    many = lab.setting(contracts=two_vcs.contracts * 2_000)
    found = lost(lab, slowly, many, cells)
    assert abs(len(found) - 2_000) < 4 * 32


def test_what_is_drawn_for_an_item_does_not_depend_on_other_connections(lab, two_vcs):
    fault = Lose(probability=Fraction(1, 10))
    alone = lost(lab, fault, two_vcs, lab.cells(range(0, 200, 2), sent_ps=range(0, 200, 2)))
    beside = lost(lab, fault, two_vcs, lab.cells(range(200), connection=[0, 1] * 100))
    assert [item for item in beside if item % 2 == 0] == alone != []


def test_an_item_is_hit_by_a_draw_below_the_threshold_and_by_no_other(two_vcs):
    """Else what is lost with p = 1/2^32 would be lost twice as often."""
    state = Lose(probability=Fraction(1, 2)).start(two_vcs)
    connection, number = 1, 1
    key = state.item(fault.KEY), state.item(fault.KEY_2)
    drawn, _ = draw_threefry(key, connection << WORD | number)
    for threshold, hit in ((drawn, False), (drawn + 1, True)):
        place = fault.SEEN + fault.WIDTH * connection
        state[fault.THRESHOLD], state[place] = threshold, number - 1
        assert fault.is_hit(state, connection) == hit


def test_a_number_and_a_probability_hit_what_either_does(lab, two_vcs):
    cells = lab.cells(range(100))
    by_chance = lost(lab, Lose(probability=Fraction(1, 10)), two_vcs, cells)
    both = lost(lab, Lose(first=51, count=10, probability=Fraction(1, 10)), two_vcs, cells)
    assert both == sorted({*by_chance, *range(50, 60)})


@pytest.mark.parametrize(
    "fields",
    [
        {"probability": Fraction(0)},
        {"probability": Fraction(0), "mean_run": Fraction(4)},
        {"good_to_bad": Fraction(0), "bad_to_good": HALF},
        {"bit_error_rate": Fraction(0), "overhead": 18},
    ],
)
def test_a_probability_of_0_loses_nothing(lab, two_vcs, fields):
    """As in a sweep that begins at 0."""
    assert lost(lab, Lose(**fields), two_vcs, lab.cells(range(100), sent_ps=range(1, 101))) == []


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "it would hit nothing: give `first`, `probability` or `bit_error_rate`"),
        ({"count": 2, "probability": Fraction(1)}, "count and every tell what follows `first`"),
        ({"every": 2, "probability": Fraction(1)}, "count and every tell what follows `first`"),
        ({"first": 1, "count": 3, "every": 2}, "every: 2 is less than `count`, 3"),
        ({"probability": HALF, "bad_to_good": HALF}, "without it no connection is ever bad"),
        ({"good_to_bad": HALF, "mean_run": Fraction(2)}, "give only one of the two"),
        ({"first": 1, "mean_run": Fraction(2)}, "probability: with a `mean_run`"),
        ({"probability": Fraction(4, 5), "mean_run": Fraction(3)}, "at least 4"),
    ],
)
def test_a_fault_that_cannot_be_meant_is_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        Lose(**fields)


@pytest.mark.parametrize(
    ("rate", "overhead"), [("1/10000", 0), ("1/100", 18), ("1/10000000000", 4)]
)
def test_an_item_has_a_wrong_bit_with_the_probability_of_its_size(rate, overhead):
    """1 - (1 - rate)^n of n bits, exactly, to 2^-32."""
    found = list_thresholds(Fraction(rate), overhead)
    for size_bytes in (20, 53, 1_500):
        exact = (1 - (1 - Fraction(rate)) ** (8 * (size_bytes + overhead))) * (1 << WORD)
        assert abs(found[size_bytes] - exact) <= 1


def test_cells_are_lost_by_wrong_bits(lab, two_vcs):
    """Of 424 bits, each wrong in one of 10,000: 4.15 %, and 0.72 % of 20,000 is five deviations."""
    cells = lab.cells(range(20_000), connection=[0, 1] * 10_000)
    found = lost(lab, Lose(bit_error_rate=Fraction(1, 10_000)), two_vcs, cells, cuts=[7_000])
    assert abs(len(found) / 20_000 - 0.0415) < 0.0072


def test_a_chosen_item_is_lost_beside_those_with_wrong_bits(lab, two_vcs):
    both = Lose(first=3, bit_error_rate=Fraction(1, 10**10))
    assert lost(lab, both, two_vcs, lab.cells(range(10), sent_ps=range(1, 11))) == [3]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"bit_error_rate": Fraction(1, 10**12)}, "bit_error_rate: below 10"),
        ({"first": 1, "overhead": 18}, "overhead: without a `bit_error_rate`"),
        ({}, "it would hit nothing"),
    ],
)
def test_wrong_bits_that_cannot_be_are_refused(fields, said):
    with pytest.raises(ValueError, match=said):
        Lose(**fields)
