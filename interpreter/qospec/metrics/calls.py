"""What becomes of calls that are offered: established or refused, and how many are held."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Metric

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Sample, Tally


class OfferedMetric(Metric):
    """A metric of calls that a source offers."""

    least = 0
    told_by = "calls"
    needs = frozenset({"samples"})
    series = ("",)
    of_source = True
    quantity: ClassVar[str]

    def find_sample(self, tally: Tally, quantity: str) -> Sample | None:
        """Return the samples of a quantity; None if none were recorded."""
        return None if tally.samples is None else tally.samples[quantity]

    def measure(self, tally: Tally, _statistic: str = "") -> Fraction | int | None:
        """Return a number of calls; None if it was not recorded."""
        seen = self.find_sample(tally, self.quantity)
        return None if seen is None else seen.weight


@metric(source="ITU-T E.600 (call attempt)", carries=("cell", "packet"))
class CallsOffered(OfferedMetric):
    """Count the calls that were offered within the window."""

    dimension = "count"
    better = "more"
    exact = True
    quantity = "offered"


@metric(source="ITU-T E.600 (successful call)", carries=("cell", "packet"))
class CallsEstablished(OfferedMetric):
    """Count the calls that found a free connection within the window."""

    dimension = "count"
    better = "more"
    exact = True
    quantity = "established"


@metric(source="ITU-T E.600 (lost call)", carries=("cell", "packet"))
class CallsRefused(OfferedMetric):
    """Count the calls that found no free connection within the window."""

    dimension = "count"
    exact = True
    quantity = "refused"


@metric(source="ITU-T E.600 (call congestion)", carries=("cell", "packet"))
class CallBlocking(OfferedMetric):
    """Divide the calls that were refused by all that were offered."""

    dimension = "ratio"
    most = 1
    quantity = "refused"

    def measure(self, tally: Tally, _statistic: str = "") -> Fraction | None:
        """Return a ratio; None if no call was offered, or it was not recorded."""
        offered = self.find_sample(tally, "offered")
        refused = self.find_sample(tally, self.quantity)
        if offered is None or refused is None or not offered.weight:
            return None
        return Fraction(refused.weight, offered.weight)


@metric(source="ITU-T E.600 (traffic carried)", carries=("cell", "packet"))
class CallsCarried(OfferedMetric):
    """Find how many calls go on at a time on average: the traffic carried, in erlangs."""

    dimension = "count"
    better = "more"
    quantity = "held"

    def measure(self, tally: Tally, _statistic: str = "") -> Fraction | None:
        """Return the mean over time; None if the window has no length, or it was not recorded."""
        seen = self.find_sample(tally, self.quantity)
        if seen is None or not tally.window_ps:
            return None
        return Fraction(seen.total, tally.window_ps)


@metric(source="ITU-T E.600 (holding time)", carries=("cell", "packet"))
class CallsHeld(OfferedMetric):
    """Find the most calls that go on at a time, of those from one host to another."""

    dimension = "count"
    better = "more"
    exact = True
    quantity = "held"

    def measure(self, tally: Tally, _statistic: str = "") -> int | None:
        """Return a number of calls; None if it was not recorded."""
        seen = self.find_sample(tally, self.quantity)
        return None if seen is None else seen.most or 0
