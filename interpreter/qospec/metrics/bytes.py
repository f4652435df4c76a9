"""The bytes of what passes a place, by layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Metric
from qospec.protocol.atm import CELL_BYTES, CELL_PAYLOAD_BYTES

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Tally


@metric(source="ITU-T I.361, 2 (a cell has 53 octets, 48 of them payload); RFC 791, 3.1")
class Bytes(Metric):
    """Sum the bytes of what passes a place inside the network within the window.

    The layers are those of `bit_rate`. The frames of packets are those of the link at the place; at
    an output of an element, behind which there is no link, packets have none.
    """

    dimension = "data"
    measured_at = ("place",)
    better = "more"
    least = 0
    delivered = True
    statistics = ("cell", "payload")
    packet_statistics = ("line", "frame", "ip", "payload")
    exact = True

    def measure(self, tally: Tally, statistic: str) -> int:
        """Return bytes in one layer."""
        volume = tally.volume
        if statistic not in (self.statistics if volume is None else self.packet_statistics):
            raise ValueError(f"bytes has no statistic `{statistic}`")
        if volume is not None:
            return int(volume._asdict()[statistic])
        return tally.carried * (CELL_PAYLOAD_BYTES if statistic == "payload" else CELL_BYTES)
