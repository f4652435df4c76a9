"""Looking ahead: how a trial may end."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from searches import draws, forwards, goal, ndr, pdr, search

from qospec.search.ahead import predict_results
from qospec.search.classification import is_good
from qospec.search.method import begin, choose_next_trial
from qospec.search.trial import Request
from qospec.units import PS_PER_S


def verdicts(progress, trial):
    return tuple(is_good(goal, trial) for goal in progress.search.goals)


@pytest.mark.slow
@given(st.integers(0, 20), st.sampled_from(["mlrsearch", "binary"]))
def test_one_of_the_likely_results_decides_as_the_real_one(seed, method):
    asked = search(ndr(), pdr(), goal("1/10", name="soak"), method=method)
    device = draws(lambda load, drawn: 1 - 40_000 * drawn.gauss(1, 0.01) / float(load), seed)
    progress = begin(asked)
    while isinstance(request := choose_next_trial(progress), Request):
        real, expected = device(request), predict_results(progress, request)
        decided = [verdicts(progress, trial) for trial in expected]
        assert len(set(decided)) == len(decided) == 4
        assert verdicts(progress, real) in decided
        for trial in expected:
            choose_next_trial(progress.add_trial(trial))
        progress = progress.add_trial(real)


def test_ndr_is_confirmed_as_expected():
    """Most trials of a search repeat a load, and end as the one before: they can run at once."""
    asked = search(ndr())
    device = forwards(40_000, drawn=True)
    progress, guessed, trials = begin(asked), 0, 0
    while isinstance(request := choose_next_trial(progress), Request):
        real, expected = device(request), predict_results(progress, request)[0]
        assert expected.drawn or not any(progress.tried)
        guessed += choose_next_trial(progress.add_trial(expected)) == choose_next_trial(
            progress.add_trial(real)
        )
        progress, trials = progress.add_trial(real), trials + 1
    assert (guessed, trials) == (22, 23)


def test_a_load_below_an_overload_is_expected_to_forward_as_much():
    progress = begin(search(ndr()))
    progress = progress.add_trial(forwards(40_000)(Request(Fraction(100_000), 1, PS_PER_S)))
    first = predict_results(progress, Request(Fraction(50_000), 1, PS_PER_S))[0]
    assert Fraction(first.lost, first.sent) == Fraction(1, 5)
    assert predict_results(progress, Request(Fraction(30_000), 1, PS_PER_S))[0].lost == 0


def test_a_condition_may_be_met_or_missed_whatever_is_lost():
    asked = search(ndr(), replace(ndr(), name="quick", meets="delay.max < 1 ms"))
    progress = begin(asked)
    request = choose_next_trial(progress)
    expected = predict_results(progress, request)
    decided = [verdicts(progress, trial) for trial in expected]
    assert sorted(decided) == [(False, False), (False, True), (True, False), (True, True)]
