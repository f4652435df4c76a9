"""Calls take free connections and give them back: by the book where nothing is drawn."""

import math
import statistics
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Duration
from qospec.engine.random import Draws
from qospec.engine.source.changing import Changing
from qospec.traffic.calls import Calls
from qospec.units import PS_PER_S

S = PS_PER_S
DRAWN = Calls(Fraction(10**9), Duration(5_000, "exponential"), Fraction(10**10))


def by_the_book(process, connections, until_ps):
    """Return (time, connection) of all cells, and (time, found) of all calls, one after another."""
    every, apart = PS_PER_S * process.burst / process.rate, PS_PER_S / process.at
    free = [0] * connections
    cells, calls = [], []
    for number in range(process.count or math.ceil(until_ps / every) * process.burst):
        begins = math.floor(number // process.burst * every)
        if begins >= until_ps:
            break
        place = next((n for n, since in enumerate(free) if since <= begins), None)
        calls.append((begins, place is not None))
        if place is not None:
            ends = begins + process.hold.mean_ps
            free[place] = ends + (process.rest or math.ceil(apart))
            times = (begins + math.floor(k * apart) for k in range(until_ps))
            for at_ps in times:
                if at_ps >= min(ends, until_ps):
                    break
                cells.append((at_ps, place))
    return sorted(cells), calls


@given(
    sends=st.tuples(st.integers(1, 3_000), st.fractions(1, 900, max_denominator=97)),
    every=st.fractions(50, 2_000, max_denominator=7),
    connections=st.integers(1, 4),
    coming=st.tuples(
        st.integers(1, 3), st.none() | st.integers(1, 9), st.none() | st.integers(900, 2_000)
    ),
    cuts=st.lists(st.integers(0, 5_000), max_size=4),
)
def test_calls_by_the_book(flow, sends, every, connections, coming, cuts):
    hold, apart = sends[0], min(sends[1], 99 * sends[0])
    process = Calls(PS_PER_S / every, Duration(hold), PS_PER_S / apart, "even", *coming)
    cells, calls = by_the_book(process, connections, 5_000)
    assert flow.cells(process, 5_000, connections, "even", cuts) == cells
    state, told = process.start(connections, "even", Draws(("f",))), {}
    for until_ps in (*sorted(cuts), 5_000):
        process.emit(state, until_ps)
        for sample in process.tell(state):
            pairs = zip(sample.at_ps.tolist(), sample.values.tolist(), strict=True)
            told.setdefault(sample.quantity, []).extend(pairs)
    assert told["offered"] == [(at_ps, 1) for at_ps, _ in calls]
    assert told["established"] == [(at_ps, 1) for at_ps, found in calls if found]
    assert told["refused"] == [(at_ps, 1) for at_ps, found in calls if not found]
    begun = [at_ps for at_ps, found in calls if found]
    for at_ps, held in dict(told["held"]).items():  # the last of each time
        assert held == sum(begins <= at_ps < begins + hold for begins in begun)


@pytest.mark.untraced
@given(cuts=st.lists(st.integers(0, 10**6), max_size=9), connections=st.sampled_from([1, 7]))
def test_cuts_change_nothing(flow, cuts, connections):
    whole = flow.cells(DRAWN, 10**6, connections, "random")
    assert len(whole) > 1_000
    assert flow.cells(DRAWN, 10**6, connections, "random", cuts) == whole


@pytest.mark.parametrize(
    ("sends", "rate", "rest", "mean"),
    [
        # five connections of which each sends ten cells in each 10.1 s
        ((S // 10, 100), 30, 10 * S, 50 / Fraction("10.1")),
        ((S // 10, 100), Fraction(1, 10), 10 * S, 1),  # a call in 10 s, which is never refused
        ((S // 10, 100), 1_000, None, 5 * 10 / Fraction("0.11")),
        ((S // 1_000, 100), 3, None, 3),  # each call sends its first cell
    ],
)
def test_connections_that_rest_send_nothing(flow, sends, rate, rest, mean):
    process = Calls(Fraction(rate), Duration(sends[0]), Fraction(sends[1]), "even", rest=rest)
    assert process.compute_mean_rate(5) == mean
    whole = len(flow.cells(process, 100 * S, 5, "even"))
    assert whole == pytest.approx(100 * mean, rel=0.02, abs=10)
    assert whole <= process.count_most_items(5, 100 * S) <= whole * 1.02 + 10


@pytest.mark.parametrize("mean", [Fraction(1, 100), Fraction(1, 2), 1, Fraction(5, 2), 50])
def test_cells_of_a_call_that_lasts_exponentially(mean):
    """Of a holding time of so many gaps n cells are sent with the probability that n - 1 fit."""
    process = Calls(Fraction(1), Duration(int(mean * S // 10), "exponential"), Fraction(10))
    cells = sum(math.exp(-n / mean) for n in range(2_000))
    assert -0.16 < process.compute_mean_rate(10**6) - cells < 0.01


def test_calls_that_seldom_come_and_many_come_at_their_times():
    """Exactly, of a period that is no whole number of ps, and of one longer than any trial."""
    many = Calls(Fraction(5 * 10**5 * 7, 11), Duration(S // 10), Fraction(10), "even")
    state = many.start(2, "even", Draws(("f",)))
    for until_ps in (S // 3, S):
        many.emit(state, until_ps)
    (begins_ps, _), first = state.begins_ps, -(-35 * 10**5 // 33)
    assert (len(begins_ps) + first, many.count_offered(S)) == (318_182, 318_182)
    assert begins_ps.tolist()[::10_000] == [
        n * 11 * 2_000_000 // 7 for n in range(first, 318_182, 10_000)
    ]
    seldom = Calls(Fraction(1, 10**6), Duration(S), Fraction(10), "even", 10**6)
    state = seldom.start(1, "even", Draws(("f",)))
    assert [len(seldom.emit(state, until_ps)[0]) for until_ps in (S, 10**6 * S)] == [10, 0]


def test_calls_end_where_their_source_changes():
    """Two are held at 100 s, and nobody calls for a while from then on."""
    early = Calls(Fraction(10), Duration(200 * S), Fraction(1), "even", 1, 2)
    late = Calls(Fraction(1, 100), Duration(S), Fraction(1), "poisson")
    changing, held = Changing(((0, early), (100 * S, late))), {}
    state = changing.start(9, "even", Draws(("f",)))
    for until_ps in (S, 150 * S, 300 * S, 900 * S):
        changing.emit(state, until_ps)
        for sample in changing.tell(state):
            if sample.quantity == "held":
                held |= dict(zip(sample.at_ps.tolist(), sample.values.tolist(), strict=True))
    times = sorted(held)
    assert [held[at_ps] for at_ps in times[:4]] == [1, 2, 0, 1]
    assert times[:3] == [0, S // 10, 100 * S]


def compute_erlang_b(offered, servers):
    """Return the share of calls that find all servers busy. Source: Erlang 1917, by recursion."""
    blocked = 1.0
    for number in range(1, servers + 1):
        blocked = offered * blocked / (number + offered * blocked)
    return blocked


@pytest.mark.slow
@pytest.mark.parametrize("law", ["exponential", "constant"])
@pytest.mark.parametrize(("rate", "servers"), [(5, 5), (8, 16)])
def test_the_share_refused_is_that_of_erlang(law, rate, servers):
    """Of 10,000 s with holding times of 0.9 s and 0.1 s of rest, whatever their law.

    By 20 trials with 99.9 % confidence, to a quarter of what one server more would change.
    """
    process = Calls(Fraction(rate), Duration(9 * S // 10, law), Fraction(10))
    shares = []
    for trial in range(20):
        state = process.start(servers, "random", Draws((law, str(trial))))
        process.emit(state, 20 * S)  # the beginning is empty
        process.emit(state, 10_000 * S)
        told = {sample.quantity: len(sample.at_ps) for sample in process.tell(state)}
        shares.append(told["refused"] / told["offered"])
    expected, mean = compute_erlang_b(rate, servers), statistics.fmean(shares)
    half = 3.883 * statistics.stdev(shares) / math.sqrt(20)  # Student's t of 19 degrees
    assert abs(mean - expected) < half
    assert half < (expected - compute_erlang_b(rate, servers + 1)) / 4
