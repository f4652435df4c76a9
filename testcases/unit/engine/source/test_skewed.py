"""A clock that runs fast makes all that follows it sooner by one ratio."""

from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from qospec.engine.arrays import np
from qospec.engine.random import Draws
from qospec.engine.source.changing import Changing
from qospec.engine.source.skewed import skew
from qospec.traffic.burst import Burst
from qospec.traffic.constant import Constant
from qospec.traffic.poisson import Poisson
from qospec.units import PS_PER_S

DRAWS = Draws(("test",))
RATES = st.fractions(Fraction(10**3), Fraction(10**7), max_denominator=7)
PROCESSES = st.one_of(
    RATES.map(Constant),
    RATES.map(Poisson),
    RATES.map(lambda rate: Burst(3, 4 * PS_PER_S / rate)),
)
SKEWS = st.integers(-(10**7), 10**7).map(lambda parts: Fraction(parts, 10**9))
END_PS = 10**9


def emitted(process: Any, cuts: list[int], connections: int) -> list[tuple[int, int]]:
    state, found = process.start(connections, "random", DRAWS), []
    for until_ps in cuts:
        at_ps, connection = process.emit(state, until_ps)
        assert all(at < until_ps for at in at_ps.tolist())
        found += zip(at_ps.tolist(), connection.tolist(), strict=True)
    return found


@given(PROCESSES, SKEWS, st.sets(st.integers(1, END_PS - 1), max_size=5), st.integers(1, 3))
def test_each_time_is_divided_by_the_pace(process, by, cuts, connections) -> None:
    plain = emitted(process, [2 * END_PS], connections)
    expected = [(int(at_ps / (1 + by)), sender) for at_ps, sender in plain]
    expected = [(at_ps, sender) for at_ps, sender in expected if at_ps < END_PS]
    assert emitted(skew(process, by), [*sorted(cuts), END_PS], connections) == expected
    most = skew(process, by).count_most_items(connections, END_PS)
    assert most is None or most >= len(expected)


def test_days_do_not_overflow() -> None:
    """11 days, in steps of 0.001 ppm."""
    hourly, by = Constant(Fraction(1, 3_600)), Fraction(20_001, 10**9)
    times = [at_ps for at_ps, _ in emitted(skew(hourly, by), [10**18], 1)]
    plain = [at_ps for at_ps, _ in emitted(hourly, [2 * 10**18], 1)]
    assert times == [int(at_ps / (1 + by)) for at_ps in plain][: len(times)]
    assert len(times) in (277, 278), "hours"


def test_rates_and_bounds_are_those_of_the_clock() -> None:
    fast = skew(Constant(Fraction(1_000_000)), Fraction(20, 10**6))
    assert fast.compute_mean_rate(2) == fast.compute_highest_rate(2) == 2_000_040
    assert fast.bound_items(1, "random").count_within(PS_PER_S) >= 1_000_020
    assert fast.bound_items(1, "random").count_within(PS_PER_S) < 1_000_022


@given(PROCESSES, SKEWS, st.integers(0, END_PS))
def test_no_interval_has_more_than_its_bound(process, by, length_ps) -> None:
    skewed = skew(process, by)
    bound = skewed.bound_items(2, "random").count_within(length_ps)
    times = [at_ps for at_ps, _ in emitted(skewed, [END_PS], 2)]
    ends = np.searchsorted(times, np.add(times, length_ps), side="right")
    most = max(ends - np.searchsorted(times, times), default=0)
    assert bound is None or most <= bound


def test_a_change_keeps_true_time() -> None:
    slow, fast = Constant(Fraction(10**5)), Constant(Fraction(10**6))
    changing = skew(Changing(((0, slow), (10**8, fast))), Fraction(1, 100))
    assert isinstance(changing, Changing)
    assert [at_ps for at_ps, _ in changing.processes] == [0, 10**8]
    assert skew(slow, Fraction(0)) is slow
