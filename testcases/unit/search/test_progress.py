"""Progress: a function of the trials that have ended, whatever their order."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from searches import HALF, carried_out, draws, forwards, goal, loses, ndr, pdr, search

from qospec.search.classification import classify, sum_trials
from qospec.search.method import begin, choose_next_trial
from qospec.search.trial import Trial

SECOND = 10**12


def told(asked, *trials):
    """Return the progress after trials at loads that lost a number of 1,000 items each."""
    progress = begin(asked)
    for number, (load, lost) in enumerate(trials, 1):
        progress = progress.add_trial(Trial(Fraction(load), number, SECOND, 1_000, lost))
    return progress


@given(st.integers(0, 40), st.randoms())
def test_the_order_in_which_trials_end_does_not_matter(seed, random):
    """Looking ahead, workers end them in any order."""
    asked = search(ndr(), pdr())
    device = draws(lambda load, drawn: 1 - 40_000 * drawn.gauss(1, 0.01) / float(load), seed)
    ended = carried_out(asked, device)
    shuffled = random.sample(ended.trials, len(ended.trials))
    progress = begin(asked)
    for trial in shuffled:
        progress = progress.add_trial(trial)
    assert progress == ended.progress
    assert choose_next_trial(progress) == ended.found


@given(st.lists(st.tuples(st.sampled_from((1, 2)), st.integers(0, 2), st.booleans()), min_size=1))
def test_what_is_kept_of_a_load_is_what_its_trials_add_up_to(drawn):
    progress, trials = begin(search(ndr(), pdr(trial_s=2))), []
    for number, (length_s, lost, random) in enumerate(drawn, 1):
        trials.append(Trial(Fraction(5_000), number, length_s * SECOND, 100, lost, random))
        progress = progress.add_trial(trials[-1])
    for aim, tried in zip(progress.search.goals, progress.tried, strict=True):
        its = [trial for trial in trials if trial.length_ps == aim.trial_ps]
        assert [list(trial.trials) for trial in tried] == ([its] if its else [])
        for here in tried:
            assert here.sums == sum_trials(aim, its)
            assert here.classification is classify(aim, sum_trials(aim, its))


def test_a_trial_counts_once():
    progress = told(search(ndr()), (2_000, 0))
    with pytest.raises(ValueError, match="trial 1 at 2000 was run before"):
        progress.add_trial(Trial(Fraction(2_000), 1, SECOND, 5, 0))


def test_nothing_changes_what_was_given():
    """An assumption is tried on a progress, which stays as it is."""
    before = told(search(ndr()), (2_000, 0))
    after = before.add_trial(Trial(Fraction(3_000), 1, SECOND, 5, 1))
    assert [point.load for point in before.tried[0]] == [2_000]
    assert [point.load for point in after.tried[0]] == [2_000, 3_000]
    assert choose_next_trial(before) == choose_next_trial(before)


def test_relevant_bounds_are_those_of_mlrsearch():
    """The lowest upper bound counts, and the highest lower bound below it. RFC 9971."""
    progress = told(search(goal()), (10_000, 0), (20_000, 0), (30_000, 1), (40_000, 0), (50_000, 9))
    lower, upper = progress.find_bounds(0)
    assert (lower.load, upper.load) == (20_000, 30_000)


def test_a_load_that_looks_bad_is_a_bound_until_it_is_decided():
    asked = search(goal(total_s=3, exceed=HALF))
    progress = told(asked, (20_000, 0), (20_000, 0), (30_000, 1), (40_000, 0), (40_000, 0))
    lower, upper = progress.find_bounds(0)
    assert (lower.load, upper) == (40_000, None)
    assert progress.find_apparent_bounds(0) == (lower, None)
    progress = told(asked, (20_000, 0), (20_000, 0), (30_000, 1), (50_000, 1), (50_000, 1))
    assert progress.find_bounds(0).upper.load == 50_000
    assert progress.find_apparent_bounds(0).upper.load == 30_000


def test_ndr_and_pdr_share_trials():
    """Each goal judges the trials by itself; a load is never tried twice without draws."""
    ended = carried_out(search(ndr(), pdr()), forwards(40_000))
    assert len(ended.trials) == len(ended.loads) == 4
    assert ended.found["ndr"].upper == ended.found["pdr"].lower


def test_loss_inversion_is_reported():
    """A device that loses at some loads only: the lowest bad load counts, as in RFC 9971."""
    device = loses(lambda load: Fraction(1, 100) if 20_000 <= load <= 30_000 else 0)
    asked = search(goal(), low=10_000, high=100_000, step=10_000, method="step", confirm=9)
    found = carried_out(asked, device).found["ndr"]
    assert (found.lower, found.upper) == (10_000, 20_000)
    assert found.inversion == (20_000, 100_000)
    assert carried_out(asked, forwards(40_000)).found["ndr"].inversion is None


SHORT = goal(trial_s=1, total_s=1, name="short")
LONG = goal(trial_s=10, total_s=10, name="long")


def queueing(request):
    """Return a trial of a device that forwards 40,000/s, and holds 64,000 until they are."""
    seconds = request.length_ps // SECOND
    sent = int(request.load * seconds)
    lost = max(0, sent - 40_000 * seconds - 64_000)
    return Trial(request.load, request.number, request.length_ps, sent, lost, drawn=False)


@pytest.mark.parametrize("method", ["mlrsearch", "binary", "step"])
@pytest.mark.parametrize("goals", [(SHORT, LONG), (LONG, SHORT)])
def test_goals_with_trials_of_different_lengths_find_what_each_would_find_alone(goals, method):
    """A load that is good in 1 s, which a queue holds out, and bad in 10 s is no contradiction."""
    asked = [search(*wanted, method=method, step=1_000) for wanted in (goals, (SHORT,), (LONG,))]
    both, short, long = (carried_out(planned, queueing) for planned in asked)
    assert both.found == short.found | long.found
    for name, most in (("short", 104_000), ("long", 46_400)):
        assert both.found[name].lower <= most < both.found[name].upper
    assert all(found.regular for found in both.found.values())
    assert len(both.trials) == len(short.trials) + len(long.trials)
