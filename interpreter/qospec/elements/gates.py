"""A scheduler: gates that open by time, and strict priority among those that are open."""

from __future__ import annotations

import functools
import itertools
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Annotated

from qospec.calculus.guarantee import Share
from qospec.calculus.service import RateLatency
from qospec.catalogue.kinds import LONGEST_PS, Domain, Time, UnfitError, element
from qospec.dataclass import dataclass
from qospec.engine.kernel import kernel
from qospec.engine.line.guarantee import cost_sizes
from qospec.engine.scheduler.choice import select_first_waiting
from qospec.engine.scheduler.gating import (
    BEGINS,
    COUNT,
    CYCLE,
    MOST_WINDOWS,
    WINDOWS,
    find_window_ps,
    join_windows,
    list_frame_fields,
    measure_frame_ps,
)
from qospec.engine.scheduler.policy import Policy
from qospec.engine.scheduler.scheduler import Scheduler
from qospec.engine.scheduler.tree import (
    FIRST,
    LAST,
    NO_LIMIT,
    OPENS,
    SIZE,
    WAITS,
)
from qospec.protocol.encapsulation import Encapsulation
from qospec.units import PS_PER_S, TIME, format_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from qospec.engine.line.clock import Clock
    from qospec.engine.scheduler.gating import Window
    from qospec.engine.scheduler.scheduler import Competitor
    from qospec.engine.scheduler.tree import Tree

ROUNDED_PS = 2
"""By how much times that are rounded to whole ps may differ from exact ones, at most."""
Windows = Annotated[tuple[tuple[str, tuple[int, ...]], ...], Domain("windows", 0, LONGEST_PS)]
"""For each name in order: how long, or from when until when, and so on."""


def _write(time_ps: int) -> str:
    return format_value(Fraction(time_ps, PS_PER_S), TIME)


@kernel
def _find_opening(tree: Tree, scheduler: int, now_ps: int) -> int:
    """Note and return from when on each gate is open for as long as its next frame takes."""
    found_ps = NO_LIMIT
    for k in range(tree[scheduler, FIRST], tree[scheduler, LAST]):
        if tree[k, WAITS]:
            ready_ps = now_ps if tree[k, FIRST] == 0 else max(now_ps, tree[k, OPENS])
            lasts_ps = measure_frame_ps(tree, scheduler, tree[k, SIZE])
            tree[k, OPENS] = find_window_ps(tree, k, ready_ps, lasts_ps)
            found_ps = min(found_ps, tree[k, OPENS])
    return found_ps


def _measure_served(window: Window, lost_ps: Fraction, mine: Competitor) -> Fraction:
    """Return how much work of an input a window serves at least, if so much waits."""
    left_ps = window[1] - window[0] - lost_ps
    if mine.smallest_bytes == mine.largest_bytes:
        return max(left_ps // (mine.longest_ps + ROUNDED_PS), 0) * mine.longest_ps
    return max(left_ps - mine.longest_ps, Fraction(0))


def _build_share(
    given: Sequence[tuple[int, int, Fraction]],
    cycle_ps: int,
    lost_ps: Fraction,
    mine: Competitor,
    clock: Clock,
) -> Share:
    """Return the service of windows that each serve so much, in each cycle; none without any."""
    costs = functools.partial(cost_sizes, clock)
    if not given:
        return Share((), costs)
    begins = [begin for begin, _, _ in given]
    following = [*begins[1:], begins[0] + cycle_ps]
    idle_ps = [
        after - end + mine.longest_ps + lost_ps
        for (_, end, _), after in zip(given, following, strict=True)
    ]
    rate = sum((served for *_, served in given), Fraction(0)) / cycle_ps
    latency_ps = max(
        idle_ps[first] + (begins[n % len(given)] - following[first]) % cycle_ps - served / rate
        for first in range(len(given))
        for n, served in _accumulate_served(given, first)
    )
    longest_ps = max(idle_ps)
    least_ps = min(served for *_, served in given)
    if any(
        burst + longest_ps <= (longest_ps + least_ps) * (1 - more)
        for burst, more in mine.work.lines
    ):
        return Share((RateLatency(latency_ps=longest_ps), RateLatency(rate, latency_ps)), costs)
    return Share((RateLatency(rate, latency_ps),), costs, always=True)


def _accumulate_served(
    given: Sequence[tuple[int, int, Fraction]], first: int
) -> Iterator[tuple[int, Fraction]]:
    """Yield each window behind one in turn, with what those between have served."""
    served = Fraction(0)
    for n in range(first + 1, first + 1 + len(given)):
        yield n, served
        served += given[n % len(given)][2]


@element(
    source="IEEE 802.1Q-2022, 8.6.8.4 (scheduled traffic, 802.1Qbv) and 8.6.8 (strict priority)",
    duty="scheduler",
    carries=("packet",),
)
@dataclass(frozen=True)
class Gates(Scheduler):
    """Serve the first input whose gate is open for as long as its next frame takes.

    Each input has a gate, which opens and closes by the time within a cycle; cycles follow each
    other without end. A frame begins only if its last bit has left when the gate closes, so no
    guard band is needed. Where several gates are open, the first input in order is served.

    Not modelled: clocks that differ (IEEE 802.1AS); a change of the gates in a trial; preemption
    (802.1Qbu).
    """

    open: Windows
    """When the gate of each input is open, highest priority first: for so long, behind the window
    of the input before; or a list of times in the cycle: from when, until when, and so on."""
    cycle: Time = 0
    """The length of the cycle; 0: up to the end of the last window."""
    begins: Time = 0
    """When a cycle begins: time 0 is so much before it."""

    policy = Policy("gates", select_first_waiting, find_opening=_find_opening)
    needs_line = True
    passes_over = True

    def __post_init__(self) -> None:
        if not self.open:
            raise UnfitError("open: at least one input is needed", "name what it serves")
        in_turn = {len(times) == 1 for _, times in self.open}
        if len(in_turn) > 1:
            raise UnfitError(
                "open: give each input a time, or each a list of times",
                "write from when until when: `[0 us, 250 us]`",
            )
        for name, times in self.open:
            self._verify(name, times)
        if self.cycle and self.cycle < self._end_ps:
            raise UnfitError(
                "cycle: it ends before the last window does",
                f"write at least {_write(self._end_ps)}, or leave it out",
            )
        if self.begins and self.begins >= self._cycle_ps:
            raise UnfitError(
                "begins: expected less than a cycle",
                f"write less than {_write(self._cycle_ps)}",
            )

    def _verify(self, name: str, times: tuple[int, ...]) -> None:
        """Raise ValueError, in the author's words, for what cannot be the windows of an input."""
        if not times or times == (0,):
            raise UnfitError(f"open: the gate of {name} never opens", "say for how long it does")
        if len(times) == 1:
            return
        if len(times) % 2:
            raise UnfitError(
                f"open: the last window of {name} has no end", "add the time when it closes"
            )
        if any(before > after for before, after in itertools.pairwise(times)):
            raise UnfitError(
                f"open: windows of {name} overlap, or are not in order",
                "write when it opens and closes, in order of time",
            )
        if any(begin == end for begin, end in zip(times[::2], times[1::2], strict=True)):
            raise UnfitError(
                f"open: a window of {name} ends as it begins", "leave it out, or make it longer"
            )
        if len(times) > 2 * MOST_WINDOWS:
            raise UnfitError(
                f"open: {name} has more than {MOST_WINDOWS} windows", "write a shorter cycle"
            )

    @property
    def windows(self) -> tuple[tuple[Window, ...], ...]:
        """Return the windows of each input, as they are written."""
        if len(self.open[0][1]) == 1:
            ends = list(itertools.accumulate(times[0] for _, times in self.open))
            return tuple((window,) for window in itertools.pairwise((0, *ends)))
        return tuple(tuple(zip(times[::2], times[1::2], strict=True)) for _, times in self.open)

    @property
    def _joined(self) -> list[tuple[Window, ...]]:
        """Return the windows of each, as long as possible; none: it is always open."""
        return [join_windows(windows, self._cycle_ps) for windows in self.windows]

    @property
    def _end_ps(self) -> int:
        return max(windows[-1][1] for windows in self.windows)

    @property
    def _cycle_ps(self) -> int:
        return self.cycle or self._end_ps

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.open)

    def bound_share(self, number: int, inputs: Sequence[Competitor | None], clock: Clock) -> Share:
        """Return what its windows give an input, if none that goes first is open with it.

        A frame waits at most for the windows of others, a frame of its own that no longer fits, and
        one of an input behind it that has begun: Zhao, Pop and Craciunas 2018, for windows that
        exclude each other. While all that waits fits into one window, that is as fast as the line.
        """
        mine, own = inputs[number], self._joined[number]
        assert mine is not None  # noqa: S101 -- no share is asked for where nothing arrives
        beside = {
            n: one.longest_ps
            for n, one in enumerate(inputs)
            if one and n != number and self._is_open_with(n, number)
        }
        if not own or min(beside, default=number) < number:
            return super().bound_share(number, inputs, clock)
        lost_ps = max(beside.values(), default=Fraction(0)) + ROUNDED_PS
        given = [(*window, _measure_served(window, lost_ps, mine)) for window in own]
        return _build_share(
            [window for window in given if window[2]], self._cycle_ps, lost_ps, mine, clock
        )

    def _is_open_with(self, one: int, other: int) -> bool:
        """Return whether the gates of two inputs are ever open at one time."""
        cycle_ps, always = self._cycle_ps, ((0, self._cycle_ps),)
        return any(
            begin < end_of_other + turn * cycle_ps and begin_of_other + turn * cycle_ps < end
            for begin, end in self._joined[one] or always
            for begin_of_other, end_of_other in self._joined[other] or always
            for turn in (-1, 0, 1)
        )

    def explain_unfit(self, clock: Clock, largest: Sequence[int]) -> UnfitError | None:
        framed = Encapsulation() if clock.encapsulation is None else clock.encapsulation
        for name, windows, size_bytes in zip(self.inputs, self._joined, largest, strict=True):
            octets = framed.count_line_bytes(size_bytes) - framed.gap_bytes
            lasts_ps = ceil(octets * clock.byte_time_ps)
            longest_ps = max((end - begin for begin, end in windows), default=lasts_ps)
            if size_bytes and lasts_ps > longest_ps:
                return UnfitError(
                    f"the gate of `{name}` is never open for as long as a packet of {size_bytes} B"
                    f" takes, {_write(lasts_ps)}: it would wait for ever",
                    f"open it for at least {_write(lasts_ps)}, or send smaller packets",
                )
        return None

    def build_fields(self, clock: Clock) -> Mapping[int, int | tuple[int, ...]]:
        joined = self._joined
        places = [
            [place for window in windows for place in window] + [0] * (2 * MOST_WINDOWS)
            for windows in joined
        ]
        return {
            **list_frame_fields(clock),
            CYCLE: tuple(self._cycle_ps if windows else 0 for windows in joined),
            BEGINS: (self.begins,) * len(joined),
            COUNT: tuple(map(len, joined)),
            **{WINDOWS + n: tuple(place[n] for place in places) for n in range(2 * MOST_WINDOWS)},
        }
