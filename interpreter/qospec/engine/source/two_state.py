"""Two-state sources: each connection alternates between two states, independently.

A state lasts for a time that is constant or drawn. Cells are sent at a constant interval of the
time spent in the second state, and of it alone; or at random in both states, each with its own
rate. A heap orders connections by their next event, so cells leave it in order of time. All random
numbers are taken from blocks in the order of events, whatever the size of time steps.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple, dataclass
from qospec.engine.arrays import np
from qospec.engine.kernel import kernel
from qospec.engine.random import LATEST_PS, DrawnTimes
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.catalogue.kinds import Duration
    from qospec.engine.arrays import Indices, Times, Truths, Whole
    from qospec.engine.random import Draws

BLOCK = 4_096
"""The number of times drawn at once, and of cells that a kernel emits in one call."""
LONGEST_STAY_PS = 10**17
"""A day; the longest exponential draw, of 45 times the mean, still fits int64."""
MIN_CELLS_PER_CYCLE = Fraction(1, 100)
"""The mean number of cells per cycle through both states; below it, state changes dominate."""
LARGEST_NUMERATOR = 2**61
NEVER_PS = 2**63 - 1
STAY, GAP = 0, 2
"""The first rows of the draws; each has one row per state."""
ROWS = 4


class Gaps(NamedTuple):
    """The times between cells.

    Attributes:
        constant_ps: Constant, of the time spent in the second state; None: at random in both.
        means_ps: The means of the exponential times in each state, if at random.
    """

    constant_ps: Fraction | None = None
    means_ps: tuple[float, float] = (0.0, 0.0)


class ConstantGap(NamedTuple):
    """A constant gap for kernels: whole ps, and a numerator over a denominator."""

    whole_ps: int
    part: int
    denominator: int


class ConnectionStates(NamedTuple):
    """The state of each connection.

    Attributes:
        second: (n,) Whether it is in the second state.
        leaves_ps: (n,) When it changes to the other state.
        next_ps: (n,) When its next cell is ready, rounded down; NEVER_PS in a state without cells.
        part: (n,) The rest of `next_ps`, as a numerator.
        remaining_ps: (n,) In a state without cells: the rest of the interval to the next cell.
        due_ps: (n,) The time of its next event.
        heap: (n,) Connections; each is due no later than those at 2i+1 and 2i+2.
    """

    second: Truths
    leaves_ps: Times
    next_ps: Times
    part: Whole
    remaining_ps: Times
    due_ps: Times
    heap: Indices


@dataclass
class TwoState:
    """The state that is kept from batch to batch.

    Attributes:
        states: The states of the connections.
        gap: The constant gap, if not `random`.
        random: Whether cells are sent at random.
        rows: What refills each row.
        drawn_ps: (ROWS, BLOCK) Times that were drawn.
        used: (ROWS,) The number of times used of each row.
    """

    states: ConnectionStates
    gap: ConstantGap
    random: bool
    rows: tuple[DrawnTimes, ...]
    drawn_ps: Whole
    used: Whole

    def take_before(self, until_ps: int) -> tuple[Times, Indices]:
        """Return times and connections of all cells before `until_ps` that were not yet emitted."""
        at_ps, connection = [np.empty(0, np.int64)], [np.empty(0, np.int32)]
        done = False
        while not done:
            times, sender = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int32)
            count, done = _advance(
                until_ps,
                self.states,
                self.gap,
                self.random,
                (self.drawn_ps, self.used),
                (times, sender),
            )
            at_ps.append(times[:count])
            connection.append(sender[:count])
            for number in np.flatnonzero(self.used == BLOCK).tolist():
                self.rows[number].draw(self.drawn_ps[number])
                self.used[number] = 0
        return np.concatenate(at_ps), np.concatenate(connection)


def check_state(
    name: str, cell_rate: Fraction, mean_rate: Fraction, stays: tuple[Duration, Duration]
) -> None:
    """Raise ValueError, in the author's words, for rates and states that do not fit together.

    Args:
        name: The field that holds `cell_rate`.
        cell_rate: A rate whose interval is kept exactly, in cells/s.
        mean_rate: The mean cells/s of one connection.
        stays: How long each state lasts.
    """
    if cell_rate.numerator > LARGEST_NUMERATOR:
        raise ValueError(f"{name}: this fraction is too fine to be kept exactly; give fewer digits")
    if mean_rate * (stays[0].mean_ps + stays[1].mean_ps) < MIN_CELLS_PER_CYCLE * PS_PER_S:
        raise ValueError(
            f"{name}: fewer than one in 100 cycles through both states would contain a cell"
        )


def make_two_state(
    stays: tuple[Duration, Duration], gaps: Gaps, connections: int, phases: str, draws: Draws
) -> TwoState:
    """Return a source of identical connections.

    Args:
        stays: How long each state lasts.
        gaps: The times between cells.
        connections: Their number.
        phases: "random": each starts in its steady state; "even": connection i enters the second
            state, and has a cell, at i/n of a mean cycle.
        draws: The streams of states, stays and gaps.
    """
    laws: list[tuple[float, bool]] = [(s.mean_ps, s.law == "exponential") for s in stays]
    laws += [(mean_ps, gaps.constant_ps is None) for mean_ps in gaps.means_ps]
    rows = tuple(
        DrawnTimes(mean_ps, draws.derive("times", str(number)) if random else None)
        for number, (mean_ps, random) in enumerate(laws)
    )
    drawn_ps = np.empty((ROWS, BLOCK), np.int64)
    for row, times_ps in zip(rows, drawn_ps, strict=True):
        row.draw(times_ps)
    gap_ps = gaps.constant_ps or Fraction(0)
    whole_ps, rest = divmod(gap_ps, 1)
    gap = ConstantGap(int(whole_ps), rest.numerator, rest.denominator)
    states = _draw_states(stays, gaps, connections, draws, even=phases == "even")
    random = gaps.constant_ps is None
    return TwoState(states, gap, random, rows, drawn_ps, np.zeros(ROWS, np.int64))


def _draw_states(
    stays: tuple[Duration, Duration], gaps: Gaps, connections: int, draws: Draws, *, even: bool
) -> ConnectionStates:
    cycle_ps = stays[0].mean_ps + stays[1].mean_ps
    if even:
        second = np.zeros(connections, np.bool_)
        leaves_ps = np.array([i * cycle_ps // connections for i in range(connections)], np.int64)
        first_ps = np.zeros(connections, np.int64)
    else:
        place_ps = draws.derive("states").open_stream().integers(0, cycle_ps, connections)
        second = place_ps < stays[1].mean_ps
        stream = draws.derive("stays").open_stream()
        unit = stream.exponential(1.0, connections)
        through_ps = np.where(second, place_ps, place_ps - stays[1].mean_ps)
        leaves_ps = np.empty(connections, np.int64)
        for state, stay in enumerate(stays):
            mine = second == bool(state)
            drawn_ps = (unit * stay.mean_ps).astype(np.int64)
            rest_ps = drawn_ps if stay.law == "exponential" else stay.mean_ps - through_ps
            leaves_ps[mine] = rest_ps[mine]
        first_ps = _draw_first_cells(second, gaps, draws)
    never = np.full(connections, NEVER_PS, np.int64)
    silent = ~second & (gaps.constant_ps is not None)
    next_ps = np.where(silent, never, first_ps)
    due_ps = np.minimum(next_ps, leaves_ps)
    heap = due_ps.argsort(kind="stable").astype(np.int32)
    part = np.zeros(connections, np.int64)
    return ConnectionStates(second, leaves_ps, next_ps, part, first_ps, due_ps, heap)


def _draw_first_cells(second: Truths, gaps: Gaps, draws: Draws) -> Times:
    """Return the time to the first cell of each connection."""
    stream, count = draws.derive("first").open_stream(), len(second)
    if gaps.constant_ps is not None:
        return stream.integers(0, -(-gaps.constant_ps // 1), count)
    exact = stream.exponential(1.0, count) * np.where(second, *reversed(gaps.means_ps))
    return np.minimum(exact, float(LATEST_PS)).astype(np.int64)


@kernel
def _advance(
    until_ps: int,
    states: ConnectionStates,
    gap: ConstantGap,
    random: bool,  # noqa: FBT001 -- kernels take no names
    draws: tuple[Whole, Whole],
    cells: tuple[Times, Indices],
) -> tuple[int, bool]:
    """Write the cells before a time, as long as room and random numbers last.

    Args:
        until_ps: The time.
        states: Updated.
        gap: The constant gap, if not `random`.
        random: Whether cells are sent at random, in both states.
        draws: (ROWS, BLOCK) times, and (ROWS,) the number used of each; updated.
        cells: (n,) Written: times and connections.

    Returns:
        The number of cells, and whether these are all.
    """
    drawn_ps, used = draws
    at_ps, connection = cells
    heap, due_ps = states.heap, states.due_ps
    count = 0
    while count < len(at_ps):
        i = heap[0]
        if due_ps[i] >= until_ps:
            return count, True
        for row in range(len(used)):
            if used[row] == drawn_ps.shape[1]:
                return count, False
        if states.next_ps[i] < states.leaves_ps[i]:
            at_ps[count], connection[count] = states.next_ps[i], i
            count += 1
            row = GAP + states.second[i]
            if random:
                states.next_ps[i] += drawn_ps[row, used[row]]
                used[row] += 1
            else:
                states.next_ps[i] += gap.whole_ps
                states.part[i] += gap.part
                if states.part[i] >= gap.denominator:
                    states.part[i] -= gap.denominator
                    states.next_ps[i] += 1
        else:
            _change_state(states, i, random, drawn_ps, used)
        due_ps[i] = min(states.next_ps[i], states.leaves_ps[i])
        _sift_down(heap, due_ps)
    return count, False


@kernel
def _change_state(
    states: ConnectionStates,
    i: int,
    random: bool,  # noqa: FBT001
    drawn_ps: Whole,
    used: Whole,
) -> None:
    """Change to the other state; random gaps restart there, as they are memoryless."""
    now_ps = states.leaves_ps[i]
    states.second[i] = not states.second[i]
    state = int(states.second[i])
    states.leaves_ps[i] = now_ps + drawn_ps[STAY + state, used[STAY + state]]
    used[STAY + state] += 1
    if random:
        states.next_ps[i] = now_ps + drawn_ps[GAP + state, used[GAP + state]]
        used[GAP + state] += 1
    elif state:
        states.next_ps[i] = now_ps + states.remaining_ps[i]
    else:
        states.remaining_ps[i] = states.next_ps[i] - now_ps
        states.next_ps[i] = NEVER_PS


@kernel
def _sift_down(heap: Indices, due_ps: Times) -> None:
    """Restore the heap after its first connection is due later."""
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
