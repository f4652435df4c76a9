"""Delays as the record keeps them: of each flow and metric that a statement names, a histogram.

It is that of all repeats together, in steps that are unions of the engine's own buckets, so every
count is exact. Where delays reach further down, one step holds all that is below 1/4096 of the
largest; a chart has no room for more.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import discover
from qospec.catalogue.statistics import packet_of
from qospec.model.expression import Measured, Operation, measurements, observed
from qospec.plan.plan import population_name
from qospec.record.quantity import quantity
from qospec.record.steps import FINEST, step_of
from qospec.units import PS_PER_S, TIME

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from qospec.document import Document
    from qospec.engine.measure.tally import Delays
    from qospec.judge.repeats import RepeatReadings
    from qospec.model.expression import Expression
    from qospec.model.suite import Statement

MOST_STEPS = 100
"""Counts in one histogram."""
MOST_KEPT = 100
"""Histograms of a case; those of the first statements."""
OCTAVES = 12
"""So many doublings below the largest delay have steps of their own."""


def measured_alone(expression: Expression) -> Document:
    """Return what a statement measures by itself as `measures`; nothing where that is not one."""
    sides = [expression]
    if isinstance(expression, Operation):
        sides = [side for side in expression.operands if observed(side)]
    leaf = sides[0] if len(sides) == 1 else None
    if not isinstance(leaf, Measured):
        return {}
    return {
        "measures": {"flow": _flow(leaf), "metric": leaf.metric, "statistic": leaf.statistic},
    }


def histogram_documents(
    statements: Iterable[Statement], repeats: Sequence[RepeatReadings]
) -> list[Document]:
    """Return the histograms of the delays that statements name, each flow and metric once."""
    found: dict[tuple[str, str], Document] = {}
    for leaf in _of_delays(statements):
        key = _flow(leaf), leaf.metric
        if key in found or len(found) == MOST_KEPT:
            continue
        delays = [each for repeat in repeats if (each := repeat.delays(leaf)) and each.buckets]
        if delays:
            found[key] = {"flow": key[0], "metric": key[1], **histogram(delays)}
    return list(found.values())


def _of_delays(statements: Iterable[Statement]) -> Iterator[Measured]:
    """Yield what is measured of a metric that has quantiles; a single packet has none."""
    metrics = discover().of("metric")
    for statement in statements:
        if statement.idle or statement.kind == "invariant":
            continue
        for leaf in measurements(statement.expression):
            if "p*" in metrics[leaf.metric].build.statistics and not packet_of(leaf.statistic):
                yield leaf


def _flow(leaf: Measured) -> str:
    prefix = f"{leaf.network}." if leaf.network else ""
    return prefix + population_name(leaf.flow, leaf.member, oam=leaf.oam)


def histogram(repeats: Sequence[Delays]) -> Document:
    """Return the delays of some repeats, each with some, as one histogram.

    A bucket counts in the step in which it begins, which holds all of it but where delays are
    above the least: there a bucket, 0.2 % wide, may reach into the next step.
    """
    least_ps = min(each.min_ps or 0 for each in repeats)
    largest_ps = max(each.max_ps or 0 for each in repeats)
    lowest_ps = max(least_ps, largest_ps >> OCTAVES)
    per_octave = FINEST
    while step_of(largest_ps, per_octave) - step_of(lowest_ps, per_octave) >= MOST_STEPS:
        per_octave //= 2
    counts: Counter[int] = Counter()
    for each in repeats:
        for low_ps, _, items in each.buckets:
            counts[step_of(max(low_ps, each.min_ps or 0, lowest_ps), per_octave)] += items
    first, last = step_of(lowest_ps, per_octave), step_of(largest_ps, per_octave)
    return {
        "least": quantity(Fraction(least_ps, PS_PER_S), TIME),
        "greatest": quantity(Fraction(largest_ps, PS_PER_S), TIME),
        "per_octave": per_octave,
        "first": first,
        "counts": " ".join(str(counts[number]) for number in range(first, last + 1)),
    }
