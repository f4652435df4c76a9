"""The base of metrics: one or several numbers that are computed from a population of items."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal

from qospec.dataclass import NamedTuple
from qospec.voice.calls import rate_call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.engine.measure.tally import Delays, FrameLatencies, Tally

Dimension = Literal["cells", "cell rate", "rate", "data", "time", "ratio", "count"]
"""The dimension of a value: items, items/s, bit/s, bytes, ps, a ratio, or a plain number."""


class Counting(NamedTuple):
    """What a metric counts, as an adjective, and the metric that gives the total."""

    counts: str
    out_of: str


class Metric(ABC):
    """A quantity of a population: a flow, a member of it, or its OAM cells.

    The facts of a class state how the checker offers it, and how it is judged and shown.
    """

    dimension: ClassVar[Dimension]
    """The dimension of its values, for the checker, the judge and reports."""
    measured_at: ClassVar[tuple[Literal["flow", "place"], ...]] = ("flow",)
    """Where it is measured, for the checker: at the ends of a flow, and at a place inside the
    network, of what passes there. Its tally has then only what `Passages.pool` gives."""
    statistics: ClassVar[tuple[str, ...]] = ()
    """The names of its numbers, for the checker and reports; none if it is one number.

    "" is a number without a name besides named ones; "p*" and "packet_*" are patterns of
    `catalogue.statistics`, and "causes" stands for the causes of loss of elements.
    """
    packet_statistics: ClassVar[tuple[str, ...] | None] = None
    """The statistics for a flow of packets, if they differ."""
    exact: ClassVar[bool] = False
    """Whether it is a count, which the checker lets a criterion compare with `==`."""
    of_source: ClassVar[bool] = False
    """Whether it follows from what a source sends by itself, so that no device changes it: for
    criteria that no device can fail."""
    better: ClassVar[Literal["more", "less"]] = "less"
    """Which of two values is the better one, for `worst` of a group."""
    least: ClassVar[int | None] = None
    """The lower bound of its values, if any, for criteria that cannot fail and for intervals."""
    most: ClassVar[int | Fraction | None] = None
    """The upper bound of its values, likewise."""
    sized: ClassVar[bool] = False
    """Whether it needs the size of packets, which whole exchanges do not have."""
    of_calls: ClassVar[bool] = False
    """Whether it is measured of calls only, whose traffic says how speech is coded and played."""
    told_by: ClassVar[Literal["", "connections", "calls"]] = ""
    """What must tell of it, and not every flow does: senders of connections, or offered calls."""
    delivered: ClassVar[bool] = False
    """Whether it grows with what arrives of what was planned, and falls by what does not: for the
    judge, who assumes that it differs downwards from that."""
    fall_per_loss: ClassVar[Fraction | None] = None
    """By how much the mean falls at most where all is lost in place of nothing, if that is known;
    for the judge, who allows for losses that repeats did not show."""
    counting: ClassVar[Counting | None] = None
    """What it counts, if it is a number of some items out of all, or their share; for the judge."""
    noun: ClassVar[str] = "values"
    """What its values are called, in the plural: for notes of the judge."""
    when_absent: ClassVar[int | None] = None
    """Its value of OAM cells that nothing makes; None: no data. For the judge."""
    series: ClassVar[tuple[str, ...]] = ()
    """The statistics that a report may show by interval; "" if it is one number.

    Its tally is that of an interval: counts, `volume`, and delays without their histogram.
    """
    needs: ClassVar[frozenset[str]] = frozenset()
    """What a trial must record for it: "histogram", which every flow has; "shares" of several
    members; and, of what a statement names, "one_point_variation", "latencies", "variation",
    "outages", "calls", "marks", "samples", "readings", "positions", "frame_latencies" and, of
    frames, "planned"; and "payload", which a test asks for."""

    def select_delays(self, tally: Tally) -> Delays | None:
        """Return the values of its quantiles, for the judge and histograms; None without data."""
        return tally.delays

    def goes_on(self, tally: Tally) -> bool:  # noqa: ARG002
        """Return whether its value may only be a lower limit, since the trial ended before it."""
        return False

    @abstractmethod
    def measure(self, tally: Tally, statistic: str, /) -> Fraction | int | None:
        """Return its value, or None where there is no data.

        Raises:
            ValueError: It has no such statistic.
        """


class CallMetric(Metric):
    """A metric of calls: each has a score, which follows from its R."""

    dimension = "count"
    better = "more"
    of_calls = True
    statistics = ("min", "mean", "max")
    needs = frozenset({"calls"})

    @abstractmethod
    def score_call(self, rating: Fraction) -> Fraction:
        """Return the score of a call with this R."""

    def measure(self, tally: Tally, statistic: str) -> Fraction | None:
        """Return of all scores one; None if no call sent anything, or they were not recorded."""
        if statistic not in self.statistics:
            raise ValueError(f"calls have no statistic `{statistic}`")
        ratings = (rate_call(call, heard) for call, heard in tally.calls or ())
        return compute_statistic(
            [self.score_call(rating) for rating in ratings if rating is not None], statistic
        )


class FrameLatency(Metric):
    """A metric of frames of cells: the time from one bit to another, at the ends of a flow."""

    dimension = "time"
    noun = "latencies"
    statistics = ("mean", "min", "max", "std")
    needs = frozenset({"frame_latencies"})

    @abstractmethod
    def select(self, latencies: FrameLatencies) -> Delays:
        """Return the latencies that it is of."""

    def measure(self, tally: Tally, statistic: str) -> Fraction | int | None:
        """Return ps; None if no frame arrived whole, or latencies were not recorded."""
        if statistic not in self.statistics:
            raise ValueError(f"latencies of frames have no statistic `{statistic}`")
        return None if tally.frames is None else self.select(tally.frames).read(statistic)


def compute_statistic(values: Sequence[Fraction], statistic: str) -> Fraction | None:
    """Return the `min`, `mean` or `max` of exact values; None if there are none."""
    if not values:
        return None
    if statistic == "mean":
        return sum(values, Fraction(0)) / len(values)
    return min(values) if statistic == "min" else max(values)
