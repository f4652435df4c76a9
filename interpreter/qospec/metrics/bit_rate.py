"""The rate of bits that arrive, by layer."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Metric
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Tally

HEADER_BYTES = 5


@metric(
    source="ITU-T I.361, 2 (a cell has 53 octets, 48 of them payload); RFC 1242, 3.17 (throughput)"
)
class BitRate(Metric):
    """Divide the bits that arrived in the window by its length, in bit/s.

    `cell` counts the 53 octets of each cell, `payload` the 48 behind its header. Packets are
    counted with the size in which they arrive, framed as on the first link: `line` with preamble
    and gap, `frame` from its header to its check sequence, `ip` the packet, `payload` the bytes
    behind the headers of IP, UDP or TCP. At a place inside the network they are counted as they
    pass it, framed as on the link there.
    """

    dimension = "rate"
    sized = True
    measured_at = ("flow", "place")
    better = "more"
    least = 0
    delivered = True
    statistics = ("cell", "payload")
    packet_statistics = ("line", "frame", "ip", "payload")
    series = ("cell", "payload", "line", "frame", "ip")

    def measure(self, tally: Tally, statistic: str) -> Fraction | None:
        """Return bit/s in one layer; None if the window has no length."""
        volume = tally.volume
        if statistic not in (self.statistics if volume is None else self.packet_statistics):
            raise ValueError(f"bit_rate has no statistic `{statistic}`")
        if not tally.window_ps:
            return None
        if volume is not None:
            return Fraction(volume._asdict()[statistic] * 8 * PS_PER_S, tally.window_ps)
        size_bytes = tally.size_bytes - (HEADER_BYTES if statistic == "payload" else 0)
        return Fraction(tally.carried * size_bytes * 8 * PS_PER_S, tally.window_ps)
