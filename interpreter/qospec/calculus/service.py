"""Services: how much of what has arrived is served at least, as convex curves.

A service is the greatest of several rates with a latency. Work is measured in the time that it
takes, so a server that does nothing else has the rate 1.
"""

from __future__ import annotations

from fractions import Fraction

from qospec.calculus.curve import Curve
from qospec.dataclass import NamedTuple

ONE, NO_TIME = Fraction(1), Fraction(0)


class RateLatency(NamedTuple):
    """A rate, after a latency in ps: Le Boudec and Thiran, 1.3.2."""

    rate: Fraction = ONE
    latency_ps: Fraction = NO_TIME


ServiceCurve = tuple[RateLatency, ...]
"""The greatest of these; none, if there is no guarantee."""

WHOLE: ServiceCurve = (RateLatency(),)
"""A server that serves nothing else."""


def delay_service(service: ServiceCurve, time_ps: Fraction | int) -> ServiceCurve:
    """Return a service that begins later."""
    return tuple(RateLatency(rate, latency_ps + time_ps) for rate, latency_ps in service)


def bound_delay_ps(arrivals: Curve, service: ServiceCurve) -> Fraction | None:
    """Return the longest delay of arrivals that are served in order; None: no bound.

    It is the horizontal deviation: Le Boudec and Thiran, 1.4.1, the delay bound. How long a work w
    takes, the least of T + w/R, is concave in w, so this is how far one concave curve is ever above
    time.
    """
    return Curve.from_lines(
        (latency_ps + burst / rate, more / rate)
        for rate, latency_ps in service
        for burst, more in arrivals.lines
    ).find_excess()


def bound_backlog(arrivals: Curve, service: ServiceCurve) -> Fraction | None:
    """Return a bound of the backlog; None: no bound.

    The vertical deviation from each rate alone: Le Boudec and Thiran, 1.4.1, the backlog bound.
    """
    excesses = (arrivals.widen(latency_ps).find_excess(rate) for rate, latency_ps in service)
    return min((most for most in excesses if most is not None), default=None)


def find_residual(others: Curve, blocking_ps: Fraction) -> ServiceCurve:
    """Return what others leave that go first, and one item that is not interrupted.

    Le Boudec and Thiran, 1.3.2, non-preemptive priority nodes. Each line of `others` leaves the
    rate 1 - r from (b + blocking) / (1 - r) on.
    """
    return tuple(
        RateLatency(1 - rate, (burst + blocking_ps) / (1 - rate))
        for burst, rate in others.lines
        if rate < 1
    )
