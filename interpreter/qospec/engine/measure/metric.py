"""What every metric is: a number, or several, that is read off a population of items."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

if TYPE_CHECKING:
    from fractions import Fraction

    from qospec.engine.measure.tally import Delays, Tally

Dimension = Literal["cells", "cell rate", "rate", "time", "ratio", "count"]
"""Of a value: cells or packets, these per second, bit/s, ps, a ratio, or a plain number."""


class Counting(NamedTuple):
    """What a metric counts, as an adjective, and the metric that gives the total."""

    counts: str
    out_of: str


class Metric(ABC):
    """What is read off a population: a flow, a member of it, or its OAM cells.

    The facts of a class say what the checker offers of it, and how it is judged and shown.
    """

    dimension: ClassVar[Dimension]
    """Of its value, for the checker, the judge and reports."""
    statistics: ClassVar[tuple[str, ...]] = ()
    """The names of its numbers, for the checker and reports; none if it is one number.

    "" is one besides others; "p*" and "packet_*" stand for patterns of `catalogue.statistics`, and
    "causes" for what elements lose items for.
    """
    packet_statistics: ClassVar[tuple[str, ...] | None] = None
    """Those of a flow of packets, where they are others."""
    exact: ClassVar[bool] = False
    """Whether it is a count, which the checker lets a criterion compare with `==`."""
    better: ClassVar[Literal["more", "less"]] = "less"
    """Which of two values is the better one: for `worst` of a group."""
    least: ClassVar[int | None] = None
    """What it is never below, if there is such: for criteria that could not fail, for intervals."""
    most: ClassVar[int | None] = None
    """What it is never above, likewise."""
    counting: ClassVar[Counting | None] = None
    """What it counts, if it is a number of some items out of all, or their share: for the judge."""
    noun: ClassVar[str] = "values"
    """What its values are called, in the plural: for notes of the judge."""
    when_absent: ClassVar[int | None] = None
    """Its value of OAM cells that nothing makes; None: no data. For the judge."""
    series: ClassVar[tuple[str, ...]] = ()
    """Those of its statistics that a report may show by intervals; "" if it is one number.

    A tally is then that of an interval: counts, `volume`, and delays without their histogram.
    """
    needs: ClassVar[frozenset[str]] = frozenset()
    """What a trial must record for it: "histogram", which every flow has; "shares" of several
    members; and, of what a statement names, "one_point_variation", "latencies" and "variation"."""

    def delays(self, tally: Tally) -> Delays | None:
        """Return what its quantiles are of, for the judge and histograms; None without data."""
        return tally.delays

    @abstractmethod
    def measure(self, tally: Tally, statistic: str, /) -> Fraction | int | None:
        """Return its value, or None where there is no data.

        Raises:
            ValueError: It has no such statistic.
        """
