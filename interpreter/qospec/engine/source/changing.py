"""A source that changes at stated times: one arrival process until then, another from then on."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.source.arrivals import Arrivals, Told
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.engine.arrays import Indices, Times
    from qospec.engine.random import Draws


@dataclass
class State:
    """Where a source is.

    Attributes:
        processes: The states of its processes.
        ended: How many of them have ended.
        emitting: Which of them emitted in the last window.
        telling: The last of them that has told of itself.
    """

    processes: list[Any]
    ended: int = 0
    emitting: range = range(0)
    telling: int = 0


@dataclass(frozen=True)
class Changing(Arrivals):
    """Emit what a process emits up to the time of a change, exclusive, then what the next one does.

    A process begins anew when it is changed to, as if a trial began then, with draws of its own; so
    up to the first change everything is as without it.

    Attributes:
        processes: Each with the time from which on it emits, in ps; ascending, the first 0.
    """

    processes: tuple[tuple[int, Arrivals], ...]

    def start(self, connections: int, phases: str, draws: Draws) -> State:
        """Return the states of all processes at their beginnings."""
        return State(
            [
                process.start(connections, phases, own)
                for (_, process), own in zip(self.processes, list_draws(self, draws), strict=True)
            ]
        )

    def emit(self, state: State, until_ps: int) -> tuple[Times, Indices]:
        """Return all items ready before `until_ps` that were not yet emitted, in order of time."""
        at_ps: list[Times] = []
        connection: list[Indices] = []
        first = state.ended
        for number, (begin_ps, stop_ps, process) in enumerate(self.list_spans()):
            if number < state.ended or begin_ps >= until_ps:
                continue
            since_ps, sender = process.emit(
                state.processes[number], min(until_ps, stop_ps) - begin_ps
            )
            at_ps.append(since_ps + begin_ps)
            connection.append(sender)
            state.emitting = range(first, number + 1)
            if stop_ps <= until_ps:
                state.ended = number + 1
        if not at_ps:
            return np.empty(0, np.int64), np.empty(0, np.int32)
        return np.concatenate(at_ps), np.concatenate(connection)

    def tell(self, state: State) -> Iterator[Told]:
        """Yield what its processes tell; calls that one holds end with it."""
        for number in state.emitting:
            begin_ps, process = self.processes[number]
            if process.tells == "calls" and number > state.telling:
                state.telling = number
                yield Told("held", np.array([begin_ps]), np.zeros(1, np.int64))
            for told in process.tell(state.processes[number]):
                yield told._replace(at_ps=told.at_ps + begin_ps)

    def compute_mean_rate(self, connections: int) -> Fraction:
        """Return the highest mean rate of its processes: the load that a line must carry."""
        return max(process.compute_mean_rate(connections) for _, process in self.processes)

    def list_rates(self, connections: int) -> tuple[tuple[int, Fraction], ...]:
        """Return the mean rates of its processes, each as long as it emits."""
        return tuple(
            (begin_ps + since_ps, rate)
            for begin_ps, stop_ps, process in self.list_spans()
            for since_ps, rate in process.list_rates(connections)
            if begin_ps + since_ps < stop_ps
        )

    def compute_highest_rate(self, connections: int) -> Fraction:
        """Return items/s of all connections that windows of time are made for."""
        return max(process.compute_highest_rate(connections) for _, process in self.processes)

    def count_most_items(self, connections: int, length_ps: int) -> int | None:
        """Return the most items of all processes within a time; None if one of them is random."""
        total = 0
        for begin_ps, stop_ps, process in self.list_spans():
            if begin_ps >= length_ps:
                break
            most = process.count_most_items(connections, min(length_ps, stop_ps) - begin_ps)
            if most is None:
                return None
            total += most
        return total

    def count_offered(self, length_ps: int) -> int:
        """Return how many calls all processes are offered within a time."""
        return sum(
            process.count_offered(min(length_ps, stop_ps) - begin_ps)
            for begin_ps, stop_ps, process in self.list_spans()
            if begin_ps < length_ps
        )

    def list_spans(self) -> Iterator[tuple[int, int, Arrivals]]:
        """Yield when each process begins and ends, and the process."""
        ends_ps = [begin_ps for begin_ps, _ in self.processes[1:]]
        for (begin_ps, process), end_ps in zip(self.processes, [*ends_ps, FOREVER_PS], strict=True):
            yield begin_ps, end_ps, process


@dataclass(frozen=True)
class Silent(Arrivals):
    """Emit nothing."""

    def start(self, connections: int, phases: str, draws: Draws) -> None:
        """Return no state."""

    def emit(self, state: None, until_ps: int) -> tuple[Times, Indices]:  # noqa: ARG002
        """Return nothing."""
        return np.empty(0, np.int64), np.empty(0, np.int32)

    def compute_mean_rate(self, connections: int) -> Fraction:  # noqa: ARG002
        """Return 0."""
        return Fraction(0)

    def count_most_items(self, connections: int, length_ps: int) -> int:  # noqa: ARG002
        """Return 0."""
        return 0


def begin_later(process: Arrivals, offset_ps: int) -> Arrivals:
    """Return a process that is silent until so long after a trial begins; changes keep time."""
    if not offset_ps:
        return process
    if isinstance(process, Changing):
        (_, first), *later = process.processes
        return Changing(((0, begin_later(first, offset_ps)), *later))
    return Changing(((0, Silent()), (offset_ps, process)))


def list_spans(arrivals: Arrivals) -> tuple[tuple[int, int, Arrivals], ...]:
    """Return when each process of a source begins and ends, and the process; else the source."""
    if isinstance(arrivals, Changing):
        return tuple(arrivals.list_spans())
    return ((0, FOREVER_PS, arrivals),)


def list_draws(arrivals: Arrivals, draws: Draws) -> tuple[Draws, ...]:
    """Return the draws of each process of a source."""
    later = range(1, len(list_spans(arrivals)))
    return (draws, *(draws.derive("change", str(number)) for number in later))


def compute_mean_items(arrivals: Arrivals, connections: int, length_ps: int) -> Fraction:
    """Return how many items a source emits on average within a time since it began."""
    return (
        sum(
            (
                Fraction(process.compute_mean_rate(connections))
                * (min(length_ps, stop_ps) - begin_ps)
                for begin_ps, stop_ps, process in list_spans(arrivals)
                if begin_ps < length_ps
            ),
            Fraction(0),
        )
        / PS_PER_S
    )
