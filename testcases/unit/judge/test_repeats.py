"""The mean of trials that share what a search found, and how many repeats would decide."""

from fractions import Fraction

import pytest

from qospec.judge.repeats import ConfidenceLevels, MeanReadings, repeats_to_decide
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
    assert MeanReadings([Trial(each) for each in values]).read(None) == mean


@pytest.mark.parametrize(("first", "second"), [(True, False), (False, True), (False, False)])
def test_it_is_drawn_if_a_trial_is(first, second):
    both = MeanReadings([Trial(None, drawn=first), Trial(None, drawn=second)])
    assert both.drawn == (first or second)


@pytest.mark.parametrize("mean", [Fraction(1, 2), Fraction(-1, 2)])
def test_repeats_decide_once_0_is_outside_of_the_interval(mean):
    """It reaches as far as 1 / n from the mean: with two repeats to 0, with three no more."""

    def interval(_, repeats):
        return Bounds(mean - Fraction(1, repeats), mean + Fraction(1, repeats))

    assert repeats_to_decide(interval, mean, LEVELS, 1) == 2
