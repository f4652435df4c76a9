"""The latencies of frames of cells: from one of their bits to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import FrameLatency

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Delays, FrameLatencies

SOURCE = "ATM Forum/97-0178, 1 (latency of frames); ATM Forum Performance Testing Specification"


@metric(source=SOURCE, carries=("frame",))
class FifoLatency(FrameLatency):
    """Measure from the first bit of a frame that is sent to the first bit that arrives, in ps.

    First in, first out. The first bit arrives the time of a cell before its last: that of the line
    by which the frame comes.
    """

    least = 0

    def select(self, latencies: FrameLatencies) -> Delays:
        """Return those from first to first bit."""
        return latencies.fifo


@metric(source=SOURCE, carries=("frame",))
class LiloLatency(FrameLatency):
    """Measure from the last bit of a frame that is sent to the last bit that arrives, in ps.

    Last in, last out. It is the MIMO latency where frames leave as fast as they come, or faster.
    """

    least = 0

    def select(self, latencies: FrameLatencies) -> Delays:
        """Return those from last to last bit."""
        return latencies.lilo


@metric(source=SOURCE, carries=("frame",))
class LifoLatency(FrameLatency):
    """Measure from the last bit of a frame that is sent to the first bit that arrives, in ps.

    Last in, first out. It is negative of frames that begin to arrive before all of them is sent, as
    most do through a switch.
    """

    def select(self, latencies: FrameLatencies) -> Delays:
        """Return those from last to first bit."""
        return latencies.lifo


@metric(source=SOURCE, carries=("frame",))
class FiloLatency(FrameLatency):
    """Measure from the first bit of a frame that is sent to the last bit that arrives, in ps.

    First in, last out. It grows with the frame, and with gaps between its cells.
    """

    least = 0

    def select(self, latencies: FrameLatencies) -> Delays:
        """Return those from first to last bit."""
        return latencies.filo


@metric(source=SOURCE, carries=("frame",))
class MimoLatency(FrameLatency):
    """Measure how much longer a frame takes than in a switch without delay, in ps.

    Message in, message out: the least of the LILO latency, and of the FILO latency less the nominal
    frame output time, which a frame takes through a switch without delay. That is the time from
    first to last bit sent, times the ratio of the rates of the first and the last link, if its
    cells have no gaps and the first link is as fast or faster. Neither the size of a frame nor gaps
    between its cells count. On links of one rate, both are equal.
    """

    def select(self, latencies: FrameLatencies) -> Delays:
        """Return those beyond the nominal output time."""
        return latencies.mimo
