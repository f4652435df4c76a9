"""The number of cells or packets that arrived."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.catalogue.statistics import parse_cells, parse_mark
from qospec.engine.measure.metric import Metric
from qospec.engine.measure.tally import read_places
from qospec.protocol.marks import ALL

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Tally


@metric(
    source="ITU-T I.356, 4.2 (cell entry event); RFC 2544, 26.3 (output count), of packets",
    carries=("cell", "packet", "frame"),
)
class Received(Metric):
    """Count the cells or packets sent within the window that reached their destination.

    They count even if they arrive after the window has closed, so that sent = received + lost. Of
    cells in frames, `cell_1` counts the first of each frame, `cells_2_191` 190 cells of each. Of
    packets, `dscp_46` counts those that arrive with this code point, and other marks likewise:
    `priority_5`, `traffic_class_3`, `precedence_6`.
    """

    dimension = "cells"
    better = "more"
    least = 0
    delivered = True
    exact = True
    statistics = ("", "cell_*")
    packet_statistics = ("", "mark_*")
    series = ("",)

    def measure(self, tally: Tally, statistic: str = "") -> int | None:
        """Return a number of cells or packets, or None if none were sent."""
        if not tally.sent:
            return None
        places = parse_cells(statistic)
        if places is not None:
            return read_places(tally.positions, places)[0]
        mark = parse_mark(statistic)
        if mark is None:
            return tally.received
        name, value = mark
        return tally.count_marked(lambda marks: ALL[name].read(marks) == value)
