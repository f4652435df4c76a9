"""MLRsearch: few trials where what is forwarded says enough, and never many more than bisection."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from searches import HALF, carried_out, classes, draws, forwards, goal, loses, ndr, pdr, search

from qospec.methods.mlrsearch import SPARE
from qospec.search.method import count_most_trials


def bisected(*goals, device):
    return carried_out(search(*goals, method="binary"), device)


def test_ndr_of_a_sharp_knee_takes_three_loads():
    """The highest one shows what is forwarded, two others bracket it."""
    ended = carried_out(search(ndr()), forwards(40_000))
    assert [float(load) for load in ended.loads] == [148_800, 39_900, 40_100]
    assert len(bisected(ndr(), device=forwards(40_000)).trials) == 11


def test_mlrsearch_confirms_only_the_bounds():
    """Of 21 trials, 11 decide; a load that is only passed on the way has one."""
    ended = carried_out(search(ndr()), forwards(40_000, drawn=True))
    trials = [len(load.trials) for load in ended.progress.tried[0]]
    assert trials == [11, 11, 1]
    assert [what for _, what in classes(ended)] == ["lower bound", "upper bound", "undecided"]


@pytest.mark.parametrize("drawn", [False, True])
def test_mlrsearch_for_ndr_and_pdr_costs_less_than_half_of_bisection_for_ndr(drawn):
    device = forwards(40_000, drawn=drawn)
    both = carried_out(search(ndr(), pdr()), device)
    assert len(both.trials) < len(bisected(ndr(), device=device).trials) / 2


def collapsing(load):
    """Return the loss of a device whose interrupts take time from forwarding: a livelock."""
    forwarded = load if load <= 40_000 else 40_000 - (load - 40_000) / 10
    return 1 - forwarded / load


def saturating(load):
    """Return the loss of a device whose queue overflows more and more often before it is full."""
    if load <= 35_000:
        return Fraction(0)
    above = load - 35_000
    return 1 - (35_000 + above * 5_000 / (above + 5_000)) / load


@pytest.mark.parametrize(
    ("share", "loads"),
    [(collapsing, 7), (saturating, 10), (lambda load: Fraction(load > 40_000), 14)],
)
def test_mlrsearch_finds_the_knee_of_other_devices(share, loads):
    """Where nothing is forwarded in overload, nothing is known: then it bisects."""
    ended = carried_out(search(ndr()), loses(share))
    found = ended.found["ndr"]
    assert share(found.lower) == 0 < share(found.upper)
    assert len(ended.loads) <= loads


def test_an_ndr_below_the_range_is_found_at_once():
    ended = carried_out(search(ndr(), low=1_000), forwards(500))
    assert ended.loads == [148_800, 1_000]
    assert (ended.found["ndr"].lower, ended.found["ndr"].upper) == (None, 1_000)


@given(st.integers(1, 10**6), st.integers(2, 1000), st.integers(1, 100))
def test_mlrsearch_tries_no_more_loads_than_bisection_and_a_few(knee, ratio, per_cent):
    """A guess that could cost more is not followed."""
    goals = [goal(width=Fraction(per_cent, 1000))]
    asked = search(*goals, low=1_000, high=1_000 * ratio)
    device = loses(lambda load: Fraction(0) if load < knee else 1 - Fraction(900) / load)
    ended = carried_out(asked, device)
    scale = ended.progress.scales[0]
    halvings = scale.count_halvings(asked.low, asked.high)
    assert len(ended.loads) <= halvings + 2 + SPARE


def test_a_bad_trial_by_chance_does_not_mislead_ndr():
    """One trial in ten loses a packet below the knee: a majority of trials decides."""

    def share(load, random):
        return max(0, 1 - 40_000 / float(load)) or 1e-6 * (random.random() < 0.1)

    for seed in range(10):
        ended = carried_out(search(ndr()), draws(share, seed))
        found = ended.found["ndr"]
        assert found.complete
        assert found.lower <= 40_000 <= found.upper


def test_mlrsearch_that_cannot_decide_ends_at_its_budget():
    """Half of all trials lose, at any load: no number of trials tells which load is good."""
    results = []
    for seed in range(20):
        asked = search(goal(total_s=3, exceed=HALF), low=1, high=10**6)
        device = draws(lambda _load, random: random.choice([0, 1e-6]), seed)
        ended = carried_out(asked, device)
        assert len(ended.trials) <= count_most_trials(ended.progress)
        results.append(ended.found["ndr"].complete)
    assert any(results)


def test_the_budget_of_ndr_is_as_documented():
    """Both ends, 10 halvings and 4 spare loads, each with up to 21 trials. spec/6-procedures.md."""
    ended = carried_out(search(ndr(), low=1_488), forwards(40_000))
    assert ended.progress.most_loads == (16,)
    assert count_most_trials(ended.progress) == 16 * 21
