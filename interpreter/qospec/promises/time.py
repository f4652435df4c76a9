"""Promises about times: nothing is too early, and no line rests while something waits for it."""

from __future__ import annotations

import heapq
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.engine.arrays import np
from qospec.engine.element import BrokenPromiseError
from qospec.engine.experiment import END
from qospec.engine.items import delay_row
from qospec.promises.promise import Promise
from qospec.units import PS_PER_S, TIME, format_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.engine.arrays import Times
    from qospec.engine.experiment import Experiment, Node
    from qospec.engine.graph.promises import Conduct
    from qospec.engine.items.batch import Batch
    from qospec.promises.promise import Trial

ROUNDED_PS = 2
"""Times of lines are rounded down to whole ps."""


def _find_too_early(trial: Trial) -> Iterator[str]:
    """Yield what left sooner than its element takes at least, or out of order, or twice."""
    indices = trial.experiment.streams.indices
    for node, conduct in trial.nodes:
        try:
            conduct.check(node.path, node.element.find_lookahead_ps(node.clock), indices)
        except BrokenPromiseError as broken:
            yield str(broken)


def _find_too_short(trial: Trial) -> Iterator[str]:
    """Yield flows that arrived sooner than all lines on the shortest way to any end take."""
    for source in trial.experiment.sources:
        least_ps = _compute_least_ps(trial.experiment, source.node)
        clock = trial.experiment.nodes[source.node].clock
        if least_ps is None or clock is None:
            continue
        least_ps -= clock.lead_ps  # an item is sent when its first bit is, behind the preamble
        some = source.indices
        seen = trial.observation.delays[some]
        shortest_ps = int(seen[seen[:, delay_row.COUNT] > 0, delay_row.LEAST].min(initial=least_ps))
        if shortest_ps < least_ps:
            yield (
                f"{source.name} arrived after {_format_time(shortest_ps)}, and its lines alone take"
                f" {_format_time(least_ps)}"
            )


def _compute_least_ps(experiment: Experiment, start: int) -> int | None:
    """Return the time that the nodes of a shortest way to an end take; None: there is no way."""
    onward: dict[int, list[int]] = {}
    for wire in experiment.wires:
        onward.setdefault(wire.node, []).append(wire.to)
    waiting, known = [(0, start)], set[int]()
    while waiting:
        time_ps, number = heapq.heappop(waiting)
        if number == END:
            return time_ps
        if number < 0 or number in known:
            continue
        known.add(number)
        node = experiment.nodes[number]
        behind_ps = time_ps + node.element.find_lookahead_ps(node.clock)
        for follower in onward.get(number, ()):
            heapq.heappush(waiting, (behind_ps, follower))
    return None


def _find_idle(trial: Trial) -> Iterator[str]:
    """Yield lines that rested while something waited for them."""
    for node, conduct in trial.nodes:
        if node.clock is None or not conduct.departures[0]:
            continue
        rest = _find_first_rest(node, conduct)
        if rest is not None:
            at_ps, waiting = rest
            rests = f"the line behind {node.path} rests until {_format_time(at_ps)}"
            yield f"{rests}, though {waiting} wait for it"


def _find_first_rest(node: Node, conduct: Conduct) -> tuple[int, int] | None:
    """Return when a rest of the line ends that it should not have, and how many waited for it.

    From its departures follows when the line began with each item and was free again. An item
    that had come before it began, and was neither lost nor sent by then, waited.
    """
    clock = node.clock
    assert clock is not None  # noqa: S101 -- see above
    left = conduct.join_left(0)
    framed = clock.encapsulation
    sizes, which = np.unique(left.size_bytes, return_inverse=True)
    on_the_line = [
        size if framed is None else framed.count_line_bytes(size) for size in sizes.tolist()
    ]
    byte_time_ps = clock.byte_time_ps
    busy_ps = np.array([int(size_bytes * byte_time_ps) for size_bytes in on_the_line], np.int64)[
        which
    ]
    free_ps = left.at_ps - clock.arrival_ps
    begins_ps = free_ps - busy_ps
    # A slotted line begins with a slot only.
    patience_ps = ROUNDED_PS + (int(clock.slot_ps) + 1 if clock.slotted else 0)
    rests = begins_ps[1:] - free_ps[:-1] > patience_ps
    before_ps = begins_ps[1:] - patience_ps
    came = np.searchsorted(_sort_times(conduct.arrivals), before_ps, side="left")
    gone = np.searchsorted(
        _sort_times([loss.batch for loss in conduct.losses]), before_ps, side="right"
    )
    waiting = came - gone - np.arange(1, left.count)
    late = np.flatnonzero(rests & (waiting > 0))
    if not len(late):
        return None
    return int(begins_ps[1 + late[0]]), int(waiting[late[0]])


def _sort_times(batches: Sequence[Batch]) -> Times:
    """Return the times of some batches, in order."""
    return np.sort(np.concatenate([np.empty(0, np.int64), *(batch.at_ps for batch in batches)]))


def _format_time(time_ps: int) -> str:
    return format_value(Fraction(time_ps, PS_PER_S), TIME, exact=True)


PROMISES = (
    Promise(
        "causality",
        "nothing leaves an element before it came, or sooner than the element takes",
        "the contract of elements, `engine.element`",
        _find_too_early,
    ),
    Promise(
        "propagation",
        "nothing arrives sooner than its lines take to send and to carry it",
        "ITU-T G.114, annex A (propagation); RFC 2330, 10.2 (wire time)",
        _find_too_short,
    ),
    Promise(
        "work_conservation",
        "no line rests while something waits for it",
        "Kleinrock, Queueing Systems 2, 3.4 (work-conserving)",
        _find_idle,
    ),
)
