"""A part of the graph that turns in circles, carried on in small steps.

The conservative scheme of Chandy and Misra (1979): every link has a watermark from the start, which
follows from least delays; a node works up to the lowest of its links and so moves the watermarks
behind it, whether cells leave or not. One round moves time on by the least delay of the cycle, its
lookahead. While no node holds a cell, time leaps to the next one that waits on a link.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.batch import FOREVER_PS
from qospec.engine.cycle import EndlessError

if TYPE_CHECKING:
    from qospec.engine.station import Station

ROUNDS = 1_000
"""After the sources have fallen silent: so often may every cell go through every node of the cycle
while none leaves it."""
IDLE_PASSES = 1_000_000
"""And so often may time move on while a node holds cells and none leaves the cycle."""


class Loop:
    """Stations on cycles with each other."""

    def __init__(self, stations: list[Station]) -> None:
        self._stations = stations
        sender = {id(sink): station for station in stations for sink in station.sinks}
        links = [link for station in stations for port in station.ports for link in port]
        self._inner = [(link, sender[id(link)]) for link in links if id(link) in sender]
        self._outer = [link for link in links if id(link) not in sender]

    def visit(self) -> bool:
        """Carry on to the lowest watermark of what comes from outside; return whether that is new.

        Raises:
            EndlessError: The sources are silent, yet cells go round or wait for ever.
        """
        patience = _Patience(len(self._stations))
        cap_ps = min((link.until_ps for link in self._outer), default=FOREVER_PS)
        advanced = False
        while self._pass(cap_ps):
            advanced = True
            held = sum([station.held for station in self._stations])
            inside = held + sum([link.cells for link, _ in self._inner])
            if not held:
                self._leap()
            if (
                inside
                and cap_ps == FOREVER_PS
                and patience.ends(
                    inside + sum([link.cells for link in self._outer]),
                    sum([station.cell_hops for station in self._stations]),
                )
            ):
                raise EndlessError(inside, tuple(station.path for station in self._stations))
        return advanced

    def _pass(self, cap_ps: int) -> bool:
        advanced = False
        for station in self._stations:
            advanced |= station.visit(cap_ps)
        return advanced

    def _leap(self) -> None:
        """Move all watermarks on: no cell goes anywhere before the first that waits on a link."""
        waiting = [link.first_ps() for link, _ in self._inner if link.cells]
        first_ps = min(waiting + [link.first_ps() for link in self._outer], default=FOREVER_PS)
        for link, station in self._inner:
            later_ps = min(first_ps + station.least_delay_ps, FOREVER_PS)
            link.until_ps = max(link.until_ps, later_ps)


class _Patience:
    """How long cells may be carried round while none of them leaves."""

    def __init__(self, stations: int) -> None:
        self._stations = stations
        self._fewest = -1
        self._hops = 0
        self._passes = 0

    def ends(self, cells: int, hops: int) -> bool:
        """Return whether to give up, with so many `cells` left, after so many `hops`."""
        if self._fewest < 0 or cells < self._fewest:
            self._fewest, self._hops, self._passes = cells, hops, 0
        self._passes += 1
        most_hops = ROUNDS * self._stations * cells
        return hops - self._hops > most_hops or self._passes > IDLE_PASSES
