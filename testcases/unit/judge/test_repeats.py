"""The mean of trials that share what a search found, and how many repeats would decide."""

from fractions import Fraction

import pytest

from qospec.judge.repeats import ConfidenceLevels, MeanReadings, count_repeats_to_decide
from qospec.model.bounds import Bounds

LEVELS = ConfidenceLevels(Fraction(95, 100), Fraction(95, 100))


class Trial:
    """What a trial has read."""

    def __init__(self, value, *, drawn=False):
        self._value, self.drawn = value, drawn

    def read(self, leaf):  # noqa: ARG002
        return self._value


@pytest.mark.parametrize(
    ("values", "mean"),
    [
        ((Fraction(1), Fraction(2)), Fraction(3, 2)),
        ((Fraction(1), None), None),
        ((None, Fraction(1)), None),
        ((True, True), True),  # what a search has found is the same in all
    ],
)
def test_the_mean_is_of_trials_that_all_have_data(values, mean):
    assert MeanReadings([Trial(value) for value in values]).read(None) == mean


@pytest.mark.parametrize(("first", "second"), [(True, False), (False, True), (False, False)])
def test_it_is_drawn_if_a_trial_is(first, second):
    both = MeanReadings([Trial(None, drawn=first), Trial(None, drawn=second)])
    assert both.drawn == (first or second)


@pytest.mark.parametrize("mean", [Fraction(1, 2), Fraction(-1, 2)])
def test_repeats_decide_once_0_is_outside_of_the_interval(mean):
    """It reaches as far as 1 / n from the mean: with two repeats to 0, with three no more."""

    def interval(_, repeats):
        return Bounds(mean - Fraction(1, repeats), mean + Fraction(1, repeats))

    assert count_repeats_to_decide(interval, mean, LEVELS, 1, alike=True) == (2, 2)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_nearer_to_0_it_may_be_the_more_repeats_are_needed(sign):
    """It reaches as far as 3 / n, when 4 repeats have shown that it is from 1/4 to 7/4."""

    def interval(_, repeats):
        return Bounds(sign - Fraction(3, repeats), sign + Fraction(3, repeats))

    assert count_repeats_to_decide(interval, Fraction(sign), LEVELS, 4) == (1, 9)  # 3/13 < 1/4
    # by the design effect half or six times as many
    assert count_repeats_to_decide(interval, Fraction(sign), LEVELS, 4, effect=True) == (1, 54)
    # 2 have shown that it is from -1/2 to 5/2, where 3/3 is less
    assert count_repeats_to_decide(interval, Fraction(sign), LEVELS, 2) == (1, None)
