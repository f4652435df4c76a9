"""Bisection, as the throughput of RFC 2544 is mostly searched."""

from fractions import Fraction

from searches import HALF, carried_out, forwards, goal, loses, ndr, pdr, search


def test_rfc2544_throughput_by_halving_a_grid():
    """From 10 % to 100 % in steps of 10 %, of a device that forwards 46 %."""
    asked = search(goal(trial_s=60, total_s=60), low=10, high=100, step=10, method="binary")
    ended = carried_out(asked, forwards(46, drawn=True))
    assert ended.loads == [100, 50, 30, 40]
    assert (ended.found["ndr"].lower, ended.found["ndr"].upper) == (40, 50)
    assert {trial.length_ps for trial in ended.trials} == {60 * 10**12}


def test_rfc2544_throughput_at_the_lowest_load():
    """The lowest load is tried last: if it is bad as well, there is no throughput."""
    asked = search(goal(), low=10, high=100, step=10, method="binary")
    assert carried_out(asked, forwards(5)).loads == [100, 50, 30, 20, 10]


def test_the_middle_of_ratios_is_geometric():
    ended = carried_out(search(goal(), low=1, high=100, method="binary"), forwards(30))
    assert [float(load) for load in ended.loads[:3]] == [100, 10, 31.622]


def test_each_load_is_decided_before_the_next():
    ended = carried_out(search(ndr(), method="binary"), forwards(40_000, drawn=True))
    assert {len(load.trials) for load in ended.progress.tried[0]} == {11}
    order = [trial.load for trial in ended.trials]
    assert order == [load for load in ended.loads for _ in range(11)]


def test_a_repeated_trial_may_save_a_load():
    """Loss verification: the second trial of two is good, and that is enough at 50 %."""
    second = goal(total_s=2, exceed=HALF)
    device = loses(lambda _: Fraction(1, 100), drawn=True)

    def once(request):
        return device(request) if request.number == 1 else forwards(10**6, drawn=True)(request)

    found = carried_out(search(second, method="binary"), once).found["ndr"]
    assert (found.lower, found.throughput) == (148_800, 148_800)


def test_pdr_uses_the_trials_of_ndr():
    device = forwards(40_000)
    one, two = (carried_out(search(goal, method="binary"), device) for goal in (ndr(), pdr()))
    both = carried_out(search(ndr(), pdr(), method="binary"), device)
    assert both.found == {**one.found, **two.found}
    assert set(both.loads) == {*one.loads, *two.loads}
