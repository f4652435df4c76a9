"""Sources whose connections go back and forth between two states, each by itself.

A state lasts for a time that is constant or drawn. Cells come at a constant interval of the time
that is spent in the second state, and of it alone; or in both states at random, in each at a rate
of its own. The connections stand in a heap by their next event, so cells leave it in order of time.
Whatever is drawn is taken from blocks in the order of events, which no cut of time moves.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.kernel import kernel
from qospec.engine.random import LATEST_PS, DrawnTimes
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.catalogue.kinds import Duration
    from qospec.engine.arrays import Indices, Times, Truths, Whole
    from qospec.engine.random import Draws

BLOCK = 4_096
"""So many times are drawn at once, and so many cells given by a kernel in one go."""
LONGEST_STAY_PS = 10**17
"""A day; the longest exponential draw, of 45 times the mean, still fits int64."""
LEAST_CELLS = Fraction(1, 100)
"""Per turn through both states, on average: else more is done for the states than for cells."""
LARGEST_NUMERATOR = 2**61
NEVER_PS = 2**63 - 1
STAY, GAP = 0, 2
"""Where the rows of draws begin; each has one for either state."""
ROWS = 4


class Gaps(NamedTuple):
    """The times between cells.

    Attributes:
        constant_ps: In the second state, of the time spent there; None: at random in both.
        means_ps: Of the exponential times in each state, if they are at random.
    """

    constant_ps: Fraction | None = None
    means_ps: tuple[float, float] = (0.0, 0.0)


class Pace(NamedTuple):
    """A constant gap as kernels reckon with it: whole ps, and a numerator over a denominator."""

    whole_ps: int
    part: int
    denominator: int


class ConnectionStates(NamedTuple):
    """Where each connection is.

    Attributes:
        second: (n,) Whether it is in the second state.
        leaves_ps: (n,) When it goes to the other one.
        next_ps: (n,) When its next cell is ready, rounded down; never, in a state without.
        part: (n,) What that leaves, as a numerator.
        held_ps: (n,) In a state without cells: how far off the next one is.
        due_ps: (n,) Its next event.
        heap: (n,) Connections; each is due no later than those at 2i+1 and 2i+2.
    """

    second: Truths
    leaves_ps: Times
    next_ps: Times
    part: Whole
    held_ps: Times
    due_ps: Times
    heap: Indices


@dataclass
class TwoState:
    """What is carried from batch to batch.

    Attributes:
        turns: Of the connections.
        pace: Of a constant gap.
        random: Whether cells come at random.
        rows: What draws each row anew.
        drawn_ps: (ROWS, BLOCK) Times that were drawn.
        used: (ROWS,) How many of each row are gone.
    """

    turns: ConnectionStates
    pace: Pace
    random: bool
    rows: tuple[DrawnTimes, ...]
    drawn_ps: Whole
    used: Whole

    def before(self, until_ps: int) -> tuple[Times, Indices]:
        """Return times and connections of all cells before `until_ps` that were not yet given."""
        at_ps, connection = [np.empty(0, np.int64)], [np.empty(0, np.int32)]
        done = False
        while not done:
            times, whose = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int32)
            count, done = _advance(
                until_ps,
                self.turns,
                self.pace,
                self.random,
                (self.drawn_ps, self.used),
                (times, whose),
            )
            at_ps.append(times[:count])
            connection.append(whose[:count])
            for number in np.flatnonzero(self.used == BLOCK).tolist():
                self.rows[number].draw(self.drawn_ps[number])
                self.used[number] = 0
        return np.concatenate(at_ps), np.concatenate(connection)


def check_state(
    name: str, cell_rate: Fraction, mean_rate: Fraction, stays: tuple[Duration, Duration]
) -> None:
    """Raise ValueError, with words for an author, for rates and states that do not go together.

    Args:
        name: Of the field that gives `cell_rate`.
        cell_rate: Whose interval is kept exactly, in cells/s.
        mean_rate: Cells/s of one connection, on average.
        stays: How long each state lasts.
    """
    if cell_rate.numerator > LARGEST_NUMERATOR:
        raise ValueError(f"{name}: this fraction is too fine to be kept exactly; give fewer digits")
    if mean_rate * (stays[0].mean_ps + stays[1].mean_ps) < LEAST_CELLS * PS_PER_S:
        raise ValueError(
            f"{name}: fewer than one in 100 cycles through both states would contain a cell"
        )


def two_state(
    stays: tuple[Duration, Duration], gaps: Gaps, connections: int, phases: str, draws: Draws
) -> TwoState:
    """Return a source of like connections.

    Args:
        stays: How long each state lasts.
        gaps: The times between cells.
        connections: How many.
        phases: "random": each is in a state, and as far through it, as at any time in the long run;
            "even": connection i enters the second state, and has a cell, at i/n of a mean turn.
        draws: For states, stays and gaps.
    """
    laws: list[tuple[float, bool]] = [(s.mean_ps, s.law == "exponential") for s in stays]
    laws += [(mean_ps, gaps.constant_ps is None) for mean_ps in gaps.means_ps]
    rows = tuple(
        DrawnTimes(mean_ps, draws.below("times", str(number)) if random else None)
        for number, (mean_ps, random) in enumerate(laws)
    )
    drawn_ps = np.empty((ROWS, BLOCK), np.int64)
    for row, times_ps in zip(rows, drawn_ps, strict=True):
        row.draw(times_ps)
    gap_ps = gaps.constant_ps or Fraction(0)
    whole_ps, rest = divmod(gap_ps, 1)
    pace = Pace(int(whole_ps), rest.numerator, rest.denominator)
    turns = _begin(stays, gaps, connections, draws, even=phases == "even")
    random = gaps.constant_ps is None
    return TwoState(turns, pace, random, rows, drawn_ps, np.zeros(ROWS, np.int64))


def _begin(
    stays: tuple[Duration, Duration], gaps: Gaps, connections: int, draws: Draws, *, even: bool
) -> ConnectionStates:
    turn_ps = stays[0].mean_ps + stays[1].mean_ps
    if even:
        second = np.zeros(connections, np.bool_)
        leaves_ps = np.array([i * turn_ps // connections for i in range(connections)], np.int64)
        first_ps = np.zeros(connections, np.int64)
    else:
        place_ps = draws.below("states").stream().integers(0, turn_ps, connections)
        second = place_ps < stays[1].mean_ps
        stream = draws.below("stays").stream()
        unit = stream.exponential(1.0, connections)
        through_ps = np.where(second, place_ps, place_ps - stays[1].mean_ps)
        leaves_ps = np.empty(connections, np.int64)
        for state, stay in enumerate(stays):
            mine = second == bool(state)
            drawn_ps = (unit * stay.mean_ps).astype(np.int64)
            rest_ps = drawn_ps if stay.law == "exponential" else stay.mean_ps - through_ps
            leaves_ps[mine] = rest_ps[mine]
        first_ps = _first(second, gaps, draws)
    never = np.full(connections, NEVER_PS, np.int64)
    silent = ~second & (gaps.constant_ps is not None)
    next_ps = np.where(silent, never, first_ps)
    due_ps = np.minimum(next_ps, leaves_ps)
    heap = due_ps.argsort(kind="stable").astype(np.int32)
    part = np.zeros(connections, np.int64)
    return ConnectionStates(second, leaves_ps, next_ps, part, first_ps, due_ps, heap)


def _first(second: Truths, gaps: Gaps, draws: Draws) -> Times:
    """Return how far off each connection's first cell is."""
    stream, count = draws.below("first").stream(), len(second)
    if gaps.constant_ps is not None:
        return stream.integers(0, -(-gaps.constant_ps // 1), count)
    exact = stream.exponential(1.0, count) * np.where(second, *reversed(gaps.means_ps))
    return np.minimum(exact, float(LATEST_PS)).astype(np.int64)


@kernel
def _advance(
    until_ps: int,
    turns: ConnectionStates,
    pace: Pace,
    random: bool,  # noqa: FBT001 -- kernels take no names
    draws: tuple[Whole, Whole],
    cells: tuple[Times, Indices],
) -> tuple[int, bool]:
    """Write the cells before a time, as many as there is room and draws for.

    Args:
        until_ps: Up to when.
        turns: Carried on.
        pace: Of a constant gap.
        random: Whether cells come at random, in both states.
        draws: (ROWS, BLOCK) times, and (ROWS,) how many of them are gone: carried on.
        cells: (n,) Written: times and connections.

    Returns:
        How many cells, and whether these are all.
    """
    drawn_ps, used = draws
    at_ps, connection = cells
    heap, due_ps = turns.heap, turns.due_ps
    count = 0
    while count < len(at_ps):
        i = heap[0]
        if due_ps[i] >= until_ps:
            return count, True
        for row in range(len(used)):
            if used[row] == drawn_ps.shape[1]:
                return count, False
        if turns.next_ps[i] < turns.leaves_ps[i]:
            at_ps[count], connection[count] = turns.next_ps[i], i
            count += 1
            row = GAP + turns.second[i]
            if random:
                turns.next_ps[i] += drawn_ps[row, used[row]]
                used[row] += 1
            else:
                turns.next_ps[i] += pace.whole_ps
                turns.part[i] += pace.part
                if turns.part[i] >= pace.denominator:
                    turns.part[i] -= pace.denominator
                    turns.next_ps[i] += 1
        else:
            _change(turns, i, random, drawn_ps, used)
        due_ps[i] = min(turns.next_ps[i], turns.leaves_ps[i])
        _sink(heap, due_ps)
    return count, False


@kernel
def _change(turns: ConnectionStates, i: int, random: bool, drawn_ps: Whole, used: Whole) -> None:  # noqa: FBT001
    """Go to the other state; what is at random begins anew there, which its law allows."""
    now_ps = turns.leaves_ps[i]
    turns.second[i] = not turns.second[i]
    state = int(turns.second[i])
    turns.leaves_ps[i] = now_ps + drawn_ps[STAY + state, used[STAY + state]]
    used[STAY + state] += 1
    if random:
        turns.next_ps[i] = now_ps + drawn_ps[GAP + state, used[GAP + state]]
        used[GAP + state] += 1
    elif state:
        turns.next_ps[i] = now_ps + turns.held_ps[i]
    else:
        turns.held_ps[i] = turns.next_ps[i] - now_ps
        turns.next_ps[i] = NEVER_PS


@kernel
def _sink(heap: Indices, due_ps: Times) -> None:
    """Put the first connection, which is due later now, where it belongs."""
    moved, place = heap[0], 0
    while 2 * place + 1 < len(heap):
        child = 2 * place + 1
        if child + 1 < len(heap):
            left, right = heap[child], heap[child + 1]
            if due_ps[right] < due_ps[left] or (due_ps[right] == due_ps[left] and right < left):
                child += 1
        below = heap[child]
        if due_ps[moved] < due_ps[below] or (due_ps[moved] == due_ps[below] and moved < below):
            break
        heap[place] = below
        place = child
    heap[place] = moved
