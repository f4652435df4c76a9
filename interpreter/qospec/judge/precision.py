"""Judging by times that are precise only to some extent, as those of a kernel in real time.

A value is then somewhere within bounds, and a criterion that depends on where is inconclusive.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.statistics import PRECISION, WITHIN, parse_bound, parse_share
from qospec.model.bounds import Bounds
from qospec.model.expression import evaluate, list_measurements
from qospec.units import CELL_RATE, FRAME_RATE, PACKET_RATE, RATE, TIME, format_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.engine.measure.observation import Observation
    from qospec.model.expression import Expression, Measured, Reader, Value

RATES = (RATE, CELL_RATE, PACKET_RATE, FRAME_RATE)
OF_ONE_PACKET = ("", "min", "mean", "max", "std", "sample_std")
"""Statistics of delays that are off by no more than each delay; others are of differences."""
PROVED = "bound"
"""What is no measurement."""
DELAYS = ("transfer_delay", "latency")


def widen(
    leaf: Measured,
    value: Fraction,
    observation: Observation,
    find_share_above: Callable[[int], Value],
) -> Bounds | None:
    """Return between what a value is; None if it depends on no time.

    Args:
        leaf: What was measured.
        value: As it was measured.
        observation: Of which trial.
        find_share_above: Returns the share of delays above a bound in ps.
    """
    precision_ps = observation.precision_ps
    bound_ps = parse_bound(leaf.statistic)
    if bound_ps is not None:
        ends = (
            find_share_above(bound_ps + precision_ps),
            find_share_above(bound_ps - precision_ps),
        )
        least, most = (end if isinstance(end, Fraction) else None for end in ends)
        return Bounds(least, most)
    if leaf.statistic == PROVED:
        return None
    if leaf.dimension == TIME:
        times = 1 if _is_of_delays(leaf) else 2
        width = Fraction(times * precision_ps, 10**12)
    elif leaf.dimension in RATES and not leaf.of_source:
        width = value * Fraction(2 * precision_ps, max(1, observation.window_ps))
    else:
        return None
    least = value - width
    return Bounds(least if leaf.least is None else max(leaf.least, least), value + width)


def _is_of_delays(leaf: Measured) -> bool:
    if leaf.metric not in DELAYS:
        return False
    return leaf.statistic in OF_ONE_PACKET or parse_share(leaf.statistic) is not None


def depends_on_times(leaf: Measured) -> bool:
    """Return whether a value is of times, or of what arrives between two."""
    return (
        leaf.dimension == TIME or leaf.dimension in RATES or parse_bound(leaf.statistic) is not None
    )


def read_within(leaf: Measured, read: Reader) -> Bounds | None:
    """Return between what a value is; None if it is exact."""
    if not depends_on_times(leaf):
        return None
    within = read(replace(leaf, statistic=WITHIN + leaf.statistic))
    return within if isinstance(within, Bounds) else None


def is_imprecise(expression: Expression, read: Reader) -> bool:
    """Return whether a value depends on times that are precise only to some extent."""
    return any(read_within(leaf, read) is not None for leaf in list_measurements(expression))


def explain_imprecise(expression: Expression, read: Reader) -> str:
    """Return why a criterion is undecided that would not be if times were exact; "" of others."""
    if evaluate(expression, read) is None:
        return ""
    for leaf in list_measurements(expression):
        if read_within(leaf, read) is not None:
            precision = read(replace(leaf, statistic=PRECISION))
            assert isinstance(precision, Fraction)  # noqa: S101 -- what is imprecise has one
            return (
                f"times are precise to {format_value(precision, TIME)} on this machine, by which"
                " the value could be on either side"
            )
    return ""
