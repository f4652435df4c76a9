"""Concave curves against arrivals that are counted one by one."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from qospec.calculus import curve
from qospec.calculus.curve import (
    NOTHING,
    UNBOUNDED,
    Bucket,
    Curve,
    bound_bursts,
    bound_gaps,
    bound_instants,
)

some = settings(max_examples=settings().max_examples // 4)
FRACTIONS = st.fractions(0, 50, max_denominator=8)
CURVES = st.lists(st.tuples(FRACTIONS, FRACTIONS), min_size=1, max_size=5).map(Curve.from_lines)


def most_in(at_ps: list[Fraction], length_ps: Fraction) -> int:
    """Return the most instants in any closed interval of a length."""
    return max(sum(start <= at <= start + length_ps for at in at_ps) for start in at_ps)


@some
@given(st.lists(st.tuples(FRACTIONS, FRACTIONS), min_size=1, max_size=6), FRACTIONS)
def test_a_curve_is_the_least_of_its_lines(lines, length) -> None:
    found = Curve.from_lines(lines)
    assert found.count_within(length) == min(burst + rate * length for burst, rate in lines)
    assert list(found.lines) == sorted(set(found.lines))


@some
@given(CURVES, CURVES, FRACTIONS, FRACTIONS)
def test_curves_are_added_point_by_point(one, other, length, wider) -> None:
    assert one.add(other).count_within(length) == one.count_within(length) + other.count_within(
        length
    )
    assert one.intersect(other).count_within(length) == min(
        one.count_within(length), other.count_within(length)
    )
    assert one.widen(wider).count_within(length) == one.count_within(length + wider)
    assert one.scale_by(3).count_within(length) == 3 * one.count_within(length)


@some
@given(CURVES, st.fractions(Fraction(1, 8), 60, max_denominator=8), FRACTIONS)
def test_the_excess_is_above_all_others(arriving, rate, length) -> None:
    excess = arriving.find_excess(rate)
    if excess is None:
        assert arriving.rate > rate
    else:
        assert excess >= arriving.count_within(length) - rate * length
        assert any(
            excess == arriving.count_within(at) - rate * at
            for at in (0, *(_meet(a, b) for a in arriving.lines for b in arriving.lines if a != b))
        )


def _meet(one: Bucket, other: Bucket) -> Fraction:
    return (other.burst - one.burst) / (one.rate - other.rate)


def test_without_a_bound_there_is_none() -> None:
    assert UNBOUNDED.count_within(1) is UNBOUNDED.find_excess() is UNBOUNDED.rate is None
    assert UNBOUNDED.add(bound_bursts(Fraction(5))) == UNBOUNDED
    assert UNBOUNDED.intersect(bound_bursts(Fraction(5))) == bound_bursts(Fraction(5))
    assert NOTHING.add(bound_bursts(Fraction(5))) == bound_bursts(Fraction(5))


def test_many_lines_are_left_out_upwards(monkeypatch) -> None:
    lines = [(burst, Fraction(100, burst)) for burst in range(1, 30)]
    exact = min(burst + rate * 7 for burst, rate in lines)
    assert Curve.from_lines(lines).count_within(7) >= exact
    monkeypatch.setattr(curve, "MOST_LINES", 100)
    assert Curve.from_lines(lines).count_within(7) == exact


def test_a_burst_has_a_peak_and_a_sustainable_rate() -> None:
    """MBS 5 at PCR 1/10 with SCR 1/100: the T-SPEC of RFC 2212, in cells."""
    assert bound_bursts(Fraction(500), 5, 10).lines == (
        Bucket(Fraction(1), Fraction(1, 10)),
        Bucket(5 - Fraction(40, 100), Fraction(1, 100)),
    )
    assert bound_bursts(Fraction(500), 5).lines == (Bucket(Fraction(5), Fraction(1, 100)),)
    assert bound_bursts(Fraction(10)).lines == (Bucket(Fraction(1), Fraction(1, 10)),)


GAPS = st.lists(st.integers(0, 30), min_size=1, max_size=7).filter(any)


@some
@given(GAPS, st.integers(0, 100))
def test_a_pattern_keeps_within_its_curve(gaps, length) -> None:
    found = bound_gaps([Fraction(gap) for gap in gaps])
    at_ps = [
        Fraction(sum(gaps) * turn + sum(gaps[:k])) for turn in range(9) for k in range(len(gaps))
    ]
    assert most_in(at_ps, Fraction(length)) <= found.count_within(length)
    assert found.rate == Fraction(len(gaps), sum(gaps))
    assert found.count_within(0) == most_in(at_ps, Fraction(0))


@some
@given(GAPS, st.integers(0, 100))
def test_a_long_pattern_keeps_within_two_lines(gaps, length) -> None:
    with_pairs = bound_gaps([Fraction(gap) for gap in gaps])
    limit = curve.MOST_INSTANTS
    curve.MOST_INSTANTS = 1
    try:
        rough = bound_gaps([Fraction(gap) for gap in gaps])
    finally:
        curve.MOST_INSTANTS = limit
    assert rough.count_within(length) >= with_pairs.count_within(length)
    assert rough.rate == with_pairs.rate


@some
@given(st.lists(st.integers(0, 60), min_size=1, max_size=8).map(sorted), st.integers(0, 70))
def test_instants_keep_within_their_curve(at_ps, length) -> None:
    found = bound_instants(at_ps, 2)
    assert 2 * most_in(at_ps, length) <= found.count_within(length) <= 2 * len(at_ps)
    assert found.count_within(0) == 2 * most_in(at_ps, 0)
