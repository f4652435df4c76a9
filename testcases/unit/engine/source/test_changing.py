"""A source that changes is its processes, each from its time on, as if a trial began then."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.engine.random import Draws
from qospec.engine.source.changing import Changing, begin_later, compute_mean_items
from qospec.traffic.burst import Burst
from qospec.traffic.constant import Constant
from qospec.traffic.poisson import Poisson

DRAWS = Draws(("test",))
END_PS = 10**9
RATES = st.fractions(Fraction(10**3), Fraction(10**8), max_denominator=7)
PROCESSES = st.one_of(
    RATES.map(Constant),
    RATES.map(Poisson),
    RATES.map(lambda rate: Burst(3, 4 * 10**12 / rate)),
)


def emitted(process: Any, cuts: list[int], connections: int, draws: Draws = DRAWS) -> list[Any]:
    """Return times and connections of all items up to the last of some times."""
    state, found = process.start(connections, "random", draws), []
    for until_ps in cuts:
        at_ps, connection = process.emit(state, until_ps)
        assert (at_ps.dtype, connection.dtype) == ("int64", "int32")
        assert all(at < until_ps for at in at_ps.tolist())
        found += zip(at_ps.tolist(), connection.tolist(), strict=True)
    return found


@given(
    processes=st.lists(PROCESSES, min_size=1, max_size=4),
    times=st.sets(st.integers(1, END_PS - 1), min_size=3, max_size=3),
    cuts=st.sets(st.integers(1, END_PS - 1), max_size=5),
    connections=st.integers(1, 3),
)
def test_each_process_emits_from_its_time_to_the_next(processes, times, cuts, connections) -> None:
    begins = [0, *sorted(times)][: len(processes)]
    source = Changing(tuple(zip(begins, processes, strict=True)))
    expected = []
    for number, (begin_ps, stop_ps) in enumerate(pairwise([*begins, END_PS])):
        draws = DRAWS.derive("change", str(number)) if number else DRAWS
        alone = emitted(processes[number], [stop_ps - begin_ps], connections, draws)
        expected += [(begin_ps + at_ps, sender) for at_ps, sender in alone]
    assert emitted(source, [*sorted(cuts), END_PS], connections) == expected
    assert [at_ps for at_ps, _ in expected] == sorted(at_ps for at_ps, _ in expected)
    most = source.count_most_items(connections, END_PS)
    drawn = any(isinstance(process, Poisson) for process in processes)
    assert most is None if drawn else most >= len(expected)


def test_rates_of_all_processes_are_listed_from_when_on() -> None:
    inner = Changing(((0, Constant(Fraction(5))), (4, Constant(Fraction(7))), (9, Constant(1))))
    source = Changing(((0, Constant(Fraction(10))), (3, inner), (10, Constant(Fraction(30)))))
    assert source.list_rates(2) == ((0, 20), (3, 10), (7, 14), (10, 60))


def test_the_window_and_the_load_are_those_of_the_highest_rate() -> None:
    source = Changing(((0, Constant(Fraction(10))), (5, Constant(Fraction(30)))))
    assert (source.compute_mean_rate(2), source.compute_highest_rate(2)) == (60, 60)


@pytest.mark.parametrize(("length_ps", "most"), [(10**12, 10), (2 * 10**12, 40)])
def test_what_begins_later_is_not_counted_before(length_ps: int, most: int) -> None:
    later = (10**12, Constant(Fraction(30)))
    assert Changing(((0, Constant(Fraction(10))), later)).count_most_items(1, length_ps) == most


def test_a_random_source_sends_the_mean_of_each_part_of_a_trial() -> None:
    """10 ms at 1,000/s, and then 90 ms of 100 ms at 100/s."""
    rates = (Poisson(Fraction(1_000)), Poisson(Fraction(100)))
    source = Changing(((0, rates[0]), (10**10, rates[1])))
    assert compute_mean_items(source, 3, 10**11) == 3 * (10 + 9)


def test_what_begins_later_is_shifted_and_its_changes_are_not() -> None:
    """A packet each 100 us from 30 us on, and from 250 us on one each 50 us."""
    us = 10**6
    slow, fast = Constant(Fraction(10**4)), Constant(Fraction(2 * 10**4))
    source = begin_later(Changing(((0, slow), (250 * us, fast))), 30 * us)
    state = source.start(1, "even", DRAWS)
    at_ps, _ = source.emit(state, 400 * us)
    assert at_ps.tolist() == [at * us for at in (30, 130, 230, 250, 300, 350)]
    assert begin_later(slow, 0) is slow
