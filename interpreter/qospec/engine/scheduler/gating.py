"""Gates that open by time: the windows in which an input of a scheduler may send, cycle by cycle.

An input's row holds its WINDOWS, each as two times within the cycle, ascending; the last may go on
in the next cycle. An input without a CYCLE has a gate that is always open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.kernel import kernel
from qospec.engine.line.transmission import count_sent_bytes
from qospec.engine.scheduler.tree import NO_LIMIT, PARENT, list_input_fields, list_own_fields
from qospec.protocol.encapsulation import Encapsulation, Framing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qospec.engine.line.clock import Clock
    from qospec.engine.scheduler.tree import Tree

    Window = tuple[int, int]
    """From when until when a gate is open, in ps within a cycle."""

MOST_WINDOWS = 8
"""Of an input in one cycle."""
CYCLE, BEGINS, COUNT, WINDOWS, *_ = list_input_fields(3 + 2 * MOST_WINDOWS)
"""The length of the cycle; when one of them begins; how many windows; where their
beginnings and ends are."""

HEADER, LEAST, EXTRA, PER_CELL, BYTE, BYTE_PART, DENOMINATOR = list_own_fields(7)
"""Of a scheduler with gates: the framing of packets without the gap behind a frame, and the time of
a byte."""


def list_frame_fields(clock: Clock) -> Mapping[int, int]:
    """Return the fields from which `measure_frame_ps` knows how long frames take on a line."""
    framed = Encapsulation() if clock.encapsulation is None else clock.encapsulation
    header, least, extra, per_cell = framed.framing
    byte_ps = clock.byte_time_ps
    return {
        HEADER: header,
        LEAST: least,
        EXTRA: extra - framed.gap_bytes,
        PER_CELL: per_cell,
        BYTE: int(byte_ps),
        BYTE_PART: int(byte_ps % 1 * byte_ps.denominator),
        DENOMINATOR: byte_ps.denominator,
    }


@kernel
def measure_frame_ps(tree: Tree, scheduler: int, size_bytes: int) -> int:
    """Return how long a line sends the frame of a packet, up to its last bit."""
    framing = Framing(
        tree[scheduler, HEADER],
        tree[scheduler, LEAST],
        tree[scheduler, EXTRA],
        tree[scheduler, PER_CELL],
    )
    octets = count_sent_bytes(framing, size_bytes)
    part_ps = -(-octets * tree[scheduler, BYTE_PART] // tree[scheduler, DENOMINATOR])
    return octets * tree[scheduler, BYTE] + part_ps  # type: ignore[no-any-return]


def join_windows(windows: Sequence[Window], cycle_ps: int) -> tuple[Window, ...]:
    """Return the same times in windows as long as possible; none if they are the whole cycle.

    One that goes on in the next cycle ends behind this one's end.
    """
    joined: list[Window] = []
    for begin_ps, end_ps in windows:
        if joined and joined[-1][1] == begin_ps:
            begin_ps, _ = joined.pop()  # noqa: PLW2901 -- the window that both are
        joined.append((begin_ps, end_ps))
    if len(joined) > 1 and joined[0][0] == 0 and joined[-1][1] == cycle_ps:
        _, end_ps = joined.pop(0)
        joined[-1] = (joined[-1][0], cycle_ps + end_ps)
    return () if joined == [(0, cycle_ps)] else tuple(joined)


@kernel
def find_window_ps(tree: Tree, k: int, now_ps: int, lasts_ps: int) -> int:
    """Return when a gate is open for that long, from now on; NO_LIMIT: never."""
    cycle_ps = tree[k, CYCLE]
    if cycle_ps == 0:
        return now_ps
    begins_ps = now_ps - (now_ps - tree[k, BEGINS]) % cycle_ps
    for turn in range(-1, 2):
        for number in range(tree[k, COUNT]):
            window = WINDOWS + 2 * number
            opens_ps = begins_ps + turn * cycle_ps + tree[k, window]
            start_ps = max(now_ps, opens_ps)
            if start_ps + lasts_ps <= begins_ps + turn * cycle_ps + tree[k, window + 1]:
                return start_ps  # type: ignore[no-any-return]
    return NO_LIMIT


@kernel
def find_gate(tree: Tree, k: int) -> int:
    """Return the row of the gate above a row: the input of the root that it is below, or is."""
    while tree[k, PARENT]:
        k = tree[k, PARENT]
    return k


@kernel
def measure_open_ps(tree: Tree, k: int, from_ps: int, until_ps: int) -> int:
    """Return how long a gate is open in an interval."""
    if tree[k, CYCLE] == 0:
        return until_ps - from_ps
    return _count_open_ps(tree, k, until_ps) - _count_open_ps(tree, k, from_ps)


@kernel
def _count_open_ps(tree: Tree, k: int, now_ps: int) -> int:
    """Return how long a gate has been open, counted from any one moment."""
    cycle_ps = tree[k, CYCLE]
    cycles, now_ps = divmod(now_ps - tree[k, BEGINS], cycle_ps)
    found_ps = 0
    for number in range(tree[k, COUNT]):
        window = WINDOWS + 2 * number
        opens_ps, closes_ps = tree[k, window], tree[k, window + 1]
        found_ps += cycles * (closes_ps - opens_ps)
        found_ps += max(0, min(now_ps, closes_ps) - opens_ps)
        found_ps -= max(0, closes_ps - cycle_ps - now_ps)  # what the cycle before still has
    return found_ps
