"""A delay for each cell or packet that is drawn, as in a network with other traffic."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from qospec.catalogue.kinds import Boolean, Domain, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.varying_delay import Delaying, VaryingDelay, give_in_turn

if TYPE_CHECKING:
    from numpy.random import Generator

    from qospec.engine.arrays import Doubles, Times
    from qospec.engine.element import Setting

LONGEST_DRAWN_PS = 10**15
"""Far above what counts as jitter, and far below where a float is no longer exact to the ps."""
Drawn = Annotated[int, Domain("time", 1, LONGEST_DRAWN_PS)]
"""Above 0, up to 1,000 s."""
OptionalDrawn = Annotated[int | None, Domain("time", 1, LONGEST_DRAWN_PS)]
Distribution = Annotated[
    Literal["uniform", "exponential", "normal"],
    Domain("choice", choices=("uniform", "exponential", "normal")),
]
BLOCK = 1_024
"""So many delays are drawn at a time."""


@element(source="RFC 3393, 1.1 (delay variation), as a fault of a test")
@dataclass(frozen=True)
class Jitter(VaryingDelay):
    """Delay each cell or packet by a random time from 0 s on, each independently of the others.

    An item whose time ends before that of one ahead of it waits for that one, so order is kept,
    unless `reorder` is true: then it overtakes it. An exponential or a normal distribution is
    truncated: a time below 0 s or above `longest` is drawn again. What all items are delayed by is
    a `delay` beside it.

    Not modelled: delays that depend on those before them, as with a queue that grows and shrinks.
    """

    longest: Drawn
    """The longest delay."""
    distribution: Distribution = "uniform"
    """How delays are distributed; a uniform one ends at `longest`."""
    mean: OptionalDrawn = None
    """Before it is truncated: by default, of an exponential distribution a fifth of `longest`, of a
    normal one half of it."""
    deviation: OptionalDrawn = None
    """The standard deviation of a normal distribution, before it is truncated: by default, a sixth
    of `longest`."""
    reorder: Boolean = False
    """Whether an item may overtake those before it."""

    def __post_init__(self) -> None:
        if self.mean is not None and self.distribution == "uniform":
            raise ValueError("mean: that of a uniform distribution is half of `longest`")
        if self.deviation is not None and self.distribution != "normal":
            raise ValueError("deviation: only a normal distribution has one to choose")
        for name, value in (("mean", self.mean), ("deviation", self.deviation)):
            if value is not None and value > self.longest:
                raise ValueError(f"{name}: it is more than `longest`")

    @property
    def shortest_ps(self) -> int:
        return 0

    @property
    def longest_ps(self) -> int:
        return self.longest

    @property
    def keeps_order(self) -> bool:
        return not self.reorder

    def start_delays(self, setting: Setting) -> Delaying:
        return give_in_turn(partial(self._draw, setting.draws.open_stream()))

    def _draw(self, stream: Generator) -> Times:
        """Return the next delays, rounded down to whole ps."""
        if self.distribution == "uniform":
            return stream.integers(0, self.longest, BLOCK, endpoint=True)
        fitting = np.empty(0)
        while len(fitting) < BLOCK:
            drawn = self._draw_untruncated(stream)
            fitting = np.append(fitting, drawn[(drawn >= 0) & (drawn <= self.longest)])
        return fitting[:BLOCK].astype(np.int64)

    def _draw_untruncated(self, stream: Generator) -> Doubles:
        if self.distribution == "exponential":
            return stream.exponential(self.mean or self.longest / 5, BLOCK)
        deviation = self.deviation or self.longest / 6
        return stream.normal(self.mean or self.longest / 2, deviation, BLOCK)
