"""Chains: numbers of the textbook, and servers that are as late as they may be."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from qospec.calculus.chain import Stage, bound_delay_ps, find_leftover_service
from qospec.calculus.curve import NOTHING, Curve, bound_instants, cover_points
from qospec.calculus.guarantee import bound_items
from qospec.calculus.service import RateLatency

some = settings(max_examples=settings().max_examples * 5 // 6)
ONE = (1,)
"""The sizes of items of a byte: as small as items are."""
NUMBERS = st.fractions(0, 9, max_denominator=3)
ABOVE_0 = st.fractions(Fraction(1, 3), 9, max_denominator=3)


def stage(rate: int, latency: int) -> Stage:
    return Stage(
        latency + Fraction(1, rate), Fraction(1, rate), cover_points([(Fraction(1, rate), 1)])
    )


def test_a_burst_is_paid_once() -> None:
    """Le Boudec and Thiran, 1.4.3: b/R + T1 + T2, of b 12 with R 4 and 6; and an item of 1 B."""
    arriving = bound_items(Curve.from_lines([(12, 2)]), ONE)
    chain = [[stage(4, 5)], [stage(6, 7)]]
    assert bound_delay_ps(arriving, chain) == Fraction(12, 4) + 5 + 7 + Fraction(1, 6)
    apart = [bound_delay_ps(arriving, [server]) for server in chain]
    assert apart == [Fraction(12, 4) + 5, Fraction(12, 6) + 7]


def test_a_node_may_be_known_by_its_delay_alone() -> None:
    arriving = bound_items(Curve.from_lines([(12, 2)]), ONE)
    delay = Stage(Fraction(100))
    assert bound_delay_ps(arriving, [[stage(4, 5)], [delay], [stage(6, 7)]]) == 115 + Fraction(1, 6)
    assert bound_delay_ps(arriving, [[delay], [delay]]) == 200
    assert bound_delay_ps(arriving, [[stage(1, 0)], [stage(6, 7)]]) is None


def shaper(rate: int, bucket: int) -> Stage:
    """Return what a shaper guarantees items of 1 B."""
    cost = Fraction(1, rate)
    return Stage((1 - bucket) * cost, cost, cover_points([(cost, 1)]), saves=True)


def test_a_shaper_and_a_line_pay_a_burst_once() -> None:
    """Le Boudec and Thiran, 1.5: the service is the lesser of both, so the longer wait counts.

    A burst of 60 B waits for a shaper of 2 B/s and 24 B until (60 - 24) / 2 s, and for the line of
    6 B/s 60 / 6 s. Apart it would wait for both: 24 / 6 s more, which come from the shaper at once.
    """
    arriving = bound_items(Curve.from_lines([(60, 1)]), ONE)
    line = stage(6, 7)
    assert bound_delay_ps(arriving, [[shaper(2, 24)], [line]]) == 18 + 7 + Fraction(1, 6)
    assert bound_delay_ps(arriving, [[shaper(2, 48)], [line]]) == 10 + 7
    assert bound_delay_ps(arriving, [[shaper(2, 24)]]) == 18
    assert bound_delay_ps(arriving, [[shaper(2, 99)]]) == 0


def test_of_several_shapers_the_slowest_counts() -> None:
    arriving = bound_items(Curve.from_lines([(60, 1)]), ONE)
    shapers = [[shaper(3, 12)], [shaper(2, 24)], [shaper(4, 1)]]
    assert bound_delay_ps(arriving, shapers) == max(
        48 / Fraction(3), 36 / Fraction(2), 59 / Fraction(4)
    )


def test_the_best_of_several_guarantees_is_taken() -> None:
    """At rate 1 the first would have no bound; at rate 6 its latency is too long."""
    arriving = bound_items(Curve.from_lines([(12, 2)]), ONE)
    first = [stage(1, 0), stage(4, 5), stage(6, 90)]
    assert bound_delay_ps(arriving, [first, [stage(6, 7)]]) == 15 + Fraction(1, 6)


def test_what_is_left_beside_others_in_one_queue() -> None:
    """Le Boudec and Thiran, chapter 6: rate R - r, latency T + b/R, of R 4, T 5, b 12 and r 1."""
    others = Curve.from_lines([(12, 1)])
    assert [*find_leftover_service((RateLatency(Fraction(4), Fraction(5)),), others)] == [
        (8, Fraction(1, 3))
    ]
    assert [*find_leftover_service((RateLatency(Fraction(4), Fraction(5)),), NOTHING)] == [
        (5, Fraction(1, 4))
    ]
    assert not [*find_leftover_service((RateLatency(Fraction(1), Fraction(5)),), others)]


ITEMS = st.lists(
    st.tuples(st.sampled_from([0, 0, 1, 5]), st.integers(1, 4)), min_size=1, max_size=7
)
SERVERS = st.lists(st.tuples(NUMBERS, ABOVE_0, ABOVE_0), min_size=1, max_size=4)
SHAPERS = st.lists(st.tuples(ABOVE_0, st.integers(4, 9), st.booleans()), min_size=4, max_size=4)


@some
@given(ITEMS, SERVERS)
def test_servers_that_are_as_late_as_they_may_be(items, servers) -> None:
    """Each ends item n exactly at the latest of a(k) + T + c(k) + ... + c(n)."""
    first = ends = [sum(gap for gap, _ in items[: n + 1]) for n in range(len(items))]
    sizes = [size for _, size in items]
    for latency, fixed, per_byte in servers:
        costs = [fixed + per_byte * size for size in sizes]
        ends = [
            max(ends[k] + latency + sum(costs[k : n + 1]) for k in range(n + 1))
            for n in range(len(items))
        ]
    chain = []
    for latency, fixed, per_byte in servers:
        above = cover_points((fixed + per_byte * size, size) for size in sorted(set(sizes)))
        most = fixed + per_byte * max(sizes)
        chain.append([Stage(latency + most, most, above)])
    arriving = bound_items(bound_instants(first), set(sizes))
    longest = bound_delay_ps(arriving, chain)
    assert longest is not None
    assert max(end - begin for end, begin in zip(ends, first, strict=True)) <= longest


@some
@given(ITEMS, SERVERS, SHAPERS)
def test_shapers_between_servers_that_are_as_late_as_they_may_be(items, servers, shapers) -> None:
    first = ends = [sum(gap for gap, _ in items[: n + 1]) for n in range(len(items))]
    sizes = [size for _, size in items]
    chain = []
    for (latency, _, per_byte), (byte, bucket, is_there) in zip(servers, shapers, strict=False):
        if is_there:  # its bucket is full where it has sent nothing since
            ends = [
                max(ends[k] + max(byte * (sum(sizes[k : n + 1]) - bucket), 0) for k in range(n + 1))
                for n in range(len(items))
            ]
            known = sorted(set(sizes))
            above = cover_points((byte * size, size) for size in known)
            alone = byte * (known[-1] - bucket)
            chain.append([Stage(alone, byte * known[-1], above, saves=True)])
        ends = [
            max(ends[k] + latency + per_byte * sum(sizes[k : n + 1]) for k in range(n + 1))
            for n in range(len(items))
        ]
        most = per_byte * max(sizes)
        chain.append([Stage(latency + most, most, cover_points([(most, max(sizes))]))])
    longest = bound_delay_ps(bound_items(bound_instants(first), set(sizes)), chain)
    assert longest is not None
    assert max(end - begin for end, begin in zip(ends, first, strict=True)) <= longest


@some
@given(st.integers(1, 9), SERVERS)
def test_equal_items_at_once_take_exactly_that_long(count: int, servers) -> None:
    costs = [cost for _, cost, _ in servers]
    chain = [
        [Stage(latency + cost, cost, cover_points([(cost, 1)]))] for latency, cost, _ in servers
    ]
    latency = sum(latency_ps for latency_ps, _, _ in servers)
    longest = bound_delay_ps(bound_items(bound_instants([0] * count), ONE), chain)
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
    for late, slower in find_leftover_service(
        (RateLatency(Fraction(1), latency),), bound_instants(other) if other else NOTHING
    ):
        for place, n in enumerate(mine):
            assert ends[n] <= max(
                at[k] + late + slower * (place - first + 1)
                for first, k in enumerate(mine[: place + 1])
            )
