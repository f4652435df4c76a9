"""Items at rates that a file lists over time."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from qospec.catalogue.kinds import Domain, ProfileFile, arrivals
from qospec.dataclass import dataclass
from qospec.engine.source.arrivals import Arrivals
from qospec.engine.source.changing import Changing, Silent
from qospec.engine.source.periodic import Periodic
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.engine.arrays import Indices, Times
    from qospec.engine.random import Draws

File = Annotated[ProfileFile, Domain("profile")]
Scale = Annotated[Fraction, Domain("ratio", Fraction(1, 1_000_000), 1_000_000)]


@arrivals(source="RFC 4180, 2 (the file); RFC 2330, 11.1 (periodic streams)")
@dataclass(frozen=True)
class LoadProfile(Arrivals):
    """Emit items at equal intervals, at a rate that a CSV file lists over time.

    The first line of the file names its columns and their units, such as `time [s],rate [pkt/s]`;
    each other line says from when on, since the trial began, each connection has which rate. The
    last rate stays. A rate of 0 is a pause. With each line connections begin anew, at a phase of
    their own.

    Not modelled: rates that rise and fall between the lines of a file.
    """

    file: File
    """The name of the CSV file, relative to the file that names it."""
    scale: Scale = Fraction(1)
    """By how much all rates are multiplied."""

    @cached_property
    def changing(self) -> Changing:
        """Return the source of each rate, from when on."""
        return Changing(
            tuple(
                (at_ps, Steady(PS_PER_S / (rate * self.scale)) if rate else Silent())
                for at_ps, rate in self.file.steps
            )
        )

    def start(self, connections: int, phases: str, draws: Draws) -> Any:
        return self.changing.start(connections, phases, draws)

    def emit(self, state: Any, until_ps: int) -> tuple[Times, Indices]:
        return self.changing.emit(state, until_ps)

    def compute_mean_rate(self, connections: int) -> Fraction:
        """Return the highest of its rates: the load that a line must carry."""
        return self.changing.compute_mean_rate(connections)

    def list_rates(self, connections: int) -> tuple[tuple[int, Fraction], ...]:
        return self.changing.list_rates(connections)

    def count_most_items(self, connections: int, length_ps: int) -> int | None:
        return self.changing.count_most_items(connections, length_ps)


@dataclass(frozen=True)
class Steady(Periodic):
    """Emit an item of each connection at equal intervals."""

    interval_ps: Fraction

    @property
    def period_ps(self) -> Fraction:
        """Return the interval."""
        return self.interval_ps
