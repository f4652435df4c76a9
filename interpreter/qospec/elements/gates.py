"""A scheduler: gates that open by time, and strict priority among those that are open."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import LONGEST_PS, Domain, Time, UnfitError, element
from qospec.dataclass import dataclass
from qospec.engine.kernel import kernel
from qospec.engine.line.transmission import build_line, framing_of, sent_bytes
from qospec.engine.scheduler.gating import (
    BEGINS,
    COUNT,
    CYCLE,
    MOST_WINDOWS,
    WINDOWS,
    find_window_ps,
    join_windows,
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
    list_own_fields,
)
from qospec.protocol.encapsulation import Encapsulation, Framing
from qospec.units import PS_PER_S, TIME, format_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qospec.engine.line.clock import Clock
    from qospec.engine.scheduler.gating import Window
    from qospec.engine.scheduler.tree import Tree

Windows = Annotated[tuple[tuple[str, tuple[int, ...]], ...], Domain("windows", 0, LONGEST_PS)]
"""For each name in order: how long, or from when until when, and so on."""

HEADER, LEAST, EXTRA, PER_CELL, BYTE, BYTE_PART, DENOMINATOR = list_own_fields(7)
"""The framing of packets without the gap behind a frame, and the time of a byte."""


@kernel
def _find_opening(tree: Tree, scheduler: int, now_ps: int) -> int:
    """Note and return from when on each gate is open for as long as its next frame takes."""
    found_ps = NO_LIMIT
    framing = Framing(
        tree[scheduler, HEADER],
        tree[scheduler, LEAST],
        tree[scheduler, EXTRA],
        tree[scheduler, PER_CELL],
    )
    for k in range(tree[scheduler, FIRST], tree[scheduler, LAST]):
        if tree[k, WAITS]:
            ready_ps = now_ps if tree[k, FIRST] == 0 else max(now_ps, tree[k, OPENS])
            octets = sent_bytes(framing, tree[k, SIZE])
            lasts_ps = octets * tree[scheduler, BYTE]
            lasts_ps -= -octets * tree[scheduler, BYTE_PART] // tree[scheduler, DENOMINATOR]
            tree[k, OPENS] = find_window_ps(tree, k, ready_ps, lasts_ps)
            found_ps = min(found_ps, tree[k, OPENS])
    return found_ps


@kernel
def _select(tree: Tree, scheduler: int) -> int:
    """Return the first input with a waiting item."""
    k = tree[scheduler, FIRST]
    while tree[k, WAITS] == 0:
        k += 1
    return k  # type: ignore[no-any-return]


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

    policy = Policy("gates", _select, find_opening=_find_opening)
    needs_line = True
    passes_over = True

    def __post_init__(self) -> None:
        if not self.open:
            raise ValueError("open: at least one input is needed")
        in_turn = {len(times) == 1 for _, times in self.open}
        if len(in_turn) > 1:
            raise ValueError("open: give each input a time, or each a list of times")
        for name, times in self.open:
            self._verify(name, times)
        if self.cycle and self.cycle < self._end_ps:
            raise ValueError("cycle: it ends before the last window does")
        if self.begins and self.begins >= self._cycle_ps:
            raise ValueError("begins: expected less than a cycle")

    def _verify(self, name: str, times: tuple[int, ...]) -> None:
        """Raise ValueError, in the author's words, for what cannot be the windows of an input."""
        if not times or times == (0,):
            raise ValueError(f"open: the gate of {name} never opens")
        if len(times) == 1:
            return
        if len(times) % 2:
            raise ValueError(f"open: the last window of {name} has no end")
        if any(before > after for before, after in itertools.pairwise(times)):
            raise ValueError(f"open: windows of {name} overlap, or are not in order")
        if any(begin == end for begin, end in zip(times[::2], times[1::2], strict=True)):
            raise ValueError(f"open: a window of {name} ends as it begins")
        if len(times) > 2 * MOST_WINDOWS:
            raise ValueError(f"open: {name} has more than {MOST_WINDOWS} windows")

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

    def explain_unfit(self, clock: Clock, largest: Sequence[int]) -> UnfitError | None:
        framed = Encapsulation() if clock.encapsulation is None else clock.encapsulation
        for name, windows, size_bytes in zip(self.inputs, self._joined, largest, strict=True):
            octets = framed.line_bytes(size_bytes) - framed.gap_bytes
            lasts_ps = ceil(octets * clock.byte_time_ps)
            longest_ps = max((end - begin for begin, end in windows), default=lasts_ps)
            if size_bytes and lasts_ps > longest_ps:
                lasts = Fraction(lasts_ps, PS_PER_S)
                return UnfitError(
                    f"the gate of `{name}` is never open for as long as a packet of {size_bytes} B"
                    f" takes, {format_value(lasts, TIME)}: it would wait for ever",
                    "open it for longer, or send smaller packets",
                )
        return None

    def fields(self, clock: Clock) -> Mapping[int, int | tuple[int, ...]]:
        line = build_line(clock)
        framed = clock.encapsulation
        header, least, extra, per_cell = framing_of(line)
        gap_bytes = 0 if framed is None else framed.gap_bytes
        byte, byte_part = divmod(clock.byte_time_ps, 1)
        denominator = clock.byte_time_ps.denominator
        joined = self._joined
        places = [
            [place for window in windows for place in window] + [0] * (2 * MOST_WINDOWS)
            for windows in joined
        ]
        return {
            HEADER: int(header),
            LEAST: int(least),
            EXTRA: int(extra) - gap_bytes,
            PER_CELL: int(per_cell),
            BYTE: int(byte),
            BYTE_PART: int(byte_part * denominator),
            DENOMINATOR: denominator,
            CYCLE: tuple(self._cycle_ps if windows else 0 for windows in joined),
            BEGINS: (self.begins,) * len(joined),
            COUNT: tuple(map(len, joined)),
            **{WINDOWS + n: tuple(place[n] for place in places) for n in range(2 * MOST_WINDOWS)},
        }
