"""Histograms of delays in the record: one of each flow and metric that a statement names.

Likewise of the stays in a state of a machine of which a statement asks a quantile.

A histogram counts the delays of all repeats together, in bins that are unions of the engine's own
buckets, so every count is exact. The lowest bin contains everything below 1/4096 of the largest
delay; a chart has no room for more.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import discover
from qospec.catalogue.statistics import parse_packet_number, parse_share
from qospec.model.expression import (
    Measured,
    Operation,
    is_measured,
    list_counted,
    list_measurements,
)
from qospec.protocol.streams import name_population
from qospec.record.bins import FINEST, find_bin
from qospec.record.quantity import describe_quantity
from qospec.units import PS_PER_S, TIME

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from qospec.document import Document
    from qospec.engine.measure.tally import Delays
    from qospec.judge.readings import Readings
    from qospec.model.expression import Expression
    from qospec.model.suite import Statement

MAX_BINS = 100
"""The most bins of one histogram."""
MAX_HISTOGRAMS = 100
"""The most histograms of a case: those of its first statements."""
OCTAVES = 12
"""Doublings below the largest delay that have bins of their own."""


def describe_measurement(expression: Expression) -> Document:
    """Return as `measures` what a statement measures; nothing unless that is a single value."""
    sides = [expression]
    if isinstance(expression, Operation):
        sides = [side for side in expression.operands if is_measured(side)]
    leaf = sides[0] if len(sides) == 1 else None
    if not isinstance(leaf, Measured) or leaf.place is not None:
        return {}
    return {
        "measures": {"flow": _name_flow(leaf), "metric": leaf.metric, "statistic": leaf.statistic},
    }


def describe_histograms(
    statements: Sequence[Statement], repeats: Sequence[Readings]
) -> list[Document]:
    """Return the histograms of the delays that statements name, one per flow and metric."""
    found: dict[tuple[str, str], Document] = {}
    for leaf in _list_delays(statements):
        key = _name_flow(leaf), leaf.metric
        if key in found or len(found) == MAX_HISTOGRAMS:
            continue
        delays = [seen for repeat in repeats if (seen := repeat.read_delays(leaf)) and seen.buckets]
        if delays:
            found[key] = {"flow": key[0], "metric": key[1], **describe_histogram(delays)}
    for network, path, state in dict.fromkeys(_list_states(statements)):
        lasted = (repeat.read_stays(path, state, network) for repeat in repeats)
        stays = [delays for delays in lasted if delays is not None and delays.max_ps]
        if stays and len(found) < MAX_HISTOGRAMS:
            name = f"{network}.{path}.{state}" if network else f"{path}.{state}"
            found[name, "time"] = {"flow": name, "metric": "time", **describe_histogram(stays)}
    return list(found.values())


def _list_states(statements: Iterable[Statement]) -> Iterator[tuple[str, str, str]]:
    """Yield the states of machines of which a statement asks a quantile of the time in them.

    That is the network, the path of the machine, and the state.
    """
    for statement in statements:
        if statement.idle or statement.kind == "invariant":
            continue
        for leaf in list_counted(statement.expression):
            state, _, statistic = leaf.observed.removeprefix("machine.state.").partition(".time.")
            if parse_share(statistic) is not None:
                yield leaf.network, leaf.path, state


def _list_delays(statements: Iterable[Statement]) -> Iterator[Measured]:
    """Yield the measurements of metrics with quantiles, except those of a single packet."""
    metrics = discover().select_role("metric")
    for statement in statements:
        if statement.idle or statement.kind == "invariant":
            continue
        for leaf in list_measurements(statement.expression):
            if "p*" in metrics[leaf.metric].build.statistics and not parse_packet_number(
                leaf.statistic
            ):
                yield leaf


def _name_flow(leaf: Measured) -> str:
    prefix = f"{leaf.network}." if leaf.network else ""
    return prefix + name_population(leaf.flow, leaf.member, leaf.part)


def describe_histogram(repeats: Sequence[Delays]) -> Document:
    """Return the delays of repeats, none of them without any, as one histogram.

    A bucket counts in the bin in which it begins. That contains all of it, except for delays above
    the least: there a bucket, 0.2 % wide, may reach into the next bin.
    """
    least_ps = min(repeat.min_ps or 0 for repeat in repeats)
    largest_ps = max(repeat.max_ps or 0 for repeat in repeats)
    lowest_ps = max(least_ps, largest_ps >> OCTAVES)
    per_octave = FINEST
    while find_bin(largest_ps, per_octave) - find_bin(lowest_ps, per_octave) >= MAX_BINS:
        per_octave //= 2
    counts: Counter[int] = Counter()
    for repeat in repeats:
        for low_ps, _, items in repeat.buckets:
            counts[find_bin(max(low_ps, repeat.min_ps or 0, lowest_ps), per_octave)] += items
    first, last = find_bin(lowest_ps, per_octave), find_bin(largest_ps, per_octave)
    return {
        "least": describe_quantity(Fraction(least_ps, PS_PER_S), TIME),
        "greatest": describe_quantity(Fraction(largest_ps, PS_PER_S), TIME),
        "per_octave": per_octave,
        "first": first,
        "counts": " ".join(str(counts[number]) for number in range(first, last + 1)),
    }
