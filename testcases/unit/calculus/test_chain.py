"""Chains: numbers of the textbook, and servers that are as late as they may be."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from qospec.calculus.chain import Stage, delay_ps, left_over
from qospec.calculus.curve import NOTHING, Curve, once
from qospec.calculus.guarantee import of_items
from qospec.calculus.service import RateLatency

some = settings(max_examples=100)
ONE = (1,)
"""The sizes of items of a byte: as small as items are."""
NUMBERS = st.fractions(0, 9, max_denominator=3)
ABOVE_0 = st.fractions(Fraction(1, 3), 9, max_denominator=3)


def stage(rate: int, latency: int) -> Stage:
    return Stage(latency + Fraction(1, rate), Fraction(1, rate), Fraction(1, rate))


def test_a_burst_is_paid_once() -> None:
    """Le Boudec and Thiran, 1.4.3: b/R + T1 + T2, of b 12 with R 4 and 6; and an item of 1 B."""
    arriving = of_items(Curve.of([(12, 2)]), ONE)
    chain = [[stage(4, 5)], [stage(6, 7)]]
    assert delay_ps(arriving, chain) == Fraction(12, 4) + 5 + 7 + Fraction(1, 6)
    apart = [delay_ps(arriving, [each]) for each in chain]
    assert apart == [Fraction(12, 4) + 5, Fraction(12, 6) + 7]


def test_a_node_may_be_known_by_its_delay_alone() -> None:
    arriving = of_items(Curve.of([(12, 2)]), ONE)
    delay = Stage(Fraction(100))
    assert delay_ps(arriving, [[stage(4, 5)], [delay], [stage(6, 7)]]) == 115 + Fraction(1, 6)
    assert delay_ps(arriving, [[delay], [delay]]) == 200
    assert delay_ps(arriving, [[stage(1, 0)], [stage(6, 7)]]) is None


def test_the_best_of_several_guarantees_is_taken() -> None:
    """At rate 1 the first would have no bound; at rate 6 its latency is too long."""
    arriving = of_items(Curve.of([(12, 2)]), ONE)
    first = [stage(1, 0), stage(4, 5), stage(6, 90)]
    assert delay_ps(arriving, [first, [stage(6, 7)]]) == 15 + Fraction(1, 6)


def test_what_is_left_beside_others_in_one_queue() -> None:
    """Le Boudec and Thiran, chapter 6: rate R - r, latency T + b/R, of R 4, T 5, b 12 and r 1."""
    others = Curve.of([(12, 1)])
    assert [*left_over((RateLatency(Fraction(4), Fraction(5)),), others)] == [(8, Fraction(1, 3))]
    assert [*left_over((RateLatency(Fraction(4), Fraction(5)),), NOTHING)] == [(5, Fraction(1, 4))]
    assert not [*left_over((RateLatency(Fraction(1), Fraction(5)),), others)]


ITEMS = st.lists(
    st.tuples(st.sampled_from([0, 0, 1, 5]), st.integers(1, 4)), min_size=1, max_size=7
)
SERVERS = st.lists(st.tuples(NUMBERS, ABOVE_0, ABOVE_0), min_size=1, max_size=4)


@some
@given(ITEMS, SERVERS)
def test_servers_that_are_as_late_as_they_may_be(items, servers) -> None:
    """Each ends item n exactly at the latest of a(k) + T + c(k) + ... + c(n)."""
    first = ends = [sum(gap for gap, _ in items[: n + 1]) for n in range(len(items))]
    sizes = [size for _, size in items]
    for latency, fixed, each in servers:
        costs = [fixed + each * size for size in sizes]
        ends = [
            max(ends[k] + latency + sum(costs[k : n + 1]) for k in range(n + 1))
            for n in range(len(items))
        ]
    dearest = [fixed + each * max(sizes) for _, fixed, each in servers]
    chain = [
        [Stage(latency + most, most, fixed / min(sizes) + each)]
        for (latency, fixed, each), most in zip(servers, dearest, strict=True)
    ]
    arriving = of_items(once(first), set(sizes))
    longest = delay_ps(arriving, chain)
    assert longest is not None
    assert max(end - begin for end, begin in zip(ends, first, strict=True)) <= longest


@some
@given(st.integers(1, 9), SERVERS)
def test_equal_items_at_once_take_exactly_that_long(count: int, servers) -> None:
    costs = [cost for _, cost, _ in servers]
    chain = [[Stage(latency + cost, cost, cost)] for latency, cost, _ in servers]
    latency = sum(each for each, _, _ in servers)
    longest = delay_ps(of_items(once([0] * count), ONE), chain)
    assert longest == latency + sum(costs) + (count - 1) * max(costs)


@some
@given(st.data())
def test_others_in_the_queue_of_a_server_that_is_as_late_as_it_may_be(data) -> None:
    """Items of both arrive in order at a server of rate 1; ours are bounded by what is left."""
    count = data.draw(st.integers(1, 9))
    gaps = data.draw(st.lists(st.sampled_from([0, 0, 1, 3]), min_size=count, max_size=count))
    ours = data.draw(st.lists(st.booleans(), min_size=count, max_size=count))
    at = [sum(gaps[: n + 1]) for n in range(count)]
    latency = data.draw(NUMBERS)
    ends = [max(at[k] + latency + n - k + 1 for k in range(n + 1)) for n in range(count)]
    mine = [n for n in range(count) if ours[n]]
    other = [at[n] for n in range(count) if not ours[n]]
    for late, slower in left_over(
        (RateLatency(Fraction(1), latency),), once(other) if other else NOTHING
    ):
        for place, n in enumerate(mine):
            assert ends[n] <= max(
                at[k] + late + slower * (place - first + 1)
                for first, k in enumerate(mine[: place + 1])
            )
