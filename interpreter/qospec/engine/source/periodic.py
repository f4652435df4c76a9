"""Sources that repeat themselves: like connections, each sending the same burst once a period.

Their cells keep one fixed cyclic order for ever. So the moments of one period are sorted once, and
every later cell is its moment plus a whole number of exact periods: no queue of events, no search.
A moment is whole ps and a numerator over a denominator that all share; a time is rounded down only
when it is given.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Indices, Times, Truths, Whole
    from qospec.engine.random import Draws

MOST_MOMENTS = 2**23
"""Of one period, all connections together."""
WORTH_A_LOOP = 1_024
"""A shorter round is repeated until it is about so long: what it costs is shared by its cells."""
LONGEST_ROUND_PS = 2**60
LARGEST_DENOMINATOR = 2**61
WHOLE, PART = 0, 1
"""Columns of a time: whole ps, and what is left as a numerator."""


class Burst(NamedTuple):
    """What each connection sends once a period.

    Attributes:
        size: How many cells.
        apart_ps: From each to the next, in turn and over again.
    """

    size: int = 1
    apart_ps: tuple[Fraction, ...] = (Fraction(0),)


def most_cells(period_ps: Fraction, burst: Burst, connections: int, length_ps: int) -> int:
    """Return how many cells are ready within a time at most: as if all began at once."""
    return connections * burst.size * math.ceil(length_ps / period_ps)


class Moments(NamedTuple):
    """The cells of one round, in order of time, then of connections.

    Attributes:
        whole_ps: (n,) Since the round began, rounded down.
        part: (n,) What that leaves, as a numerator.
        connection: (n,) Who sends it.
    """

    whole_ps: Times
    part: Whole
    connection: Indices


@dataclass
class Pattern:
    """A flow's source, and how far it has come.

    Attributes:
        moments: Of one round.
        late: (n,) Which of them belong to a burst that began a round earlier: none has, at first.
        length: Of a round, as a numerator.
        denominator: Of all numerators.
        given: How many cells are done with.
    """

    moments: Moments
    late: Truths
    length: int
    denominator: int
    given: int = 0

    def before(self, until_ps: int) -> tuple[Times, Indices]:
        """Return times and connections of all cells before `until_ps` that were not yet given."""
        size = len(self.moments.connection)
        first, self.given = self.given, max(self.given, self._count_before(until_ps))
        rounds, start = divmod(first, size)
        at_ps = np.empty(self.given - first, np.int64)
        connection = np.empty(self.given - first, np.int32)
        clock = divmod(rounds * self.length, self.denominator)
        pace = (*divmod(self.length, self.denominator), self.denominator)
        _repeat(self.moments, start, clock, pace, (at_ps, connection))
        if first < size:
            due = ~self.late[first : self.given]
            if not due.all():
                due = np.concatenate([due, np.ones(len(at_ps) - len(due), np.bool_)])
                return at_ps[due], connection[due]
        return at_ps, connection

    def _count_before(self, until_ps: int) -> int:
        rounds, rest = divmod(max(until_ps, 0) * self.denominator, self.length)
        whole_ps, part = divmod(rest, self.denominator)
        moments = self.moments
        low = int(moments.whole_ps.searchsorted(whole_ps))
        high = int(moments.whole_ps.searchsorted(whole_ps, "right"))
        within = int(moments.part[low:high].searchsorted(part))
        return rounds * len(moments.connection) + low + within


def pattern(
    period_ps: Fraction, burst: Burst, connections: int, phases: str, draws: Draws
) -> Pattern:
    """Return a source whose connections each send `burst` once a period, from its phase on.

    Args:
        period_ps: Exact; longer than a burst.
        burst: What is sent.
        connections: How many.
        phases: "random": whole ps, drawn; "even": connection i begins at i/n of a period.
        draws: For the phases.

    Raises:
        ValueError: If this cannot be kept exactly, or in memory.
    """
    if connections * burst.size > MOST_MOMENTS:
        raise ValueError("the bursts of all connections together exceed 8 million cells")
    step_ps = period_ps / connections if phases == "even" else Fraction(1)
    exact = (period_ps, step_ps, *burst.apart_ps)
    denominator = math.lcm(*(each.denominator for each in exact))
    if denominator > LARGEST_DENOMINATOR:
        raise ValueError("this rate is too fine a fraction to be kept exactly; give fewer digits")
    apart = np.array([_parts(each, denominator) for each in burst.apart_ps], np.int64)
    shape = _Shape(burst.size, apart, _parts(period_ps, denominator), denominator)
    if phases == "even":
        first_ps, first_part = _spread(_parts(step_ps, denominator), denominator, connections)
    else:
        first_ps = draws.below("phases").stream().integers(0, math.ceil(period_ps), connections)
        first_part = np.zeros(connections, np.int64)
    moments, late = _sorted_moments(first_ps, first_part, shape)
    rounds = min(-(-WORTH_A_LOOP // len(late)), max(1, LONGEST_ROUND_PS // math.ceil(period_ps)))
    moments, late = _unrolled(moments, late, shape, rounds)
    return Pattern(moments, late, int(rounds * period_ps * denominator), denominator)


class _Shape(NamedTuple):
    """A burst's size, (m, 2) its steps, and the period, times as whole ps and numerator."""

    size: int
    apart: Whole
    period: tuple[int, int]
    denominator: int


def _parts(time_ps: Fraction, denominator: int) -> tuple[int, int]:
    whole_ps, rest = divmod(time_ps, 1)
    return int(whole_ps), int(rest * denominator)


def _spread(step: tuple[int, int], denominator: int, count: int) -> tuple[Times, Whole]:
    whole_ps, part = np.empty(count, np.int64), np.empty(count, np.int64)
    _add_up(step, denominator, whole_ps, part)
    return whole_ps, part


def _sorted_moments(first_ps: Times, first_part: Whole, shape: _Shape) -> tuple[Moments, Truths]:
    cells = len(first_ps) * shape.size
    moments = Moments(
        np.empty(cells, np.int64), np.empty(cells, np.int64), np.empty(cells, np.int32)
    )
    late = np.empty(cells, np.bool_)
    _send_bursts((first_ps, first_part), shape, moments, late)
    order = np.lexsort((moments.connection, moments.part, moments.whole_ps))
    whole_ps, part, connection = moments
    return Moments(whole_ps[order], part[order], connection[order]), late[order]


def _unrolled(moments: Moments, late: Truths, shape: _Shape, rounds: int) -> tuple[Moments, Truths]:
    """Return so many rounds as one; in all but the first, what is late comes."""
    if rounds == 1:
        return moments, late
    start_ps, start_part = _spread(shape.period, shape.denominator, rounds)
    part = start_part[:, None] + moments.part
    carried = part >= shape.denominator
    whole_ps = start_ps[:, None] + moments.whole_ps + carried
    part -= carried * shape.denominator
    none_late = np.zeros((rounds - 1) * len(late), np.bool_)
    return (
        Moments(whole_ps.ravel(), part.ravel(), np.tile(moments.connection, rounds)),
        np.concatenate([late, none_late]),
    )


@kernel
def _add_up(step: tuple[int, int], denominator: int, whole_ps: Times, part: Whole) -> None:
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
def _send_bursts(first: tuple[Times, Whole], shape: _Shape, moments: Moments, late: Truths) -> None:
    """Write the moments of one period by connection; those past its end are late at its start."""
    first_ps, first_part = first
    size, apart, (period_ps, period_part), denominator = shape
    whole_ps, part, connection = moments
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
            whole_ps[k], part[k], connection[k], late[k] = at_ps, at_part, i, wraps
            k += 1
            at_ps += apart[step, WHOLE]
            at_part += apart[step, PART]
            if at_part >= denominator:
                at_part -= denominator
                at_ps += 1
            step = step + 1 if step + 1 < len(apart) else 0


@kernel
def _repeat(
    moments: Moments,
    start: int,
    clock: tuple[int, int],
    pace: tuple[int, int, int],
    cells: tuple[Times, Indices],
) -> None:
    """Write the cells from moment `start` on, as many as there is room for.

    Args:
        moments: Of one round.
        start: Number of the first moment.
        clock: When the round began that it is in: whole ps and numerator.
        pace: The length of a round, likewise, and the denominator.
        cells: (n,) Written: times, rounded down, and connections.
    """
    round_ps, round_part, denominator = pace
    begins_ps, begins_part = clock
    at_ps, connection = cells
    done = 0
    while done < len(at_ps):
        count = min(len(moments.part) - start, len(at_ps) - done)
        # Sliced, for an index that is only counted up from 0 needs no check.
        whole_ps, part = (
            moments.whole_ps[start : start + count],
            moments.part[start : start + count],
        )
        times = at_ps[done : done + count]
        for k in range(count):
            times[k] = begins_ps + whole_ps[k] + (begins_part + part[k] >= denominator)
        connection[done : done + count] = moments.connection[start : start + count]
        done += count
        start = 0
        begins_ps += round_ps
        begins_part += round_part
        if begins_part >= denominator:
            begins_part -= denominator
            begins_ps += 1
