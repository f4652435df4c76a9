"""Calls: connections that begin, last for a time, and end."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Literal

from qospec.calculus.curve import bound_bursts
from qospec.catalogue.kinds import CellRate, Domain, Duration, arrivals
from qospec.dataclass import dataclass
from qospec.engine.source.arrivals import Arrivals
from qospec.engine.source.pool import Coming, start
from qospec.engine.source.two_state import LARGEST_NUMERATOR, LONGEST_STAY_PS
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.calculus.curve import Curve
    from qospec.engine.arrays import Indices, Times
    from qospec.engine.random import Draws
    from qospec.engine.source.arrivals import Told
    from qospec.engine.source.pool import Pool

Hold = Annotated[Duration, Domain("duration", 1, LONGEST_STAY_PS)]
"""A constant duration, or an exponential one."""
CallRate = Annotated[Fraction, Domain("call rate", Fraction(1, 10**6), 10**9)]
CallCount = Annotated[int, Domain("calls", 1, 10**6)]
MostCalls = Annotated[int | None, Domain("calls", 1, 10**9)]
"""All that are offered; None: as many as there is time for."""
Rest = Annotated[int | None, Domain("time", 1, LONGEST_STAY_PS)]
"""A time; None: 1/at."""
Gaps = Annotated[Literal["even", "poisson"], Domain("choice", choices=("even", "poisson"))]


@arrivals(
    source="A. K. Erlang, Solution of some problems in the theory of probabilities (1917); ITU-T"
    " E.600 (call, holding time, lost call)",
    from_contract={"at": "peak_cell_rate"},
)
@dataclass(frozen=True)
class Calls(Arrivals):
    """Offer calls: each takes a free connection, sends at a constant rate for a time, and ends.

    The connections of a flow are those that may exist at once. A call takes the first that is free;
    if none is, it is refused, and does not come back. Its first cell is ready when it begins, and
    the others 1/at apart, exactly. A connection is free again some time after its call has ended,
    so it never sends faster than `at`, whatever calls it carries.

    Not modelled: messages that set up a call, which machines exchange; calls that are tried again.
    """

    tells = "calls"

    rate: CallRate
    """Calls/s that are offered to all connections of a host together."""
    hold: Hold
    """How long a call lasts."""
    at: CellRate
    """Cells/s of a call; by default the peak rate of its contract."""
    gaps: Gaps = "poisson"
    """Whether calls come at random, independently of each other, or evenly spaced, the first at
    once."""
    burst: CallCount = 1
    """How many calls come at a time."""
    count: MostCalls = None
    """How many are offered; by default as many as there is time for."""
    rest: Rest = None
    """How long a connection is not free after a call, at least 1/at, as by default: so long may
    machines take to release it."""

    def __post_init__(self) -> None:
        for name in ("rate", "at"):
            if Fraction(getattr(self, name)).numerator > LARGEST_NUMERATOR:
                raise ValueError(f"{name}: this fraction is too fine to be kept; give fewer digits")
        if self.hold.mean_ps * Fraction(self.at) < PS_PER_S // 100:
            raise ValueError("hold: fewer than one in 100 calls would send more than a cell")
        if self.rest is not None and self.rest * Fraction(self.at) < PS_PER_S:
            raise ValueError("rest: the first cell of a call would come too early, before 1/at")

    def start(self, connections: int, phases: str, draws: Draws) -> Pool:
        coming = Coming(self._period_ps, self.burst, self.count, self.gaps == "poisson", draws)
        return start(coming, self.hold, PS_PER_S / Fraction(self.at), connections, self._rest_ps)

    def emit(self, state: Pool, until_ps: int) -> tuple[Times, Indices]:
        return state.take_before(until_ps)

    def tell(self, state: Pool) -> Iterator[Told]:
        return state.tell()

    def compute_mean_rate(self, connections: int) -> Fraction:
        """Return cells/s as if no call were refused while a connection might be free."""
        carried = Fraction(connections * PS_PER_S, self.hold.mean_ps + self._rest_ps)
        return self._mean_cells * min(Fraction(self.rate), carried)

    @property
    def _mean_cells(self) -> Fraction:
        """Return the cells of a call on average, of an exponential one up to 0.16 fewer.

        Of a time with the mean `m / at` it has 1 / (1 - exp(-1 / m)).
        """
        mean = self.hold.mean_ps * Fraction(self.at) / PS_PER_S
        if self.hold.law == "constant":
            return Fraction(math.ceil(mean))
        return max(Fraction(1), mean + Fraction(1, 2))

    @property
    def _period_ps(self) -> Fraction:
        return PS_PER_S * self.burst / Fraction(self.rate)

    @property
    def _rest_ps(self) -> int:
        return self.rest or math.ceil(PS_PER_S / Fraction(self.at))

    def compute_highest_rate(self, connections: int) -> Fraction:
        return max(connections * Fraction(self.at), Fraction(self.rate))

    def bound_items(self, connections: int, phases: str) -> Curve:
        """Return that of calls on all connections at once."""
        return bound_bursts(PS_PER_S / Fraction(self.at)).widen(1).scale_by(connections)

    def count_most_items(self, connections: int, length_ps: int) -> int | None:
        if self.gaps == "poisson" or self.hold.law == "exponential":
            return None
        room = connections * math.ceil(length_ps / Fraction(self.hold.mean_ps + self._rest_ps))
        cells = connections * (length_ps * Fraction(self.at) // PS_PER_S + 1)
        return min(int(min(self.count_offered(length_ps), room) * self._mean_cells), cells)

    def count_offered(self, length_ps: int) -> int:
        calls = math.ceil(length_ps / self._period_ps) * self.burst
        return min(calls, self.count or calls)
