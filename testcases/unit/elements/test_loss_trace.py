"""A link whose losses follow a file, against its probabilities."""

from fractions import Fraction

import pytest

from qospec.catalogue.kinds import ProfileFile
from qospec.elements.lose import Lose
from qospec.elements.loss_trace import LossTrace

US = 10**6


def recorded(*steps: tuple[int, Fraction]) -> LossTrace:
    return LossTrace(ProfileFile("leo.csv", "", "", steps))


def lost(lab, element, setting, batch, **others):
    return [number for _, _, _, number in lab.carry(element, setting, batch, **others).lost]


@pytest.mark.parametrize("by_events", [False, True])
def test_losses_begin_and_end_at_the_times_of_the_file(lab, two_vcs, by_events):
    """All of 10 us: the items at 10 us to 19 us, each of a connection by itself."""
    trace = recorded((0, Fraction(0)), (10 * US, Fraction(1)), (20 * US, Fraction(0)))
    cells = lab.cells([n * US for n in range(30)], connection=[0, 1] * 15)
    found = lost(lab, trace, two_vcs, cells, cuts=[15 * US], by_events=by_events)
    assert sorted(found) == list(range(10, 20))


def test_each_span_has_its_own_probability(lab):
    """Of 10,000 one in ten, then of 10,000 four in ten; five deviations are 1.5 and 2.5 %."""
    trace = recorded((0, Fraction(1, 10)), (10_000 * US, Fraction(4, 10)))
    cells = lab.cells([n * US for n in range(20_000)])
    found = lost(lab, trace, lab.setting(), cells, cuts=[7_000 * US])
    early = sum(number < 10_000 for number in found)
    assert abs(early / 10_000 - 0.1) < 0.015
    assert abs((len(found) - early) / 10_000 - 0.4) < 0.025


def test_a_constant_probability_loses_what_lose_would(lab):
    """Both draw by connection and number, with a key from the same stream."""
    cells = lab.cells([n * US for n in range(1_000)])
    whole = lost(lab, recorded((0, Fraction(1, 4))), lab.setting(), cells)
    assert whole == lost(lab, Lose(probability=Fraction(1, 4)), lab.setting(), cells)
