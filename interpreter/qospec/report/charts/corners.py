"""Criteria in charts of delays: a corner that the curve of longer delays must not cross."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from qospec.catalogue.statistics import parse_bound, parse_share
from qospec.dataclass import NamedTuple
from qospec.report.charts.sample import read_sample
from qospec.report.text import write_metric_name
from qospec.report.words import describe_needed
from qospec.units import PS_PER_S, TIME, format_value

Record = Mapping[str, Any]


class Corner(NamedTuple):
    """A criterion in a chart of delays.

    Attributes:
        bound: In s.
        level: The share of delays that may be longer at most, or must be longer at least; None of a
            mean, which shares do not determine.
        above: Whether it limits longer delays; otherwise shorter ones.
        words: The criterion in words, `p99 < 1 ms`.
    """

    bound: Fraction
    level: Fraction | None
    above: bool
    words: str


def list_corners(statement: Record) -> Iterator[Corner]:
    """Yield the bounds of a criterion on a quantile, an extreme, a mean, or a share above a time.

    A spread is no delay, and a report has no bound.
    """
    statistic = statement["measures"]["statistic"]
    bounds = read_sample(statement)
    words = f"{write_metric_name(statistic)} {describe_needed(statement)}"
    time_ps = parse_bound(statistic)
    if time_ps is not None:
        if bounds.high is not None and 0 <= bounds.high <= 1:
            bound = Fraction(time_ps, PS_PER_S)
            words = f"{describe_needed(statement)} above {format_value(bound, TIME)}"
            yield Corner(bound, bounds.high, above=True, words=words)
        return
    level = _find_level(statistic)
    if level is None and statistic != "mean":
        return
    for bound_s, above in ((bounds.high, True), (bounds.low, False)):
        if bound_s is not None and bound_s > 0:
            yield Corner(bound_s, level, above=above, words=words)


def _find_level(statistic: str) -> Fraction | None:
    """Return the share of delays that are longer than a statistic; None if unknown."""
    if statistic in ("min", "max"):
        return Fraction(statistic == "min")
    share = parse_share(statistic)
    return None if share is None else 1 - share
