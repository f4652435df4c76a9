"""What every search method promises, on any device."""

from bisect import bisect_right
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from searches import HALF, carried_out, classes, draws, forwards, goal, loses, ndr, pdr, search

from qospec.catalogue.kinds import discover
from qospec.search.method import begin, choose_next_trial, count_most_trials
from qospec.search.trial import Request

METHODS = tuple(discover().select_role("method"))
NARROWING = ("mlrsearch", "binary")
LOSSES = [Fraction(0), Fraction(1, 1000), Fraction(1, 200), Fraction(1, 20), Fraction(1, 2)]


@st.composite
def asked_for(draw, method):
    """Draw a search with up to three goals, of ratios, amounts or steps."""
    low = draw(st.fractions(Fraction(1, 100), 10**6, max_denominator=100))
    high = low * draw(st.fractions(Fraction(101, 100), 10**4, max_denominator=100))
    losses = draw(st.lists(st.sampled_from(LOSSES), min_size=1, max_size=3, unique=True))
    stepped = method == "step" or draw(st.booleans())
    step = (high - low) / draw(st.integers(1, 60)) if stepped else None
    absolute = draw(st.booleans())
    share = draw(st.sampled_from([Fraction(1, 500), Fraction(1, 50), Fraction(1, 4)]))
    width = (step or (high - low) * share) if absolute else share
    goals = [
        goal(
            loss,
            name=f"goal_{number}",
            total_s=draw(st.sampled_from([1, 3])),
            exceed=draw(st.sampled_from([Fraction(0), HALF])),
            width=width,
            absolute=absolute,
        )
        for number, loss in enumerate(losses)
    ]
    return search(*goals, low=low, high=high, method=method, step=step)


@st.composite
def monotone(draw, asked):
    """Draw how a device loses ever more of ever greater loads, in up to five levels."""
    span = asked.high - asked.low
    places = st.lists(st.fractions(0, 1), max_size=5, unique=True).map(sorted)
    levels = [asked.low + span * place for place in draw(places)]
    shares = sorted(draw(st.fractions(0, 1, max_denominator=2000)) for _ in range(len(levels) + 1))
    return lambda load: shares[bisect_right(levels, load)]


@settings(max_examples=settings().max_examples // 2)
@given(st.sampled_from(METHODS), st.booleans(), st.data())
def test_a_search_finds_the_bounds_of_any_monotone_loss(method, drawn, data):
    """The bounds are as close as the width, a missing one is beyond an end; so for NDR and PDR."""
    asked = data.draw(asked_for(method))
    share = data.draw(monotone(asked))
    ended = carried_out(asked, loses(share, drawn=drawn))
    assert len(ended.trials) <= count_most_trials(ended.progress)
    for number, aim in enumerate(asked.goals):
        found, scale = ended.found[aim.name], ended.progress.scales[number]
        assert found.complete
        assert found.inversion is None
        if found.lower is None:
            assert method == "step" or share(asked.low) > aim.loss
        else:
            assert share(found.lower) <= aim.loss
            assert found.lower * (1 - aim.loss) <= found.throughput <= found.lower
        if found.upper is None:
            assert share(asked.high) <= aim.loss
            assert found.lower == asked.high
        else:
            assert share(found.upper) > aim.loss
        if found.regular:
            assert scale.is_near(found.lower, found.upper)
    tried_for_all = sum(ended.progress.most_loads)
    assert len(ended.loads) <= tried_for_all


@given(st.sampled_from(METHODS), st.integers(0, 10**6), st.data())
def test_a_search_of_random_loss_ends_within_its_budget(method, seed, data):
    asked = data.draw(asked_for(method))
    ended = carried_out(asked, draws(lambda _load, random: random.choice([0, 0.002, 0.3]), seed))
    assert len(ended.trials) <= count_most_trials(ended.progress)
    for number, aim in enumerate(asked.goals):
        found = ended.found[aim.name]
        uppers = [load for load, what in classes(ended, number) if what == "upper bound"]
        assert found.upper == (min(uppers) if uppers else None)
        lowers = [
            load
            for load, what in classes(ended, number)
            if what == "lower bound" and (found.upper is None or load < found.upper)
        ]
        assert found.lower == (max(lowers) if lowers else None)
        if found.complete and found.regular:
            assert ended.progress.scales[number].is_near(found.lower, found.upper)
        if not found.complete:
            assert len(ended.trials) == count_most_trials(ended.progress)


@given(st.sampled_from(METHODS), st.data())
def test_loads_are_allowed_and_trials_are_numbered(method, data):
    asked = data.draw(asked_for(method))
    ended = carried_out(asked, loses(data.draw(monotone(asked)), drawn=True))
    assert ended.trials[0].load == asked.high
    for load in ended.loads:
        assert asked.low <= load <= asked.high
        if asked.step is not None and load != asked.high:
            assert (load - asked.low) % asked.step == 0
        numbers = [trial.number for trial in ended.trials if trial.load == load]
        assert numbers == list(range(1, len(numbers) + 1))


@given(st.sampled_from(METHODS), st.data())
def test_a_search_asks_the_same_of_the_same_trials(method, data):
    asked = data.draw(asked_for(method))
    device = loses(data.draw(monotone(asked)))
    progress = begin(asked)
    while isinstance(request := choose_next_trial(progress), Request):
        assert choose_next_trial(progress) == request
        progress = progress.add_trial(device(request))
    assert choose_next_trial(progress) == request


@pytest.mark.parametrize("method", METHODS)
def test_ndr_of_a_device_that_loses_nothing_has_no_upper_bound(method):
    ended = carried_out(search(ndr(), method=method, step=1_000), forwards(10**6))
    found = ended.found["ndr"]
    assert (found.lower, found.upper, found.regular, found.complete) == (148_800, None, False, True)
    assert found.throughput == 148_800


@pytest.mark.parametrize("method", METHODS)
def test_ndr_of_a_device_that_always_loses_has_no_lower_bound(method):
    ended = carried_out(search(ndr(), method=method, step=1_000), loses(lambda _: HALF))
    found = ended.found["ndr"]
    assert (found.lower, found.upper, found.regular, found.complete) == (None, 1_000, False, True)
    assert found.throughput is None


@pytest.mark.parametrize("method", NARROWING)
@pytest.mark.parametrize("number", range(50))
def test_ndr_of_a_known_device_lies_between_the_bounds(method, number):
    """Fifty devices, from 1 % to 100 % of the range; what they forward is no round number."""
    most = Fraction(1_488) + Fraction(147_312 * (2 * number + 1), 100) + Fraction(number, 7)
    ended = carried_out(search(ndr(), pdr(width="1/100"), method=method), forwards(most))
    for name, load in (("ndr", most), ("pdr", most / Fraction(199, 200))):
        found = ended.found[name]
        if found.upper is None:
            assert load >= found.lower == 148_800
        else:
            assert found.lower <= load <= found.upper
            width = Fraction(1, 200 if name == "ndr" else 100)
            assert found.upper - found.lower <= width * found.upper


@pytest.mark.parametrize("method", NARROWING)
def test_a_whole_number_is_found_exactly(method):
    """The capacity of a switch: 1,234 calls, of 1 to 100,000."""
    calls = goal(width=1, absolute=True)
    asked = search(calls, low=1, high=100_000, step=1, method=method)
    found = carried_out(asked, loses(lambda load: Fraction(load > 1_234))).found["ndr"]
    assert (found.lower, found.upper) == (1_234, 1_235)


@pytest.mark.parametrize("method", NARROWING)
def test_a_width_may_be_an_amount(method):
    """Half a megabit, as testers of the time stepped."""
    rate = goal(width=500_000, absolute=True)
    asked = search(rate, low=10**6, high=100 * 10**6, method=method)
    found = carried_out(asked, forwards(33_333_333)).found["ndr"]
    assert found.lower <= 33_333_333 < found.upper <= found.lower + 500_000


@given(st.sampled_from(NARROWING), st.data())
def test_back_to_back_frames_take_one_trial_of_each_length(method, data):
    """RFC 2544, 26.4: the longest burst without loss, each in a trial as long as itself."""
    most = data.draw(st.integers(1, 5_000))
    burst = goal(name="back_to_back", width=1, absolute=True, varies=True)
    ended = carried_out(
        search(burst, low=1, high=5_000, step=1, method=method),
        loses(lambda load: max(Fraction(0), 1 - most / load), drawn=True),
    )
    assert ended.found["back_to_back"].lower == most
    assert len(ended.trials) == len(ended.loads)
    assume(most < 5_000)
    assert ended.found["back_to_back"].upper == most + 1


def test_goals_are_pursued_from_the_strictest_on():
    """The order in which they are written changes nothing."""
    one = carried_out(search(ndr(), pdr()), forwards(40_000))
    other = carried_out(search(pdr(), ndr()), forwards(40_000))
    assert one.trials == other.trials
    assert one.found == {name: other.found[name] for name in ("ndr", "pdr")}
