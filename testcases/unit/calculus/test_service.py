"""Services: examples with numbers of the textbook, and deviations by their definition."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qospec.calculus.curve import NOTHING, UNBOUNDED, Curve, bound_bursts
from qospec.calculus.service import (
    WHOLE,
    RateLatency,
    bound_backlog,
    bound_delay_ps,
    delay_service,
    find_residual,
)

some = settings(max_examples=settings().max_examples // 4)
NUMBERS = st.fractions(0, 20, max_denominator=4)
ABOVE_0 = st.fractions(Fraction(1, 4), 20, max_denominator=4)
CURVES = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=4).map(Curve.from_lines)
SERVICES = st.lists(st.builds(RateLatency, ABOVE_0, NUMBERS), min_size=1, max_size=3).map(tuple)


def served(service, time) -> Fraction:
    return max(rate * max(time - latency, 0) for rate, latency in service)


def test_a_leaky_bucket_at_a_rate_and_a_latency() -> None:
    """Le Boudec and Thiran, 1.4.1: delay T + b/R, backlog b + r T, output b + r T."""
    arriving, service = Curve.from_lines([(12, 2)]), (RateLatency(Fraction(4), Fraction(5)),)
    assert bound_delay_ps(arriving, service) == 5 + Fraction(12, 4)
    assert bound_backlog(arriving, service) == 12 + 2 * 5
    assert arriving.serve(Fraction(4), 5).lines == Curve.from_lines([(12 + 2 * 5, 2)]).lines


@pytest.mark.parametrize(
    ("rate", "delay"), [(3, 2 + Fraction(10, 3) + Fraction(20, 9)), (5, 2 + Fraction(10, 5))]
)
def test_a_t_spec_has_the_bound_of_the_guaranteed_service(rate, delay) -> None:
    """RFC 2212: (b - M)(p - R) / (R (p - r)) + M/R + D, of M 10, p 5, b 20, r 2 and D 2."""
    arriving = Curve.from_lines([(10, 5), (20, 2)])
    assert bound_delay_ps(arriving, (RateLatency(Fraction(rate), Fraction(2)),)) == delay


def test_what_strict_priority_leaves() -> None:
    """Le Boudec and Thiran, chapter 6: rate C - r, latency (b + L) / (C - r), here of C = 1."""
    (left,) = find_residual(Curve.from_lines([(6, Fraction(1, 4))]), Fraction(3))
    assert left == RateLatency(Fraction(3, 4), Fraction(9) / Fraction(3, 4))
    assert find_residual(NOTHING, Fraction(3)) == (RateLatency(Fraction(1), Fraction(3)),)
    assert (
        find_residual(UNBOUNDED, Fraction(0))
        == find_residual(Curve.from_lines([(0, 1)]), Fraction(0))
        == ()
    )


def test_what_is_not_bounded_or_not_served_has_no_bound() -> None:
    for arriving, service in ((UNBOUNDED, WHOLE), (bound_bursts(Fraction(5)), ())):
        assert bound_delay_ps(arriving, service) is bound_backlog(arriving, service) is None
    assert bound_delay_ps(Curve.from_lines([(1, 2)]), WHOLE) is None
    assert bound_delay_ps(Curve.from_lines([(7, 1)]), delay_service(WHOLE, 4)) == 11


@some
@given(CURVES, SERVICES, NUMBERS)
def test_deviations_are_above_all_others(arriving, service, time) -> None:
    delay, most = bound_delay_ps(arriving, service), bound_backlog(arriving, service)
    if delay is not None:
        assert served(service, time + delay) >= arriving.count_within(time)
    if most is not None:
        assert most >= arriving.count_within(time) - served(service, time)


@some
@given(CURVES, ABOVE_0, NUMBERS, NUMBERS, NUMBERS)
def test_an_output_is_a_deconvolution(arriving, rate, latency, length, earlier) -> None:
    out = arriving.serve(rate, latency)
    if out.is_bounded:
        service = (RateLatency(rate, latency),)
        assert out.count_within(length) >= arriving.count_within(length + earlier) - served(
            service, earlier
        )
