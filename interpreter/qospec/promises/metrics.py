"""A promise about metrics: they are consistent with each other."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import discover
from qospec.catalogue.statistics import parse_share
from qospec.promises.promise import Promise
from qospec.units import format_value

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from qospec.promises.promise import Trial
    from qospec.units import Dimension

Values = dict[str, tuple["Fraction", "Dimension"]]
"""By statistic, "" for a metric that is one number."""


def _find_inconsistent(trial: Trial) -> Iterator[str]:
    """Yield metrics that contradict each other."""
    catalogue = discover().select_role("metric")
    found: dict[tuple[str, str], Values] = {}
    for population, shown, value, dimension in trial.readings.list_all():
        name, _, statistic = shown.partition(".")
        if value is not None:
            found.setdefault((population, name), {})[statistic] = value, dimension
    for (population, name), values in found.items():
        kind = catalogue[name]
        for statistic, (value, dimension) in values.items():
            shown = f"{population}.{name}" + (f".{statistic}" if statistic else "")
            if kind.build.least is not None and value < kind.build.least:
                yield f"{shown} is {format_value(value, dimension)}, and cannot be so little"
            if kind.build.most is not None and value > kind.build.most:
                yield f"{shown} is {format_value(value, dimension)}, and cannot be so much"
        for low, high in pairwise(_select_ascending(values)):
            if values[low][0] > values[high][0]:
                yield f"of {population}.{name}, {low} is above {high}"
        if {"min", "mean", "max"} <= values.keys() and not (
            values["min"][0] <= values["mean"][0] <= values["max"][0]
        ):
            yield f"the mean of {population}.{name} is not between the least and the greatest"
    yield from _find_unbalanced(found)


def _select_ascending(values: Values) -> list[str]:
    """Return the statistics of a distribution that ascend: the least, quantiles, the greatest."""
    shares = {name: share for name in values if (share := parse_share(name)) is not None}
    ordered = ("min", *sorted(shares, key=shares.__getitem__), "max")
    return [statistic for statistic in ordered if statistic in values]


def _find_unbalanced(found: dict[tuple[str, str], Values]) -> Iterator[str]:
    """Yield populations of which more was received or lost than sent."""
    for population, name in found:
        if name == "sent":
            sent, received, lost = (
                found.get((population, metric), {}).get("", (0, None))[0]
                for metric in ("sent", "received", "lost")
            )
            if received + lost > sent:
                yield f"of {population} {sent} were sent, {received} received and {lost} lost"


PROMISES = (
    Promise(
        "metrics",
        "metrics are consistent: the least is no more than the mean, quantiles ascend, …",
        "the definitions of the metrics",
        _find_inconsistent,
    ),
)
