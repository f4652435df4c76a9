"""Periodic sources: identical connections, each sending the same burst once a period.

Their cells keep one fixed cyclic order. The offsets of one period are sorted once, and every later
cell is its offset plus a whole number of exact periods: no event queue, no search. An offset is
whole ps and a numerator over a common denominator; a time is rounded down only when it is emitted.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.calculus.curve import bound_bursts, bound_gaps
from qospec.dataclass import NamedTuple, dataclass
from qospec.engine.arrays import np
from qospec.engine.kernel import kernel
from qospec.engine.source.arrivals import Arrivals
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.calculus.curve import Curve
    from qospec.engine.arrays import Indices, Times, Truths, Whole
    from qospec.engine.random import Draws

MAX_CELLS_PER_PERIOD = 2**23
"""The most cells in one period, over all connections."""
MIN_ROUND_CELLS = 1_024
"""A shorter period is repeated up to about this size, to share the cost of a round."""
MAX_ROUND_PS = 2**60
LARGEST_DENOMINATOR = 2**61
WHOLE, PART = 0, 1
"""Columns of a time: whole ps, and the rest as a numerator."""


class Burst(NamedTuple):
    """The cells that each connection sends once a period.

    Attributes:
        size: The number of cells.
        apart_ps: The intervals from each cell to the next, repeated in turn.
    """

    size: int = 1
    apart_ps: tuple[Fraction, ...] = (Fraction(0),)


class Periodic(Arrivals):
    """A process whose connections each send the same burst once a period.

    Connection i of n starts at a phase of its own within the first period: drawn in whole ps, or at
    i/n of it.
    """

    @property
    @abstractmethod
    def period_ps(self) -> Fraction:
        """Return the time from the start of a burst to the start of the next, exact."""

    @property
    def burst(self) -> Burst:
        """Return the cells of a period: by default one."""
        return Burst()

    def start(self, connections: int, phases: str, draws: Draws) -> Pattern:
        """Return the source, each connection at its phase."""
        return start_pattern(self.period_ps, self.burst, connections, phases, draws)

    def emit(self, state: Pattern, until_ps: int) -> tuple[Times, Indices]:
        """Return the cells that are ready and were not yet emitted."""
        return state.take_before(until_ps)

    def compute_mean_rate(self, connections: int) -> Fraction:
        """Return the cells/s of all bursts."""
        return connections * self.burst.size * PS_PER_S / self.period_ps

    def bound_items(self, connections: int, phases: str) -> Curve:
        """Return a bound of the cells in any closed interval."""
        return bound_periods(self.period_ps, self.burst, connections, phases)

    def count_most_items(self, connections: int, length_ps: int) -> int:
        """Return an upper bound of the cells within a time, as if all began at once."""
        return connections * self.burst.size * math.ceil(length_ps / self.period_ps)


def bound_periods(period_ps: Fraction, burst: Burst, connections: int, phases: str) -> Curve:
    """Return a bound of the cells of all connections in any closed interval.

    Connections that begin at random may begin at once. Single cells of even ones are one stream.
    """
    if phases == "even" and burst.size == 1:
        period_ps, connections = period_ps / connections, 1
    if len(burst.apart_ps) == 1:
        curve = bound_bursts(period_ps, burst.size, burst.apart_ps[0])
    else:
        curve = bound_gaps(burst.apart_ps)
    exact = (period_ps, *burst.apart_ps)
    # Two times that are rounded down may be closer by less than a ps.
    return curve.widen(any(time.denominator > 1 for time in exact)).scale_by(connections)


class Offsets(NamedTuple):
    """The cells of one round, in order of time, then of connections.

    Attributes:
        whole_ps: (n,) Time since the round began, rounded down.
        part: (n,) The rest, as a numerator.
        connection: (n,) The connection that sends it.
    """

    whole_ps: Times
    part: Whole
    connection: Indices


@dataclass
class Pattern:
    """The source of a flow, and its progress.

    Attributes:
        offsets: The offsets of one round.
        wrapped: (n,) Whether the burst began in the round before; the first round skips these.
        length: The length of a round, as a numerator.
        denominator: The denominator of all numerators.
        emitted: The number of cells emitted so far.
    """

    offsets: Offsets
    wrapped: Truths
    length: int
    denominator: int
    emitted: int = 0

    def take_before(self, until_ps: int) -> tuple[Times, Indices]:
        """Return times and connections of all cells before `until_ps` that were not yet emitted."""
        size = len(self.offsets.connection)
        first, self.emitted = self.emitted, max(self.emitted, self._count_before(until_ps))
        rounds, start = divmod(first, size)
        at_ps = np.empty(self.emitted - first, np.int64)
        connection = np.empty(self.emitted - first, np.int32)
        round_start = divmod(rounds * self.length, self.denominator)
        round_length = (*divmod(self.length, self.denominator), self.denominator)
        _emit_rounds(self.offsets, start, round_start, round_length, (at_ps, connection))
        if first < size:
            due = ~self.wrapped[first : self.emitted]
            if not due.all():
                due = np.concatenate([due, np.ones(len(at_ps) - len(due), np.bool_)])
                return at_ps[due], connection[due]
        return at_ps, connection

    def _count_before(self, until_ps: int) -> int:
        rounds, rest = divmod(max(until_ps, 0) * self.denominator, self.length)
        whole_ps, part = divmod(rest, self.denominator)
        offsets = self.offsets
        low = int(offsets.whole_ps.searchsorted(whole_ps))
        high = int(offsets.whole_ps.searchsorted(whole_ps, "right"))
        within = int(offsets.part[low:high].searchsorted(part))
        return rounds * len(offsets.connection) + low + within


def start_pattern(
    period_ps: Fraction, burst: Burst, connections: int, phases: str, draws: Draws
) -> Pattern:
    """Return a source whose connections each send `burst` once a period, from its phase on.

    Args:
        period_ps: Exact; longer than a burst.
        burst: The cells of a period.
        connections: Their number.
        phases: "random": whole ps, drawn; "even": connection i begins at i/n of a period.
        draws: The streams of the phases.

    Raises:
        ValueError: The times cannot be kept exactly, or in memory.
    """
    if connections * burst.size > MAX_CELLS_PER_PERIOD:
        raise ValueError("the bursts of all connections together exceed 8 million cells")
    step_ps = period_ps / connections if phases == "even" else Fraction(1)
    exact = (period_ps, step_ps, *burst.apart_ps)
    denominator = math.lcm(*(time_ps.denominator for time_ps in exact))
    if denominator > LARGEST_DENOMINATOR:
        raise ValueError("this rate is too fine a fraction to be kept exactly; give fewer digits")
    apart = np.array([split_time(time_ps, denominator) for time_ps in burst.apart_ps], np.int64)
    scaled = _ScaledBurst(burst.size, apart, split_time(period_ps, denominator), denominator)
    if phases == "even":
        first_ps, first_part = list_multiples(
            split_time(step_ps, denominator), denominator, connections
        )
    else:
        first_ps = (
            draws.derive("phases").open_stream().integers(0, math.ceil(period_ps), connections)
        )
        first_part = np.zeros(connections, np.int64)
    offsets, wrapped = _sort_offsets(first_ps, first_part, scaled)
    rounds = min(-(-MIN_ROUND_CELLS // len(wrapped)), max(1, MAX_ROUND_PS // math.ceil(period_ps)))
    offsets, wrapped = _repeat_period(offsets, wrapped, scaled, rounds)
    return Pattern(offsets, wrapped, int(rounds * period_ps * denominator), denominator)


class _ScaledBurst(NamedTuple):
    """The size of a burst, its (m, 2) steps, and the period; times are whole ps and numerator."""

    size: int
    apart: Whole
    period: tuple[int, int]
    denominator: int


def split_time(time_ps: Fraction, denominator: int) -> tuple[int, int]:
    """Return the whole ps of a time, and the rest as a numerator."""
    whole_ps, rest = divmod(time_ps, 1)
    return int(whole_ps), int(rest * denominator)


def list_multiples(step: tuple[int, int], denominator: int, count: int) -> tuple[Times, Whole]:
    """Return 0, 1, 2 ... times a time that was split: whole ps, and the rest as numerators."""
    whole_ps, part = np.empty(count, np.int64), np.empty(count, np.int64)
    _write_multiples(step, denominator, whole_ps, part)
    return whole_ps, part


def _sort_offsets(
    first_ps: Times, first_part: Whole, scaled: _ScaledBurst
) -> tuple[Offsets, Truths]:
    cells = len(first_ps) * scaled.size
    offsets = Offsets(
        np.empty(cells, np.int64), np.empty(cells, np.int64), np.empty(cells, np.int32)
    )
    wrapped = np.empty(cells, np.bool_)
    _write_offsets((first_ps, first_part), scaled, offsets, wrapped)
    order = np.lexsort((offsets.connection, offsets.part, offsets.whole_ps))
    whole_ps, part, connection = offsets
    return Offsets(whole_ps[order], part[order], connection[order]), wrapped[order]


def _repeat_period(
    offsets: Offsets, wrapped: Truths, scaled: _ScaledBurst, rounds: int
) -> tuple[Offsets, Truths]:
    """Return several rounds as one; wrapped cells are skipped in the first only."""
    if rounds == 1:
        return offsets, wrapped
    start_ps, start_part = list_multiples(scaled.period, scaled.denominator, rounds)
    part = start_part[:, None] + offsets.part
    carried = part >= scaled.denominator
    whole_ps = start_ps[:, None] + offsets.whole_ps + carried
    part -= carried * scaled.denominator
    none_wrapped = np.zeros((rounds - 1) * len(wrapped), np.bool_)
    return (
        Offsets(whole_ps.ravel(), part.ravel(), np.tile(offsets.connection, rounds)),
        np.concatenate([wrapped, none_wrapped]),
    )


@kernel
def _write_multiples(step: tuple[int, int], denominator: int, whole_ps: Times, part: Whole) -> None:
    """Write 0, 1, 2 ... times `step`."""
    step_ps, step_part = step
    at_ps = at_part = 0
    for i in range(len(whole_ps)):
        whole_ps[i], part[i] = at_ps, at_part
        at_ps += step_ps
        at_part += step_part
        if at_part >= denominator:
            at_part -= denominator
            at_ps += 1


@kernel
def _write_offsets(
    first: tuple[Times, Whole], scaled: _ScaledBurst, offsets: Offsets, wrapped: Truths
) -> None:
    """Write the offsets of one period by connection; those past its end wrap to its start."""
    first_ps, first_part = first
    size, apart, (period_ps, period_part), denominator = scaled
    whole_ps, part, connection = offsets
    k = 0
    for i in range(len(first_ps)):
        at_ps, at_part, wraps = first_ps[i], first_part[i], False
        step = 0
        for _ in range(size):
            if at_ps > period_ps or (at_ps == period_ps and at_part >= period_part):
                wraps = True
                at_ps -= period_ps
                at_part -= period_part
                if at_part < 0:
                    at_part += denominator
                    at_ps -= 1
            whole_ps[k], part[k], connection[k], wrapped[k] = at_ps, at_part, i, wraps
            k += 1
            at_ps += apart[step, WHOLE]
            at_part += apart[step, PART]
            if at_part >= denominator:
                at_part -= denominator
                at_ps += 1
            step = step + 1 if step + 1 < len(apart) else 0


@kernel
def _emit_rounds(
    offsets: Offsets,
    start: int,
    round_start: tuple[int, int],
    round_length: tuple[int, int, int],
    cells: tuple[Times, Indices],
) -> None:
    """Write cells from offset `start` on, until the arrays are full.

    Args:
        offsets: The offsets of one round.
        start: The number of the first offset.
        round_start: When its round began: whole ps and numerator.
        round_length: The length of a round, likewise, and the denominator.
        cells: (n,) Written: times, rounded down, and connections.
    """
    round_ps, round_part, denominator = round_length
    begins_ps, begins_part = round_start
    at_ps, connection = cells
    done = 0
    while done < len(at_ps):
        count = min(len(offsets.part) - start, len(at_ps) - done)
        # Sliced: an index that only counts up from 0 needs no check for negative values.
        whole_ps, part = (
            offsets.whole_ps[start : start + count],
            offsets.part[start : start + count],
        )
        times = at_ps[done : done + count]
        for k in range(count):
            times[k] = begins_ps + whole_ps[k] + (begins_part + part[k] >= denominator)
        connection[done : done + count] = offsets.connection[start : start + count]
        done += count
        start = 0
        begins_ps += round_ps
        begins_part += round_part
        if begins_part >= denominator:
            begins_part -= denominator
            begins_ps += 1
